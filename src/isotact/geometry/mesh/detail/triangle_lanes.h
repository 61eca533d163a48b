// The two triangle tests that everything here rests on, over a lane type (base/detail/lanes.h):
// squared distance to a point, and the crossing with a ray. Brute force and every SIMD kernel run
// this very code, in double, and therefore agree to the last bit.
#pragma once

#include "isotact/base/detail/lanes.h"

namespace isotact::detail {

template <typename D>
struct Point3 {
  D x, y, z;

  friend ISOTACT_INLINE Point3 operator-(const Point3& a, const Point3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend ISOTACT_INLINE Point3 operator*(const Point3& a, const D& s) {
    return {a.x * s, a.y * s, a.z * s};
  }
};

// Takes a Vec3f, whose header files for other processors must not share.
template <typename V>
ISOTACT_INLINE Point3<double> to_point3(const V& p) {
  return {p.x, p.y, p.z};
}

template <typename D>
ISOTACT_INLINE D dot(const Point3<D>& a, const Point3<D>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <typename D>
struct Nearest {
  D distance_sq;
  D v, w;  // weights of corners 1 and 2, inside the triangle up to rounding
  D part;  // 0: edge 0-1, 1: edge 1-2, 2: edge 2-0, 3: the face
};

template <typename D>
ISOTACT_INLINE D clamp_to_unit(D t) {
  // A segment of no length has t = 0/0: greater() turns that NaN into 0, its first end.
  return lesser(greater(t, D(0.0)), D(1.0));
}

// The nearest point of a triangle a, b, c to p. The best point of the three edges is always found,
// whatever the shape. The foot on the face only replaces it if the foot is nearer and inside by its
// weights. A sliver whose face weights are noise therefore still gets an answer as good as its
// edges. A triangle that is a segment or a point is measured as one.
template <typename D>
ISOTACT_INLINE Nearest<D> find_nearest(const Point3<D>& p, const Point3<D>& a, const Point3<D>& b,
                                       const Point3<D>& c) {
  const Point3<D> ab = b - a, ac = c - a, bc = c - b, ap = p - a, bp = p - b;
  const D ab_ab = dot(ab, ab), ac_ac = dot(ac, ac), ab_ac = dot(ab, ac);
  const D ab_ap = dot(ab, ap), ac_ap = dot(ac, ap);

  const D t_ab = clamp_to_unit(ab_ap / ab_ab);
  const D t_ac = clamp_to_unit(ac_ap / ac_ac);
  const D t_bc = clamp_to_unit(dot(bc, bp) / dot(bc, bc));
  const Point3<D> r_ab = ap - ab * t_ab, r_ac = ap - ac * t_ac, r_bc = bp - bc * t_bc;
  const D d_ab = dot(r_ab, r_ab), d_ac = dot(r_ac, r_ac), d_bc = dot(r_bc, r_bc);

  const D inverse = D(1.0) / (ab_ab * ac_ac - ab_ac * ab_ac);
  const D v = (ac_ac * ab_ap - ab_ac * ac_ap) * inverse;
  const D w = (ab_ab * ac_ap - ab_ac * ab_ap) * inverse;
  const Point3<D> r = (ap - ab * v) - ac * w;
  const D d = dot(r, r);
  const auto inside = (v > D(0.0)) & (w > D(0.0)) & (v + w < D(1.0));  // false for NaN

  Nearest<D> best{d_ab, t_ab, D(0.0), D(0.0)};
  const auto take = [&best](auto mask, D distance_sq, D new_v, D new_w, D part)
      __attribute__((always_inline)) {
    best.distance_sq = select(mask, distance_sq, best.distance_sq);
    best.v = select(mask, new_v, best.v);
    best.w = select(mask, new_w, best.w);
    best.part = select(mask, part, best.part);
  };
  take(d_bc < best.distance_sq, d_bc, D(1.0) - t_bc, t_bc, D(1.0));
  take(d_ac < best.distance_sq, d_ac, D(0.0), t_ac, D(2.0));
  take(inside & (d < best.distance_sq), d, v, w, D(3.0));
  return best;
}

// A ray made ready for the watertight test of Woop, Benthin and Wald (Watertight Ray/Triangle
// Intersection, JCGT 2(1), 2013). Axes are permuted so that the direction is longest along the last
// one, then sheared onto it. The parameter t is measured along that axis, in lengths of its
// component.
template <typename D>
struct ShearedRay {
  int kx, ky, kz;    // the permutation
  Point3<D> origin;  // permuted
  D shear_x, shear_y;
  D sign;  // of the direction along kz
};

template <typename D>
struct Crossing {
  using Mask = decltype(D(0.0) < D(0.0));
  Mask hit;
  D determinant;
  D t, v, w;  // time and weights of corners 1 and 2, to be divided by the determinant
};

// The corners are permuted as the ray is. In exact arithmetic the sign of each edge function says
// on which side of the edge the ray passes. Rounded, the sign may be wrong. But the two triangles
// of a shared edge compute products of the same numbers and so see exactly opposite values. A ray
// cannot slip between them. A zero counts as a hit for both. Triangles seen edge-on are missed.
template <typename D>
ISOTACT_INLINE Crossing<D> find_crossing(const ShearedRay<D>& ray, const Point3<D>& corner_a,
                                         const Point3<D>& corner_b, const Point3<D>& corner_c) {
  const Point3<D> a = corner_a - ray.origin, b = corner_b - ray.origin, c = corner_c - ray.origin;
  const D ax = a.x - ray.shear_x * a.z, ay = a.y - ray.shear_y * a.z;
  const D bx = b.x - ray.shear_x * b.z, by = b.y - ray.shear_y * b.z;
  const D cx = c.x - ray.shear_x * c.z, cy = c.y - ray.shear_y * c.z;
  const D u = cx * by - cy * bx;
  const D v = ax * cy - ay * cx;
  const D w = bx * ay - by * ax;
  const D determinant = u + v + w;
  const D zero(0.0);
  const auto in = (u >= zero) & (v >= zero) & (w >= zero);
  const auto out = (u <= zero) & (v <= zero) & (w <= zero);
  const typename Crossing<D>::Mask hit = (in | out) & (determinant != zero);
  return {hit, determinant, (u * a.z + v * b.z + w * c.z) * ray.sign, v, w};
}

}  // namespace isotact::detail
