// Ways of points in a step, and what forces come to, for those who draw them.
#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

const Shape& crate() {
  static const Shape shape =
      Shape::from_mesh(make_box({0.2, 0.1, 0.3}), {.field = {.resolution = 24}, .points = 400});
  return shape;
}
BodyMass crate_mass() {
  return make_body_mass(compute_mass_properties(make_box({0.2, 0.1, 0.3})), 500);
}

World world_with_crate(const Pose& pose, const Vec3& velocity) {
  World world({.step = 1e-3, .impacts = ImpactRule::kOff});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  world.add_body({.name = "crate",
                  .shape = crate(),
                  .mass = crate_mass(),
                  .pose = pose,
                  .velocity = velocity});
  return world;
}

TEST(ContactPaths, EnterTheFieldWhereTheySay) {
  Random random(11);
  std::size_t paths_seen = 0, entered = 0;
  for (int n = 0; n < 200; ++n) {
    const Pose pose{rotation_about(random.unit_vector(), random.uniform(0, 3)),
                    {0, random.uniform(0.04, 0.25), 0}};
    World world = world_with_crate(pose, {random.uniform(-3, 3), random.uniform(-30, -1), 0});
    world.step();
    std::vector<ContactPath> paths;
    world.find_contact_paths({0, 1}, 1000, paths);
    EXPECT_EQ(paths.size(), world.report().points);
    for (const ContactPath& p : paths) {
      ++paths_seen;
      ASSERT_LE(p.enter, p.exit);
      // The ground is y = 0, and paths are straight: inside between the two times, and only there.
      const auto height = [&](double t) { return p.from.y + (p.to.y - p.from.y) * t; };
      EXPECT_LT(height((static_cast<double>(p.enter) + static_cast<double>(p.exit)) / 2), 1e-5);
      if (p.enter > 0) {
        ++entered;
        EXPECT_NEAR(height(static_cast<double>(p.enter)), 0, 1e-5);
      }
      if (p.exit < 1) {
        EXPECT_NEAR(height(static_cast<double>(p.exit)), 0, 1e-5);
      }
    }
  }
  EXPECT_GT(paths_seen, 2000U);
  EXPECT_GT(entered, 200U);
}

TEST(ContactPaths, AreAFewOfMany) {
  World world = world_with_crate({{}, {0, 0.045, 0}}, {});
  world.step();
  ASSERT_GT(world.report().points, 50U);
  std::vector<ContactPath> paths;
  world.find_contact_paths({0, 1}, 10, paths);
  EXPECT_LE(paths.size(), 10U);
  EXPECT_GE(paths.size(), 5U);
}

TEST(ContactForces, OfWhatRestsBalanceItsWeightAndTurnNothing) {
  World world = world_with_crate({rotation_about({0, 1, 0}, 0.4), {0.7, 0.0499, -1.2}}, {});
  for (int n = 0; n < 1500; ++n) world.step();
  ASSERT_EQ(world.contacts().size(), 1U);
  const PairContact& c = world.contacts()[0];
  const double weight = crate_mass().mass * 9.81;
  // On A, which is the ground.
  const Vec3 force = c.impulse / -1e-3;
  EXPECT_NEAR(force.y, weight, 0.01 * weight);
  // At the deepest place alone it would turn the crate; all of it together does not.
  const Vec3 center = world.body(1).state.center;
  const Vec3 torque = c.angular_impulse / -1e-3 - cross(center, force);
  const double at_deepest = length(cross(c.contact.position - center, force));
  EXPECT_LT(length(torque), 0.01 * weight * 0.1);
  EXPECT_GT(at_deepest, 10 * length(torque));
}

}  // namespace
}  // namespace isotact
