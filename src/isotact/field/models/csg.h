// Fields made of fields: union, intersection, difference, offset, and a placed copy, after KGM
// section 3.1. Each models Field; parts may be formulas, sampled fields and other combinations.
//
// Some results are exact and others are bounds. Write d_A for the true signed distance of body A.
//   * Union, min(a, b): d <= min(d_A, d_B) always, since more body is nearer. Outside of both it is
//     equal. Inside it need not be: if two bodies overlap, or share a face, the nearest point of
//     either's surface may lie inside of the other. It is equal again if one body's surface is
//     nearer than the other body. At depth -d_A < d_B, the ball of radius d_B around the point
//     contains nothing of B, but it contains the path out of A.
//   * Intersection, max(a, b): the same with inside and outside exchanged. Equal inside of both, d
//     >= max(d_A, d_B) always.
//   * Difference, max(a, -b): the intersection with the complement of B.
//   * Offset by r, a - r: outside of a body grown by r it is equal. Inside, d <= d_A - r: the path
//     out may be longer, if the grown parts meet. A body shrunk (r < 0) is the same with inside and
//     outside exchanged. Growing a convex body is exact everywhere, since it moves every supporting
//     plane out by r.
//   * Placed: exactly as exact as the placed field.
//
// So values stay lower bounds of the distance outside if those of the parts are. On the side of
// which nothing is known, distance_bounds() returns infinity.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/models/analytic.h"

namespace ISOTACT_PUBLIC isotact {

namespace detail {

inline constexpr double kFieldInfinity = std::numeric_limits<double>::infinity();

constexpr Interval negate(const Interval& i) { return {-i.upper, -i.lower}; }

// The smaller of two numbers that lie in a and b. It is two minima, not the hull.
constexpr Interval min_of(const Interval& a, const Interval& b) {
  return {a.lower < b.lower ? a.lower : b.lower, a.upper < b.upper ? a.upper : b.upper};
}
constexpr Interval max_of(const Interval& a, const Interval& b) {
  return negate(min_of(negate(a), negate(b)));
}

// The signed distance of a union, from those of its parts. It is the smaller one if d_A + d_B > 0.
// Either both are then positive, or the depth in one body is less than the distance to the other. A
// sum of zero is not enough: two half-spaces that share their plane fill all of space.
constexpr Interval union_distance(const Interval& a, const Interval& b) {
  const Interval smaller = min_of(a, b);
  return {a.lower + b.lower > 0 ? smaller.lower : -kFieldInfinity, smaller.upper};
}
constexpr Interval intersection_distance(const Interval& a, const Interval& b) {
  return negate(union_distance(negate(a), negate(b)));
}

}  // namespace detail

// KGM equation 7. bounds(): the smallest box around those of both parts.
template <Field A, Field B>
struct Union {
  A a;
  B b;

  double value(const Vec3& point) const {
    const double in_a = a.value(point), in_b = b.value(point);
    return in_a <= in_b ? in_a : in_b;
  }
  FieldSample sample(const Vec3& point) const {
    const FieldSample in_a = a.sample(point), in_b = b.sample(point);
    return in_a.distance <= in_b.distance ? in_a : in_b;
  }
  Aabb bounds() const {
    Aabb box = a.bounds();
    extend(box, b.bounds());
    return box;
  }
  double lipschitz() const { return std::max<double>(a.lipschitz(), b.lipschitz()); }
  Interval range(const Aabb& box) const { return detail::min_of(a.range(box), b.range(box)); }
  Interval distance_bounds(const Vec3& point) const {
    return detail::union_distance(a.distance_bounds(point), b.distance_bounds(point));
  }
};
template <Field A, Field B>
Union(A, B) -> Union<A, B>;

// KGM equation 6. bounds(): the common part of both parts' boxes; empty if there is none.
template <Field A, Field B>
struct Intersection {
  A a;
  B b;

