// Fields given by formulas: exact signed distances inside and outside, exact gradients, all of
// space. Plain structs; each models Field. Lengths are metres. A query costs some ten nanoseconds.
//
// All of them are exact, hence their Lipschitz bound is 1, and distance_bounds() is the value give
// or take the rounding of a few operations. On a crease (the middle of a sphere, the middle planes
// of a box) the gradient is that of one side, and has length 1.
//
// range() is exact but for the capsule's lower end. The formulas are made of operations that never
// fall while one of |x|, |y|, |z| (about the middle) grows, and rounding keeps that order; so the
// formula at the ends of those ranges bounds what it gives in between, to the last bit.
//
// Numbers are not checked by queries: find_flaw says what is wrong with them. Bent ground is in
// terrain_field.h; csg.h turns, scales and combines.
#pragma once

#include <optional>
#include <string>

#include "isotact/field/field.h"

namespace isotact {

constexpr Aabb all_of_space() {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  return {{-kFar, -kFar, -kFar}, {kFar, kFar, kFar}};
}

// The half-space behind a plane. The default is XB14's ground, phi(p) = p_y.
struct PlaneField {
  Vec3 normal{0, 1, 0};  // unit, points out
  double offset = 0;     // of the plane from the origin, along the normal

  double value(const Vec3& point) const { return dot(normal, point) - offset; }
  FieldSample sample(const Vec3& point) const { return {value(point), normal}; }
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

struct SphereField {
  Vec3 center{};
  double radius = 0.5;

  double value(const Vec3& point) const { return length(point - center) - radius; }
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

struct BoxField {
  Vec3 center{};
  Vec3 half_size{0.5, 0.5, 0.5};

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

// All points within radius of the segment from a to b; a sphere where they are equal.
struct CapsuleField {
  Vec3 a{0, -0.25, 0}, b{0, 0.25, 0};
  double radius = 0.25;

  double value(const Vec3& point) const { return sample(point).distance; }
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;  // its lower end may be too low
  Interval distance_bounds(const Vec3& point) const;
};

// Along y, with flat caps.
struct CylinderField {
  Vec3 center{};
  double radius = 0.5;
  double height = 1;

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

// Around y.
struct TorusField {
  Vec3 center{};
  double radius = 0.375;       // of the circle in the middle of the tube
  double tube_radius = 0.125;  // less than radius

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

// What is wrong with the numbers, in words: "radius is -1, must be positive".
std::optional<std::string> find_flaw(const PlaneField& field);
std::optional<std::string> find_flaw(const SphereField& field);
std::optional<std::string> find_flaw(const BoxField& field);
std::optional<std::string> find_flaw(const CapsuleField& field);
std::optional<std::string> find_flaw(const CylinderField& field);
std::optional<std::string> find_flaw(const TorusField& field);

// Whether the body of every field of a type is known to be convex. Offsets of such bodies are exact
// inside too (csg.h).
template <typename F>
inline constexpr bool kIsConvex = false;
template <>
inline constexpr bool kIsConvex<PlaneField> = true;
template <>
inline constexpr bool kIsConvex<SphereField> = true;
template <>
inline constexpr bool kIsConvex<BoxField> = true;
template <>
inline constexpr bool kIsConvex<CapsuleField> = true;
template <>
inline constexpr bool kIsConvex<CylinderField> = true;

}  // namespace isotact
