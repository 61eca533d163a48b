// Concave bodies in Bullet: a ring falls over a peg, and stays on it.
#include <cmath>
#include <cstdio>
#include <memory>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/bullet.h"
#include "isotact/geometry/primitives/primitives.h"

int main() {
  // As in every program with Bullet, and one line more.
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const isotact::BulletPlugin plugin = isotact::install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -10, 0});

  btStaticPlaneShape ground_shape({0, 1, 0}, 0);
  btCylinderShape peg_shape({0.15F, 0.5F, 0.15F});
  btRigidBody ground(0, nullptr, &ground_shape), peg(0, nullptr, &peg_shape);
  peg.setWorldTransform(btTransform(btQuaternion::getIdentity(), {0, 0.5F, 0}));
  world.addRigidBody(&ground);
  world.addRigidBody(&peg);

  // Any triangle mesh: a btTriangleMesh, or one read by isotact::read_mesh, or an asset.
  const isotact::TriangleMesh mesh = isotact::make_torus({});
  const auto shape = isotact::cook_bullet_shape(mesh);
  const isotact::BodyInfo ring_info = isotact::make_body_info(*shape, {.density = 1000});
  const isotact::Pose start{isotact::rotation_about({1, 0, 0}, 0.2), {0.05, 1.5, 0}};
  btDefaultMotionState state(isotact::to_bullet(start), ring_info.center_of_mass_offset());
  btRigidBody ring(ring_info.mass, &state, ring_info.shape.get(), ring_info.inertia);
  world.addRigidBody(&ring);

  for (int frame = 0; frame < 180; ++frame) {
    world.stepSimulation(1 / btScalar(60), 4, 1 / btScalar(240));
    const isotact::Vec3 at = ring_info.world_from_mesh(ring.getWorldTransform()).translation;
    if (frame % 30 == 29)
      std::printf("%.1f s: the ring is at %.3f, %.3f, %.3f\n", (frame + 1) / 60.0, at.x, at.y,
                  at.z);
  }
  const isotact::Vec3 end = ring_info.world_from_mesh(ring.getWorldTransform()).translation;
  for (btRigidBody* body : {&ring, &peg, &ground}) world.removeRigidBody(body);
  const bool on_peg = std::hypot(end.x, end.z) < 0.11 && std::abs(end.y - 0.125) < 0.01;
  std::printf(on_peg ? "it lies around the peg\n" : "it missed the peg\n");
  return on_peg ? 0 : 1;
}
