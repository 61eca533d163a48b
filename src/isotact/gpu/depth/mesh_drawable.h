// Meshes, lines and points of our own for image-space detection, stored on the GPU in clusters of
// neighbours. Before drawing, a compute shader culls clusters and primitives that cannot meet the
// object. They are outside a query's box, between pixels, or in certain tiles of 16 x 16 pixels. In
// these tiles the object's map is empty or has other depths. The rest of all elements, for all
// queries, is one draw call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/gpu/depth/depth_detector.h"

namespace ISOTACT_PUBLIC isotact {

class Shape;

struct MeshElement {
  std::span<const Vec3f> positions{};
  std::span<const std::uint32_t> indices{};  // Three, two or one per primitive.
  Pose world_from_element{};
  std::uint32_t id = 0;
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  bool closed = false;  // Triangles that bound a solid, counter-clockwise seen from outside.
};
// Returns an element of triangles, valid as long as the mesh.
MeshElement make_mesh_element(const TriangleMesh& mesh, const Pose& world_from_mesh = {},
                              std::uint32_t id = 0, bool closed = false);
// The surface of a shape; only while the shape or a copy of it lives. Throws Error as depth_element
// (queries/shape_views.h) does.
MeshElement make_mesh_element(const Shape& shape, const Pose& world_from_shape = {},
                              std::uint32_t id = 0);

// Ownership as in buffer.h.
class GpuMeshes {
 public:
  // Copies the elements. Sorting takes about 0.2 microseconds per primitive. Throws Error for
  // indices out of range, for positions and poses that are not finite (or not a rotation), and if
  // the GPU lacks memory.
  explicit GpuMeshes(std::span<const MeshElement> elements);
  GpuMeshes(GpuMeshes&&) noexcept;
  GpuMeshes& operator=(GpuMeshes&&) noexcept;
  ~GpuMeshes();

  std::size_t size() const;  // Number of elements.
  std::uint64_t primitives() const;
  std::uint64_t memory_bytes() const;
  const Pose& pose(std::size_t element) const;
  void set_pose(std::size_t element, const Pose& world_from_element);  // Throws Error as above.

  // Returns one element, or all, as callbacks that draw everything: for an object's map, or other
  // pictures. They refer to this object, and use the poses at the time of drawing.
  GpuDrawable drawable(std::size_t element) const;
  std::vector<GpuDrawable> drawables() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace isotact
