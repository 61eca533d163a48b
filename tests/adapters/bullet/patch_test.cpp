// Patches with an area: torsional friction at the centre of pressure, and penalty forces.
#include <cmath>

#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

// A disc of radius R that spins flat on the ground, with friction mu. A uniform pressure brakes it
// by 4/3 mu g / R. Returns the braking over that.
double braking_of(PatchResponse response, std::uint32_t patches) {
  constexpr double kRadius = 0.2, kFriction = 0.25, kRate = 240;
  const auto disc =
      cook_bullet_shape(make_cylinder({.radius = kRadius, .height = 0.05, .segments = 96}),
                        {.shape = {.field = {.resolution = 96}, .points = 6000},
                         .bullet = {.patches = patches, .response = response}});
  btStaticPlaneShape plane({0, 1, 0}, 0);
  BulletWorld world;
  world.world.getSolverInfo().m_numIterations = 50;  // Bullet's ten do not end for 70 contacts.
  world.add(plane, 0).setFriction(1);
  btRigidBody& body = world.add(*disc, 1, {0, 0.025, 0});
  body.setFriction(kFriction);
  world.step(20, 1 / kRate);
  body.setAngularVelocity({0, 30, 0});
  world.step(10, 1 / kRate);
  const auto before = static_cast<double>(body.getAngularVelocity().y());
  world.step(60, 1 / kRate);
  EXPECT_NEAR(place(body).y, 0.025, 1e-3);
  const double braking = (before - static_cast<double>(body.getAngularVelocity().y())) * kRate / 60;
  return braking / (4.0 / 3 * kFriction * 10 / kRadius);
}

TEST(BulletPatches, ASpinningDiscIsBrakedByItsArea) {
  EXPECT_NEAR(braking_of(PatchResponse::kPressure, 1), 1, 0.1);  // 15 of them.
  EXPECT_NEAR(braking_of(PatchResponse::kPressure, 50), 1, 0.15);
  // Four contacts at the rim brake it by half as much again.
  EXPECT_NEAR(braking_of(PatchResponse::kContacts, 1), 1.5, 0.05);
}

TEST(BulletPatches, ABodyRestsOnMoreThanFourPatches) {
  CookSettings settings{.shape = {.field = {.resolution = 40}, .points = 2000}};
  settings.bullet.response = PatchResponse::kPressure;
  settings.bullet.patches = 40;
  const auto cube =
      cook_bullet_shape(make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5}), settings);
  btBoxShape floor({3, 0.5F, 3});
  BulletWorld world;
  world.add(floor, 0, {0, -0.5, 0});
  btRigidBody& body = world.add(*cube, 1, {0, 0.26, 0});
  world.step(180);
  EXPECT_NEAR(place(body).y, 0.25, 2e-3);
  EXPECT_LT(body.getLinearVelocity().length(), 0.02F);
  EXPECT_GT(world.contact_count(), 4);
}

// Rests where the spring carries it, neither blown up nor sunk in.
TEST(BulletPatches, PenaltyForcesCarryABody) {
  constexpr double kRate = 240, kStiffness = 0.2 * kRate * kRate;
  for (const double stiffness : {0.0, 4000.0}) {
    CookSettings settings{.shape = {.field = {.resolution = 40}, .points = 2000}};
    settings.bullet.response = PatchResponse::kPenalty;
    settings.bullet.penalty.stiffness = stiffness;
    const auto cube =
        cook_bullet_shape(make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5}), settings);
    btBoxShape floor({3, 0.5F, 3});
    BulletWorld world;
    world.add(floor, 0, {0, -0.5, 0});
    btRigidBody& body = world.add(*cube, 1, {0, 0.26, 0});
    world.step(960, 1 / kRate);
    EXPECT_EQ(world.contact_count(), 0);
    EXPECT_NEAR(0.25 - place(body).y, 10 / (stiffness > 0 ? stiffness : kStiffness), 4e-4);
    EXPECT_LT(body.getLinearVelocity().length(), 0.01F);
    EXPECT_LT(body.getAngularVelocity().length(), 0.05F);
    // Friction stops it after a push.
    body.setLinearVelocity({0.3F, 0, 0});
    world.step(240, 1 / kRate);
    EXPECT_LT(body.getLinearVelocity().length(), 0.02F);
    EXPECT_LT(std::abs(place(body).x), 0.05);
  }
}

TEST(BulletPatches, PenaltyForcesOfTwoOfOurs) {
  CookSettings settings{.shape = {.field = {.resolution = 40}, .points = 2000}};
  settings.bullet.response = PatchResponse::kPenalty;
  settings.bullet.penalty.scale = ShellForceScale::kPressure;
  const auto cube =
      cook_bullet_shape(make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5}), settings);
  IsotactShape second = copy(*cube);
  BulletWorld world;
  world.add(*cube, 0, {0, -0.25, 0});
  btRigidBody& body = world.add(second, 1, {0.02, 0.26, 0.01});
  world.step(960, 1.0 / 240);
  EXPECT_NEAR(place(body).y, 0.25, 2e-3);
  EXPECT_LT(body.getLinearVelocity().length(), 0.01F);
}

}  // namespace
}  // namespace isotact
