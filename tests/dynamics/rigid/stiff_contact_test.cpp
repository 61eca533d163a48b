// Implicit steps bear any stiffness; explicit ones do not.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kSide = 0.2;

World make_stack(int count, double stiffness, const WorldSettings& settings) {
  const TriangleMesh mesh =
      make_shape("box", {{"size_x", kSide}, {"size_y", kSide}, {"size_z", kSide}});
  static const Shape shape = Shape::from_mesh(mesh, {.field = {.resolution = 24}, .points = 400});
  World world(settings);
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  for (int i = 0; i < count; ++i) {
    const BodyId id =
        world.add_body({.name = "cube " + std::to_string(i),
                        .shape = shape,
                        .mass = make_body_mass(compute_mass_properties(mesh), 1000),
                        .pose = {.translation = {0, (0.5 + i) * kSide + 0.001 * i, 0}},
                        .material = {.stiffness = stiffness}});
    if (id > 0) world.set_pair_material(id - 1, id, {.stiffness = stiffness, .damping = 5e4});
  }
  return world;
}

TEST(StiffContact, StacksStandAtAnyStiffness) {
  for (const double stiffness : {1e7, 1e9, 1e11, 1e13}) {
    for (const double step : {1e-3, 5e-3}) {
      if (kSlowBuild && step < 5e-3) continue;
      World world = make_stack(5, stiffness, {.step = step});
      Vec3 landed{};
      for (int i = 0; i < static_cast<int>(1.5 / step); ++i) {
        world.step();
        ASSERT_FALSE(world.trouble()) << world.trouble()->message;
        if (world.time() < 0.5) landed = world.body(5).state.center;
      }
      // The softest stack still sways by half a millimetre.
      EXPECT_LT(world.energies().kinetic, 5e-4) << stiffness << " " << step;
      const BodyState& top = world.body(5).state;
      // Cubes fall by up to 4 mm, and springs that are too stiff for the step let them hop. A stack
      // that has landed stays where it is.
      EXPECT_LT(length(Vec3{top.center.x, 0, top.center.z}), 0.1 * kSide)
          << stiffness << " " << step;
      EXPECT_LT(length(top.center - landed), 1e-3) << stiffness << " " << step;
      EXPECT_NEAR(top.center.y, 4.5 * kSide, 0.01) << stiffness << " " << step;
    }
  }
}

TEST(StiffContact, ExplicitStepsDoNotBearIt) {
  World world = make_stack(5, 1e9, {.step = 5e-3, .solve = ForceSolve::kExplicit});
  for (int i = 0; i < 300 && !world.trouble(); ++i) world.step();
  EXPECT_TRUE(world.trouble());
}

}  // namespace
}  // namespace isotact
