// What an edit does to the triangles that are measured.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/geometry/mesh.h"

namespace isotact::detail {

struct SurfaceChange {
  std::vector<std::uint32_t> removed;     // triangles of the surface before, without a like after
  std::vector<std::uint32_t> before;      // of each triangle after: its like before, or kNoTriangle
  TriangleMesh removed_mesh, added_mesh;  // what differs, three positions a triangle
};

// Triangles are alike if their corners are, in the same order. Cost: linear where most triangles
// kept their order.
SurfaceChange find_change(const TriangleMesh& before, const TriangleMesh& after);

// Boxes of the pieces of a change: its triangles, where those that share a position hang together.
// Pieces beyond the first 31 share one box.
std::vector<Aabb> find_pieces(const SurfaceChange& change);

// Triangles in a hierarchy, some of them hidden, and others added beside it.
class EditTriangles {
 public:
  EditTriangles(const TriangleMesh& mesh, const Lattice& lattice, Threads threads);

  // The surface is now this one.
  void apply(const TriangleMesh& after, const SurfaceChange& change);
  // Whether so many are hidden or added that a fresh one would be better.
  bool is_worn() const;

  const DistancePass& distances() const { return *distances_; }
  // Triangles whose boxes come nearer than `reach` (metres) to one of the boxes, each once or more.
  TriangleMesh gather(std::span<const Aabb> boxes, double reach) const;

 private:
  Threads threads_;
  Bvh bvh_, added_bvh_;
  TriangleMesh added_;
  std::unique_ptr<DistancePass> distances_;
  std::vector<std::uint32_t> frame_of_;  // of each triangle of the first surface
  std::vector<std::uint8_t> hidden_;     // the same
  std::size_t hidden_count_ = 0;
  std::vector<std::uint32_t> first_of_;  // of each triangle now: its number at first; kNoTriangle
};

}  // namespace isotact::detail
