// The triangles of a hierarchy made ready for measuring.
#pragma once

#include <vector>

#include "isotact/field/surface/frames.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact::detail {

// Four a block of the hierarchy, in its order; unused places have a negative length.
std::vector<TriangleFrame> make_frames(const Bvh& bvh, const TriangleMesh& mesh,
                                       const Lattice& lattice, Threads threads);

}  // namespace isotact::detail
