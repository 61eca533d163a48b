#include "isotact/field/field.h"

#include <cmath>

#include "isotact/field/lattice.h"

namespace isotact {

double extend_outside(double value_on_box, double distance_to_box) {
  if (!(value_on_box > 0)) return value_on_box + distance_to_box;
  return std::sqrt(distance_to_box * distance_to_box + value_on_box * value_on_box);
}

FieldSample extend_outside(const FieldSample& on_box, const Vec3& x, const Vec3& on_box_point) {
  const Vec3 away = x - on_box_point;
  const double gap = length(away);
  if (!(gap > 0)) return on_box;
  const double value = extend_outside(on_box.distance, gap);
  // Along axes in which x lies outside, the point on the box stands still; along the others it
  // moves with x.
  Vec3 along = on_box.gradient;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (away[axis] != 0) along[axis] = 0;
  if (!(on_box.distance > 0)) return {value, away / gap + along};
  return {value, (away + along * on_box.distance) / value};
}

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
