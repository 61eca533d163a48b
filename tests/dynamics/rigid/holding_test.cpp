// Default materials hold what rests, under any load; deep points come out where they came in.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

constexpr double kTowerSide = 0.2;

Part make_tower_cube(double density) {
  static const TriangleMesh mesh =
      make_shape("box", {{"size_x", kTowerSide}, {"size_y", kTowerSide}, {"size_z", kTowerSide}});
  static const Shape shape = Shape::from_mesh(mesh, {.field = {.resolution = 24}, .points = 400});
  return {shape, make_body_mass(compute_mass_properties(mesh), density)};
}

// Cubes on a ground, that just touch.
World make_tower(const std::vector<double>& densities, double step) {
  World world({.step = step});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  double height = 0;
  for (const double density : densities) {
    const Part cube = make_tower_cube(density);
    height += kTowerSide;
    world.add_body({.name = "cube " + std::to_string(world.body_count()),
                    .shape = cube.shape,
                    .mass = cube.mass,
                    .pose = {.translation = {0, height - kTowerSide / 2, 0}}});
  }
  return world;
}

void expect_stands(World& world, double seconds, const std::string& about) {
  const double step = world.settings().step, before = world.energies().total();
  for (int i = 0; i < static_cast<int>(seconds / step); ++i) {
    world.step();
    ASSERT_FALSE(world.trouble()) << about << ": " << world.trouble()->message;
  }
  const StepReport& report = world.report();
  EXPECT_LT(report.energies.kinetic, 1e-3) << about;
  EXPECT_LT(report.depth, 1e-3 * kTowerSide * std::sqrt(3.0)) << about;
  EXPECT_LE(report.energies.total(), before * (1 + 1e-3)) << about;
  for (BodyId id = 1; id < world.body_count(); ++id) {
    const Vec3 at = world.body(id).state.center;
    EXPECT_LT(std::hypot(at.x, at.z), 0.02) << about;
    EXPECT_NEAR(at.y, (id - 0.5) * kTowerSide, 4e-4 * id) << about;
  }
}

TEST(Holding, StacksStand) {
  for (const int count : {5, 10, 20})
    for (const double step : {0.01, 0.005, 0.001}) {
      if ((kSlowBuild && count > 5) || (count == 20 && step < 0.005)) continue;
      World world = make_tower(std::vector<double>(static_cast<std::size_t>(count), 1000), step);
      expect_stands(world, step < 0.005 ? 1.5 : 3,
                    std::to_string(count) + " cubes, step " + std::to_string(step));
    }
}

TEST(Holding, AnyMassRatioStands) {
  Random random(test_seed(21));
  const int cases = test_cases(unless_slow(12, 3));
  for (int i = 0; i < cases; ++i) {
    const double ratio = i == 0 ? 1000 : std::pow(10.0, random.uniform(0, 3));
    const double step = i % 3 == 2 ? 0.001 : i % 3 == 1 ? 0.005 : 0.01;
    for (const bool heavy_above : {true, false}) {
      const std::vector<double> densities = {heavy_above ? 200 : 200 * ratio,
                                             heavy_above ? 200 * ratio : 200};
      World world = make_tower(densities, step);
      expect_stands(world, step < 0.005 ? 1.5 : 2, "ratio " + std::to_string(ratio));
    }
  }
}

// A cube is thrown at a sheet. Explicit springs let it past the middle, and it comes back to the
// side that it came from. Implicit steps hold it at half of the way.
TEST(Holding, PointsKeepTheSideOfTheirEntry) {
  for (const ForceSolve solve : {ForceSolve::kExplicit, ForceSolve::kImplicit}) {
    World world({.step = 1e-3, .gravity = {}, .solve = solve, .impacts = ImpactRule::kOff});
    world.add_body({.name = "sheet",
                    .kind = BodyKind::kStatic,
                    .shape = Shape::from_analytic(BoxField{.half_size = {0.5, 0.01, 0.5}})});
    const Part cube = make_tower_cube(1000);
    const BodyId id = world.add_body({.name = "cube",
                                      .shape = cube.shape,
                                      .mass = cube.mass,
                                      .pose = {.translation = {0, 0.01 + kTowerSide / 2, 0}},
                                      .velocity = {0, -2, 0}});
    world.set_pair_material(0, id, {.stiffness = 5e6, .damping = 0, .friction = 0});
    double deepest = 0;
    for (int i = 0; i < 400; ++i) {
      world.step();
      deepest = std::max(deepest, world.report().depth);
      for (const PairContact& c : world.contacts())
        if (c.points > 0 && c.contact.depth > 0) {
          EXPECT_LT(c.contact.normal.y, 0) << i;  // Towards the sheet, which is A.
        }
    }
    const bool is_held = solve == ForceSolve::kImplicit;
    EXPECT_GT(world.body(id).state.center.y, 0.01 + kTowerSide / 2 - 0.006);
    EXPECT_GT(deepest, is_held ? 0.003 : 0.0105);
    EXPECT_LT(deepest, is_held ? 0.0075 : 0.0195);
  }
}

