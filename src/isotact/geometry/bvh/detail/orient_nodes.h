#pragma once

#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/bvh/bvh_layout.h"

namespace isotact::detail {

// The same tree with turned boxes. Their sides, as products of byte and step in float, enclose the
// exact local coordinates of all triangles below, for the axes and origin as stored.
std::vector<OrientedNode> orient_nodes(std::span<const BvhNode> nodes,
                                       std::span<const TriangleBlock> blocks, Threads threads);

}  // namespace isotact::detail
