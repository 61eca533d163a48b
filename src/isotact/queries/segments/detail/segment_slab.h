// Slabs: two planes that enclose an isosurface within a box.
//
// Let phi be the field less margin and g any vector. If phi is zero at x, then g . x equals g . x -
// phi(x). In a cell, that function is trilinear, so it lies between its least and its largest value
// at the corners. The isosurface is only in cells with corners on both sides. This holds for any g;
// one near the mean slope makes the slab thin.
//
// The part of the box on one side of the slab is convex and without the isosurface: all of it is
// inside, or all is outside. The outermost corner of the box gives the side.
#pragma once

#include <cstdint>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact::detail {

// The cells of one coarse cell that the isosurface may enter.
struct SlabCells {
  Index3 lower{};  // Fine cells.
  bool is_fine = false;
  // Values less margin, in cells: at the nodes (z, y, x), or at the corners of a cell without
  // brick.
  float node[kBrickNodes][kBrickNodes][kBrickNodes];
  float corner[8];
  float rounding = 0;  // Bound of the rounding of values here, cells.
  // Bit x of [z][y]: the fine cell has corners on both sides, up to rounding.
  std::uint8_t mixed[kBrickCells][kBrickCells];
};

// Returns false if there are none.
bool load_slab_cells(const BrickField& field, const Index3& coarse, std::uint32_t brick,
                     float margin, SlabCells& cells);

// `slack`: bound of the rounding of g . x along a path, cells, for a g of length 1.
SegmentSlab fit_slab(const SlabCells* const* cells, std::size_t count, float slack);

// Builds a SegmentIndex.

SegmentIndex build_segment_index(const BrickField& field, float margin, Threads threads);

}  // namespace isotact::detail
