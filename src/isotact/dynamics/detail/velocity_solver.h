// The velocities of a step, of all bodies that contacts and joints hold together at once.
//
// A contact pushes A with the impulse c - H u, where u is the velocity of A against B that is
// looked for: an implicit step. With masses M the velocities v follow from
//
//   (M + H) v = M v0 + c,   joints: J v = wanted,
//
// which is symmetric and positive definite for springs and dampers of any size. Contacts that would
// pull are left out, and those that were left out and should push are taken in again, until none
// changes: Newton's method for forces with a kink.
#pragma once

#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/joint.h"
#include "isotact/dynamics/rigid_body.h"
#include "isotact/dynamics/spatial.h"

namespace isotact::detail {

// Between two bodies, about a place.
struct ContactPush {
  std::size_t a = 0, b = 0;
  Vec3 place{};
  Wrench push{};             // c, on A
  SpatialMatrix response{};  // H, but for what slips
  // The normal force comes to `normal` less `normal_response` . u. Friction of what slips was found
  // with `found_normal`, and is less where that is.
  double normal = 0, found_normal = 0;
  Wrench normal_response{};
  SpatialMatrix slide{};
};

struct VelocityProblem {
  std::span<RigidBody* const> bodies;
  std::span<const Twist> twists;  // of bodies that go where they are told, about their centres
  std::span<const ContactPush> contacts;
  std::span<const JointSettings> joints;
  double step;
  Threads threads;
};

struct VelocityReport {
  std::uint32_t islands = 0;  // sets of bodies that contacts or joints hold together
  std::uint32_t largest = 0;  // bodies of the largest
  double joint_work = 0;      // J: by motors, and by bodies that go where they are told
};

// Changes momenta. What A gets, B loses: momentum is conserved to rounding however well equations
// are solved. Islands are solved in parallel, each by one thread; the same bytes for any number of
// them.
VelocityReport solve_velocities(const VelocityProblem& problem);

}  // namespace isotact::detail
