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

// Chains of links as well come to contact if the broad phase sweeps them.
TEST(BulletGuard, SweptBoxesOfLinksAreMet) {
  Random random(test_seed(13));
  const int throws = test_cases(unless_slow(200, 8));
  int links = 0, behind = 0, behind_of_stock = 0;
  for (int i = 0; i < throws; ++i) {
    const Throw t = make_throw(random);
    if (!t.is_multibody) continue;
    ++links;
    behind += play<btDiscreteDynamicsWorld, btMultiBodyDynamicsWorld>(t, true).behind ? 1 : 0;
    behind_of_stock += play<btDiscreteDynamicsWorld, btMultiBodyDynamicsWorld>(t).behind ? 1 : 0;
  }
  if (kSlowBuild) return;
  EXPECT_GT(links, throws / 10);
  EXPECT_GT(behind_of_stock, links / 4);
  EXPECT_LT(behind, links / 5);
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
      GuardedBulletWorld world({0, 0, 0});
      world.add(*wall.shape, 0);
      btRigidBody& body = world.add(*shape, 1, {0.01 * i, 0.02, 0.4 + 0.03 * i},
                                    rotation_about({1, 2, 3}, 0.7 * i));
      body.setLinearVelocity({0, 1, static_cast<btScalar>(-10 - 7 * i)});
      body.setAngularVelocity({5, static_cast<btScalar>(i), 3});
      world.step(30);
      EXPECT_GT(body.getWorldTransform().getOrigin().z(), -0.005F) << i;
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
    GuardedBulletWorld world({0, 0, 0});
    world.add(wall_compound, 0);
    btRigidBody& body = world.add(pair, 1, {0, 0, 0.6}, rotation_about({1, 0, 2}, 0.9 * i));
    body.setMassProps(1, info.inertia * 3);
    body.setLinearVelocity({0, 0, -50});
    body.setAngularVelocity({20, 3, 0});
    world.step(24);
    EXPECT_GT(body.getWorldTransform().getOrigin().z(), -0.005F) << i;
  }
}

// It must not disturb what works: a body rests where it does without, and is hardly ever stopped.
TEST(BulletGuard, LeavesRestingBodiesAlone) {
  GuardedBulletWorld world;
  btBoxShape floor({2, 0.5F, 2});
  world.add(floor, 0, {0, -0.5, 0});
  std::vector<btRigidBody*> bodies;
  IsotactShape cube = copy(cube_shape());
  for (int i = 0; i < 3; ++i) bodies.push_back(&world.add(cube, 1, {0, 0.3 + 0.52 * i, 0}));
  world.step(240);
  const std::uint64_t before = world.world.guard_report().held_in_all;
  world.step(240);
  EXPECT_LE(world.world.guard_report().held_in_all - before, 10U);
  EXPECT_EQ(world.world.guard_report().pairs, 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(place(*bodies[i]).y, 0.25 + 0.5 * static_cast<double>(i), 3e-3);
    EXPECT_LT(bodies[i]->getLinearVelocity().length(), 0.02F);
  }
}

}  // namespace
}  // namespace isotact
