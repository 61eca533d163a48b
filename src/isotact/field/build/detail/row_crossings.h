// Where a closed surface crosses the grid lines along x, and so the winding number of every node.
//
// Corners are snapped to multiples of 1/2048 cell, lines are moved by 1/4096 cell, so that no line
// meets a corner. Whether a line meets a triangle is decided in integers, edge by edge, from
// numbers that the two triangles of an edge share. So no line can slip between them, and the
// winding number returns to zero at the end of every line. The price is that the surface seems to
// be moved by up to 1/2000 cell. So a sign may be wrong if the distance is below that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/lattice.h"
#include "isotact/field/surface/surface.h"

namespace isotact::detail {

struct LineCrossing {
  float x;             // cells
  std::int32_t delta;  // of the winding number, for nodes behind x
};

// The lines of kSlabRows layers of nodes.
struct CrossingSlab {
  std::vector<std::uint32_t> first;     // place of each line's first crossing, and the end
  std::vector<LineCrossing> crossings;  // of each line by ascending x
  // Length of its lines where the winding number is above 0, and above 1; cells.
  double inside = 0, overlap = 0;
};

class RowCrossings {
 public:
  static constexpr int kSlabRows = 8;

  // The surface must be closed: every edge run as often in one direction as in the other.
  RowCrossings(const Surface& surface, const Lattice& lattice, Threads threads,
               const Monitor& monitor);

  // For local edits: takes the crossings of some triangles out and puts those of others in, as if
  // the surface had been so from the beginning. Cost: that of the slabs of layers they reach.
  void replace(const TriangleMesh& removed, const TriangleMesh& added, const Lattice& lattice);

  // Along the line of nodes (., j, k).
  std::span<const LineCrossing> row(std::int32_t j, std::int32_t k) const {
    const CrossingSlab& slab = slabs_[static_cast<std::size_t>(k / kSlabRows)];
    const std::size_t line = static_cast<std::size_t>(k % kSlabRows * rows_ + j);
    return {slab.crossings.data() + slab.first[line], slab.first[line + 1] - slab.first[line]};
  }

  // Volumes in cubic cells: where the winding number is above 0, and above 1, where parts overlap
  // or lie in one another. As far as lines a cell apart see them.
  double inside_cells() const;
  double overlap_cells() const;

  bool is_inside(std::int32_t winding) const {
    return nested_ == NestedRule::kEvenOdd ? (winding & 1) != 0 : winding > 0;
  }
  // Bit i: node (first + i stride, j, k) is inside. At most 32 nodes.
  std::uint32_t inside_bits(std::int32_t first, std::int32_t stride, std::int32_t nodes,
                            std::int32_t j, std::int32_t k) const;

 private:
  std::vector<CrossingSlab> slabs_;
  std::int32_t rows_ = 0;  // nodes along y
  NestedRule nested_ = NestedRule::kWinding;
};

// From distances and crossings of grid lines to signed distances.

// Turns unsigned distances at all nodes of the coarse lattice into signed ones.
void sign_coarse(std::span<float> coarse, const Lattice& coarse_lattice, const RowCrossings& rows,
                 Threads threads);
// The same for one node.
bool is_coarse_node_inside(const Index3& node, const RowCrossings& rows);

// The same for the 8^3 own nodes of a coarse cell's brick, in fine cells.
void sign_brick(std::span<float> distance, const Index3& cell, const RowCrossings& rows);

}  // namespace isotact::detail
