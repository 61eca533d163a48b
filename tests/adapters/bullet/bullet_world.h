// A small world of Bullet's with the plug-in, for tests.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/bullet.h"

namespace isotact {

// With a dispatcher that knows our shapes.
template <typename Dispatcher, typename World = btDiscreteDynamicsWorld>
class WorldWith {
 public:
  template <typename... Settings>
  explicit WorldWith(const btVector3& gravity, Settings&&... settings)
      : dispatcher(&configuration, std::forward<Settings>(settings)...) {
    world.setGravity(gravity);
  }
  ~WorldWith() {
    for (auto& body : bodies_) world.removeRigidBody(body.get());
  }

  btRigidBody& add(btCollisionShape& shape, double mass, const Vec3& place = {},
                   const Quat& turn = {}) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape.calculateLocalInertia(static_cast<btScalar>(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, &shape,
                                                  inertia);
    info.m_startWorldTransform = to_bullet(Pose{turn, place});
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    world.addRigidBody(bodies_.back().get());
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    return *bodies_.back();
  }
  void remove_last() {
    world.removeRigidBody(bodies_.back().get());
    bodies_.pop_back();
  }
  void step(int count, double dt = 1.0 / 60) {
    for (int i = 0; i < count; ++i) world.stepSimulation(static_cast<btScalar>(dt), 0);
  }
  // Of all manifolds.
  int contact_count() {
    int count = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); ++i)
      count += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    return count;
  }

  btDefaultCollisionConfiguration configuration;
  Dispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  World world{&dispatcher, &broadphase, &solver, &configuration};

 private:
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
};

class BulletWorld : public WorldWith<btCollisionDispatcher> {
 public:
  explicit BulletWorld(const btVector3& gravity = {0, -10, 0}) : WorldWith(gravity) {}

  BulletPlugin plugin = install(dispatcher);
};

// Its bodies do not pass through each other.
class GuardedBulletWorld
    : public WorldWith<btCollisionDispatcher, GuardedWorld<btDiscreteDynamicsWorld>> {
 public:
  explicit GuardedBulletWorld(const btVector3& gravity = {0, -10, 0}) : WorldWith(gravity) {}

  BulletPlugin plugin = install(dispatcher);
};

class BatchWorld : public WorldWith<BatchDispatcher> {
 public:
  explicit BatchWorld(const BatchSettings& settings = {}) : WorldWith({0, -10, 0}, settings) {}
};

inline Vec3 place(const btCollisionObject& body) {
  return from_bullet(body.getWorldTransform().getOrigin());
}

}  // namespace isotact
