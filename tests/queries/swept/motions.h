// Motions for tests.
#pragma once

#include <cstddef>

#include "isotact/base/random.h"
#include "isotact/queries/swept/motion.h"

namespace isotact {

inline constexpr MotionModel kAllModels[] = {MotionModel::kStraight, MotionModel::kConstantRates,
                                             MotionModel::kScrew, MotionModel::kPolynomial};

inline Pose random_pose(Random& random, double furthest) {
  return {random.rotation(), random.in_unit_ball() * furthest};
}

// Of both bodies, each some `furthest` away from the origin.
inline ShellMotion random_motion(Random& random, double furthest) {
  ShellMotion motion;
  for (BodyMotion* body : {&motion.shell, &motion.field}) {
    body->from = random_pose(random, furthest);
    body->to = random_pose(random, furthest);
    body->pivot = random.in_unit_ball();
  }
  return motion;
}

}  // namespace isotact
