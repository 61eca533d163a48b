// Slabs: two planes between which an isosurface lies in a box.
//
// Let phi be the field less iso and g any vector: where phi is zero at a place x, g . x is g . x -
// phi(x). In a cell that is trilinear, so it lies between its least and its largest value at the
// corners, and the isosurface is only in cells with corners on both sides. So much for any g; one
// near to the mean slope makes the slab thin.
//
// The part of the box on one side of the slab is convex and without the isosurface: all of it is
// inside, or all is outside. The box's corner that lies furthest out tells.
#pragma once

#include <cstdint>

#include "isotact/field/brick_field.h"
#include "isotact/queries/segment_index.h"

namespace isotact::detail {

// The cells of one coarse cell that the isosurface may enter.
struct SlabCells {
  Index3 lower{};  // fine cells
  bool is_fine = false;
  // Values less iso, in cells: at the nodes (z, y, x), or at the corners of a cell without brick.
  float node[kBrickNodes][kBrickNodes][kBrickNodes];
  float corner[8];
  float rounding = 0;  // more than values here lose to it, cells
  // Bit x of [z][y]: the fine cell has corners on both sides, or so nearly that rounding may
  // decide.
  std::uint8_t mixed[kBrickCells][kBrickCells];
};

// False where there are none.
bool load_slab_cells(const BrickField& field, const Index3& coarse, std::uint32_t brick, float iso,
                     SlabCells& cells);

// `slack`: more than rounding makes of g . x along a path, cells, for a g of length 1.
SegmentSlab fit_slab(const SlabCells* const* cells, std::size_t count, float slack);

}  // namespace isotact::detail
