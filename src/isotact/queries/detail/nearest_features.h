// The nearest points of two features, from the differences of their vertices alone: where they lie
// in the world does not matter, and costs no digits.
#pragma once

#include <cmath>

#include "isotact/base/vec.h"
#include "isotact/geometry/detail/triangle_lanes.h"

namespace isotact::detail {

struct NearestFeatures {
  double u = 0, v = 0;  // a face's weights of corners 1 and 2; or places along the two edges
  Vec3 to_first{};      // from the second feature to the first
  double distance_sq = 0;
};

// From a vertex to the corners of a face: a, b, c are vertex less corner.
inline NearestFeatures find_nearest_on_face(const Vec3& a, const Vec3& b, const Vec3& c) {
  // Of the triangle -a, -b, -c, the point nearest to the origin.
  const Nearest<double> first =
      find_nearest<double>({0, 0, 0}, {-a.x, -a.y, -a.z}, {-b.x, -b.y, -b.z}, {-c.x, -c.y, -c.z});
  const Vec3 ab = b - a, ac = c - a;
  NearestFeatures best{first.v, first.w, a + ab * first.v + ac * first.w, 0};
  best.distance_sq = length_sq(best.to_first);
  if (first.part != 3) return best;
  // Slivers lose digits in the products of their sides; what was lost is seen in the difference,
  // which should be perpendicular to both. Taken only where it is better.
  const double ab_ab = dot(ab, ab), ac_ac = dot(ac, ac), ab_ac = dot(ab, ac);
  const double inverse = 1 / (ab_ab * ac_ac - ab_ac * ab_ac);
  const double ab_r = dot(ab, best.to_first), ac_r = dot(ac, best.to_first);
  const double v = best.u - (ac_ac * ab_r - ab_ac * ac_r) * inverse;
  const double w = best.v - (ab_ab * ac_r - ab_ac * ab_r) * inverse;
  const Vec3 better = a + ab * v + ac * w;
  const double distance_sq = length_sq(better);
  if (distance_sq < best.distance_sq && v >= 0 && w >= 0 && v + w <= 1)
    return {v, w, better, distance_sq};
  return best;
}

// Between two edges: `between` leads from the start of the second to that of the first, and both
// run along. The least of a convex function over a square is where its slope is zero, or on a side:
// all five are tried and measured. The first is noise where edges are nearly parallel, but then its
// distance is no less than the true one, and a side has one that is as good.
inline NearestFeatures find_nearest_on_edges(const Vec3& between, const Vec3& first,
                                             const Vec3& second) {
  const double aa = dot(first, first), ab = dot(first, second), bb = dot(second, second);
  const double ar = dot(first, between), br = dot(second, between);
  NearestFeatures best;
  best.distance_sq = -1;
  const auto consider = [&](double u, double v) {
    const Vec3 r = between + first * u - second * v;
    const double distance_sq = length_sq(r);
    if (best.distance_sq < 0 || distance_sq < best.distance_sq) best = {u, v, r, distance_sq};
  };
  // A clamp turns 0/0, of an edge without length, into 0.
  consider(0, clamp_to_unit(br / bb));
  consider(1, clamp_to_unit((br + ab) / bb));
  consider(clamp_to_unit(-ar / aa), 0);
  consider(clamp_to_unit((ab - ar) / aa), 1);
  const double inverse = 1 / (aa * bb - ab * ab);
  const double u = (ab * br - bb * ar) * inverse, v = (aa * br - ab * ar) * inverse;
  if (!(u > 0 && u < 1 && v > 0 && v < 1)) return best;
  consider(u, v);
  // As above: digits that the products lost.
  const Vec3 r = between + first * u - second * v;
  const double a_r = dot(first, r), b_r = dot(second, r);
  const double u2 = u + (ab * b_r - bb * a_r) * inverse, v2 = v + (aa * b_r - ab * a_r) * inverse;
  if (u2 >= 0 && u2 <= 1 && v2 >= 0 && v2 <= 1) consider(u2, v2);
  return best;
}

}  // namespace isotact::detail
