// A world of Bullet's whose dispatch is timed, with one body on some ground.
#pragma once

#include <memory>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/install.h"
#include "isotact/base/pose.h"

#include "bullet_peer.h"

namespace isotact::bench {

// Keeps how long the last dispatchAllCollisionPairs took: by the clock, or where that was more than
// 100 microseconds, of the processor's time, which neighbours disturb less.
class TimedDispatcher final : public btCollisionDispatcher {
 public:
  explicit TimedDispatcher(btCollisionConfiguration* configuration)
      : btCollisionDispatcher(configuration) {}
  void dispatchAllCollisionPairs(btOverlappingPairCache* cache, const btDispatcherInfo& info,
                                 btDispatcher* dispatcher) override;
  double microseconds = 0;
};

enum class Ground { kPlane, kBox, kNone };
inline constexpr double kGravity = 10;  // m/s^2, as SSL14 has it

struct StageSettings {
  Ground ground = Ground::kPlane;  // its top at y = 0
  double step = 1.0 / 200;         // seconds
  double friction = 0.5, restitution = 0;
  bool has_plugin = true;  // or else dispatch has an empty algorithm in its place
};

struct BodySettings {
  double mass = 1;
  btVector3 inertia{0, 0, 0};  // zeros: what the shape says
  Pose pose{};
};

// Nothing sleeps. Shapes must outlive it.
class Stage {
 public:
  explicit Stage(const StageSettings& settings);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  btRigidBody& add(const OwnedShape& shape, const BodySettings& body);
  void step();
  // Only detection, at a pose that is set by hand.
  void detect(btRigidBody& body, const Pose& pose);

  double microseconds() const { return dispatcher_.microseconds; }  // of the last dispatch
  int contact_count();
  int manifold_count();  // with contacts
  double deepest();      // metres: the largest overlap of all contacts, by Bullet's account

  btDiscreteDynamicsWorld& world() { return world_; }

 private:
  StageSettings settings_;
  btDefaultCollisionConfiguration configuration_;
  TimedDispatcher dispatcher_{&configuration_};
  std::unique_ptr<btCollisionAlgorithmCreateFunc> nothing_;
  std::unique_ptr<BulletPlugin> plugin_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::unique_ptr<btCollisionShape> ground_shape_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
};

Pose pose_of(const btRigidBody& body);
double kinetic_energy(const btRigidBody& body);

}  // namespace isotact::bench
