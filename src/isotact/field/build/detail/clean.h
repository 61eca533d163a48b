// Only what can be measured: finite triangles with three distinct corners, equal positions merged.
#pragma once

#include <cstddef>

#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

struct CleanMesh {
  TriangleMesh mesh;           // used vertices only, in their order; triangles keep theirs
  std::size_t not_finite = 0;  // triangles dropped for a corner that is not finite
  std::size_t collapsed = 0;   // for two corners at one position
  std::size_t merged = 0;      // vertices
};

// Needs indices in range. Like isotact::weld and remove_degenerate, in one pass over the mesh.
CleanMesh clean(const TriangleMesh& mesh);

}  // namespace isotact::surface_detail
