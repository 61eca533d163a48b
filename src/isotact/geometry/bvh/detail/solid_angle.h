// The solid angle of a triangle, over a lane type, in basic arithmetic and square roots alone. The
// atan2 of the C library gives other bits on machines with fused multiply-add.
#pragma once

#include "isotact/geometry/mesh/detail/triangle_lanes.h"

namespace isotact::detail {

template <typename D>
ISOTACT_INLINE D square_root(D x) {
  if constexpr (sizeof(D) == sizeof(double)) {
    return __builtin_sqrt(x);
#if defined(__AVX2__)
  } else if constexpr (sizeof(D) == 32) {
    return _mm256_sqrt_pd(x.v);
#endif
#if defined(__SSE2__)
  } else if constexpr (sizeof(D) == 16) {
    return _mm_sqrt_pd(x.v);
#endif
  } else {
    D root;
    for (int i = 0; i < D::kWidth; ++i) root.v[i] = __builtin_sqrt(x.v[i]);
    return root;
  }
}

// The angle of the vector (x, y), like atan2(y, x), within 1e-15; 0 wherever y is 0. The angle is
// halved twice by tan(a/2) = tan a / (1 + sqrt(1 + tan^2 a)). This brings the tangent below
// tan(pi/16) = 0.199. There the power series to the 19th power is off by less than 0.199^21/21 <
// 1e-16.
template <typename D>
ISOTACT_INLINE D angle_of(D y, D x) {
  const D zero(0.0), one(1.0);
  const D abs_x = greater(x, -x), abs_y = greater(y, -y);
  const auto steep = abs_y > abs_x;
  D t = select(steep, abs_x, abs_y) / select(steep, abs_y, abs_x);
  t = t / (one + square_root(one + t * t));
  t = t / (one + square_root(one + t * t));
  const D s = t * t;
  D series(1.0 / 19);
  for (int k = 17; k >= 1; k -= 2) series = D(1.0 / k) - s * series;
  constexpr double kPi = 3.14159265358979323846;
  D angle = D(4.0) * t * series;
  angle = select(steep, D(kPi / 2) - angle, angle);
  angle = select(x < zero, D(kPi) - angle, angle);
  angle = select(y < zero, -angle, angle);
  return select(y != zero, angle, zero);
}

// Half the signed solid angle of a triangle seen from the origin (van Oosterom and Strackee, The
// Solid Angle of a Plane Triangle, 1983). It is positive if its back is seen, so that a closed mesh
// sums up to 2 pi inside. It is 0 for degenerate triangles, and seen from a point in their plane.
template <typename D>
ISOTACT_INLINE D compute_half_solid_angle(const Point3<D>& a, const Point3<D>& b,
                                          const Point3<D>& c) {
  const D la = square_root(dot(a, a)), lb = square_root(dot(b, b)), lc = square_root(dot(c, c));
  const Point3<D> b_x_c{b.y * c.z - b.z * c.y, b.z * c.x - b.x * c.z, b.x * c.y - b.y * c.x};
  const D determinant = dot(a, b_x_c);
  const D rest = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
  return angle_of(determinant, rest);
}

}  // namespace isotact::detail
