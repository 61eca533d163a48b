// The passes of the PLY reader. First the header of a file: its elements and their properties, in
// the order of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/io/detail/mesh_builder.h"
#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {

enum class PlyType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat32, kFloat64 };

constexpr std::size_t size_of(PlyType type) {
  switch (type) {
    case PlyType::kInt8:
    case PlyType::kUint8:
      return 1;
    case PlyType::kInt16:
    case PlyType::kUint16:
      return 2;
    case PlyType::kInt32:
    case PlyType::kUint32:
    case PlyType::kFloat32:
      return 4;
    case PlyType::kFloat64:
      break;
  }
  return 8;
}

constexpr bool is_integer(PlyType type) {
  return type != PlyType::kFloat32 && type != PlyType::kFloat64;
}

struct PlyProperty {
  std::string name;
  PlyType type{};
  std::optional<PlyType> count_type;  // of a list
};

struct PlyElement {
  enum class Role { kNone, kVertices, kFaces, kStrips };

  std::string name;
  std::uint64_t count = 0;
  std::vector<PlyProperty> properties;
  Role role = Role::kNone;
  // Where x, y and z are among the properties of vertices, or (the first) the list of the corners
  // among those of faces and strips.
  std::size_t wanted[3] = {};

  bool has_lists() const;
  // Bytes of a row in a binary file whose lists are empty.
  std::uint64_t min_row_size() const;
};

enum class PlyEncoding { kText, kLittleEndian, kBigEndian };

struct PlyHeader {
  PlyEncoding encoding{};
  std::vector<PlyElement> elements;
  std::uint64_t vertex_count = 0;
};

// Reads up to the first byte of the data.
PlyHeader read_ply_header(TextInput& in);

// The corners of PLY faces and triangle strips become triangles of a mesh.

// Call begin(), add() for each corner, end(), for each face or strip.
class PlyCorners {
 public:
  PlyCorners(MeshBuilder& builder, std::uint64_t vertex_count, bool are_strips)
      : builder_(builder), vertex_count_(vertex_count), are_strips_(are_strips) {}

  void begin() {
    builder_.begin_polygon();
    strip_length_ = 0;
  }
  // False where the index names no vertex.
  bool add(std::int64_t index) {
    if (are_strips_) return add_to_strip(index);
    if (index < 0 || static_cast<std::uint64_t>(index) >= vertex_count_) return false;
    builder_.add_corner(static_cast<std::uint32_t>(index));
    return true;
  }
  // False where a face had fewer than three corners.
  bool end() { return are_strips_ || builder_.end_polygon(); }

 private:
  bool add_to_strip(std::int64_t index) {
    if (index == -1) {  // a new strip begins
      strip_length_ = 0;
      return true;
    }
    if (index < 0 || static_cast<std::uint64_t>(index) >= vertex_count_) return false;
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint32_t a = before_[0], b = before_[1];
    // Every other triangle of a strip is turned; flat ones only carry the strip to another place.
    if (strip_length_ >= 2 && a != b && b != c && a != c)
      builder_.add_triangle(strip_length_ % 2 == 0 ? Triangle{a, b, c} : Triangle{b, a, c});
    before_[0] = b;
    before_[1] = c;
    ++strip_length_;
    return true;
  }

  MeshBuilder& builder_;
  std::uint64_t vertex_count_;
  bool are_strips_;
  std::uint64_t strip_length_ = 0;
  std::uint32_t before_[2] = {};
};

// The data of a PLY file, behind its header.

void read_ply_text(TextInput& in, const PlyHeader& header, MeshBuilder& builder);
void read_ply_binary(Window& window, const PlyHeader& header, MeshBuilder& builder);

}  // namespace isotact::detail
