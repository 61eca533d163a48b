// Balls, given by centre and radius.
#pragma once

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct Sphere {
  Vec3 center{};
  double radius = 0;

  friend constexpr bool operator==(const Sphere&, const Sphere&) = default;
};

constexpr bool contains(const Sphere& s, const Vec3& p) {
  return length_sq(p - s.center) <= s.radius * s.radius;
}

constexpr bool overlaps(const Sphere& a, const Sphere& b) {
  const double reach = a.radius + b.radius;
  return length_sq(a.center - b.center) <= reach * reach;
}

constexpr bool overlaps(const Sphere& s, const Aabb& b) {
  return distance_sq(b, s.center) <= s.radius * s.radius;
}

constexpr Aabb bounds(const Sphere& s) {
  const Vec3 r{s.radius, s.radius, s.radius};
  return {s.center - r, s.center + r};
}

}  // namespace isotact
