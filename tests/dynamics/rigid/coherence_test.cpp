// What bodies remember of each other from step to step makes steps faster, and nothing else.
#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

Part make_part(const char* name, std::uint32_t points, int resolution) {
  const TriangleMesh mesh = make_shape(name, {});
  return {Shape::from_mesh(mesh, {.field = {.resolution = resolution}, .points = points}),
          make_body_mass(compute_mass_properties(mesh), 1000)};
}

// Some bodies above a ground; one is fast, one is moved by hand.
World make_heap(int threads) {
  static const Part torus = make_part("torus", 400, 32), gear = make_part("gear", 500, 40);
  // Bodies do not overlap at first: springs that are put into each other end in trouble.
  const auto size = static_cast<double>(std::max(gear.shape.tree()->bounding_sphere().radius,
                                                 torus.shape.tree()->bounding_sphere().radius));
  World world({.step = 1e-3, .threads = {threads}});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  Random random(3);
  for (int i = 0; i < 5; ++i) {
    const Part& part = i % 2 == 0 ? torus : gear;
    world.add_body({.name = "body",
                    .shape = part.shape,
                    .mass = part.mass,
                    .pose = {random.rotation(), {0, size * (1.01 + 2.01 * i), 0}},
                    .velocity = {0, -4.0 - 2 * i, 0},
                    .angular_velocity = random.in_unit_ball() * 10,
                    .fast = i == 3});
  }
  return world;
}

void disturb(World& world, int step) {
  if (step % 90 == 60) {
    // Put back up by somebody.
    RigidBody& body = world.body(2);
    Pose pose = world_from_body(body);
    pose.translation.y += 0.02;
    set_pose(body, pose);
  }
  if (step % 70 == 50) set_velocity(world.body(3), {0, -3, 0}, {0, 30, 0});
}

TEST(Coherence, ForgettingAfterEachStepGivesTheSameBytes) {
  World world = make_heap(1), forgetful = make_heap(1), wide = make_heap(7);
  int touching = 0;
  SweptWork with, without;
  for (int i = 0; i < (kSlowBuild ? 60 : 240); ++i) {
    for (World* w : {&world, &forgetful, &wide}) {
      disturb(*w, i);
      w->step();
    }
    with += world.report().work;
    without += forgetful.report().work;
    ASSERT_EQ(world.hash(), forgetful.hash()) << i;
    ASSERT_EQ(world.hash(), wide.hash()) << i;
    ASSERT_FALSE(world.trouble()) << world.trouble()->message;
    touching += world.report().contacts > 0 ? 1 : 0;
    forgetful.restore(forgetful.save());  // memories are no part of it
  }
  if (kSlowBuild) return;
  EXPECT_GT(touching, 50);
  EXPECT_LT((with.spheres + with.points) * 2, without.spheres + without.points);
}

}  // namespace
}  // namespace isotact
