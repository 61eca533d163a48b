// Strings boundary edges together into loops.
#pragma once

#include <span>

#include "isotact/geometry/detail/topology.h"
#include "isotact/geometry/flaws.h"

namespace isotact::detail {

// `boundary` are the half-edges of edges with one triangle, ascending by their edges' vertices;
// `fans` joins the corners around each vertex that hang together over edges with two triangles.
// Cost: O(n log n) in the boundary edges.
FlawList<BoundaryLoop> string_boundary_loops(const Topology& topology,
                                             std::span<const HalfEdge> boundary, DisjointSets& fans,
                                             std::size_t max_examples);

}  // namespace isotact::detail
