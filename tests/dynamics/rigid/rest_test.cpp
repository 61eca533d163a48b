// Bodies come to rest: after impacts, on flat faces without friction, and on fields of any cells.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic_solid.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"

namespace isotact {
namespace {

Part make_cube(double side, int resolution) {
  const TriangleMesh mesh = make_box({.size_x = side, .size_y = side, .size_z = side});
  return {Shape::from_mesh(mesh, {.field = {.resolution = resolution}, .points = 1500}),
          make_body_mass(compute_mass_properties(mesh), 1000)};
}

// Rims of flush boxes took the gradients of side faces, and boxes without friction flew aside.
TEST(Rest, FlushBoxesWithoutFrictionStay) {
  const Part cube = make_cube(0.5, 60);
  World world({.step = 1e-2, .threads = {1}});
  const SurfaceMaterial smooth{.friction = 0, .restitution = 0};
  world.add_body({.name = "ground",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_analytic(PlaneField{}),
                  .material = smooth});
  for (int i = 0; i < 4; ++i)
    world.add_body({.name = "cube",
                    .shape = cube.shape,
                    .mass = cube.mass,
                    .pose = {{}, {0, 0.25 + 0.8 * i + 0.1, 0}},
                    .material = smooth});
  while (world.time() < 2) world.step();
  for (BodyId id = 1; id < world.body_count(); ++id) {
    const Vec3 at = world.pose(id).translation;
    EXPECT_LT(std::hypot(at.x, at.z), 0.01) << id;
    EXPECT_NEAR(at.y, 0.5 * id - 0.25, 0.002) << id;
  }
}

// A pair whose contacts were impacts had no force, so that gravity made another impact of it.
TEST(Rest, APairHasForcesAfterAnImpact) {
  for (const double step : {1e-3, 1e-2}) {
    const Part cube = make_cube(0.2, 40);
    World world({.step = step, .threads = {1}});
    world.add_body({.name = "ground",
                    .kind = BodyKind::kStatic,
                    .shape = Shape::from_analytic(PlaneField{}),
                    .material = {.restitution = 0}});
    world.add_body({.name = "cube",
                    .shape = cube.shape,
                    .mass = cube.mass,
                    .pose = {{}, {0, 0.3, 0}},
                    .material = {.restitution = 0}});
    std::uint32_t impacts = 0, later = 0;
    bool checked = false;
    while (world.time() < 1) {
      const bool landed = impacts > 0 && !checked;
      world.step();
      // The step after the first impact: it does not fall. In the larger step the impact leaves the
      // cube just above the ground.
      if (landed && step < 5e-3) {
        EXPECT_GT(velocity(world.body(1)).y, -0.2 * 9.81 * step) << step;
      }
      checked = impacts > 0;
      (impacts > 0 && world.time() > 0.4 ? later : impacts) += world.report().impacts;
    }
    EXPECT_TRUE(checked) << step;
    EXPECT_GT(impacts, 0U) << step;
    EXPECT_EQ(later, 0U) << step;
    ASSERT_FALSE(world.contacts().empty()) << step;
    EXPECT_GT(world.contacts()[0].points, 0U) << step;
  }
}

// A search for impacts began at movements of two cells, so that fine fields made impacts.
TEST(Rest, CellsMakeNoImpacts) {
  const Part cube = make_cube(0.2, 40);
  const TriangleMesh floor = make_box({.size_x = 3, .size_y = 0.2, .size_z = 1});
  for (const int resolution : {96, 400}) {
    World world({.step = 1e-2, .threads = {1}});
    world.add_body(
        {.name = "floor",
         .kind = BodyKind::kStatic,
         .shape = Shape::from_mesh(floor, {.field = {.resolution = resolution}, .points = 4000}),
         .material = {.friction = 0}});
    const BodyId id = world.add_body({.name = "cube",
                                      .shape = cube.shape,
                                      .mass = cube.mass,
                                      .pose = {{}, {-1, 0.2, 0}},
                                      .velocity = {2, 0, 0},
                                      .material = {.friction = 0}});
    std::uint32_t impacts = 0;
    while (world.time() < 1) impacts += world.step().impacts;
    if (resolution > 200) {
      EXPECT_LT(impacts, 5U);
    }
    EXPECT_NEAR(world.pose(id).translation.x, 1, 0.1) << resolution;
    EXPECT_NEAR(world.pose(id).translation.y, 0.2, 0.002) << resolution;
  }
}

// Springs that are far too soft for a fin, on a body that is a hundred times thicker.
TEST(Rest, ThinFinsOfThickBodiesHold) {
  const AnalyticSolid finned =
      Union{BoxField{.center = {0, -0.3, 0}, .half_size = {0.2, 0.2, 0.2}},
            BoxField{.center = {0, 0, 0}, .half_size = {0.002, 0.11, 0.2}}};
  const TriangleMesh mesh = make_sphere({.radius = 0.04, .frequency = 12});
  for (const double speed : {0.1, 0.3, 1.0, 5.0}) {
    World world({.step = 5e-3, .gravity = {}, .threads = {1}});
    const BodyId fin = world.add_body(
        {.name = "fin", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(finned)});
    const Part ball{Shape::from_mesh(mesh, {.field = {.resolution = 32}, .points = 4000}),
                    make_body_mass(compute_mass_properties(mesh), 5000)};
    BodySettings settings{.name = "ball", .shape = ball.shape, .mass = ball.mass};
    settings.pose = {{}, {-0.06, 0.02, 0}};
    settings.velocity = {speed, 0, 0};
    settings.material = {.stiffness = 1e3, .friction = 0};
    const BodyId id = world.add_body(settings);
    ASSERT_LT(world.thinnest_wall(), 0.004);
    world.set_pair_material(fin, id, {.stiffness = 1e3, .friction = 0});
    for (int i = 0; i < 300; ++i) {
      world.step();
      ASSERT_LT(world.pose(id).translation.x, 0) << speed;
    }
  }
}

}  // namespace
}  // namespace isotact
