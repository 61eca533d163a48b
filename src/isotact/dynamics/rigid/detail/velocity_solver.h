// The velocities of a step, solved together for all bodies that contacts and joints connect.
//
// A contact pushes A with the impulse c - H u, where u is the unknown velocity of A relative to B:
// an implicit step. With masses M the velocities v follow from
//
//   (M + H) v = M v0 + c,   joints: J v = wanted,
//
// which is symmetric and positive definite for springs and dampers of any size. Contacts that would
// pull are removed, and removed ones that should push are added again, until none changes: Newton's
// method for forces with a kink.
//
// Contacts give back no more energy than they took. Let P be the impulses of an island's contacts,
// v its velocities before the loads of the step and v1 those after all of it. The work of P is P .
// (v + v1) / 2, exactly, since kinetic energy is quadratic. If it exceeds what the contacts have
// stored, all of them push less, by one factor. Momentum is conserved and joints hold for any
// factor, since velocities are linear in it.
#pragma once

#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/model/joint.h"
#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/dynamics/model/spatial.h"

namespace isotact::detail {

// A contact between two bodies, about a position.
struct ContactPush {
  std::size_t a = 0, b = 0;
  Vec3 place{};
  Wrench push{};             // c, on A.
  SpatialMatrix response{};  // H, without slipping points.
  // The normal force is `normal` less `normal_response` . u. Friction of slipping points was found
  // with `found_normal`, and decreases with it.
  double normal = 0, found_normal = 0;
  Wrench normal_response{};
  SpatialMatrix slide{};
  double stored = 0;  // J: taken from the bodies so far and not given back. Updated.
  double spare = 0;   // J: what it may give beyond that, in this step.
  // Velocities are those that this share of the step's impulses leads to; pushes and responses are
  // given as this share, too. 1: the velocities of the end.
  double share = 1;
  // Part of the velocities of the solution in those at which the contact does work. The rest is
  // that of the start.
  double work_share = 0.5;
  Wrench given{};  // Result: the impulse on A, about `place`; this share of it.
};

struct VelocityProblem {
  std::span<RigidBody* const> bodies;
  std::span<const Twist> twists;  // Twists of driven bodies, about their centres.
  std::span<ContactPush> contacts;
  std::span<const JointSettings> joints;
  double step;
  Threads threads;
  // Twists of all bodies before the loads of the step, about their centres. If given, the work of
  // contacts is limited to what they have stored and may spare.
  std::span<const Twist> starts{};
};

struct VelocityReport {
  std::uint32_t islands = 0;  // Sets of bodies that contacts or joints connect.
  std::uint32_t largest = 0;  // Bodies of the largest.
  double joint_work = 0;      // J: by motors, and by driven bodies.
  std::uint32_t limited = 0;  // Islands whose contacts push less, so that they add no energy.
};

// Changes momenta. B loses exactly as much as A gains: momentum is conserved to rounding for any
// accuracy of the solution. Islands are solved in parallel, each by one thread, with the same bytes
// for any number of threads.
VelocityReport solve_velocities(const VelocityProblem& problem);

}  // namespace isotact::detail
