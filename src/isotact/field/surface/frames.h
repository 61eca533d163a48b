// A triangle made ready for measuring.
#pragma once

#include "isotact/field/build/triangle_frame.h"
#include "isotact/field/lattice.h"

namespace isotact::detail {

// A corner in the coordinates of the lattice's cells.
constexpr Vec3 to_cells(const Lattice& lattice, const Vec3f& p) {
  return (to_double(p) - lattice.origin) / lattice.spacing;
}

// Of corners in cells. Degenerate triangles are welcome: they are measured as the segment or point
// that they are.
TriangleFrame make_frame(const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace isotact::detail
