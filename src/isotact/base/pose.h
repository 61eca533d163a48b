// Rotations and rigid poses, always in double. A pose named b_from_a maps points of frame a into
// frame b, so chains read from right to left: world_from_a * a_from_b.
#pragma once

#include <string>
#include <string_view>

#include "isotact/base/mat3.h"
#include "isotact/base/trig.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// A unit quaternion, w first. Never write one as four bare numbers: text and JSON label the order.
struct Quat {
  double w = 1, x = 0, y = 0, z = 0;

  friend constexpr bool operator==(const Quat&, const Quat&) = default;
};

constexpr Quat operator*(const Quat& a, const Quat& b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

constexpr Quat conjugate(const Quat& q) { return {q.w, -q.x, -q.y, -q.z}; }

constexpr double length_sq(const Quat& q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }

inline Quat normalized(const Quat& q) {
  const double l = std::sqrt(length_sq(q));
  return l > 0 ? Quat{q.w / l, q.x / l, q.y / l, q.z / l} : Quat{};
}

constexpr Vec3 rotate(const Quat& q, const Vec3& v) {
  const Vec3 u{q.x, q.y, q.z};
  const Vec3 t = 2.0 * cross(u, v);
  return v + q.w * t + cross(u, t);
}

// Returns the rotation by an angle (radians, up to a million) about an axis, which need not be a
// unit vector.
inline Quat rotation_about(const Vec3& axis, double angle) {
  const SinCos half = sin_cos(angle / 2);
  const Vec3 u = normalized(axis) * half.sin;
  return {half.cos, u.x, u.y, u.z};
}

constexpr Mat3 to_matrix(const Quat& q) {
  const Vec3 x = rotate(q, {1, 0, 0}), y = rotate(q, {0, 1, 0}), z = rotate(q, {0, 0, 1});
  return transpose(Mat3{{x, y, z}});
}

// The matrix m must be a rotation: orthonormal, with determinant +1.
inline Quat to_quat(const Mat3& m) {
  const auto& [r0, r1, r2] = m.rows;
  // Divides by the largest of the four squares, so nothing cancels.
  const double w = 1 + r0.x + r1.y + r2.z, x = 1 + r0.x - r1.y - r2.z;
  const double y = 1 - r0.x + r1.y - r2.z, z = 1 - r0.x - r1.y + r2.z;
  if (w >= x && w >= y && w >= z) return normalized(Quat{w, r2.y - r1.z, r0.z - r2.x, r1.x - r0.y});
  if (x >= y && x >= z) return normalized(Quat{r2.y - r1.z, x, r1.x + r0.y, r0.z + r2.x});
  if (y >= z) return normalized(Quat{r0.z - r2.x, r1.x + r0.y, y, r2.y + r1.z});
  return normalized(Quat{r1.x - r0.y, r0.z + r2.x, r2.y + r1.z, z});
}

struct Pose {
  Quat rotation{};
  Vec3 translation{};

  friend constexpr bool operator==(const Pose&, const Pose&) = default;
};

constexpr Vec3 transform_point(const Pose& b_from_a, const Vec3& in_a) {
  return rotate(b_from_a.rotation, in_a) + b_from_a.translation;
}

constexpr Vec3 transform_vector(const Pose& b_from_a, const Vec3& in_a) {
  return rotate(b_from_a.rotation, in_a);
}

constexpr Pose operator*(const Pose& c_from_b, const Pose& b_from_a) {
  return {c_from_b.rotation * b_from_a.rotation, transform_point(c_from_b, b_from_a.translation)};
}

constexpr Pose inverse(const Pose& b_from_a) {
  const Quat back = conjugate(b_from_a.rotation);
  return {back, -rotate(back, b_from_a.translation)};
}

// Reads a pose in the syntax of the tool and of scene files, "xyz=0,0,1 wxyz=1,0,0,0". Each part
// may be missing. A rotation is a quaternion (wxyz or xyzw), an axis with degrees
// ("axis=0,0,1,90"), or roll, pitch and yaw in degrees. The last, "rpy=0,0,90", is about x, then y,
// then z, all fixed. Throws Error if a part is unknown or repeated, or if a number is not finite.
// Also throws if the quaternion is not a unit one to 1e-6; within that it is normalised.
Pose parse_pose(std::string_view text);

// Returns text that parse_pose reads back exactly, except for the rounding of that normalisation.
std::string format_pose(const Pose& pose);

}  // namespace isotact
