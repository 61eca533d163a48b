#include <gtest/gtest.h>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

// Two cubes on top of each other, and one beside them.
World make_world() {
  const TriangleMesh mesh = make_shape("box", {{"size_x", 0.2}, {"size_y", 0.2}, {"size_z", 0.2}});
  static const Shape shape = Shape::from_mesh(mesh, {.field = {.resolution = 24}, .points = 300});
  World world({.step = 2e-3, .sleep_speed = 0.01});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  for (const Vec3& place : {Vec3{0, 0.1, 0}, Vec3{0, 0.3, 0}, Vec3{1, 0.1, 0}})
    world.add_body({.name = "cube",
                    .shape = shape,
                    .mass = make_body_mass(compute_mass_properties(mesh), 1000),
                    .pose = {.translation = place}});
  for (int i = 0; i < 600; ++i) world.step();
  return world;
}

TEST(Sleep, WhatRestsSleepsAndStays) {
  World world = make_world();
  EXPECT_EQ(world.report().asleep, 3U);
  const BodyState before = world.body(2).state;
  for (int i = 0; i < 100; ++i) world.step();
  EXPECT_EQ(world.body(2).state, before);
  ASSERT_EQ(world.contacts().size(), 3U);  // which go on
  for (const PairContact& c : world.contacts()) EXPECT_EQ(c.phase, ContactPhase::kPersist);
  EXPECT_EQ(world.report().work.spheres, 0U);
}

TEST(Sleep, APushWakesWhatHangsTogether) {
  World world = make_world();
  world.add_load(1, {.force = {30, 0, 0}});
  world.step();
  EXPECT_FALSE(world.is_asleep(1));
  EXPECT_FALSE(world.is_asleep(2));
  EXPECT_TRUE(world.is_asleep(3));
  // As gently as if it had been awake: the stack does not jump.
  for (int i = 0; i < 20; ++i) {
    world.step();
    EXPECT_LT(world.energies().kinetic, 1e-3);
  }
  for (int i = 0; i < 500; ++i) world.step();
  EXPECT_EQ(world.report().asleep, 3U);
}

TEST(Sleep, WhatIsHitWakes) {
  World world = make_world();
  world.body(3).state.center = {0, 0.7, 0};
  double highest = 0;
  for (int i = 0; i < 300; ++i) {
    world.step();
    highest = std::max(highest, world.energies().kinetic);
  }
  EXPECT_GT(highest, 1);
  EXPECT_FALSE(world.is_asleep(1) && world.is_asleep(2) && world.is_asleep(3));
  for (int i = 0; i < 1500; ++i) world.step();
  EXPECT_EQ(world.report().asleep, 3U);
}

TEST(Sleep, IsSavedAndRestored) {
  World world = make_world(), other = make_world();
  world.add_load(3, {.force = {60, 0, 0}});
  for (int i = 0; i < 10; ++i) world.step();
  EXPECT_EQ(world.report().asleep, 2U);
  other.restore(world.save());
  EXPECT_TRUE(other.is_asleep(1));
  EXPECT_FALSE(other.is_asleep(3));
  for (int i = 0; i < 400; ++i) {
    world.step();
    other.step();
  }
  EXPECT_EQ(world.hash(), other.hash());
}

}  // namespace
}  // namespace isotact
