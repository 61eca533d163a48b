#include "isotact/dynamics/model/spatial.h"

namespace isotact {
namespace {

Mat3 outer(const Vec3& a, const Vec3& b) { return {{b * a.x, b * a.y, b * a.z}}; }

}  // namespace

SpatialMatrix resist_along(const Vec3& direction, const Vec3& arm, double size) {
  const Vec3 turn = cross(arm, direction);
  return {outer(direction, direction * size), outer(direction, turn * size),
          outer(turn, turn * size)};
}

// A twist moves the place at `arm` by v + w x arm; the force against that has the moment
// arm x (v + w x arm).
SpatialMatrix resist_all(const Vec3& arm, double size) {
  const Vec3 r = arm * size;
  const Mat3 around = outer(arm, r);
  SpatialMatrix m;
  m.ll = identity3() * size;
  m.la = {{Vec3{0, r.z, -r.y}, Vec3{-r.z, 0, r.x}, Vec3{r.y, -r.x, 0}}};
  m.aa = identity3() * dot(arm, r) + around * -1.0;
  return m;
}

}  // namespace isotact
