// Nuts that follow their thread, and chains that hold.
#include <cmath>

#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

// Metres per turn of a nut that is turned at 4 rad/s, 240 Hz, with the settings of a new user.
template <typename World>
double pitch_of(double diameter, double pitch) {
  const auto bolt = cook_bullet_shape(make_bolt({.diameter = diameter,
                                                 .pitch = pitch,
                                                 .length = 3.1 * diameter,
                                                 .thread_length = 2.4 * diameter,
                                                 .head_height = 0.6 * diameter,
                                                 .head_width = 1.5 * diameter}));
  const auto nut = cook_bullet_shape(make_nut({.diameter = diameter,
                                               .pitch = pitch,
                                               .clearance = pitch / 20,
                                               .height = 0.8 * diameter,
                                               .width = 1.5 * diameter}));
  const BodyInfo info = make_body_info(*nut, {.density = 7800});
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  World world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -10, 0});
  btRigidBody still(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, bolt.get()));
  still.setFriction(btScalar(0.01));
  world.addRigidBody(&still);
  btRigidBody body(
      btRigidBody::btRigidBodyConstructionInfo(info.mass, nullptr, info.shape.get(), info.inertia));
  body.setFriction(btScalar(0.01));
  body.setActivationState(DISABLE_DEACTIVATION);
  body.setWorldTransform(info.world_from_body(bolt_from_nut(pitch, 1.9 * diameter)));
  world.addRigidBody(&body);
  constexpr double kRate = 240;
  double turns = 0, height = 0;
  for (int i = 0; i < 420; ++i) {
    btVector3 spin = body.getAngularVelocity();
    spin.setY(-4);
    body.setAngularVelocity(spin);
    world.stepSimulation(static_cast<btScalar>(1 / kRate), 0);
    if (i < 60) continue;  // It comes to lie on the flank.
    if (i == 60)
      height = place(body).y;
    else
      turns += static_cast<double>(body.getAngularVelocity().y()) / kRate / (2 * kPi);
  }
  const double climbed = place(body).y - height;
  world.removeRigidBody(&body);
  world.removeRigidBody(&still);
  return climbed / turns;
}

TEST(BulletThread, NutsFollowTheirPitch) {
  const std::pair<double, double> sizes[] = {{0.008, 0.00125}, {0.012, 0.00175}, {0.016, 0.002}};
  for (const auto& [diameter, pitch] : sizes) {
    SCOPED_TRACE(diameter);
    EXPECT_NEAR(pitch_of<btDiscreteDynamicsWorld>(diameter, pitch), pitch, 0.02 * pitch);
    EXPECT_NEAR(pitch_of<GuardedWorld<btDiscreteDynamicsWorld>>(diameter, pitch), pitch,
                0.02 * pitch);
    if (kSlowBuild) break;
  }
}

// The first of eight links is fixed. At 60 Hz the others hang and swing, and none comes off.
template <typename World>
void hang_chain() {
  const auto link = cook_bullet_shape(make_shape("link"));
  const BodyInfo info = make_body_info(*link, {.density = 7800});
  const Aabb box = link->body().box;
  const Vec3 side = extent(box);
  // Along its longest side; every second one is turned about that.
  const int along = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  Vec3 axis{};
  axis[static_cast<std::size_t>(along)] = 1;
  const double length_of = side[static_cast<std::size_t>(along)];
  const double thickness = 0.5 * std::min({side.x, side.y, side.z});
  const Quat upright =
      along == 1 ? Quat{} : rotation_about(along == 0 ? Vec3{0, 0, 1} : Vec3{1, 0, 0}, -kPi / 2);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  World world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({1, -10, 0});  // It swings to a side.
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  const double apart = length_of - 4.1 * thickness;  // Of two wires, one in the hole of the other.
  for (int i = 0; i < 8; ++i) {
    bodies.push_back(std::make_unique<btRigidBody>(
        btRigidBody::btRigidBodyConstructionInfo(i == 0 ? 0 : info.mass, nullptr, info.shape.get(),
                                                 i == 0 ? btVector3(0, 0, 0) : info.inertia)));
    const Quat turn = rotation_about({0, 1, 0}, i % 2 == 0 ? 0 : kPi / 2) * upright;
    bodies.back()->setWorldTransform(info.world_from_body({turn, {0, -apart * i, 0}}));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
  for (int i = 0; i < 180; ++i) world.stepSimulation(btScalar(1.0 / 60), 0);
  for (std::size_t i = 1; i < bodies.size(); ++i)
    EXPECT_LT(length(place(*bodies[i]) - place(*bodies[i - 1])), length_of) << i;
  for (auto& body : bodies) world.removeRigidBody(body.get());
}

// Without the guard a wire may pass through another one.
TEST(BulletThread, AChainOfEightLinksHoldsAt60HzIfGuarded) {
  hang_chain<GuardedWorld<btDiscreteDynamicsWorld>>();
}

}  // namespace
}  // namespace isotact
