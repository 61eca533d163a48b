// Distances of features and the least of them on straight ways, slowly and in wider numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/queries/deformable/continuous_features.h"

namespace isotact::feature_oracle {

using Real = long double;
using Point = Vector3<Real>;
using Points = std::array<Point, 4>;

inline Point widen(const Vec3& p) { return {p.x, p.y, p.z}; }

inline Real point_segment(const Point& p, const Point& a, const Point& b) {
  const Point along = b - a;
  const Real size = length_sq(along);
  Real t = size > 0 ? dot(p - a, along) / size : 0;
  t = std::clamp(t, Real{0}, Real{1});
  return length(p - (a + along * t));
}

inline Real vertex_face(const Points& x) {
  const auto& [p, a, b, c] = x;
  Real best = std::min({point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)});
  const Point n = cross(b - a, c - a);
  if (length_sq(n) == 0) return best;
  const auto is_left = [&](const Point& from, const Point& to) {
    return dot(cross(to - from, p - from), n) >= 0;
  };
  if (is_left(a, b) && is_left(b, c) && is_left(c, a))
    best = std::min(best, std::abs(dot(p - a, n)) / length(n));
  return best;
}

inline Real edge_edge(const Points& x) {
  const auto& [a, b, c, d] = x;
  Real best = std::min({point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b),
                        point_segment(d, a, b)});
  // Seen along what is perpendicular to both, they cross where each has its ends on both sides of
  // the other.
  const Point n = cross(b - a, d - c);
  if (length_sq(n) == 0) return best;
  const auto side = [&](const Point& from, const Point& to, const Point& p) {
    return dot(cross(to - from, p - from), n);
  };
  if (side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0)
    best = std::min(best, std::abs(dot(c - a, n)) / length(n));
  return best;
}

inline Points at(const FeatureMotion& motion, Real t) {
  Points x{};
  for (std::size_t i = 0; i < 4; ++i)
    x[i] = widen(motion.at_t0[i]) * (1 - t) + widen(motion.at_t1[i]) * t;
  return x;
}

inline Real distance(const FeatureMotion& motion, bool is_edges, Real t) {
  return is_edges ? edge_edge(at(motion, t)) : vertex_face(at(motion, t));
}

inline Real size_of(const FeatureMotion& m) {
  Real most = 0;
  for (std::size_t i = 0; i < 4; ++i)
    most = std::max({most, length(widen(m.at_t0[i]) - widen(m.at_t0[0])),
                     length(widen(m.at_t1[i]) - widen(m.at_t1[0]))});
  return most;
}

// The least distance over all times, from above, and when: from the best of many times by smaller
// and smaller steps.
struct LeastDistance {
  Real distance = 0, time = 0;
};
inline LeastDistance find_approach(const FeatureMotion& motion, bool is_edges, int samples = 64) {
  LeastDistance best{distance(motion, is_edges, 0), 0};
  const auto look = [&](Real t) {
    if (t < 0 || t > 1) return false;
    const Real d = distance(motion, is_edges, t);
    if (d >= best.distance) return false;
    best = {d, t};
    return true;
  };
  for (int i = 1; i <= samples; ++i) look(static_cast<Real>(i) / samples);
  for (Real step = Real{1} / samples; step > 1e-17L; step /= 2)
    while (look(best.time + step) || look(best.time - step)) {
    }
  return best;
}

inline Meeting find_meeting(const FeatureMotion& motion, bool is_edges,
                            const MeetingSettings& settings) {
  return is_edges ? find_meeting_edge_edge(motion, settings)
                  : find_meeting_vertex_face(motion, settings);
}
inline Meeting find_meeting_by_inclusion(const FeatureMotion& motion, bool is_edges,
                                         const MeetingSettings& settings) {
  return is_edges ? find_meeting_edge_edge_by_inclusion(motion, settings)
                  : find_meeting_vertex_face_by_inclusion(motion, settings);
}

}  // namespace isotact::feature_oracle
