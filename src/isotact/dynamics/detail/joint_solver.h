// Where joints are.
#pragma once

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

}  // namespace isotact::detail
