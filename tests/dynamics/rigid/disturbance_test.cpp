// What users and others do to a world between its steps.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"

namespace isotact {
namespace {

Part make_box_part(double x, double y, double z) {
  const TriangleMesh mesh = make_shape("box", {{"size_x", x}, {"size_y", y}, {"size_z", z}});
  return {Shape::from_mesh(mesh, {.field = {.resolution = 24}, .points = 300}),
          make_body_mass(compute_mass_properties(mesh), 1000)};
}
BodySettings cube(const Vec3& place) {
  static const Part part = make_box_part(0.2, 0.2, 0.2);
  return {.name = "cube", .shape = part.shape, .mass = part.mass, .pose = {.translation = place}};
}
BodySettings plate(BodyKind kind) {
  static const Part part = make_box_part(0.6, 0.1, 0.6);
  return {.name = "plate", .kind = kind, .shape = part.shape, .mass = part.mass};
}
BodySettings ground() {
  return {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})};
}

// A pair that had parted in a step and met again in the next was never looked at again: what was
// put away and back fell through its table.
TEST(Disturbance, WhatIsPutAwayAndBackTouchesAgain) {
  const auto make = [] {
    World world({.step = 1e-3});
    world.add_body(plate(BodyKind::kStatic));
    world.add_body(cube({0, 0.15, 0}));
    return world;
  };
  World world = make(), other = make();
  for (int i = 0; i < 50; ++i) world.step();
  const BodyState rest = world.body(1).state;
  world.body(1).state.center.y += 2;
  world.step();
  EXPECT_EQ(world.report().contacts, 0U);
  world.body(1).state = rest;
  other.restore(world.save());
  for (int i = 0; i < 100; ++i) {
    world.step();
    other.step();
  }
  EXPECT_NEAR(world.body(1).state.center.y, rest.center.y, 1e-4);
  EXPECT_EQ(world.hash(), other.hash());
}

// Steps threw what queries say of poses that are nowhere, and named neither body nor time.
TEST(Disturbance, WhatIsNowhereIsToldOf) {
  const double nan = std::nan(""), infinite = HUGE_VAL;
  const auto spoil = [](int what, double x, World& world) {
    BodyState& s = world.body(1).state;
    if (what == 0) s.center.x = x;
    if (what == 1) s.rotation.y = x;
    if (what == 2) s.momentum.x = x;
    if (what == 3) s.angular_momentum.z = x;
    if (what == 4) world.add_load(1, {.force = {x, 0, 0}});
    if (what == 5) s.rotation = {0, 0, 0, 0};
  };
  for (int what = 0; what < 6; ++what)
    for (const double x : {nan, infinite, 1e200}) {
      World world({.step = 1e-3});
      world.add_body(ground());
      world.add_body(cube({0, 0.099, 0}));
      world.add_body(cube({0, 0.298, 0}));
      for (int i = 0; i < 3; ++i) world.step();
      spoil(what, x, world);
      for (int i = 0; i < 3; ++i) ASSERT_NO_THROW(world.step()) << what << ' ' << x;
      ASSERT_TRUE(world.trouble()) << what << ' ' << x;
      EXPECT_NE(world.trouble()->message.find("cube"), std::string::npos);
    }
}

// What a user put in was taken for energy that came from nowhere.
TEST(Disturbance, UsersMayPutEnergyIn) {
  World world({.step = 1e-3, .gravity = {}}), other({.step = 1e-3, .gravity = {}});
  world.add_body(cube({}));
  other.add_body(cube({}));
  for (int i = 0; i < 3; ++i) world.step();
  set_velocity(world.body(0), {1, 0, 0}, {});
  other.restore(world.save());
  for (int i = 0; i < 3; ++i) {
    world.step();
    other.step();
  }
  EXPECT_FALSE(world.trouble());
  EXPECT_EQ(world.hash(), other.hash());
  World falling({.step = 1e-3});
  falling.add_body(cube({}));
  falling.step();
  falling.body(0).state.center.y += 100;
  falling.step();
  EXPECT_FALSE(falling.trouble());
}

