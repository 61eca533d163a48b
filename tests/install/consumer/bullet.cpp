// The plug-in for Bullet, from outside: a ring comes to rest on a plane.
#include "isotact/adapters/bullet/bullet.h"

#include <cstdio>

#include <btBulletDynamicsCommon.h>

#include "isotact/geometry/primitives/primitives.h"

int main() {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const auto plugin = isotact::install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  const auto info = isotact::make_body_info(*isotact::cook_bullet_shape(
      isotact::make_torus({}), {.shape = {.field = {.resolution = 32}}}));
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btRigidBody ground(0, nullptr, &plane);
  btRigidBody ring(info.mass, nullptr, info.shape.get(), info.inertia);
  ring.setWorldTransform(info.world_from_body({{}, {0, 0.2, 0}}));
  world.addRigidBody(&ground);
  world.addRigidBody(&ring);
  for (int i = 0; i < 120; ++i) world.stepSimulation(1 / btScalar(60), 0);
  std::printf("%.2f\n", info.world_from_mesh(ring.getWorldTransform()).translation.y);
  world.removeRigidBody(&ring);
  world.removeRigidBody(&ground);
}
