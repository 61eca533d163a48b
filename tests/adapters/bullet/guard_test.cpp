// Worlds whose bodies do not pass through each other.
#include <BulletDynamics/Dynamics/btDiscreteDynamicsWorldMt.h>
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_throws.h"
#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {

// Worlds with threads can be guarded, too.
template class GuardedWorld<btDiscreteDynamicsWorldMt>;

namespace {

using namespace bullet_throws;
using Guarded = GuardedWorld<btDiscreteDynamicsWorld>;
using GuardedMulti = GuardedWorld<btMultiBodyDynamicsWorld>;

TEST(BulletGuard, NoThrownBodyEndsBehindAWall) {
  Random random(test_seed(11));
  const int throws = test_cases(unless_slow(60, 6));
  int met = 0, held = 0, multi = 0;
  for (int i = 0; i < throws; ++i) {
    const Throw t = make_throw(random);
    const Outcome outcome = play<Guarded, GuardedMulti>(t);
    EXPECT_FALSE(outcome.behind) << i << ": " << t.thrown->name << ", "
                                 << kWallNames[static_cast<std::size_t>(t.wall)] << " of "
                                 << kThickness[t.thickness] << " m at " << t.speed << " m/s, "
                                 << t.rate << " Hz";
    met += outcome.met ? 1 : 0;
    held += outcome.held > 0 ? 1 : 0;
    multi += t.is_multibody ? 1 : 0;
  }
  EXPECT_GT(met, throws * 8 / 10);
  if (kSlowBuild) return;
  EXPECT_GT(held, throws / 10);
  EXPECT_GT(multi, throws / 10);
}

// Bullet itself searches boxes of rigid bodies along their path, not those of multibodies: only
// rigid bodies are promised to stop without the guard, and not all of them.
TEST(BulletGuard, WithoutItFewRigidBodiesEndBehind) {
  Random random(test_seed(12));
  const int throws = test_cases(unless_slow(150, 4));
  int behind = 0, rigid = 0;
  for (int i = 0; i < throws; ++i) {
    const Throw t = make_throw(random);
    if (t.is_multibody) continue;
    ++rigid;
    behind += play<btDiscreteDynamicsWorld, btMultiBodyDynamicsWorld>(t).behind ? 1 : 0;
  }
  EXPECT_LE(behind, 1 + rigid / 50);
}

// The other of the two is thrown: its edges and its middle meet our field.
TEST(BulletGuard, BulletsBodiesDoNotPassThroughOurWall) {
  const Wall& wall = wall_of(WallKind::kOurs, 1);
  btBoxShape box({0.05F, 0.03F, 0.02F});
  btSphereShape ball(0.03F);
  btCapsuleShape capsule(0.01F, 0.1F);
  for (btCollisionShape* shape :
       {static_cast<btCollisionShape*>(&box), static_cast<btCollisionShape*>(&ball),
        static_cast<btCollisionShape*>(&capsule)})
    for (int i = 0; i < unless_slow(8, 2); ++i) {
      btDefaultCollisionConfiguration configuration;
      btCollisionDispatcher dispatcher(&configuration);
      const BulletPlugin plugin = install(dispatcher);
      btDbvtBroadphase broadphase;
      btSequentialImpulseConstraintSolver solver;
      Guarded world(&dispatcher, &broadphase, &solver, &configuration);
      btRigidBody::btRigidBodyConstructionInfo fixed(0, nullptr, wall.shape.get());
      btRigidBody still(fixed);
      world.addRigidBody(&still);
      btVector3 inertia;
      shape->calculateLocalInertia(1, inertia);
      btRigidBody::btRigidBodyConstructionInfo info(1, nullptr, shape, inertia);
      info.m_startWorldTransform =
          to_bullet(Pose{rotation_about({1, 2, 3}, 0.7 * i), {0.01 * i, 0.02, 0.4 + 0.03 * i}});
      btRigidBody body(info);
      body.setLinearVelocity({0, 1, static_cast<btScalar>(-10 - 7 * i)});
      body.setAngularVelocity({5, static_cast<btScalar>(i), 3});
      world.addRigidBody(&body);
      for (int k = 0; k < 30; ++k) world.stepSimulation(btScalar(1.0 / 60), 0);
      EXPECT_GT(body.getWorldTransform().getOrigin().z(), -0.005F) << i;
      world.removeRigidBody(&body);
      world.removeRigidBody(&still);
    }
}

TEST(BulletGuard, ChildrenOfCompoundsAreHeld) {
  const Wall& wall = wall_of(WallKind::kOurs, 1);
  btCompoundShape wall_compound;
  wall_compound.addChildShape(btTransform::getIdentity(), wall.shape.get());
  const BodyInfo& info = all_thrown()[0].info;
  btCompoundShape pair;
  pair.addChildShape(to_bullet(Pose{{}, {0.12, 0, 0}}), info.shape.get());
  pair.addChildShape(to_bullet(Pose{{}, {-0.12, 0, 0}}), info.shape.get());
  for (int i = 0; i < unless_slow(6, 1); ++i) {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    const BulletPlugin plugin = install(dispatcher);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    Guarded world(&dispatcher, &broadphase, &solver, &configuration);
    btRigidBody still(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &wall_compound));
    world.addRigidBody(&still);
    btRigidBody body(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &pair, info.inertia * 3));
    body.setWorldTransform(to_bullet(Pose{rotation_about({1, 0, 2}, 0.9 * i), {0, 0, 0.6}}));
    body.setLinearVelocity({0, 0, -50});
    body.setAngularVelocity({20, 3, 0});
    world.addRigidBody(&body);
    for (int k = 0; k < 24; ++k) world.stepSimulation(btScalar(1.0 / 60), 0);
    EXPECT_GT(body.getWorldTransform().getOrigin().z(), -0.005F) << i;
    world.removeRigidBody(&body);
    world.removeRigidBody(&still);
  }
}

// It must not disturb what works: a body rests where it does without, and is hardly ever stopped.
TEST(BulletGuard, LeavesRestingBodiesAlone) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  Guarded world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -10, 0});
  btBoxShape floor({2, 0.5F, 2});
  btRigidBody ground(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &floor));
  ground.setWorldTransform(to_bullet(Pose{{}, {0, -0.5, 0}}));
  world.addRigidBody(&ground);
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  IsotactShape cube = copy(cube_shape());
  for (int i = 0; i < 3; ++i) {
    btVector3 inertia;
    cube.calculateLocalInertia(1, inertia);
    bodies.push_back(std::make_unique<btRigidBody>(
        btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &cube, inertia)));
    bodies.back()->setWorldTransform(to_bullet(Pose{{}, {0, 0.3 + 0.52 * i, 0}}));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
  for (int i = 0; i < 240; ++i) world.stepSimulation(btScalar(1.0 / 60), 0);
  const std::uint64_t before = world.guard_report().held_in_all;
  for (int i = 0; i < 240; ++i) world.stepSimulation(btScalar(1.0 / 60), 0);
  EXPECT_LE(world.guard_report().held_in_all - before, 10U);
  EXPECT_EQ(world.guard_report().pairs, 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(place(*bodies[static_cast<std::size_t>(i)]).y, 0.25 + 0.5 * i, 3e-3);
    EXPECT_LT(bodies[static_cast<std::size_t>(i)]->getLinearVelocity().length(), 0.02F);
  }
  for (auto& body : bodies) world.removeRigidBody(body.get());
  world.removeRigidBody(&ground);
}

}  // namespace
}  // namespace isotact
