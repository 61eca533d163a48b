// What ties two bodies together. Joints are solved exactly in each step, for all bodies that hang
// together at once: there is no stiffness to choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isotact/base/pose.h"

namespace isotact {

enum class JointKind : std::uint8_t {
  kBall,    // one point of both stays together
  kHinge,   // and they turn about one axis only
  kSlider,  // they move along one axis only, without turning
  kFixed,   // they move as one
};
std::string_view name(JointKind kind);  // "ball", "hinge", "slider", "fixed"
std::optional<JointKind> find_joint_kind(std::string_view text);

// Drives a hinge (rad/s, N m) or a slider (m/s, N).
struct Motor {
  double velocity = 0;   // of B against A, about or along the axis
  double max_force = 0;  // no more is applied
};

// Of a hinge's angle (radians, from -pi to pi) or a slider's place (metres): of B against A.
struct JointLimits {
  double lower = 0, upper = 0;
};

struct JointSettings {
  JointKind kind = JointKind::kBall;
  std::uint32_t a = 0, b = 0;  // bodies of the world
  // The joint's frame, in each body's. Its x axis is that of a hinge or slider.
  Pose a_from_joint{}, b_from_joint{};
  std::optional<Motor> motor{};         // of hinges and sliders
  std::optional<JointLimits> limits{};  // of hinges and sliders
  bool may_touch = false;               // the two bodies can touch each other
};

// The frame for a hinge or slider at a place of the world along an axis, for bodies that are where
// they should be.
struct JointFrames {
  Pose a_from_joint{}, b_from_joint{};
};
JointFrames find_joint_frames(const Pose& world_from_a, const Pose& world_from_b, const Vec3& place,
                              const Vec3& axis);

}  // namespace isotact
