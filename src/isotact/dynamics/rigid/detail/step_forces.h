// Contact forces of the step that they act in: ForceSolve::kStep, docs/dynamics.md.
#pragma once

#include <vector>

#include "isotact/dynamics/rigid/detail/velocity_solver.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

// One step. The order of calls is that of the declarations: note_loads after the loads have acted,
// impacts between limit_work and finish.
class World::State::StepForces {
 public:
  explicit StepForces(State& state);
  // After the loads.
  void note_loads();
  void predict();
  // Rounds until the impulses are those of the paths.
  void iterate();
  // Contacts that would give back more than they have taken are solved with that as a limit.
  void limit_work();
  // After impacts: contacts of what they have moved, the second part of all impulses, and what is
  // kept for the next step.
  void finish();

 private:
  using ContactPush = detail::ContactPush;
  using PairState = detail::PairState;

  // A body in this step.
  struct Moved {
    BodyState from{};
    Wrench load{};  // about its centre
    Twist twist{};  // with which it moves, at its first rotation
    // Impulses of its contacts: all, about its first centre, and their second part, about its last.
    Wrench push{}, rest{};
    double share = 0.5;
    std::size_t island = 0;
    bool again = false;  // is to be solved again
  };

  // The end of an island in the second part of a step.
  struct Finish {
    // J, of the energy at the start and what loads and driven bodies have added. Contacts may bring
    // the kinetic energy to `most`; along their paths they bring it to `wanted`.
    double wanted = 0, most = 0;
    double potential = 0;  // at the end
    // Kinetic energy with the share s of the second parts of the contacts' impulses:
    // base + s linear + s^2 square.
    double base = 0, linear = 0, square = 0;
    bool exact = true;  // no joint, impact or driven body takes part
    double share = 1;
  };

  // The impulses that a step tries (step_guesses.cpp).

  static ContactPush scaled(ContactPush p, double share);
  // Newton's step: the impulse of the last path, and how it answers to another velocity. Where a
  // step went too far and lost the contact, the line between the two is taken.
  ContactPush next_guess(PairState& p) const;
  // Responses become those of the line from where the contact was to where it is lost.
  void shorten_guess(PairState& p) const;
  // The contacts of this step predict those of the next: depth grows on from where it ends.
  static void make_prediction(PairState& p, const Twist& slip, double drag_share);
  void make_prediction(PairState& p) const;

  // Rounds (step_forces.cpp).

  void note_start(PairState& p) const;
  double pair_mass(const PairState& p) const;
  // Whether it has moved bodies in this step.
  static bool acts(const PairState& p);
  bool pushes(const PairState& p) const;
  std::size_t island_of(const PairState& p) const;
  double share_of(const PairState& p) const { return moved_[island_of(p)].share; }
  bool is_again(const PairState& p) const;
  void find_islands();
  // Chooses those of bodies that are to be solved again. Joints hold the velocities with which
  // bodies move.
  void choose_shares();
  // Marks the bodies of islands in which an impulse is not yet that of the path.
  bool find_unsolved();
  Twist slip_at(const PairState& p, const Vec3& place) const;
  void solve_again(bool limited);
  double compute_slack(const PairState& p) const;
  // Takes all bodies that are marked back to the start, and moves them with what the solver makes
  // of these pushes, which are those of some pairs.
  void move(const std::vector<std::size_t>& some, std::vector<ContactPush>& pushes, bool limited);
  bool is_moved(std::size_t k) const { return moved_[k].again && s_.bodies[k].moves(); }
  void solve(std::vector<ContactPush>& pushes, bool limited);
  void move_body(std::size_t k);
  // Evaluates all pairs of bodies that have moved. The first contact of a blow is left to impacts.
  void evaluate(bool all);
  void look(PairState& p) const;
  double compute_residual(const PairState& p) const;
  // Along the path. What a share above 1/2 takes is not the contacts' to give.
  double find_work(const PairState& p) const { return dot(p.own.given, slip_at(p, p.own.place)); }

  // The second part of a step's impulses (step_energy.cpp).

  double kinetic_at_start(std::size_t k) const;
  void gather_bodies(std::vector<Finish>& islands);
  // The impulses of contacts about the centres of bodies: all of them, and their second parts.
  void gather_pushes();
  void gather_pairs(std::vector<Finish>& islands) const;
  // The share with which contacts do the work of their paths. It is near 1, or something else is
  // at work, and the account alone counts.
  static double choose_share(const Finish& f);
  // The second part of the impulses. The energy is exact: what contacts have taken from bodies is
  // their account, as far as their springs hold it.
  void add_second_part();

  State& s_;
  double h_;
  std::vector<Moved> moved_;
  detail::SolverBodies solver_bodies_;
};

}  // namespace isotact
