// Edges that nearly meet.
#pragma once

#include <cstddef>
#include <span>

#include "isotact/field/build/detail/edges.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

struct StitchResult {
  TriangleMesh mesh;
  std::size_t merged = 0;     // vertices
  double longest_move = 0;    // metres
  std::size_t collapsed = 0;  // triangles, dropped
};

// Merges the vertices of net edges that are within the tolerance of each other (isotact::weld says
// how); no other vertex moves.
StitchResult stitch(const TriangleMesh& mesh, std::span<const NetEdge> net, double tolerance);

}  // namespace isotact::surface_detail
