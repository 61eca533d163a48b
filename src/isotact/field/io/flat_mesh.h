// The triangles of a body and the hierarchy over them in one flat buffer: file, memory map and
// memory are the same. Exact queries need them (queries/distance.h). docs/formats.md specifies it
// to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "isotact/export.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// The start of the flat buffer. The arrays follow in this order, each at the next multiple of 64.
struct FlatMeshHeader {
  char magic[8];              // "ISO_MESH"
  std::uint32_t version;      // 1
  std::uint32_t node_count;   // BvhNode and OrientedNode each
  std::uint32_t block_count;  // TriangleBlock
  std::uint32_t vertex_count;
  std::uint32_t triangle_count;
  std::uint32_t part_count;  // uint32: the lowest vertex of each connected part, ascending.
  std::uint64_t total_bytes;
  std::uint64_t node_offset, oriented_offset, block_offset;
  std::uint64_t vertex_offset, triangle_offset, part_offset;
  std::uint8_t unused[40];
};
static_assert(sizeof(FlatMeshHeader) == 128 && offsetof(FlatMeshHeader, total_bytes) == 32 &&
              offsetof(FlatMeshHeader, unused) == 88);

// Immutable; copies share the buffer. Any number of threads may use it.
class FlatMesh {
 public:
  FlatMesh() = default;  // Empty: only for assignment.

  // The mesh's own triangles, in their order, welded at equal positions. Triangles with a corner
  // that is not finite and vertices that no triangle uses are left out. Throws Error if no triangle
  // is left. Cost and memory: those of a Bvh, and 18 bytes per triangle.
  static FlatMesh build(const TriangleMesh& mesh, const BvhSettings& settings = {});

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it. Throws Error for a buffer
  // that has a flaw. Check::kHeader tests the header only; the rest is then checked by bvh() and
  // mesh().
  static FlatMesh from_buffer(std::span<const std::byte> buffer, std::shared_ptr<const void> owner,
                              Check check = Check::kDeep);
  std::span<const std::byte> buffer() const { return buffer_; }
  const FlatMeshHeader& header() const {
    return *reinterpret_cast<const FlatMeshHeader*>(buffer_.data());
  }

  // Shares the buffer: nothing is built. Throws Error for a flaw that Check::kHeader passed over.
  Bvh bvh() const;
  TriangleMesh mesh() const;  // A copy. Throws as bvh does.

  // As they lie in the buffer. After Check::kHeader, indices were not checked.
  std::span<const Vec3f> positions() const;
  std::span<const Triangle> triangles() const;
  std::span<const std::uint32_t> parts() const;

 private:
  BvhArrays arrays() const;
  void check() const;
  friend std::optional<std::string> find_flaw_in_flat_mesh(std::span<const std::byte> buffer,
                                                           Check check);

  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_{};
  bool is_checked_ = true;
};

// Describes what is wrong with a buffer that claims to be such a mesh: the part and the position. A
// deep check compares everything: a mesh that passes it has the hierarchy and the parts that its
// triangles have.
std::optional<std::string> find_flaw_in_flat_mesh(std::span<const std::byte> buffer,
                                                  Check check = Check::kDeep);

}  // namespace isotact