TEST(Holding, PairMaterialsAreChecked) {
  World world = make_tower({1000}, 0.01);
  EXPECT_THROW(world.set_pair_material(0, 7, {}), Error);
  EXPECT_THROW(world.set_pair_material(1, 1, {}), Error);
  EXPECT_THROW(world.set_pair_material(0, 1, {.stiffness = -1}), Error);
  EXPECT_THROW(world.set_pair_material(0, 1, {.friction = std::nan("")}), Error);
  EXPECT_NO_THROW(world.set_pair_material(0, 1, {.stiffness = 1e6}));
}

TEST(Holding, SnapshotsHaveLoadsMotorsAndMaterials) {
  const auto make = [] {
    World world = make_tower({200, 20000, 200}, 0.01);
    const JointFrames frames =
        compute_joint_frames(world.pose(2), world.pose(3), {0, 0.5, 0}, {0, 1, 0});
    world.add_joint({.kind = JointKind::kHinge,
                     .a = 2,
                     .b = 3,
                     .a_from_joint = frames.a_from_joint,
                     .b_from_joint = frames.b_from_joint,
                     .motor = Motor{0, 1},
                     .friction = 0.1});
    return world;
  };
  World world = make();
  for (int i = 0; i < 20; ++i) world.step();
  world.set_motor(0, {3, 5});
  world.set_pair_material(0, 1, {.stiffness = 1e9, .damping = 1e6});
  for (int i = 0; i < 5; ++i) world.step();
  const std::vector<std::byte> bytes = world.save();
  World other = make();
  other.restore(bytes);
  EXPECT_EQ(other.joints()[0].motor->velocity, 3);
  EXPECT_EQ(other.save(), bytes);
  for (int i = 0; i < 30; ++i) {
    world.step();
    other.step();
    ASSERT_EQ(world.hash(), other.hash()) << i;
  }
}

// A ball that jams in a notch may be squeezed by any force. The stiffness followed it, and the force
// the stiffness: both doubled in each step, up to 1e15 N s.
TEST(Holding, WhatJamsIsNoLoad) {
  constexpr double kAngle = 0.12, kRadius = 0.1;
  const TriangleMesh mesh = make_sphere({.radius = kRadius, .frequency = 12});
  const Shape ball = Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = 2000});
  World world({.step = 1e-2, .threads = {1}});
  for (const double side : {-1.0, 1.0})
    world.add_body({.name = side < 0 ? "left" : "right",
                    .kind = BodyKind::kStatic,
                    .shape = Shape::from_analytic(
                        PlaneField{.normal = {side * std::cos(kAngle), std::sin(kAngle), 0}})});
  const BodyMass mass = make_body_mass(compute_mass_properties(mesh), 1000);
  const BodyId id = world.add_body({.name = "ball",
                                    .shape = ball,
                                    .mass = mass,
                                    .pose = {{}, {0, kRadius / std::sin(kAngle) + 0.3, 0}}});
  double most = 0;
  while (world.time() < 3) {
    world.step();
    ASSERT_FALSE(world.trouble()) << world.trouble()->message;
    if (world.time() < 1) continue;
    for (const PairContact& c : world.contacts()) most = std::max(most, length(c.impulse));
  }
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 100 * mass.mass * 9.81 * world.settings().step);
  EXPECT_LT(length(velocity(world.body(id))), 0.01);
}

// A plate that turns over a tip: the equation of its deepest point was that of the step's beginning,
// and each step left it deeper.
TEST(Holding, APlateTurnsOverATip) {
  const TriangleMesh mesh = make_box({.size_x = 2, .size_y = 0.2, .size_z = 0.4});
  const Shape plate = Shape::from_mesh(mesh, {.field = {.resolution = 100}, .points = 3000});
  const TriangleMesh tip = make_sphere({.radius = 0.02, .frequency = 8});
  World world({.step = 1e-2, .threads = {1}});
  world.add_body({.name = "tip",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_mesh(tip, {.field = {.resolution = 32}, .points = 40}),
                  .material = {.friction = 0, .restitution = 0}});
  world.add_body({.name = "plate",
                  .shape = plate,
                  .mass = make_body_mass(compute_mass_properties(mesh), 1000),
                  .pose = {{}, {0.3, 0.13, 0}},
                  .velocity = {-2, 0, 0},
                  .angular_velocity = {0, 0, -2},
                  .material = {.friction = 0, .restitution = 0}});
  double deepest = 0;
  int touching = 0;
  while (world.time() < 1) {
    world.step();
    deepest = std::max(deepest, world.report().depth);
    touching += world.report().points > 0 ? 1 : 0;
  }
  EXPECT_GT(touching, 20);
  EXPECT_LT(deepest, 8e-4);  // It was 1.2e-3.
}

TEST(Holding, SnapshotsHaveIgnoredPairs) {
  World world = make_tower({200, 200}, 0.01);
  for (int i = 0; i < 5; ++i) world.step();
  world.ignore_pair(2, 1);
  const std::vector<std::byte> bytes = world.save();
  World other = make_tower({200, 200}, 0.01);
  other.restore(bytes);
  EXPECT_EQ(other.save(), bytes);
  for (int i = 0; i < 60; ++i) {
    world.step();
    other.step();
    ASSERT_EQ(world.hash(), other.hash()) << i;
  }
  // One cube fell into the other.
  EXPECT_LT(length(other.pose(2).translation - other.pose(1).translation), 0.01);
  EXPECT_THROW(world.ignore_pair(1, 1), Error);
  EXPECT_THROW(world.ignore_pair(1, 7), Error);
}

}  // namespace
}  // namespace isotact
