// Axis-aligned boxes, and balls. An empty box has lower > upper on every axis and contains nothing.
#pragma once

#include <limits>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

template <typename T>
struct AabbOf {
  Vector3<T> lower = Vector3<T>{1, 1, 1} * std::numeric_limits<T>::infinity();
  Vector3<T> upper = Vector3<T>{1, 1, 1} * -std::numeric_limits<T>::infinity();

  friend constexpr bool operator==(const AabbOf&, const AabbOf&) = default;
};

using Aabb = AabbOf<double>;
using Aabbf = AabbOf<float>;

template <typename T>
constexpr bool is_empty(const AabbOf<T>& b) {
  return !(b.lower.x <= b.upper.x && b.lower.y <= b.upper.y && b.lower.z <= b.upper.z);
}

template <typename T>
constexpr void extend(AabbOf<T>& b, const Vector3<T>& p) {
  b.lower = min(b.lower, p);
  b.upper = max(b.upper, p);
}

template <typename T>
constexpr void extend(AabbOf<T>& b, const AabbOf<T>& other) {
  b.lower = min(b.lower, other.lower);
  b.upper = max(b.upper, other.upper);
}

template <typename T>
constexpr Vector3<T> center(const AabbOf<T>& b) {
  return (b.lower + b.upper) * T(0.5);
}

template <typename T>
constexpr Vector3<T> extent(const AabbOf<T>& b) {
  return b.upper - b.lower;
}

template <typename T>
constexpr T half_area(const AabbOf<T>& b) {
  const Vector3<T> e = extent(b);
  return e.x * e.y + e.y * e.z + e.z * e.x;
}

// Returns the point of the box nearest to p.
template <typename T>
constexpr Vector3<T> clamp_to(const AabbOf<T>& b, const Vector3<T>& p) {
  return max(b.lower, min(b.upper, p));
}

// True if the boxes share a point; touching boxes overlap.
template <typename T>
constexpr bool overlaps(const AabbOf<T>& a, const AabbOf<T>& b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
         b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

template <typename T>
constexpr bool contains(const AabbOf<T>& b, const Vector3<T>& p) {
  return b.lower.x <= p.x && p.x <= b.upper.x && b.lower.y <= p.y && p.y <= b.upper.y &&
         b.lower.z <= p.z && p.z <= b.upper.z;
}

// Returns the squared distance from p to the box, zero if p is inside.
template <typename T>
constexpr T distance_sq(const AabbOf<T>& b, const Vector3<T>& p) {
  const Vector3<T> outside = max(max(b.lower - p, p - b.upper), Vector3<T>{});
  return length_sq(outside);
}

constexpr Aabb to_double(const Aabbf& b) { return {to_double(b.lower), to_double(b.upper)}; }

// A ball.
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
