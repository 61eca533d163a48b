// Bullet's broad phase with boxes of multibodies along their path.
//
//   isotact::SweptBroadphase broadphase(1.0 / 60);   // instead of btDbvtBroadphase
//
// Bullet itself extends the boxes of rigid bodies by their motion in a step, not those of
// multibodies. A fast link may then pass a thin wall without any algorithm being asked. A guarded
// world (guarded_world.h) does not need this.
#pragma once

#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>

namespace isotact {

namespace bullet_detail {
// Extends the box of a multibody's link to its place at the end of the step. Other objects keep
// theirs.
void extend_by_motion(const btBroadphaseProxy& proxy, double time_step, btVector3& lower,
                      btVector3& upper);
}  // namespace bullet_detail

class SweptBroadphase : public btDbvtBroadphase {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  // time_step: seconds, the longest step that the world makes. Longer boxes cost time only.
  explicit SweptBroadphase(double time_step, btOverlappingPairCache* pairs = nullptr)
      : btDbvtBroadphase(pairs), time_step_(time_step) {}

  double time_step() const { return time_step_; }
  void set_time_step(double seconds) { time_step_ = seconds; }

  void setAabb(btBroadphaseProxy* proxy, const btVector3& lower, const btVector3& upper,
               btDispatcher* dispatcher) override {
    btVector3 from = lower, to = upper;
    bullet_detail::extend_by_motion(*proxy, time_step_, from, to);
    btDbvtBroadphase::setAabb(proxy, from, to, dispatcher);
  }

 private:
  double time_step_;
};

}  // namespace isotact
