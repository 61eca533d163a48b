// Motions and forces of rigid bodies as pairs of vectors, about a place; and what ties one to the
// other: a symmetric matrix of six rows, the stiffness of a contact seen by a whole body.
#pragma once

#include "isotact/base/mat3.h"

namespace isotact {

// The velocity of the body at the place, and its rate of turning. World frame.
struct Twist {
  Vec3 linear{}, angular{};

  friend Twist operator-(const Twist& a, const Twist& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
  friend Twist operator*(const Twist& a, double s) { return {a.linear * s, a.angular * s}; }
};

// A force (or impulse), and its moment about the place.
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

// The power, or the work, of one along the other, about the same place.
inline double dot(const Wrench& f, const Twist& v) {
  return dot(f.linear, v.linear) + dot(f.angular, v.angular);
}

// The same about another place, which is `way` from the first.
inline Twist moved(const Twist& v, const Vec3& way) {
  return {v.linear + cross(v.angular, way), v.angular};
}
inline Wrench moved(const Wrench& f, const Vec3& way) {
  return {f.linear, f.angular - cross(way, f.linear)};
}

// Of a force at `arm` from the place.
inline Wrench wrench_of(const Vec3& force, const Vec3& arm) { return {force, cross(arm, force)}; }

// [ ll  la ]   takes a twist to the wrench against which it is done; symmetric, never negative.
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

// What resists along one unit direction only, at `arm` from the place.
SpatialMatrix resist_along(const Vec3& direction, const Vec3& arm, double size);
// What resists in all directions alike.
SpatialMatrix resist_all(const Vec3& arm, double size);

}  // namespace isotact