// The same of bodies that go where they are told, and take others along by joints.
TEST(Disturbance, BodiesThatAreLedPutEnergyIn) {
  World world({.step = 1e-3, .gravity = {}});
  BodySettings hand = cube({});
  hand.kind = BodyKind::kKinematic;
  world.add_body(hand);
  world.add_body(cube({0.5, 0, 0}));
  world.add_joint(
      {.kind = JointKind::kFixed, .a = 0, .b = 1, .a_from_joint = {.translation = {0.5, 0, 0}}});
  for (int i = 1; i <= 100; ++i) {
    world.move_to(0, {rotation_about({0, 0, 1}, 1e-3 * i), {0, 1e-3 * i, 0}});
    world.step();
    ASSERT_FALSE(world.trouble()) << world.trouble()->message;
  }
  EXPECT_GT(world.energies().kinetic, 1);
}

World make_sleepers() {
  World world({.step = 2e-3, .sleep_speed = 0.01});
  world.add_body(ground());
  world.add_body(cube({0, 0.1, 0}));
  world.add_body(cube({0, 0.3, 0}));
  for (int i = 0; i < 400; ++i) world.step();
  return world;
}

// Who was moved in its sleep stayed where it was after a restore, in mid-air.
TEST(Disturbance, SleepersThatWereMovedWakeAfterARestore) {
  World world = make_sleepers(), other = make_sleepers();
  ASSERT_TRUE(world.is_asleep(2));
  world.body(2).state.center.y += 1;
  other.restore(world.save());
  for (int i = 0; i < 20; ++i) {
    world.step();
    other.step();
  }
  EXPECT_FALSE(other.is_asleep(2));
  EXPECT_EQ(world.hash(), other.hash());
}

// What a log says of pairs that sleep was gone after a restore.
TEST(Disturbance, ContactsOfSleepersAreRestored) {
  World world = make_sleepers(), other = make_sleepers();
  other.restore(world.save());
  world.step();
  other.step();
  EXPECT_GT(world.report().depth, 0);
  EXPECT_EQ(world.report().depth, other.report().depth);
  ASSERT_EQ(world.contacts().size(), other.contacts().size());
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    EXPECT_EQ(world.contacts()[i].area, other.contacts()[i].area);
    EXPECT_EQ(world.contacts()[i].sticking, other.contacts()[i].sticking);
  }
}

TEST(Disturbance, SleepersWakeWhenRulesChange) {
  const auto wakes = [](auto&& change) {
    World world = make_sleepers();
    EXPECT_TRUE(world.is_asleep(1));
    change(world);
    world.step();
    return !world.is_asleep(1) && !world.is_asleep(2);
  };
  EXPECT_TRUE(wakes([](World& w) { w.add_joint({.a = 0, .b = 1}); }));
  EXPECT_TRUE(wakes([](World& w) { w.ignore_pair(0, 1); }));
  EXPECT_TRUE(wakes([](World& w) { w.set_pair_material(0, 1, {.friction = 0}); }));
}

// By discrete contact, what it lay on had gone before it was looked at.
TEST(Disturbance, SleepersFallWhenTheirTableGoes) {
  for (const ContactRule rule : {ContactRule::kContinuous, ContactRule::kDiscrete}) {
    World world({.step = 2e-3, .contact = rule, .sleep_speed = 0.01});
    world.add_body(plate(BodyKind::kKinematic));
    world.add_body(cube({0, 0.15, 0}));
    for (int i = 0; i < 400; ++i) world.step();
    ASSERT_TRUE(world.is_asleep(1));
    for (int i = 1; i < 20; ++i) {
      world.move_to(0, {.translation = {0, -0.01 * i, 0}});
      world.step();
    }
    EXPECT_LT(world.body(1).state.center.y, 0.149);
  }
}

TEST(Disturbance, PairsOfASnapshotAreInOrder) {
  World world({.step = 1e-3});
  world.add_body(ground());
  world.add_body(cube({0, 0.0999, 0}));
  world.step();
  std::vector<std::byte> twice = world.save();
  // Seven numbers, then bodies, then the number of pairs.
  const std::size_t head = 7 * 8, body = 13 * 8 + 6 * 8 + 7 * 8 + 4 + 3 * 8 + 8 + 4,
                    at = head + 2 * body;
  ASSERT_EQ(static_cast<int>(twice[at]), 1);
  const std::vector<std::byte> pair(twice.begin() + static_cast<std::ptrdiff_t>(at + 8),
                                    twice.end());
  twice.insert(twice.end(), pair.begin(), pair.end());
  twice[at] = std::byte{2};
  EXPECT_THROW(world.restore(twice), Error);
}

}  // namespace
}  // namespace isotact
