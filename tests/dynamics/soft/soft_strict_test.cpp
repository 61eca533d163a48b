// What other tests let pass when it was broken on purpose: parts of forces, of the implicit solve
// and of contact, each by itself.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "dynamics/soft/soft_bodies.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

SoftBodySettings make_ball(double radius, int frequency, const SoftMaterial& material) {
  return {.name = "ball",
          .mesh = make_sphere({.radius = radius, .frequency = frequency}),
          .mass = 0.5,
          .material = material};
}

double energy_of(const SoftWorld& world) { return world.report().kinetic + world.report().springs; }

// Stiff areas shorten the stable step as they should: a body of little else stays in one piece.
TEST(SoftStrict, AreasCountForTheStableStep) {
  const SoftMaterial soft{.stiffness = 1, .damping = 0, .air_friction = 0, .max_strain = 0};
  SoftMaterial stiff = soft;
  stiff.area = 1e8;
  SoftWorld world({.step = 2e-3, .gravity = {}, .contact = false, .max_substeps = 1000});
  const SoftId id = world.add_body(make_ball(0.2, 4, stiff)),
               other = world.add_body(make_ball(0.2, 4, soft));
  EXPECT_LT(world.stable_step(id), world.stable_step(other) / 20);
  Random random(5);
  for (Vec3& x : world.positions(id)) x += random.in_unit_ball() * 2e-4;
  double start = 0, most = 0;
  for (int i = 0; i < unless_slow(500, 100); ++i) {
    world.step();
    if (i == 0) start = energy_of(world);
    most = std::max(most, energy_of(world));
  }
  EXPECT_FALSE(world.trouble());
  EXPECT_LT(most, 5 * start);
}

