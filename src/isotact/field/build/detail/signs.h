// From distances and crossings of grid lines to signed distances.
#pragma once

#include <span>

#include "isotact/field/build/detail/row_crossings.h"

namespace isotact::detail {

// Turns unsigned distances at all nodes of the coarse lattice into signed ones.
void sign_coarse(std::span<float> coarse, const Lattice& coarse_lattice, const RowCrossings& rows,
                 Threads threads);
// The same for one node.
bool is_coarse_node_inside(const Index3& node, const RowCrossings& rows);

// The same for the 8^3 own nodes of a coarse cell's brick, in fine cells.
void sign_brick(std::span<float> distance, const Index3& cell, const RowCrossings& rows);

}  // namespace isotact::detail
