// The part of a local edit that knows the field: what must be computed anew, and doing so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// The triangles that an edit adds to the measured ones or removes from them.

struct SurfaceChange {
  std::vector<std::uint32_t> removed;     // triangles of the surface before, without a like after
  std::vector<std::uint32_t> before;      // of each triangle after: its like before, or kNoTriangle
  TriangleMesh removed_mesh, added_mesh;  // what differs, three positions a triangle
};

// Triangles are alike if their corners are, in the same order. Cost: linear where most triangles
// kept their order.
SurfaceChange compute_change(const TriangleMesh& before, const TriangleMesh& after);

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

// Kept between edits, beside the field.
struct EditMarks {
  CellBits band, creased;            // coarse cells that have bricks
  std::optional<RowCrossings> rows;  // none for a shell
};

struct EditWork {
  const BrickField& before;
  const FieldSettings& settings;
  double shell_offset;  // metres
  const SurfaceChange& change;
  const EditTriangles& triangles;  // as they are now
  EditMarks& marks;                // rows as they are now; cells are updated
};

// The field after the edit. Fills in what it built.
BrickField rebuild_changed(const EditWork& work, EditReport& report);

}  // namespace isotact::detail
