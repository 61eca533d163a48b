// Joints between two bodies. Each step solves all joints of connected bodies together and exactly,
// so there is no stiffness to choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isotact/base/pose.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class JointKind : std::uint8_t {
  kBall,    // One point of both bodies coincides.
  kHinge,   // As kBall, and the bodies turn about one axis only.
  kSlider,  // The bodies move along one axis only, without turning.
  kFixed,   // The bodies move as one.
};
std::string_view name(JointKind kind);  // "ball", "hinge", "slider", "fixed"
std::optional<JointKind> find_joint_kind(std::string_view text);

// Drives a hinge (rad/s, N m) or a slider (m/s, N).
struct Motor {
  double velocity = 0;   // B relative to A, about or along the axis.
  double max_force = 0;  // Upper bound of the force or torque.
};

// Range of a hinge's angle (radians, from -pi to pi) or a slider's position (metres), B relative
// to A.
struct JointLimits {
  double lower = 0, upper = 0;
};

struct JointSettings {
  JointKind kind = JointKind::kBall;
  std::uint32_t a = 0, b = 0;  // Body ids in the world.
  // The joint's frame in the frame of each body. Its x axis is the axis of a hinge or slider.
  Pose a_from_joint{}, b_from_joint{};
  std::optional<Motor> motor{};         // Hinges and sliders only.
  std::optional<JointLimits> limits{};  // Hinges and sliders only.
  // Upper bound of the torque that opposes the motion, in N m (slider: force, in N). It is about or
  // along the axis; for a ball, about each axis of the frame. Fixed joints have none.
  double friction = 0;
  bool may_touch = false;  // True: the two bodies collide with each other.
};

// Returns the frames of a hinge or slider at `place` along `axis`, both in the world frame. The
// bodies must be in their assembled poses.
struct JointFrames {
  Pose a_from_joint{}, b_from_joint{};
};
JointFrames compute_joint_frames(const Pose& world_from_a, const Pose& world_from_b,
                                 const Vec3& place, const Vec3& axis);

}  // namespace isotact
