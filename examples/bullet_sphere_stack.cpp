// Five spheres on top of each other, of growing resolution (SSL14, section 4.1). The stack cannot
// stand: it falls the later the finer fields and points are, since what starts it is how far the
// surface is from a true sphere's. Bullet's own spheres, off by a thousandth of a millimetre, fall
// as well.
#include <cstdio>
#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/install.h"
#include "isotact/adapters/bullet/shape.h"
#include "isotact/geometry/primitives/primitives.h"

using namespace isotact;

// How long five balls on top of each other stay, seconds; 10 at most.
static double find_standing_time(btCollisionShape& ball) {
  constexpr int kBalls = 5;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broad_phase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad_phase, &solver, &configuration);
  world.setGravity({0, btScalar(-9.81), 0});
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btRigidBody ground(0, nullptr, &plane);
  world.addRigidBody(&ground);
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  for (int i = 0; i < kBalls; ++i) {
    bodies.push_back(std::make_unique<btRigidBody>(btRigidBody::btRigidBodyConstructionInfo(
        1, nullptr, &ball, {btScalar(0.1), btScalar(0.1), btScalar(0.1)})));
    // A hair beside each other: true spheres cannot stand like that.
    const double off = i % 2 == 0 ? 1e-6 : -1e-6;
    bodies.back()->setWorldTransform(to_bullet(Pose{{}, {off, 0.5 + i, 0}}));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
  double seconds = 0;
  while (seconds < 10 && bodies.back()->getWorldTransform().getOrigin().y() > kBalls - 1) {
    world.stepSimulation(btScalar(1) / 240, 0);
    seconds += 1.0 / 240;
  }
  for (const auto& body : bodies) world.removeRigidBody(body.get());
  world.removeRigidBody(&ground);
  return seconds;
}

int main() {
  for (const double cell : {0.1, 0.05, 0.02, 0.01}) {
    const TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = static_cast<int>(1 / cell)});
    const auto shape = cook_bullet_shape(mesh, {.shape = {.field = {.voxel_size = cell}}});
    std::printf("cells of %2.0f mm, %5u points: stands for %4.1f s\n", 1000 * cell,
                shape->body().tree->point_count(), find_standing_time(*shape));
  }
  btSphereShape sphere(btScalar(0.5));
  std::printf("Bullet's own sphere:          stands for %4.1f s\n", find_standing_time(sphere));
}
