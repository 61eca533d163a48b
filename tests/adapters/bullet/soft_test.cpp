// Soft bodies of Bullet's on ours.
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

struct Cloth {
  double lowest = 0, highest = 0;  // Metres.
};

// A cloth of so many nodes that falls onto a shape of half a metre: it hangs over it.
Cloth drop_cloth(btCollisionShape& shape, int nodes, bool with_guard = false) {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  std::unique_ptr<btSoftRigidDynamicsWorld> world;
  if (with_guard)
    world = std::make_unique<GuardedWorld<btSoftRigidDynamicsWorld>>(&dispatcher, &broadphase,
                                                                     &solver, &configuration);
  else
    world = std::make_unique<btSoftRigidDynamicsWorld>(&dispatcher, &broadphase, &solver,
                                                       &configuration);
  world->setGravity({0, -10, 0});
  world->getWorldInfo().m_gravity = {0, -10, 0};
  btRigidBody still(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &shape));
  world->addRigidBody(&still);
  const btScalar half(0.4F);
  btSoftBody* cloth = btSoftBodyHelpers::CreatePatch(world->getWorldInfo(), {-half, 0.35F, -half},
                                                     {half, 0.35F, -half}, {-half, 0.35F, half},
                                                     {half, 0.35F, half}, nodes, nodes, 0, true);
  cloth->getCollisionShape()->setMargin(btScalar(0.01));
  cloth->setTotalMass(btScalar(0.5));
  cloth->m_cfg.piterations = 4;
  world->addSoftBody(cloth);
  for (int i = 0; i < 120; ++i) world->stepSimulation(btScalar(1.0 / 120), 0);
  Cloth result{.lowest = 1e9, .highest = -1e9};
  for (int i = 0; i < cloth->m_nodes.size(); ++i) {
    const auto y = static_cast<double>(cloth->m_nodes[i].m_x.y());
    result.lowest = std::min(result.lowest, y), result.highest = std::max(result.highest, y);
  }
  world->removeSoftBody(cloth);
  delete cloth;
  world->removeRigidBody(&still);
  return result;
}

TEST(BulletSoft, AClothLiesOnOurBoxAsOnBullets) {
  IsotactShape ours = copy(cube_shape());
  btBoxShape box({0.25F, 0.25F, 0.25F});
  const Cloth on_ours = drop_cloth(ours, 25), on_box = drop_cloth(box, 25);
  EXPECT_GT(on_ours.highest, 0.25);  // Its middle lies on the top,
  EXPECT_LT(on_ours.highest, 0.29);
  EXPECT_NEAR(on_ours.highest, on_box.highest, 0.02);
  EXPECT_LT(on_ours.lowest, 0.2);  // and its sides hang down.
  const Cloth guarded = drop_cloth(ours, 25, true);
  EXPECT_NEAR(guarded.highest, on_ours.highest, 1e-3);
}

// Between four nodes there is room for a ball: only its points against faces can hold the cloth.
TEST(BulletSoft, PointsHoldFacesBetweenNodes) {
  IsotactShape ball = copy(ball_shape());
  ball.setLocalScaling({0.4F, 0.4F, 0.4F});  // 8 cm; nodes are 27 cm apart.
  EXPECT_GT(drop_cloth(ball, 4).highest, 0.0);
}

}  // namespace
}  // namespace isotact
