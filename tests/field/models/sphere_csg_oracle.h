// The true signed distance of two spheres united, cut or taken from each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/field/models/analytic.h"

namespace isotact {

enum class SphereCsg { kUnion, kIntersection, kDifference };

inline bool is_inside(SphereCsg kind, bool in_a, bool in_b) {
  if (kind == SphereCsg::kUnion) return in_a || in_b;
  return kind == SphereCsg::kIntersection ? in_a && in_b : in_a && !in_b;
}

// The surface is made of two caps and their common rim. The point of a cap nearest to x is the
// sphere's point nearest to x if that lies on the cap; else it is on the rim, since distance grows
// with the angle from there.
inline std::optional<double> distance_to_rim(const SphereField& a, const SphereField& b,
                                             const Vec3& x) {
  const Vec3 between = b.center - a.center;
  const double d = length(between);
  const double along = (d * d + a.radius * a.radius - b.radius * b.radius) / (2 * d);
  const double rim_sq = a.radius * a.radius - along * along;
  if (!(rim_sq > 0)) return std::nullopt;
  const Vec3 axis = between / d, from = x - (a.center + axis * along);
  const double up = dot(from, axis), out = length(from - axis * up) - std::sqrt(rim_sq);
  return std::sqrt(up * up + out * out);
}

// Nothing where the body or its surface is empty.
inline std::optional<double> true_distance(SphereCsg kind, const SphereField& a,
                                           const SphereField& b, const Vec3& x) {
  double nearest = distance_to_rim(a, b, x).value_or(std::numeric_limits<double>::infinity());
  const auto try_cap = [&](const SphereField& own, const SphereField& other, bool other_inside) {
    const Vec3 foot = own.center + normalized(x - own.center) * own.radius;
    if ((other.value(foot) < 0) == other_inside)
      nearest = std::min(nearest, std::abs(own.value(x)));
  };
  try_cap(a, b, kind == SphereCsg::kIntersection);
  try_cap(b, a, kind != SphereCsg::kUnion);
  if (!(nearest < std::numeric_limits<double>::infinity())) return std::nullopt;
  return is_inside(kind, a.value(x) <= 0, b.value(x) <= 0) ? -nearest : nearest;
}

}  // namespace isotact
