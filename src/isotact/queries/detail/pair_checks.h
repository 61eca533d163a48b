// Checks that every query of a pair makes.
#pragma once

#include <cmath>

#include "isotact/base/error.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

inline void check_pose(const Pose& pose) {
  constexpr double kFurthest = 1e15;  // metres: squares of what follows stay finite in a float
  if (!is_finite(pose.translation)) throw Error("a pose is not finite");
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::abs(pose.translation[axis]) > kFurthest)
      throw Error("a pose is further than 1e15 m from the origin");
  if (!(std::abs(length_sq(pose.rotation) - 1) < 1e-3))
    throw Error(
        "the rotation of a pose is no unit quaternion; a Pose begins with its rotation, so a "
        "position alone is Pose{.translation = ...}");
}

inline void check_ends(const Shape& a, const Shape& b) {
  if (!a.is_bounded() && !b.is_bounded())
    throw Error("two shapes without end cannot be tested against each other", Hint::kBounds);
}

inline bool can_take_role(const Shape& points, const Shape& field) {
  return points.can_have_points() && field.can_have_field();
}

// Says why no role is possible.
[[noreturn]] inline void refuse_pair(const Shape& a, const Shape& b, Roles roles) {
  if (can_take_role(a, b) || can_take_role(b, a))
    throw Error(roles == Roles::kPointsOfA
                    ? "A has no points, or B no field: test the points of B, or of both"
                    : "B has no points, or A no field: test the points of A, or of both");
  throw Error("these shapes cannot be tested: both are pointshells, and one needs a field",
              Hint::kField);
}

}  // namespace isotact::detail
