// How two bodies move between two poses, seen from one of them: by pieces in which every point goes
// straight.
//
// XB14 lets points go straight in the field's frame from the first pose to the last. Real bodies
// turn. Every model here becomes a chain of straight pieces, short enough that no point of the
// shell is further from its true path than a tolerance. What a query then says about the pieces is
// exact, and `error` says what that means for the true motion.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/mat3.h"
#include "isotact/base/pose.h"
#include "isotact/base/sphere.h"

namespace isotact {

enum class MotionModel : std::uint8_t {
  kStraight,       // straight point paths in the field's frame (XB14): one piece. Turning bodies
                   // shrink on the way
  kConstantRates,  // of each body: its pivot goes straight, it turns at a constant rate, the
                   // shorter way
  kScrew,          // one turn about one axis with a shift along it, in the field's frame
  kPolynomial,     // point paths in the field's frame are polynomials of time through `degree` + 1
                   // places (XB14's future work)
};
std::string_view name(MotionModel model);  // "straight", "rates", "screw", "polynomial"
std::optional<MotionModel> find_motion_model(std::string_view text);

// world_from_body at time 0 and at time 1. Quaternions must be unit ones, translations at most 1e15
// metres.
struct BodyMotion {
  Pose from{}, to{};
  Vec3 pivot{};  // in the body's frame: what goes straight in kConstantRates. A body that flies
                 // freely turns about its centre of mass
};
constexpr BodyMotion at_rest(const Pose& world_from_body) {
  return {world_from_body, world_from_body, {}};
}

struct ShellMotion {
  BodyMotion shell{}, field{};
  MotionModel model = MotionModel::kStraight;
  // For kPolynomial, 1 to 8. Places are those of kConstantRates at equal times...
  int degree = 3;
  // ... or those of these poses, field_from_shell at equal times, the ends included: 2 to 9, whose
  // number tells the degree. Then `shell` and `field` do not count.
  std::span<const Pose> through{};
};
std::optional<std::string> find_flaw(const ShellMotion& motion);

// The same with roles exchanged; `through` must be empty.
constexpr ShellMotion exchange_roles(const ShellMotion& m) {
  return {m.field, m.shell, m.model, m.degree, {}};
}

// field_from_shell, where points go straight: affine, but not a rotation in between.
struct AffineMap {
  Mat3 linear = identity3();
  Vec3 offset{};
};
constexpr Vec3 operator*(const AffineMap& m, const Vec3& p) { return m.linear * p + m.offset; }
constexpr AffineMap to_affine(const Pose& pose) {
  return {to_matrix(pose.rotation), pose.translation};
}

inline constexpr int kMostPieces = 4096;

// Piece k goes from maps[k] to maps[k + 1], all in equal times. Their number is a power of two.
struct ShellPath {
  std::vector<AffineMap> maps;
  double error = 0;     // metres: no point of the shell is further from its path. Above the
                        // tolerance where that would take more than kMostPieces
  double rounding = 0;  // metres: of places, where world coordinates are large; part of the error
  double acceleration = 0;  // metres: bounds the second derivative of every point's true path, with
                            // time from 0 to 1
  double stretch = 1;       // no two points are ever further apart than this many times as at rest

  int piece_count() const { return static_cast<int>(maps.size()) - 1; }
};

// `ball` holds the shell, in its frame. The motion must be without flaw. Keeps the memory of path.
void find_shell_path(const ShellMotion& motion, const Sphere& ball, double tolerance,
                     ShellPath& path);

// Where the chain has a point of the shell at a time.
Vec3 place_on(const ShellPath& path, const Vec3& point, double time);

// The true motion: field_from_shell at a time.
AffineMap find_map(const ShellMotion& motion, double time);

// world_from_body at a time, by constant rates.
Pose find_pose(const BodyMotion& body, double time);

}  // namespace isotact
