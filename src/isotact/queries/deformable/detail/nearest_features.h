// The nearest points of two features, from the differences of their vertices alone: their position
// in the world does not matter, and costs no digits.
//
// The direction between nearest points must be accurate in all its digits. It is to separate whole
// features that may be a million times longer than the gap. A difference of nearly equal points is
// not. It is therefore made perpendicular to the features afterwards. Along an edge, the component
// along it is removed. On a face and between crossed edges, the normal itself is used.
#pragma once

#include <algorithm>
#include <cmath>

#include "isotact/base/vec.h"

namespace isotact::detail {

struct NearestFeatures {
  double u = 0, v = 0;  // Weights of corners 1 and 2 of a face; or positions along the two edges.
  Vec3 to_first{};      // From the second feature to the first.
  double distance_sq = 0;
};

// An edge of zero length has t = 0/0, which becomes 0, its first end.
inline double clamp_to_edge(double t) { return t > 0 ? std::min(t, 1.0) : 0; }

inline bool is_within(double t) { return t > 0 && t < 1; }

inline Vec3 without_part_along(const Vec3& v, const Vec3& along, double along_sq) {
  return v - along * (dot(v, along) / along_sq);
}

// The candidate inside both features. Its difference is that of the points given by the weights;
// `foot` is the component of any difference along the normal. They are the same up to rounding,
// unless the normal has lost digits. Then the first has the better length, as it is that of true
// points, but the normal still has the better direction.
inline NearestFeatures inside_of(const NearestFeatures& candidate, const Vec3& foot,
                                 double size_sq) {
  const double distance = std::sqrt(candidate.distance_sq), foot_distance = length(foot);
  const bool agrees = distance - foot_distance <= 1e-12 * std::sqrt(size_sq);
  if (!agrees && !(foot_distance > 0.5 * distance)) return candidate;
  const Vec3 to_first = agrees ? foot : foot * (distance / foot_distance);
  return {candidate.u, candidate.v, to_first, length_sq(to_first)};
}

// From a vertex to the corners of a face: a, b, c are vertex less corner. The best point of the
// three edges is found for any shape. A face that is a segment or a point is measured as one.
inline NearestFeatures find_nearest_on_face(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, bc = c - b;
  const double ab_sq = length_sq(ab), ac_sq = length_sq(ac), bc_sq = length_sq(bc);
  // Positions on the edges with the least difference, and the difference there.
  const double t_ab = clamp_to_edge(-dot(a, ab) / ab_sq), t_ac = clamp_to_edge(-dot(a, ac) / ac_sq);
  const double t_bc = clamp_to_edge(-dot(b, bc) / bc_sq);
  const Vec3 r_ab = t_ab < 1 ? a + ab * t_ab : b, r_ac = t_ac < 1 ? a + ac * t_ac : c;
  const Vec3 r_bc = t_bc < 1 ? b + bc * t_bc : c;

  NearestFeatures best{t_ab, 0, r_ab, length_sq(r_ab)};
  const Vec3* along = &ab;
  double along_sq = ab_sq, t = t_ab;
  if (const double d = length_sq(r_ac); d < best.distance_sq)
    best = {0, t_ac, r_ac, d}, along = &ac, along_sq = ac_sq, t = t_ac;
  if (const double d = length_sq(r_bc); d < best.distance_sq)
    best = {1 - t_bc, t_bc, r_bc, d}, along = &bc, along_sq = bc_sq, t = t_bc;

  const Vec3 normal = cross(ab, ac);
  const double inverse = 1 / length_sq(normal);
  const double v = dot(cross(ac, a), normal) * inverse, w = dot(cross(a, ab), normal) * inverse;
  if (v > 0 && w > 0 && v + w < 1) {  // False for NaN.
    const Vec3 r = a + ab * v + ac * w;
    if (const double d = length_sq(r); d < best.distance_sq)
      return inside_of({v, w, r, d}, normal * (dot(a, normal) * inverse), std::max(ab_sq, ac_sq));
  }
  if (is_within(t)) {
    best.to_first = without_part_along(best.to_first, *along, along_sq);
    best.distance_sq = length_sq(best.to_first);
  }
  return best;
}

// Between two edges: `between` leads from the start of the second to that of the first, and `first`
// and `second` run along the edges. The minimum of a convex function over a square has zero slope,
// or is on a side: all five candidates are measured. The first is noise if edges are nearly
// parallel. But then its distance is no less than the true one, and a side has one that is as good.
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
  consider(0, clamp_to_edge(br / bb));
  consider(1, clamp_to_edge((br + ab) / bb));
  consider(clamp_to_edge(-ar / aa), 0);
  consider(clamp_to_edge((ab - ar) / aa), 1);

  const Vec3 normal = cross(first, second);
  const double inverse = 1 / length_sq(normal);
  const double u = dot(cross(second, between), normal) * inverse;
  const double v = dot(cross(first, between), normal) * inverse;
  if (is_within(u) && is_within(v)) {
    const Vec3 r = between + first * u - second * v;
    if (const double d = length_sq(r); d < best.distance_sq)
      return inside_of({u, v, r, d}, normal * (dot(between, normal) * inverse), std::max(aa, bb));
  }
  if (is_within(best.u) || is_within(best.v)) {
    best.to_first = is_within(best.u) ? without_part_along(best.to_first, first, aa)
                                      : without_part_along(best.to_first, second, bb);
    best.distance_sq = length_sq(best.to_first);
  }
  return best;
}

}  // namespace isotact::detail
