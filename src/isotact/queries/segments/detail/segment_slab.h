// Slabs: two planes that enclose an isosurface within a box.
//
// Let phi be the field less the index's centre, in cells, and g any vector. If phi is m at x, then
// g . x - m equals g . x - phi(x). In a cell, that function is trilinear, so it lies between its
// least and its largest value at the corners. The isosurfaces of all m from -reach to reach are
// only in certain cells. These have a corner at or below reach and one at or above -reach. So the
// bounds over these cells, plus m, enclose the isosurface m. This holds for any g; one near the
// mean slope makes the slab thin.
//
// The part of the box on one side of the slab is convex and without the isosurface: all of it is
// inside, or all is outside. The outermost corner c of the box gives the side. It is the same for
// all m. If c is a corner of one of these cells, g . c - phi(c) is at least `least`. If it lies
// below the slab of m, g . c - m is less than `least`, so phi(c) < m: inside. Above it is outside.
// Other corners are on one side of all m. So below the slab, c is inside unless phi(c) > reach, and
// above, it is inside only if phi(c) < -reach.
#pragma once

#include <cstdint>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact::detail {

// The cells of one coarse cell that the isosurface may enter.
struct SlabCells {
  Index3 lower{};  // Fine cells.
  bool is_fine = false;
  // Values less the centre, in cells: at the nodes (z, y, x), or at the corners of a cell without
  // brick.
  float node[kBrickNodes][kBrickNodes][kBrickNodes];
  float corner[8];
  float rounding = 0;  // Bound of the rounding of values here, cells.
  // Bit x of [z][y]: the fine cell has corners on both sides, up to rounding.
  std::uint8_t mixed[kBrickCells][kBrickCells];
};

// The isosurfaces of an index.
struct IsoBand {
  float center;  // Metres.
  float reach;   // Cells.
};

// Return false if there are none.
bool load_slab_cells(const BrickField& field, const Index3& coarse, std::uint32_t brick,
                     const IsoBand& band, SlabCells& cells);
// A block of 8^3 cells of a grid, or what the grid has of it.
bool load_slab_cells(const DenseGrid& grid, const Index3& coarse, const IsoBand& band,
                     SlabCells& cells);

// `slack`: bound of the rounding of g . x along a path, cells, for a g of length 1.
SegmentSlab fit_slab(const SlabCells* const* cells, std::size_t count, float slack);

// Returns the difference of the bounds of a margin's slabs from those stored, cells. Its rounding
// is that of the margin's float, less than that of values, which slabs allow for.
inline float compute_slab_shift(const SegmentIndex& index, double cell, double margin) {
  return static_cast<float>((margin - index.center) / cell);
}

// An index of a dense grid: its cells have no corners and no blocks of samples, since the grid has
// them. `blocks` and `inside_blocks` count.
SegmentIndex build_segment_index(const DenseGrid& grid, double margin, Threads threads);

}  // namespace isotact::detail
