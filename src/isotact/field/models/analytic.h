// Fields given by formulas: exact signed distances inside and outside, exact gradients, on all of
// space. They are plain structs; each models Field. Lengths are in metres. A query costs some ten
// nanoseconds.
//
// All of them are exact, hence their Lipschitz bound is 1. distance_bounds() is the value plus or
// minus the rounding of a few operations. On a crease (the middle of a sphere, the middle planes of
// a box) the gradient is that of one side, and has length 1.
//
// range() is exact except for the lower ends of capsule and cone. The formulas are made of
// operations that never fall while one of |x|, |y|, |z| (about the middle) grows, and rounding
// keeps that order. So the formula at the ends of those ranges bounds its values in between, to the
// last bit.
//
// Queries do not check numbers: find_flaw describes what is wrong with them. Uneven ground is in
// terrain_field.h; csg.h rotates, scales and combines.
#pragma once

#include <optional>
#include <string>

#include "isotact/export.h"
#include "isotact/field/field.h"

namespace ISOTACT_PUBLIC isotact {

constexpr Aabb all_of_space() {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  return {{-kFar, -kFar, -kFar}, {kFar, kFar, kFar}};
}

// The half-space behind a plane. The default is XB14's ground, phi(p) = p_y.
struct PlaneField {
  static constexpr bool kConvex = true;
  Vec3 normal{0, 1, 0};  // Unit vector, points out.
  double offset = 0;     // Offset of the plane from the origin, along the normal.

  double value(const Vec3& point) const { return dot(normal, point) - offset; }
  FieldSample sample(const Vec3& point) const { return {value(point), normal}; }
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

struct SphereField {
  static constexpr bool kConvex = true;
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
  static constexpr bool kConvex = true;
  Vec3 center{};
  Vec3 half_size{0.5, 0.5, 0.5};

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

// All points within radius of the segment from a to b; a sphere if they are equal.
struct CapsuleField {
  static constexpr bool kConvex = true;
  Vec3 a{0, -0.25, 0}, b{0, 0.25, 0};
  double radius = 0.25;

  double value(const Vec3& point) const { return sample(point).distance; }
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;  // Its lower end may be too low.
  Interval distance_bounds(const Vec3& point) const;
};

// A cylinder along y, with flat caps.
struct CylinderField {
  static constexpr bool kConvex = true;
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

// A cone along y: the base circle at center - height/2, the apex at center + height/2.
struct ConeField {
  static constexpr bool kConvex = true;
  Vec3 center{};
  double radius = 0.5;  // Radius of the base.
  double height = 1;

  double value(const Vec3& point) const { return sample(point).distance; }
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;  // Its lower end may be too low.
  Interval distance_bounds(const Vec3& point) const;
};

// A torus around y.
struct TorusField {
  Vec3 center{};
  double radius = 0.375;       // Radius of the circle in the middle of the tube.
  double tube_radius = 0.125;  // Less than radius.

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return all_of_space(); }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;
};

// Describes what is wrong with the numbers: "radius is -1, must be positive".
std::optional<std::string> find_flaw(const PlaneField& field);
std::optional<std::string> find_flaw(const SphereField& field);
std::optional<std::string> find_flaw(const BoxField& field);
std::optional<std::string> find_flaw(const CapsuleField& field);
std::optional<std::string> find_flaw(const CylinderField& field);
std::optional<std::string> find_flaw(const ConeField& field);
std::optional<std::string> find_flaw(const TorusField& field);

// Whether the body of every field of a type is known to be convex. Offsets of such bodies are exact
// inside as well (csg.h).
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
template <>
inline constexpr bool kIsConvex<ConeField> = true;

}  // namespace isotact
