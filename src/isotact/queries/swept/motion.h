// Motion of two bodies between two poses, relative to one of them, as pieces in which every point
// moves straight.
//
// XB14 moves points straight in the field's frame from the first pose to the last. Real bodies
// rotate. Every model here becomes a chain of straight pieces, short enough that no point of the
// shell is further from its true path than a tolerance. Results of a query about the pieces are
// exact; `error` bounds their deviation from the true motion.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/mat3.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class MotionModel : std::uint8_t {
  // Straight point paths in the field's frame (XB14): one piece. Rotating bodies shrink in between.
  kStraight,
  // Each body's pivot moves straight, and the body rotates at a constant rate by the smaller angle.
  kConstantRates,
  kScrew,  // One rotation about one axis with a shift along it, in the field's frame.
  // Point paths in the field's frame are polynomials of time through `degree` + 1 positions (XB14's
  // future work).
  kPolynomial,
};
std::string_view name(MotionModel model);  // "straight", "rates", "screw", "polynomial"
std::optional<MotionModel> find_motion_model(std::string_view text);

// world_from_body at time 0 and at time 1. Quaternions must be unit, and translations at most 1e15
// metres.
struct BodyMotion {
  Pose from{}, to{};
  // Body frame: the point that moves straight in kConstantRates. A body in free flight rotates
  // about its centre of mass.
  Vec3 pivot{};
};
constexpr BodyMotion at_rest(const Pose& world_from_body) {
  return {world_from_body, world_from_body, {}};
}

struct ShellMotion {
  BodyMotion shell{}, field{};
  MotionModel model = MotionModel::kStraight;
  // For kPolynomial, 1 to 8. Positions are those of kConstantRates at equal times, or those of
  // `through`.
  int degree = 3;
  // Poses field_from_shell at equal times, including the ends. Their number, 2 to 9, gives the
  // degree. `shell` and `field` are then ignored.
  std::span<const Pose> through{};
};
std::optional<std::string> find_flaw(const ShellMotion& motion);

// Returns the motion with roles exchanged; `through` must be empty.
constexpr ShellMotion exchange_roles(const ShellMotion& m) {
  return {m.field, m.shell, m.model, m.degree, {}};
}

// field_from_shell with straight point paths: affine, but not a rotation in between.
struct AffineMap {
  Mat3 linear = identity3();
  Vec3 offset{};
};
constexpr Vec3 operator*(const AffineMap& m, const Vec3& p) { return m.linear * p + m.offset; }
constexpr AffineMap to_affine(const Pose& pose) {
  return {to_matrix(pose.rotation), pose.translation};
}

inline constexpr int kMostPieces = 4096;

// Piece k goes from maps[k] to maps[k + 1]. All pieces take equal times. Their number is a power of
// two.
struct ShellPath {
  std::vector<AffineMap> maps;
  // Metres: no point of the shell is further from its path. Exceeds the tolerance if more than
  // kMostPieces pieces would be needed.
  double error = 0;
  // Metres: rounding of positions if world coordinates are large. It is a part of the error.
  double rounding = 0;
  // Metres: bounds the second derivative of every point's true path, with time from 0 to 1.
  double acceleration = 0;
  // The distance of two points never exceeds this multiple of their distance at rest.
  double stretch = 1;

  int piece_count() const { return static_cast<int>(maps.size()) - 1; }
};

// `ball` contains the shell, in the shell's frame. The motion must be without flaw. The path keeps
// its memory.
void compute_shell_path(const ShellMotion& motion, const Sphere& ball, double tolerance,
                        ShellPath& path);

// Returns the position of a shell point on the chain at a time.
Vec3 place_on(const ShellPath& path, const Vec3& point, double time);

// Returns the true motion: field_from_shell at a time.
AffineMap compute_map(const ShellMotion& motion, double time);

// Returns world_from_body at a time, with constant rates.
Pose compute_pose(const BodyMotion& body, double time);

}  // namespace isotact
