// A mug falls and is caught by its handle: a concave body of ours on a hook made of Bullet's
// capsules.
#include <cstdio>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/body.h"
#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/install.h"
#include "isotact/field/models/csg.h"

using namespace isotact;

// A cup with a ring for a handle, whose hole is along z; the inside is cut out of both.
static Shape make_mug() {
  const CylinderField outside{.radius = 0.04, .height = 0.09};
  const CylinderField inside{.center = {0, 0.005, 0}, .radius = 0.035, .height = 0.09};
  const Placed ring{TorusField{.radius = 0.025, .tube_radius = 0.006},
                    {rotation_about({1, 0, 0}, kPi / 2), {0.048, 0, 0}}};
  const Difference mug{Union{outside, ring}, inside};
  const Aabb box{{-0.042, -0.047, -0.042}, {0.082, 0.047, 0.042}};
  return Shape::from_field(AnyField{mug}, box, 0.0015);
}

int main() {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broad_phase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad_phase, &solver, &configuration);
  world.setGravity({0, btScalar(-9.81), 0});

  // The hook: a rod along z with a tip that points up.
  btCapsuleShapeZ rod(btScalar(0.006), btScalar(0.12));
  btCapsuleShape tip(btScalar(0.006), btScalar(0.04));
  btCompoundShape hook;
  hook.addChildShape(btTransform::getIdentity(), &rod);
  hook.addChildShape(btTransform(btQuaternion::getIdentity(), {0, btScalar(0.02), btScalar(0.06)}),
                     &tip);
  btRigidBody hook_body(0, nullptr, &hook);
  world.addRigidBody(&hook_body);

  // The rod is in the handle's hole from the start, but touches nothing yet.
  const BodyInfo mug = make_body_info(*cook_bullet_shape(make_mug()), {.density = 2300});
  const Pose start{{}, {-0.048, -0.005, 0}};
  btDefaultMotionState motion(to_bullet(start), mug.center_of_mass_offset());
  btRigidBody body(mug.mass, &motion, mug.shape.get(), mug.inertia);
  body.setActivationState(DISABLE_DEACTIVATION);
  body.setDamping(btScalar(0.1), btScalar(0.3));
  world.addRigidBody(&body);

  double height = 0;
  for (int step = 0; step <= 1200; ++step) {
    height = mug.world_from_mesh(body.getWorldTransform()).translation.y;
    if (step % 200 == 0) std::printf("%4.1f s: the mug is at y = %+.3f m\n", step / 240.0, height);
    world.stepSimulation(btScalar(1) / 240, 0);
  }
  const bool hangs = height > -0.1;
  std::printf(hangs ? "it hangs\n" : "it fell\n");
  world.removeRigidBody(&body);
  world.removeRigidBody(&hook_body);
  return hangs ? 0 : 1;
}
