// Meshes, lines and points of our own for image-space detection: kept on the GPU in clusters of
// neighbours. Before they are drawn, a compute shader drops what cannot meet the object: clusters
// and primitives outside of a query's box, between pixels, or where the object's map is empty or
// lies at other depths (bounds of tiles of 16 x 16 pixels). What is left of all elements, for all
// queries, is one draw call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/geometry/mesh.h"
#include "isotact/gpu/depth_detector.h"

namespace isotact {

struct MeshElement {
  std::span<const Vec3f> positions{};
  std::span<const std::uint32_t> indices{};  // three, two or one each
  Pose world_from_element{};
  std::uint32_t id = 0;
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  bool closed = false;  // triangles that bound a solid, counter-clockwise seen from outside
};
// Of triangles; only while the mesh lives.
MeshElement make_mesh_element(const TriangleMesh& mesh, const Pose& world_from_mesh = {},
                              std::uint32_t id = 0, bool closed = false);

// Ownership as in buffer.h.
class GpuMeshes {
 public:
  // Copies. Sorting takes some 0.2 microseconds a primitive. Throws Error for indices out of range,
  // positions and poses that are not finite (or no rotation), and where the GPU has no room.
  explicit GpuMeshes(std::span<const MeshElement> elements);
  GpuMeshes(GpuMeshes&&) noexcept;
  GpuMeshes& operator=(GpuMeshes&&) noexcept;
  ~GpuMeshes();

  std::size_t size() const;  // elements
  std::uint64_t primitives() const;
  std::uint64_t memory_bytes() const;
  const Pose& pose(std::size_t element) const;
  void set_pose(std::size_t element, const Pose& world_from_element);  // throws Error, as above

  // One of them, or all, as callbacks that draw everything: for an object's map, or other pictures.
  // They refer to this, and take poses as they are when they draw.
  GpuDrawable drawable(std::size_t element) const;
  std::vector<GpuDrawable> drawables() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace isotact
