// The definition of a signed distance field, whatever stores it: a function on all of space,
// negative inside, positive outside, whose gradient points out. Lengths are in metres.
//
// The contract of every model:
//   * defined on all of space: outside of bounds() it is extended, continuously, and stays a lower
//     bound of the distance (extend_outside says how and why);
//   * continuous, so that no sign changes without a root;
//   * one answer: every method of evaluating one field gives the same number, except for rounding;
//   * sound: distance_bounds() contains the true distance, lipschitz() bounds every difference
//     quotient of value(), range(box) contains every value in the box.
//
// Culling relies on the last line. It may never lose a contact.
//
// Models: BrickField (the default), DenseGrid, FirstOrderField, ExactField (the mesh itself), and
// the analytic shapes and their combinations. A Voxmap is none, since its values jump from voxel to
// voxel; its support map becomes one by to_first_order_field.
#pragma once

#include <concepts>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct FieldSample {
  double distance = 0;
  // Gradient of the function that value() computes, not normalised; on a crease, that of one side.
  Vec3 gradient{};
};

// All numbers from lower to upper.
struct Interval {
  double lower = 0;
  double upper = 0;

  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

constexpr bool contains(const Interval& interval, double x) {
  return interval.lower <= x && x <= interval.upper;
}
constexpr Interval unite(const Interval& a, const Interval& b) {
  return {a.lower < b.lower ? a.lower : b.lower, a.upper > b.upper ? a.upper : b.upper};
}

// None of these throws or allocates; all may be called from many threads. Points must be finite.
template <typename F>
concept Field = requires(const F& field, const Vec3& point, const Aabb& box) {
  { field.value(point) } -> std::convertible_to<double>;
  { field.sample(point) } -> std::same_as<FieldSample>;
  // The box in which the field is most accurate; infinite for shapes that are exact everywhere.
  { field.bounds() } -> std::same_as<Aabb>;
  // |value(p) - value(q)| <= lipschitz() |p - q| for all p and q.
  { field.lipschitz() } -> std::convertible_to<double>;
  // Every value of the field in the box lies in the result, which may be larger.
  { field.range(box) } -> std::same_as<Interval>;
  // The true signed distance at the point lies in the result.
  { field.distance_bounds(point) } -> std::same_as<Interval>;
};

// Extends a field outside of its box. Let p be the point of the box nearest to x, and d(p) >= 0 the
// distance there. The box is convex and contains the whole surface. So for every surface point y
// the angle at p between x and y is at least a right one. It follows that |x - y|^2 >= |x - p|^2 +
// |p - y|^2. Hence
//   d(x) >= sqrt(|x - p|^2 + d(p)^2).
// This lower bound is exact if the nearest surface point lies along the box's normal. It grows like
// the distance and agrees with the field on the box's face. If d(p) is only known to within e, the
// error of the bound is at most e, since the root changes no faster than d(p).
// If value_on_box is negative (a body that the box cuts), the extension is |x - p| + value, which
// is continuous but no bound. Builders pad boxes so that this does not happen.
double extend_outside(double value_on_box, double distance_to_box);
FieldSample extend_outside(const FieldSample& on_box, const Vec3& x, const Vec3& on_box_point);

// The smallest and the largest value that a sampled field takes in a cell, a brick or a node of a
// tree. It is exact: both are samples.
struct ValueRange {
  float min, max;

  friend constexpr bool operator==(const ValueRange&, const ValueRange&) = default;
};

constexpr ValueRange unite(const ValueRange& a, const ValueRange& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max};
}

}  // namespace isotact
