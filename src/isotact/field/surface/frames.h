// A triangle prepared for distance computation.
#pragma once

#include "isotact/export.h"
#include "isotact/field/lattice.h"
#include "isotact/field/surface/triangle_frame.h"

namespace ISOTACT_PUBLIC isotact {
namespace detail {

// A corner in the coordinates of the lattice's cells.
constexpr Vec3 to_cells(const Lattice& lattice, const Vec3f& p) {
  return (to_double(p) - lattice.origin) / lattice.spacing;
}

// Makes a frame from corners in cells. Degenerate triangles are allowed: they are measured as the
// segment or point that they are.
TriangleFrame make_frame(const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace detail
}  // namespace isotact
