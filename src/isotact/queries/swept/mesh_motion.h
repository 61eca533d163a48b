// Two meshes that move: when do their triangles first touch, and how near do they ever come?
//
//   const Bvh a(gear), b(rack);
//   const ShellMotion motion{.shell = motion_of_b, .field = motion_of_a};
//   const MeshContactResult first = find_first_contact(a, b, motion);
//   if (first.status == MeshMotionStatus::kContact) ... first.time, first.point_on_a ...
//
// B is the shell of the motion, A the field. Nothing is sampled, neither in space nor in time: an
// answer "free" is proved for all points and all times. Meshes are surfaces here: a mesh inside
// another one does not touch it.
#pragma once

#include <cstdint>
#include <limits>

#include "isotact/export.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/queries/swept/motion.h"

namespace ISOTACT_PUBLIC isotact {

struct MeshMotionSettings {
  double margin = 0;             // metres: triangles touch if they are as near as this
  double time_tolerance = 1e-6;  // of the motion's duration, 1
  std::uint64_t max_tests = 0;   // boxes and triangles to test before giving up; 0: no limit
};

enum class MeshMotionStatus : std::uint8_t {
  kFree,
  kContact,
  kGaveUp,  // Stopped by max_tests: there is no contact before `time`.
};

struct MeshContactResult {
  MeshMotionStatus status = MeshMotionStatus::kFree;
  // There is no contact before `time`, and one not later than latest_time. They differ by at most
  // the tolerance. If triangles come nearer than 2^-40 of the motion's path without touching, they
  // count as touching. Both are infinite without contact.
  double time = std::numeric_limits<double>::infinity();
  double latest_time = std::numeric_limits<double>::infinity();
  std::uint32_t triangle_a = kNoTriangle, triangle_b = kNoTriangle;
  Vec3 point_on_a{}, point_on_b{};  // nearest points of both triangles at `time`, in A's frame
  Vec3 normal{};                    // unit, from B towards A, in A's frame
  std::uint64_t tests = 0;          // boxes and triangles
};

// Throws Error for a motion with a flaw and for settings out of range. Cost: some hundred
// microseconds to some milliseconds; more for surfaces that slide along each other.
MeshContactResult find_first_contact(const Bvh& a, const Bvh& b, const ShellMotion& motion,
                                     const MeshMotionSettings& settings = {});
// A is a half-space, which has no triangle: triangle_a is kNoTriangle.
MeshContactResult find_first_contact(const PlaneField& a, const Bvh& b, const ShellMotion& motion,
                                     const MeshMotionSettings& settings = {});

struct MeshApproachSettings {
  // The result may be larger than the least distance by this, metres. 0: 2^-20 of both sizes, plus
  // 2^-30 of the distances between both origins at the ends.
  double tolerance = 0;
  std::uint64_t max_tests = 0;  // boxes and triangles to test before giving up; 0: no limit
};

struct MeshApproachResult {
  bool gave_up = false;  // Stopped by max_tests: the bounds are bounds all the same.
  // Metres: the least distance over the motion is at most `distance`, which the two triangles below
  // have at `time`, and at least lower_bound. It is 0 if they touch at some time; `time` is then
  // such a time.
  double distance = std::numeric_limits<double>::infinity();
  double lower_bound = 0;
  double time = 0;
  std::uint32_t triangle_a = kNoTriangle, triangle_b = kNoTriangle;
  Vec3 point_on_a{}, point_on_b{};  // at `time`, in A's frame
  std::uint64_t tests = 0;
};

// Throws Error as find_first_contact does.
MeshApproachResult find_closest_approach(const Bvh& a, const Bvh& b, const ShellMotion& motion,
                                         const MeshApproachSettings& settings = {});
MeshApproachResult find_closest_approach(const PlaneField& a, const Bvh& b,
                                         const ShellMotion& motion,
                                         const MeshApproachSettings& settings = {});

}  // namespace isotact
