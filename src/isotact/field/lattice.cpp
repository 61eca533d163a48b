#include "isotact/field/lattice.h"

#include <cmath>

namespace isotact {

CellPoint locate(const Lattice& lattice, const Vec3& point) {
  CellPoint at;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double last = static_cast<double>(lattice.cells[axis]);
    double t = (point[axis] - lattice.origin[axis]) / lattice.spacing;
    t = t > 0 ? t : 0;  // NaN too
    t = t < last ? t : last;
    const double cell = t < last ? std::floor(t) : last - 1;
    at.cell[axis] = static_cast<std::int32_t>(cell);
    at.fraction[axis] = static_cast<float>(t - cell);
  }
  return at;
}

}  // namespace isotact
