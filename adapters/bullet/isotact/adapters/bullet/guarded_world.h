// Worlds of Bullet's in which no body passes through another one.
//
//   isotact::GuardedWorld<btDiscreteDynamicsWorld> world(&dispatcher, &broadphase, &solver,
//   &config); isotact::GuardedWorld<btMultiBodyDynamicsWorld> robots(...);
//
// After Bullet has moved the bodies of a step, the guard follows their paths. If a point of a body
// would get deeper into another body than a quarter of a cell (below), both bodies stop at the last
// proved free pose of their path. Velocities stay, so that the solver deals with the contact in the
// next step. Nothing else of Bullet changes.
//
// Guarded are pairs with at least one IsotactShape: ours against ours, against convex shapes,
// triangle meshes and height fields, as children of compounds or alone, of rigid bodies and of
// links of multibodies. Pairs that do not collide or have no response are left out, and so are
// planes: they push out on one side. Kinematic bodies and bodies moved by hand are not stopped, and
// may push others through thin walls.
//
// What is proved. Points of ours are followed against the other's field, formula or triangles, and
// the other's edges and points against our field. Along the path no depth exceeds a quarter of a
// cell of our field, or a quarter of half of the other's thickness if that is less. Between two
// tests nothing moves by more than half of the thickness: a body that passed through would have to
// be deeper at one of the tests. Features thinner than a cell are not in a field, and are not
// guarded. Bodies that overlap more at the start of a step may move, but no point gets deeper.
//
// Cost: for a pair that rests or moves slowly, one query per step beside that of its contacts.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <LinearMath/btScalar.h>

#include "isotact/adapters/bullet/budget.h"

class btCollisionWorld;

namespace isotact {

struct GuardReport {
  std::uint32_t pairs = 0;        // followed in the last step: their boxes overlap
  std::uint32_t tests = 0;        // of poses along their paths
  std::uint32_t held = 0;         // bodies, or multibodies, that were stopped before their end
  std::uint64_t held_in_all = 0;  // since the world was made
  std::uint32_t unproved = 0;     // pairs whose test ran out of the budget: their bodies stayed
  std::uint64_t nodes = 0;        // tested, if there is a budget
};

// The guard without a world, for worlds of your own. Not for two worlds at the same time.
class MotionGuard {
 public:
  MotionGuard();
  MotionGuard(MotionGuard&&) noexcept;
  MotionGuard& operator=(MotionGuard&&) noexcept;
  ~MotionGuard();

  // After the world has updated its boxes: those of multibodies' links are made to contain their
  // motion of the next step, as Bullet does for rigid bodies. Contacts can then be found before
  // they are run into.
  void sweep_boxes(btCollisionWorld& world) const;
  // Before velocities are solved for: keeps all poses.
  void remember(const btCollisionWorld& world);
  // After bodies were moved: stops those that would pass through others.
  void hold(btCollisionWorld& world, double time_step);
  const GuardReport& report() const;
  // A limit of the tests of one step (budget.h). Bodies of pairs whose test runs out stay where
  // they were last proved to be free; the next step begins with these pairs.
  void set_budget(const StepBudget& budget);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// btDiscreteDynamicsWorld, or a class derived of it: for multibodies, soft bodies, or threads. Call
// install (install.h) for its dispatcher, as for any other world.
template <typename World>
class GuardedWorld : public World {
 public:
  using World::World;
  const GuardReport& guard_report() const { return guard_.report(); }
  void set_guard_budget(const StepBudget& budget) { guard_.set_budget(budget); }

  void updateAabbs() override {
    World::updateAabbs();
    guard_.sweep_boxes(*this);
  }

 protected:
  void predictUnconstraintMotion(btScalar time_step) override {
    guard_.remember(*this);
    World::predictUnconstraintMotion(time_step);
  }
  void integrateTransforms(btScalar time_step) override {
    World::integrateTransforms(time_step);
    guard_.hold(*this, static_cast<double>(time_step));
  }

 private:
  MotionGuard guard_;
};

}  // namespace isotact
