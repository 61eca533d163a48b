// Only what can be measured: finite triangles with three distinct corners, equal positions merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

// Marks, of the first `count` triangles, those that another one on the same three vertices cancels
// because it faces the other way. As many of each way, the first ones. Cost: about 0.1 microseconds
// a triangle.
std::vector<std::uint8_t> find_cancelling(const TriangleMesh& mesh, std::size_t count);

}  // namespace isotact::surface_detail
