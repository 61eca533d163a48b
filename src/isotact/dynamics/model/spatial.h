// Twists and wrenches of rigid bodies about a reference point. A symmetric 6 x 6 matrix maps one to
// the other: the stiffness of a contact as the whole body sees it.
#pragma once

#include "isotact/base/mat3.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Velocity of the body at the reference point, and its angular velocity, in the world frame.
struct Twist {
  Vec3 linear{}, angular{};

  friend Twist operator-(const Twist& a, const Twist& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
  friend Twist operator*(const Twist& a, double s) { return {a.linear * s, a.angular * s}; }
};

// A force (or impulse) and its moment about the reference point.
struct Wrench {
  Vec3 linear{}, angular{};

  Wrench& operator+=(const Wrench& b) {
    linear += b.linear;
    angular += b.angular;
    return *this;
  }
  friend Wrench operator-(const Wrench& a, const Wrench& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
  friend Wrench operator*(const Wrench& a, double s) { return {a.linear * s, a.angular * s}; }
};

// Power (or work) of the wrench along the twist; both have the same reference point.
inline double dot(const Wrench& f, const Twist& v) {
  return dot(f.linear, v.linear) + dot(f.angular, v.angular);
}

// The same about a reference point that is shifted by `offset`.
inline Twist moved(const Twist& v, const Vec3& offset) {
  return {v.linear + cross(v.angular, offset), v.angular};
}
inline Wrench moved(const Wrench& f, const Vec3& offset) {
  return {f.linear, f.angular - cross(offset, f.linear)};
}

// The wrench of a force that acts at `arm` from the reference point.
inline Wrench wrench_of(const Vec3& force, const Vec3& arm) { return {force, cross(arm, force)}; }

// [ ll  la ]   maps a twist to the wrench that resists it; symmetric, positive semidefinite.
// [ la' aa ]
struct SpatialMatrix {
  Mat3 ll{}, la{}, aa{};

  SpatialMatrix& operator+=(const SpatialMatrix& b) {
    ll = ll + b.ll;
    la = la + b.la;
    aa = aa + b.aa;
    return *this;
  }
  friend SpatialMatrix operator*(const SpatialMatrix& m, double s) {
    return {m.ll * s, m.la * s, m.aa * s};
  }
  friend Wrench operator*(const SpatialMatrix& m, const Twist& v) {
    return {m.ll * v.linear + m.la * v.angular, transpose(m.la) * v.linear + m.aa * v.angular};
  }
};

// Resistance along one unit direction only, at `arm` from the reference point.
SpatialMatrix resist_along(const Vec3& direction, const Vec3& arm, double size);
// Equal resistance in all directions.
SpatialMatrix resist_all(const Vec3& arm, double size);

}  // namespace isotact
