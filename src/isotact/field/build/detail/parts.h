// Parts of a closed surface that face the wrong way.
#pragma once

#include <cstddef>

#include "isotact/base/parallel.h"
#include "isotact/field/build/detail/edges.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

// Turns over the parts that face inwards and lie in no other, and all that lies in those: so a
// cavity stays a cavity, also where a whole mesh is inside out. The mesh must be balanced, `edges`
// its own. Cost: 10 ns a triangle; where some part of many faces
// inwards, that of a WindingTree.
struct TurnResult {
  std::size_t turned = 0;  // parts
  double volume = 0;       // sum of the parts' volumes, each as a positive number
};
TurnResult turn_inward_parts(TriangleMesh& mesh, const EdgeReport& edges, Threads threads);

double find_area(const TriangleMesh& mesh);

}  // namespace isotact::surface_detail
