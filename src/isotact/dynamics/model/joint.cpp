#include "isotact/dynamics/model/joint.h"

#include <cmath>

namespace isotact {

std::string_view name(JointKind kind) {
  switch (kind) {
    case JointKind::kBall:
      return "ball";
    case JointKind::kHinge:
      return "hinge";
    case JointKind::kSlider:
      return "slider";
    case JointKind::kFixed:
      return "fixed";
  }
  return "";
}

std::optional<JointKind> find_joint_kind(std::string_view text) {
  for (const JointKind kind :
       {JointKind::kBall, JointKind::kHinge, JointKind::kSlider, JointKind::kFixed})
    if (name(kind) == text) return kind;
  return std::nullopt;
}

JointFrames compute_joint_frames(const Pose& world_from_a, const Pose& world_from_b,
                                 const Vec3& place, const Vec3& axis) {
  const Vec3 x = normalized(axis);
  const Vec3 other = std::abs(x.x) < 0.8 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 y = normalized(cross(other, x)), z = cross(x, y);
  const Pose world_from_joint{to_quat(transpose(Mat3{{x, y, z}})), place};
  return {inverse(world_from_a) * world_from_joint, inverse(world_from_b) * world_from_joint};
}

}  // namespace isotact
