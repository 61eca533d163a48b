// How high bodies bounce: rigid ones and multibodies, whatever the solver's settings are.
#include <cmath>

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

struct Drop {
  bool is_multibody = false, is_on_box = false, is_split = true;
  double restitution = 0, rate = 60, threshold = -0.04;
};

// Metres above the ground, from 1 m: the first peak.
double peak_of(const Drop& drop, btCollisionShape& shape) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broadphase;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -10, 0});
  world.getSolverInfo().m_splitImpulse = drop.is_split ? 1 : 0;
  world.getSolverInfo().m_splitImpulsePenetrationThreshold = static_cast<btScalar>(drop.threshold);
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btBoxShape box({2, 0.5F, 2});
  btRigidBody ground(btRigidBody::btRigidBodyConstructionInfo(
      0, nullptr, drop.is_on_box ? static_cast<btCollisionShape*>(&box) : &plane));
  ground.setWorldTransform(to_bullet(Pose{{}, {0, drop.is_on_box ? -0.5 : 0, 0}}));
  ground.setRestitution(1);
  world.addRigidBody(&ground);
  const Pose start{{}, {0, kBallRadius + 1, 0}};
  btVector3 inertia;
  shape.calculateLocalInertia(1, inertia);
  btRigidBody rigid(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, inertia));
  btMultiBody multi(0, 1, inertia, false, false);
  btMultiBodyLinkCollider collider(&multi, -1);
  btCollisionObject* body = &rigid;
  if (drop.is_multibody) {
    multi.setBaseWorldTransform(to_bullet(start));
    multi.setLinearDamping(0), multi.setAngularDamping(0);
    multi.setCanSleep(false);
    multi.finalizeMultiDof();
    world.addMultiBody(&multi);
    collider.setCollisionShape(&shape);
    collider.setWorldTransform(to_bullet(start));
    world.addCollisionObject(&collider, 1, -1);
    multi.setBaseCollider(&collider);
    body = &collider;
  } else {
    rigid.setWorldTransform(to_bullet(start));
    rigid.setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(&rigid);
  }
  body->setRestitution(static_cast<btScalar>(drop.restitution));
  double last = 1, peak = 0;
  bool has_risen = false;
  for (int i = 0; i < static_cast<int>(2 * drop.rate); ++i) {
    world.stepSimulation(static_cast<btScalar>(1 / drop.rate), 0);
    const double y = place(*body).y - kBallRadius;
    if (y > last) has_risen = true, peak = std::max(peak, y);
    if (has_risen && y < last) break;
    last = y;
  }
  if (drop.is_multibody) {
    world.removeMultiBody(&multi);
    world.removeCollisionObject(&collider);
  } else {
    world.removeRigidBody(&rigid);
  }
  world.removeRigidBody(&ground);
  return peak;
}

TEST(BulletBounce, HeightsAreThoseOfTheRestitution) {
  IsotactShape ball = copy(ball_shape());
  btSphereShape sphere(static_cast<btScalar>(kBallRadius));
  for (const bool is_multibody : {false, true})
    for (const bool is_on_box : {false, true})
      for (const double e : {0.3, 0.5, 0.8})
        for (const double rate : {60.0, 240.0})
          for (const double threshold : {-0.04, -1e-4, 0.0, 0.04})
            for (const bool is_split : {true, false}) {
              const Drop drop{is_multibody, is_on_box, is_split, e, rate, threshold};
              SCOPED_TRACE((is_multibody ? "multibody, " : "rigid, ") + std::to_string(e) + ", " +
                           std::to_string(rate) + " Hz, threshold " + std::to_string(threshold) +
                           (is_on_box ? ", box" : ", plane") + (is_split ? ", split" : ""));
              // Heights go with the square of the restitution.
              const double ideal = e * e;
              const double ours = peak_of(drop, ball), theirs = peak_of(drop, sphere);
              const double off = std::abs(std::sqrt(std::max(ours, 0.0)) - e);
              EXPECT_LE(off, std::max(0.05 * e, std::abs(std::sqrt(std::max(theirs, 0.0)) - e)))
                  << ours << " for " << ideal << ", Bullet's sphere " << theirs;
            }
}

}  // namespace
}  // namespace isotact
