#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/bvh/bvh_layout.h"

namespace isotact::detail {

// Nodes with more blocks keep the axes of the mesh. Their surface is too curved to gain by turning,
// and each level that is turned costs a pass over all triangles.
inline constexpr std::uint32_t kMaxTurnedBlocks = 1024;

// The same tree with turned boxes. Their sides, as products of byte and step in float, enclose the
// exact local coordinates of all triangles below, for the axes and origin as stored.
std::vector<OrientedNode> orient_nodes(std::span<const BvhNode> nodes,
                                       std::span<const TriangleBlock> blocks, Threads threads);

}  // namespace isotact::detail