// Two triangles folded along their common edge: no edge is longer or shorter, and what resists is
// the spring between the two opposite corners alone. Let go, it opens again.
TEST(SoftStrict, BendingSpringsResistFolding) {
  for (const double bending : {0.0, 30.0}) {
    SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
    SoftBodySettings body{
        .name = "hinge",
        .mesh = {{{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {-1, 0, 0}}, {{0, 1, 2}, {1, 0, 3}}},
        .material = {.stiffness = 100, .damping = 0.5, .bending = bending, .air_friction = 1},
        .pinned = {0, 1, 2}};
    const SoftId id = world.add_body(body);
    world.positions(id)[3] = {0, 1, 0};  // by a right angle
    world.step();
    const double shorter = 2 - std::sqrt(2.0);
    EXPECT_NEAR(world.report().springs, 0.5 * bending * shorter * shorter, 0.02 * bending + 1e-9);
    for (int i = 0; i < 4000; ++i) world.step();
    const Vec3 end = std::as_const(world).positions(id)[3];
    EXPECT_LT(length(end - (bending > 0 ? Vec3{-1, 0, 0} : Vec3{0, 1, 0})), 0.1);
  }
}

TEST(SoftStrict, AirStopsBothIntegrators) {
  for (const SoftIntegrator integrator :
       {SoftIntegrator::kVerlet, SoftIntegrator::kBackwardEuler}) {
    SoftWorld world({.step = 1e-3, .gravity = {}, .integrator = integrator, .contact = false});
    SoftBodySettings ball = make_ball(0.2, 2, {.stiffness = 50, .air_friction = 2});
    ball.velocity = {1, 0, 0};
    const SoftId id = world.add_body(ball);
    for (int i = 0; i < 500; ++i) world.step();
    EXPECT_NEAR(momentum(world, id).x, 0.5 * std::exp(-1.0), 1e-3);
  }
}

// Stiff areas and stiff pressure at a step a hundred times too long for Verlet: backward Euler
// gains nothing, and keeps both. Each has its own part in the matrix.
TEST(SoftStrict, BackwardEulerBearsStiffAreasAndPressure) {
  for (const bool pressure : {false, true}) {
    SoftMaterial material{.stiffness = 5, .damping = 0, .air_friction = 0, .max_strain = 0};
    (pressure ? material.volume : material.area) = pressure ? 3e6 : 1e9;
    SoftWorld world({.step = 2e-2,
                     .gravity = {},
                     .integrator = SoftIntegrator::kBackwardEuler,
                     .contact = false,
                     .newton_steps = 3});
    const SoftId id = world.add_body(make_ball(0.2, 4, material));
    ASSERT_LT(world.stable_step(id), 2e-3);
    const double volume = world.volume(id);
    for (Vec3& x : world.positions(id)) x = x * 1.02;
    world.step();
    double last = energy_of(world);
    for (int i = 0; i < unless_slow(60, 20); ++i) {
      world.step();
      ASSERT_FALSE(world.trouble());
      ASSERT_LT(energy_of(world), 1.05 * last + 1e-9) << i << ' ' << pressure;
      last = energy_of(world);
    }
    if (pressure) {
      EXPECT_NEAR(world.volume(id), volume, 1e-3 * volume);
    }
  }
}

// A vertex between two taut springs swings sideways with 2 k (1 - L / l): the part of a spring's
// matrix across it. Backward Euler's recurrence for it is known.
TEST(SoftStrict, TautSpringsPullSideways) {
  const double h = 0.05, k = 40;
  SoftWorld world({.step = h,
                   .gravity = {},
                   .integrator = SoftIntegrator::kBackwardEuler,
                   .contact = false,
                   .newton_steps = 1});
  const SoftId id = world.add_body(
      {.name = "string",
       .mesh = {{{-1, 0, 0}, {1, 0, 0}, {0, 1e-5F, 0}}, {{0, 1, 2}}},
       .mass = 3,
       .material = {.stiffness = k, .damping = 0, .air_friction = 0, .max_strain = 0},
       .pinned = {0, 1}});
  // Pulled to twice its length.
  world.positions(id)[0].x = -2;
  world.positions(id)[1].x = 2;
  const double w_sq = 2 * k * 0.5 / world.masses(id)[2];
  double y = 1e-3, v = 0;
  world.positions(id)[2].y = y;
  for (int i = 0; i < 40; ++i) {
    world.step();
    v = (v - h * w_sq * y) / (1 + h * h * w_sq);
    y += h * v;
    ASSERT_NEAR(std::as_const(world).positions(id)[2].y, y, 2e-6) << i;
  }
}

// What has flowed keeps the yield strain, neither less nor more; below it nothing flows.
TEST(SoftStrict, PlasticBodiesKeepTheYieldStrain) {
  for (const double stretch : {1.03, 1.3}) {
    SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
    SoftBodySettings body{.name = "triangle",
                          .mesh = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}},
                          .material = {.stiffness = 40,
                                       .damping = 0.5,
                                       .area = 10,
                                       .air_friction = 2,
                                       .max_strain = 0,
                                       .yield = 0.05,
                                       .creep = 100}};
    body.pinned = {0, 1, 2};
    const SoftId id = world.add_body(body);
    for (Vec3& x : world.positions(id)) x = x * stretch;  // and held there
    for (int i = 0; i < 400; ++i) world.step();
    // Lengths keep 0.05 of the rest length, areas 0.1 of theirs: what is left is known.
    const double keeps = std::min(stretch - 1, 0.05), rest = stretch / (1 + keeps);
    const double area = stretch * stretch / 2,
                 area_rest = area / (1 + std::min(2 * 0.05, stretch * stretch - 1));
    double want = 0.5 * 10 * (area - area_rest) * (area - area_rest);
    for (const double edge : {1.0, 1.0, std::sqrt(2.0)}) {
      const double longer = edge * (stretch - rest);
      want += 0.5 * 40 * longer * longer;
    }
    EXPECT_NEAR(world.report().springs, want, 1e-3 * want) << stretch;
  }
}

// One that is not steered bounces off all six walls.
TEST(SoftStrict, WallsThrowBack) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      SoftWorld world({.step = 5e-3,
                       .gravity = {},
                       .cube = Aabb{{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
                       .contact = false});
      SoftBodySettings ball =
          make_ball(0.2, 3, {.stiffness = 50, .damping = 0.01, .struts = 20, .air_friction = 0});
      ball.velocity[axis] = 2 * side;
      const SoftId id = world.add_body(ball);
      double back = 0;
      for (int i = 0; i < 80; ++i) {
        world.step();
        back = std::min(back, side * momentum(world, id)[axis]);
      }
      EXPECT_LT(back, -0.6) << axis << ' ' << side;  // of 1
    }
}

