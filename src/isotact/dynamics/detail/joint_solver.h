// Joints as equations between velocities.
#pragma once

#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/joint.h"
#include "isotact/dynamics/rigid_body.h"

namespace isotact::detail {

// How far a joint is from where it should be: metres apart, radians off. For reports and tests.
struct JointError {
  double distance = 0, angle = 0;
};
JointError find_joint_error(const JointSettings& joint, const RigidBody& a, const RigidBody& b);

// The angle of a hinge, or the place of a slider.
double find_joint_position(const JointSettings& joint, const RigidBody& a, const RigidBody& b);

// Changes the momenta such that all joints hold at the end of the step. Returns the work (J) that
// motors did. Bodies that no chain of joints connects are solved apart, in parallel.
double solve_joints(std::span<const JointSettings> joints, std::span<RigidBody* const> bodies,
                    double step, Threads threads);

}  // namespace isotact::detail
