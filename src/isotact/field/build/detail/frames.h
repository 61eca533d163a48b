// Triangles made ready for measuring.
#pragma once

#include <vector>

#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/bvh.h"

namespace isotact::detail {

// A corner in the coordinates of the lattice's cells.
constexpr Vec3 to_cells(const Lattice& lattice, const Vec3f& p) {
  return (to_double(p) - lattice.origin) / lattice.spacing;
}

TriangleFrame make_frame(const Vec3& a, const Vec3& b, const Vec3& c);

// Four a block of the hierarchy, in its order; unused places have a negative length.
std::vector<TriangleFrame> make_frames(const Bvh& bvh, const TriangleMesh& mesh,
                                       const Lattice& lattice, Threads threads);

}  // namespace isotact::detail