  double value(const Vec3& point) const {
    const double in_a = a.value(point), in_b = b.value(point);
    return in_a >= in_b ? in_a : in_b;
  }
  FieldSample sample(const Vec3& point) const {
    const FieldSample in_a = a.sample(point), in_b = b.sample(point);
    return in_a.distance >= in_b.distance ? in_a : in_b;
  }
  Aabb bounds() const {
    const Aabb of_a = a.bounds(), of_b = b.bounds();
    const Aabb common{max(of_a.lower, of_b.lower), min(of_a.upper, of_b.upper)};
    return is_empty(common) ? Aabb{} : common;
  }
  double lipschitz() const { return std::max<double>(a.lipschitz(), b.lipschitz()); }
  Interval range(const Aabb& box) const { return detail::max_of(a.range(box), b.range(box)); }
  Interval distance_bounds(const Vec3& point) const {
    return detail::intersection_distance(a.distance_bounds(point), b.distance_bounds(point));
  }
};
template <Field A, Field B>
Intersection(A, B) -> Intersection<A, B>;
template <Field A, Field B>
inline constexpr bool kIsConvex<Intersection<A, B>> = kIsConvex<A>&& kIsConvex<B>;

// A without B. bounds(): A's.
template <Field A, Field B>
struct Difference {
  A a;
  B b;

  double value(const Vec3& point) const {
    const double in_a = a.value(point), out_of_b = -b.value(point);
    return in_a >= out_of_b ? in_a : out_of_b;
  }
  FieldSample sample(const Vec3& point) const {
    const FieldSample in_a = a.sample(point), in_b = b.sample(point);
    return in_a.distance >= -in_b.distance ? in_a : FieldSample{-in_b.distance, -in_b.gradient};
  }
  Aabb bounds() const { return a.bounds(); }
  double lipschitz() const { return std::max<double>(a.lipschitz(), b.lipschitz()); }
  Interval range(const Aabb& box) const {
    return detail::max_of(a.range(box), detail::negate(b.range(box)));
  }
  Interval distance_bounds(const Vec3& point) const {
    return detail::intersection_distance(a.distance_bounds(point),
                                         detail::negate(b.distance_bounds(point)));
  }
};
template <Field A, Field B>
Difference(A, B) -> Difference<A, B>;

// A grown by `amount` metres, or shrunk if it is negative. bounds(): A's.
template <Field A>
struct Offset {
  A field;
  double amount = 0;

  double value(const Vec3& point) const { return field.value(point) - amount; }
  FieldSample sample(const Vec3& point) const {
    const FieldSample s = field.sample(point);
    return {s.distance - amount, s.gradient};
  }
  Aabb bounds() const { return field.bounds(); }
  double lipschitz() const { return field.lipschitz(); }
  Interval range(const Aabb& box) const {
    const Interval r = field.range(box);
    return {r.lower - amount, r.upper - amount};
  }
  Interval distance_bounds(const Vec3& point) const {
    const Interval d = field.distance_bounds(point);
    Interval moved{d.lower - amount, d.upper - amount};
    // One rounding each; the bounds of the part allow for its own alone.
    const double slack = std::numeric_limits<double>::epsilon() * std::abs(amount);
    moved.lower -= slack;
    moved.upper += slack;
    if (amount == 0 || (amount > 0 && kIsConvex<A>)) return moved;
    if (amount > 0) return {moved.lower > 0 ? moved.lower : -detail::kFieldInfinity, moved.upper};
    return {moved.lower, moved.upper < 0 ? moved.upper : detail::kFieldInfinity};
  }
};
template <Field A>
Offset(A, double) -> Offset<A>;

// A scaled about its origin, then rotated and moved (KGM equations 4 and 5). The rotation must be a
// unit quaternion and the scale positive: place() checks.
template <Field A>
struct Placed {
  A field;
  Pose world_from_field{};
  double scale = 1;

