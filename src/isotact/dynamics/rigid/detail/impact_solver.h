// Impacts of rigid bodies at one moment, solved together.
//
// Contacts that approach are reflected at once: their impulses are those that stop them (the
// projection of all velocities on what the contacts allow, in the metric of the kinetic energy),
// times 1 + restitution. What is approached then is reflected in the next round, and so on, so that
// a blow runs through a chain of bodies (the generalized reflections of Smith, Kaufman, Vouga,
// Tamstorf, Grinspun: Reflections on Simultaneous Impact, 2012). The projection is unique: neither
// the order of bodies nor that of contacts matters, and symmetric scenes stay symmetric. Friction
// takes as much kinetic energy as Coulomb's limit allows. No round adds energy. Joints hold all the
// time: impulses act on bodies as joints connect them.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/mat3.h"
#include "isotact/dynamics/model/spatial.h"

namespace isotact::detail {

// Velocities and impulses are those of the centre of mass, in the world frame.
struct ImpactBody {
  double inverse_mass = 0;  // 0, with no inverse inertia: nothing moves it.
  Mat3 inverse_inertia{};
  Vec3 center{};
  Twist velocity{};  // Before; afterwards that after all impulses.
  // Result: the sum of all impulses on the body, about its centre. That on a body that nothing
  // moves is what keeps its velocity.
  Wrench impulse{};
};

struct ImpactContact {
  std::uint32_t a = 0, b = 0;  // Bodies.
  Vec3 place{}, normal{};      // Unit; pushes A.
  double friction = 0, restitution = 0;
  double impulse = 0;  // Result, N s along the normal.
  Vec3 push{};         // Result, N s on A, with friction.
  // Result: bodies that nothing moves leave the contact no velocity at which it does not approach.
  // Nothing pushes it, then.
  bool jammed = false;
};

// One equation between velocities that impulses must not change: on_a . twist of A + on_b . twist
// of B.
struct ImpactJoint {
  std::uint32_t a = 0, b = 0;
  Wrench on_a{}, on_b{};
};

struct ImpactProblem {
  std::vector<ImpactBody> bodies;
  std::vector<ImpactContact> contacts;
  std::vector<ImpactJoint> joints;
  // m/s: what approaches more slowly does not bounce.
  double rest_speed = 0;
};

struct ImpactReport {
  int rounds = 0;
  // The rounds were not enough, and what was left was stopped without restitution.
  bool stopped = false;
};

// May be called again with contacts or bodies added. Contacts that do not approach get nothing.
ImpactReport solve_impacts(ImpactProblem& problem);

}  // namespace isotact::detail