// Two that go towards each other turn around where they meet.
TEST(SoftStrict, SteeredBodiesTurnAroundWhereTheyMeet) {
  SoftWorld world({.step = 5e-3, .gravity = {}});
  for (const double side : {-1.0, 1.0}) {
    SoftBodySettings ball =
        make_ball(0.2, 3, {.stiffness = 50, .damping = 0.05, .struts = 20, .friction = 0});
    ball.pose.translation = {0.35 * side, 0, 0};
    ball.steering = Steering{.velocity = Vec3{-side, 0, 0}};
    world.add_body(ball);
  }
  for (int i = 0; i < 200; ++i) world.step();
  EXPECT_LT(momentum(world, 0).x, -0.4);
  EXPECT_GT(momentum(world, 1).x, 0.4);
  EXPECT_GT(center_of_mass(world, 1).x - center_of_mass(world, 0).x, 1);
}

// In a narrow groove rows of both sides pull against each other, and one round of the solver is
// not enough: vertices are kept outside all the same.
TEST(SoftStrict, AGrooveHoldsWithOneIteration) {
  World rigid({.step = 2e-3});
  for (const double side : {-1.0, 1.0}) {
    const double angle = 0.15;  // between the vertical and either wall
    rigid.add_body({.name = side < 0 ? "left" : "right",
                    .kind = BodyKind::kStatic,
                    .shape = Shape::from_analytic(
                        PlaneField{.normal = {-side * std::cos(angle), std::sin(angle), 0}})});
  }
  SoftWorld soft({.step = 2e-3, .contact_iterations = 1});
  SoftBodySettings ball =
      make_ball(0.1, 4, {.stiffness = 30, .damping = 0.02, .volume = 500, .friction = 0});
  ball.pose.translation = {0, 0.9, 0};
  ball.velocity = {0, -15, 0};
  const SoftId id = soft.add_body(ball);
  std::uint32_t contacts = 0;
  for (int i = 0; i < unless_slow(250, 80); ++i) {
    const SoftReport& report = soft.step(&rigid);
    ASSERT_FALSE(soft.trouble());
    ASSERT_EQ(report.depth, 0) << i;
    contacts = std::max(contacts, report.contacts);
    for (const Vec3& x : std::as_const(soft).positions(id))
      for (BodyId k = 0; k < 2; ++k)
        ASSERT_GE(rigid.body_settings(k).shape->any_field().value(x), 0) << i;
  }
  EXPECT_GT(contacts, 10U);
}

// Hit beside its centre a rigid body turns, and what it turns with is missing from the ball.
TEST(SoftStrict, ARigidBodyHitOffItsCentreTurns) {
  const TriangleMesh box = make_box({.size_x = 0.4, .size_y = 0.1, .size_z = 0.1, .segments = 8});
  const Shape shape = Shape::from_mesh(box, {.field = {.resolution = 48}, .points = 1500});
  World rigid({.step = 1e-3, .gravity = {}});
  const BodyId id = rigid.add_body(
      {.name = "bar", .shape = shape, .mass = make_body_mass(compute_mass_properties(box), 250)});
  SoftWorld soft({.step = 1e-3, .gravity = {}});
  SoftBodySettings ball = make_ball(
      0.08, 4, {.stiffness = 100, .damping = 0.05, .struts = 40, .air_friction = 0, .friction = 0});
  ball.pose.translation = {0.15, 0.16, 0};
  ball.velocity = {0, -2, 0};
  const SoftId soft_id = soft.add_body(ball);
  const auto all = [&] {
    const auto& s = rigid.body(id).state;
    return angular_momentum(soft, soft_id) + cross(s.center, s.momentum) + s.angular_momentum;
  };
  const double before = all().z;
  EXPECT_NEAR(before, -0.15, 1e-3);
  for (int i = 0; i < 200; ++i) {
    soft.step(&rigid);
    rigid.step();
  }
  EXPECT_LT(rigid.body(id).state.angular_momentum.z, -0.05);
  EXPECT_NEAR(all().z, before, 0.03 * std::abs(before));
}

}  // namespace
}  // namespace isotact