  double value(const Vec3& point) const { return field.value(to_field(point)) * scale; }
  FieldSample sample(const Vec3& point) const {
    const FieldSample s = field.sample(to_field(point));
    return {s.distance * scale, transform_vector(world_from_field, s.gradient)};
  }
  // The axis-aligned box around the rotated one, hence larger.
  Aabb bounds() const {
    const Aabb box = field.bounds();
    if (is_empty(box)) return {};
    if (!is_finite(box.lower) || !is_finite(box.upper)) return all_of_space();
    return turned(box, [&](const Vec3& p) { return transform_point(world_from_field, p * scale); });
  }
  double lipschitz() const { return field.lipschitz(); }
  // There are two bounds, and the better one is used: that of the axis-aligned box around the
  // rotated one, and Lipschitz's from the middle. The latter does not depend on rotation.
  Interval range(const Aabb& box) const {
    if (!is_finite(box.lower) || !is_finite(box.upper)) {
      const Interval r = field.range(all_of_space());
      return {r.lower * scale, r.upper * scale};
    }
    Aabb local = turned(box, [&](const Vec3& p) { return to_field(p); });
    const double slack = rounding(box.lower) + rounding(box.upper);
    const Vec3 pad = Vec3{1, 1, 1} * (slack / scale);
    local.lower -= pad;
    local.upper += pad;
    const Interval r = field.range(local);
    const double middle = value(center(box));
    // The part's own rounding is not known here; allow for more than formulas have.
    const double half = length(extent(box)) / 2;
    const double reach = lipschitz() * (half + slack) + 1e-12 * (std::abs(middle) + half);
    return {std::max(r.lower * scale, middle - reach), std::min(r.upper * scale, middle + reach)};
  }
  Interval distance_bounds(const Vec3& point) const {
    const Interval d = field.distance_bounds(to_field(point));
    const double slack = rounding(point);  // Distances change no faster than space.
    constexpr double kLast = std::numeric_limits<double>::epsilon();
    return {d.lower * scale - slack - kLast * std::abs(d.lower * scale),
            d.upper * scale + slack + kLast * std::abs(d.upper * scale)};
  }

  Vec3 to_field(const Vec3& point) const {
    return rotate(conjugate(world_from_field.rotation), point - world_from_field.translation) /
           scale;
  }

 private:
  template <typename Map>
  static Aabb turned(const Aabb& box, const Map& map) {
    Aabb result;
    for (unsigned corner = 0; corner < 8; ++corner)
      extend(result, map(Vec3{(corner & 1U) != 0 ? box.upper.x : box.lower.x,
                              (corner & 2U) != 0 ? box.upper.y : box.lower.y,
                              (corner & 4U) != 0 ? box.upper.z : box.lower.z}));
    return result;
  }
  // Largest error, in metres, of a point from to_field: a rotation is some twenty roundings, and a
  // quaternion is unit to within a few.
  double rounding(const Vec3& point) const {
    return 32 * std::numeric_limits<double>::epsilon() *
           (length(point) + length(world_from_field.translation));
  }
};
template <Field A>
Placed(A, Pose) -> Placed<A>;
template <Field A>
Placed(A, Pose, double) -> Placed<A>;
template <Field A>
inline constexpr bool kIsConvex<Placed<A>> = kIsConvex<A>;

// Throws Error for a quaternion that is not unit (to 1e-12), numbers that are not finite, and a
// scale that is not positive. The rotation is normalised to the last bits.
template <Field A>
Placed<A> place(const A& field, const Pose& world_from_field, double scale = 1) {
  if (!(std::abs(length_sq(world_from_field.rotation) - 1) <= 1e-12))
    throw Error("placed field: the rotation is not a unit quaternion");
  if (!is_finite(world_from_field.translation))
    throw Error("placed field: the translation is not finite");
  if (!(std::isfinite(scale) && scale > 0))
    throw Error("placed field: the scale must be positive and finite");
  return {field, {normalized(world_from_field.rotation), world_from_field.translation}, scale};
}

// KGM equation 8: x - f(x) grad f(x). The paper's gradients are unit vectors (its equation 3), and
// those of interpolated and scaled fields are not, so the direction is normalised here. The step is
// |f(x)| long and does not jump over the surface if the field is a bound. One step reaches the
// surface of an exact field; others need several. If the gradient is zero, the point stays.
template <Field F>
Vec3 project_onto_surface(const F& field, const Vec3& point) {
  const FieldSample s = field.sample(point);
  return point - normalized(s.gradient) * s.distance;
}

}  // namespace isotact
