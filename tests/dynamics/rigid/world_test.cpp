#include "isotact/dynamics/rigid/world.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

Part make_part(const TriangleMesh& mesh, int resolution, std::uint32_t points,
               double density = 1000) {
  return {Shape::from_mesh(mesh, {.field = {.resolution = resolution}, .points = points}),
          make_body_mass(compute_mass_properties(mesh), density)};
}
const Part& cube() {  // of side 0.2
  static const Part part =
      make_part(make_shape("box", {{"size_x", 0.2}, {"size_y", 0.2}, {"size_z", 0.2}}), 32, 600);
  return part;
}
const Part& ball() {  // of radius 0.1
  static const Part part = make_part(make_sphere({.radius = 0.1, .frequency = 12}), 32, 800);
  return part;
}
Shape ground(const Vec3& normal = {0, 1, 0}) {
  return Shape::from_analytic(PlaneField{.normal = normal});
}

BodySettings standing(const Part& part, const Pose& pose) {
  return {.name = "body", .shape = part.shape, .mass = part.mass, .pose = pose};
}
BodySettings make_ground(const Vec3& normal = {0, 1, 0}) {
  return {.name = "ground", .kind = BodyKind::kStatic, .shape = ground(normal)};
}

TEST(World, RestingDepthIsWeightOverSummedStiffness) {
  World world({.step = 1e-3});
  world.add_body(make_ground());
  const BodyId id = world.add_body(standing(cube(), {.translation = {0, 0.1, 0}}));
  const double stiffness = 4e6;
  world.set_pair_material(0, id, {.stiffness = stiffness, .damping = 5e4, .friction = 0.5});
  for (int i = 0; i < 1500; ++i) world.step();
  // Of the points below the plane; those on edges stand for a part of the sides, too.
  const double area = world.contacts()[0].area;
  EXPECT_NEAR(area, 0.2 * 0.2, 0.01);
  const double weight = cube().mass.mass * 9.81;
  const double want = weight / (stiffness * area);
  EXPECT_NEAR(0.1 - world.body(id).state.center.y, want, 0.01 * want);
  EXPECT_LT(length(velocity(world.body(id))), 1e-6);
  EXPECT_FALSE(world.trouble());
}

// Points stand for areas: four times as many of them push as hard. (Those on sharp edges stand for
// a part of two faces, so that boxes stand on a strip more, which is half as wide.)
TEST(World, DepthDoesNotDependOnSampling) {
  const TriangleMesh mesh = make_sphere({.radius = 0.1, .frequency = 12});
  double depth[2];
  for (const int k : {0, 1}) {
    const Part part = make_part(mesh, 24, k == 0 ? 800 : 3200);
    World world({.step = 2e-3});
    world.add_body(make_ground());
    const BodyId id = world.add_body(standing(part, {.translation = {0, 0.1, 0}}));
    world.set_pair_material(0, id, {.stiffness = 1e6, .damping = 1e4});
    for (int i = 0; i < 700; ++i) world.step();
    depth[k] = 0.1 - world.body(id).state.center.y;
  }
  EXPECT_NEAR(depth[1] / depth[0], 1, 0.03);
  // By the volume that is inside, pi R d^2, as flat as the cap is.
  EXPECT_NEAR(depth[1], std::sqrt(ball().mass.mass * 9.81 / (1e6 * kPi * 0.1)), 0.05 * depth[1]);
}

// On fields of any kind: a ball finds the lowest place of a ring.
TEST(World, AnalyticFieldsBear) {
  World world({.step = 2e-3});
  world.add_body({.name = "ring",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_analytic(TorusField{.radius = 0.1, .tube_radius = 0.03})});
  const BodyId id = world.add_body(standing(ball(), {.translation = {0.01, 0.15, 0.005}}));
  for (int i = 0; i < 2500; ++i) world.step();
  const Vec3 at = world.body(id).state.center;
  EXPECT_NEAR(at.y, std::sqrt(0.13 * 0.13 - 0.1 * 0.1), 2e-3);  // touches all around
  EXPECT_NEAR(at.x, 0, 2e-3);
  EXPECT_NEAR(at.z, 0, 2e-3);
}

// Analytic bodies that move get points on the first step: they rest on a ground and on each other.
TEST(World, AnalyticBodiesMove) {
  World world({.step = 2e-3});
  world.add_body(make_ground());
  const Shape box = Shape::from_analytic(BoxField{.half_size = {0.1, 0.05, 0.1}});
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.06});
  const BodyId below = world.add_body({.name = "box",
                                       .shape = box,
                                       .mass = make_body_mass(box.mass(), 500),
                                       .pose = {.translation = {0, 0.06, 0}}});
  const BodyId above = world.add_body({.name = "ball",
                                       .shape = ball,
                                       .mass = make_body_mass(ball.mass(), 500),
                                       .pose = {.translation = {0.001, 0.18, 0}}});
  EXPECT_EQ(world.points(above), nullptr);
  for (int i = 0; i < 500; ++i) world.step();
  ASSERT_NE(world.points(above), nullptr);
  EXPECT_NEAR(world.body(below).state.center.y, 0.05, 2e-3);
  EXPECT_NEAR(world.body(above).state.center.y, 0.16, 4e-3);
  EXPECT_EQ(world.points(0), nullptr);
}

// Fields alone used to pass through each other without a word.
TEST(World, BodiesOfFieldsAloneTouch) {
  World world({.step = 2e-3});
  const Shape field = Shape::from_parts(ball().shape.field(), std::nullopt);
  world.add_body({.name = "below", .kind = BodyKind::kStatic, .shape = field});
  const BodyId id = world.add_body({.name = "above",
                                    .shape = field,
                                    .mass = ball().mass,
                                    .pose = {.translation = {0, 0.21, 0}}});
  for (int i = 0; i < 100; ++i) world.step();
  EXPECT_NEAR(world.body(id).state.center.y, 0.2, 3e-3);
}

// Two pointshells, or two shapes without end, fell through each other without a word.
TEST(World, RefusesPairsThatCannotTouch) {
  const auto message_of = [](World& world) -> std::string {
    try {
      world.step();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const Shape points = Shape::from_parts(std::nullopt, ball().shape.tree());
  const BodySettings below{.name = "below", .kind = BodyKind::kStatic, .shape = points};
  BodySettings above{.name = "above", .shape = points, .mass = ball().mass};
  above.pose.translation = {0, 0.3, 0};
  {
    World world({.step = 2e-3});
    world.add_body(below);
    world.step();  // Static bodies alone need not touch.
    world.add_body(above);
    for (int i = 0; i < 2; ++i) {
      const std::string message = message_of(world);
      EXPECT_NE(message.find("'below' and 'above'"), std::string::npos) << message;
      EXPECT_NE(message.find("Shape::from_mesh"), std::string::npos) << message;
    }
    EXPECT_EQ(world.report().number, 1U);
    EXPECT_EQ(world.body(1).state.center.y, 0.3);
    world.ignore_pair(0, 1);
    EXPECT_EQ(message_of(world), "");
  }
  {
    World world({.step = 2e-3});
    world.add_body(make_ground());
    BodySettings endless = above;
    endless.shape = ground({0, -1, 0});
    world.add_body(endless);
    EXPECT_NE(message_of(world).find("Intersection{solid"), std::string::npos);
  }
  {
    World world({.step = 2e-3, .contact = ContactRule::kOff});
    world.add_body(below);
    world.add_body(above);
    EXPECT_EQ(message_of(world), "");
  }
  // One field in each pair is enough.
  World world({.step = 2e-3});
  world.add_body(make_ground());
  world.add_body(above);
  BodySettings whole = standing(ball(), {.translation = {0.5, 0.2, 0}});
  world.add_body(whole);
  EXPECT_EQ(message_of(world), "");
}

TEST(World, DefaultsAreStable) {
  for (const double step : {4e-3, 1e-3, 2e-4}) {
    if (kSlowBuild && step < 4e-3) break;
    World world({.step = step});
    world.add_body(make_ground());
    Random random(1);
    world.add_body(standing(cube(), {random.rotation(), {0, 0.3, 0}}));
    world.add_body(standing(cube(), {random.rotation(), {0.05, 0.7, 0}}));
    for (int i = 0; i < static_cast<int>(3 / step); ++i) {
      world.step();
      ASSERT_FALSE(world.trouble()) << world.trouble()->message;
    }
    EXPECT_LT(world.energies().kinetic, 1e-3) << step;
    EXPECT_LT(world.report().depth, 100 * 9.81 * step * step + 1e-6) << step;
  }
}

// Two bodies in space: what one gets the other loses.
TEST(World, ContactConservesMomentum) {
  World world({.step = 1e-3, .gravity = {}, .impacts = ImpactRule::kOff});
  BodySettings a = standing(cube(), {.translation = {-0.3, 0.03, 0.01}});
  a.velocity = {2, 0, 0};
  a.angular_velocity = {1, 2, 3};
  BodySettings b = standing(ball(), {.translation = {0.1, 0, 0}});
  const BodyId ia = world.add_body(a), ib = world.add_body(b);
  const auto momentum = [&] {
    return world.body(ia).state.momentum + world.body(ib).state.momentum;
  };
  const auto angular = [&] {
    Vec3 sum{};
    for (const BodyId id : {ia, ib}) {
      const BodyState& s = world.body(id).state;
      sum += s.angular_momentum + cross(s.center, s.momentum);
    }
    return sum;
  };
  const Vec3 p = momentum(), l = angular();
  int touching = 0;
  for (int i = 0; i < 400; ++i) {
    world.step();
    touching += world.report().contacts > 0 ? 1 : 0;
  }
  EXPECT_GT(touching, 3);
  EXPECT_GT(world.body(ib).state.momentum.x, 1);  // it was hit
  EXPECT_LE(length(momentum() - p), 1e-12 * length(p));
  EXPECT_LE(length(angular() - l), 1e-11 * length(l));
}

TEST(World, AnInclineHoldsUpToCoulombsAngle) {
  const double friction = 0.5, critical = std::atan(friction);
  for (const double share : {0.9, 1.1}) {
    const double angle = critical * share;
    const Vec3 normal{std::sin(angle), std::cos(angle), 0},
        down{std::cos(angle), -std::sin(angle), 0};
    World world({.step = 1e-3});
    world.add_body(make_ground(normal));
    const Quat turn = rotation_about({0, 0, 1}, -angle);
    const BodyId id = world.add_body(standing(cube(), {turn, normal * 0.0995}));
    world.set_pair_material(0, id, {.stiffness = 4e6, .damping = 1e5, .friction = friction});
    for (int i = 0; i < 300; ++i) world.step();
    const double before = dot(world.body(id).state.center, down);
    const double speed_before = dot(velocity(world.body(id)), down);
    for (int i = 0; i < 500; ++i) world.step();
    const double moved = dot(world.body(id).state.center, down) - before;
    if (share < 1) {
      EXPECT_LT(std::abs(moved), 1e-5);
      EXPECT_GT(world.contacts()[0].sticking, world.contacts()[0].points / 2);
    } else {
      const double pull = 9.81 * (std::sin(angle) - friction * std::cos(angle));
      EXPECT_NEAR(moved, speed_before * 0.5 + pull * 0.125, 0.05 * moved);
    }
  }
}

// How high a ball comes after its first bounce, of how high it fell from. Without a damper.
double bounce(double step) {
  World world({.step = step, .impacts = ImpactRule::kOff});
  world.add_body(make_ground());
  constexpr double kDrop = 0.05;
  const BodyId id = world.add_body(standing(ball(), {.translation = {0, 0.1 + kDrop, 0}}));
  world.set_pair_material(0, id, {.stiffness = 1e8, .damping = 0, .friction = 0});
  double highest = 0;
  bool bounced = false;
  while (world.time() < 0.28) {
    world.step();
    bounced = bounced || world.report().contacts > 0;
    if (bounced && world.report().contacts == 0)
      highest = std::max(highest, world.body(id).state.center.y - 0.1);
  }
  return highest / kDrop;
}

// It comes back to where it fell from.
TEST(World, ABallBouncesBack) {
  EXPECT_NEAR(bounce(4e-4), 1, 0.02);
  EXPECT_NEAR(bounce(2e-4), 1, 0.01);
  EXPECT_NEAR(bounce(1e-4), 1, 0.005);
}

TEST(World, NoBulletTunnels) {
  const Part plate =
      make_part(make_shape("box", {{"size_x", 0.02}, {"size_y", 1}, {"size_z", 1}}), 128, 4000);
  for (const double lengths : {0.3, 1.0, 3.0, 10.0}) {
    const double step = 1e-3;
    World world({.step = step, .gravity = {}});
    BodySettings wall = standing(plate, {});
    wall.kind = BodyKind::kStatic;
    world.add_body(wall);
    Random random(5);
    std::vector<BodyId> bullets;
    for (int i = 0; i < 2; ++i) {
      BodySettings bullet =
          standing(ball(), {random.rotation(),
                            {-0.7 - random.uniform(), -0.25 + 0.5 * i, random.uniform(-0.3, 0.3)}});
      bullet.velocity = {0.2 * lengths / step, 0, 0};
      bullet.angular_velocity = random.unit_vector() * 100;
      bullets.push_back(world.add_body(bullet));
    }
    for (int i = 0; i < 40; ++i) {
      world.step();
      for (const BodyId id : bullets) ASSERT_LT(world.body(id).state.center.x, 0.1) << lengths;
    }
    for (const BodyId id : bullets) EXPECT_LT(world.body(id).state.momentum.x, 0) << lengths;
  }
}

// Thrown back by one wall, it meets another in the same step.
TEST(World, NoBulletTunnelsOnItsWayBack) {
  const Part plate =
      make_part(make_shape("box", {{"size_x", 0.02}, {"size_y", 1}, {"size_z", 1}}), 128, 4000);
  World world({.step = 1e-3, .gravity = {}});
  for (const double place : {-0.5, 0.5}) {
    BodySettings wall = standing(plate, {.translation = {place, 0, 0}});
    wall.kind = BodyKind::kStatic;
    wall.material = {.friction = 0, .restitution = 1};
    world.add_body(wall);
  }
  BodySettings bullet = standing(ball(), {.translation = {-0.35, 0, 0}});
  bullet.velocity = {2000, 0, 0};  // ten lengths a step
  bullet.material = {.friction = 0, .restitution = 1};
  const BodyId id = world.add_body(bullet);
  for (int i = 0; i < 20; ++i) {
    world.step();
    const Vec3 at = world.body(id).state.center;
    ASSERT_LT(std::abs(at.x), 0.45) << i;
    if (std::abs(at.y) > 0.4 || std::abs(at.z) > 0.4) break;  // out at a side
  }
}

// Rods thrown on the ground, spinning.
TEST(World, ImpactsAddNoEnergy) {
  const Part rod = make_part(make_shape("capsule", {{"radius", 0.02}, {"length", 0.16}}), 32, 200);
  Random random(11);
  int impacts = 0;
  for (int trial = 0; trial < unless_slow(40, 10); ++trial) {
    World world({.step = 4e-3});
    BodySettings below = make_ground();
    below.material.restitution = trial % 3 * 0.5;
    below.material.friction = trial % 4 * 0.4;
    world.add_body(below);
    BodySettings thrown = standing(rod, {random.rotation(), {0, 0.3, 0}});
    thrown.velocity = {random.uniform(-10, 10), -10, 0};
    thrown.angular_velocity = random.unit_vector() * 100;
    thrown.material = below.material;
    const BodyId id = world.add_body(thrown);
    const auto energy = [&] { return world.energies().kinetic + world.energies().potential; };
    const double start = energy();
    for (int i = 0; i < 60; ++i) {
      world.step();
      for (const PairContact& c : world.contacts()) impacts += c.impact ? 1 : 0;
      EXPECT_LE(energy(), 1.03 * start) << trial << " " << i;
      ASSERT_GT(world.body(id).state.center.y, 0) << trial << " " << i;
    }
  }
  EXPECT_GT(impacts, unless_slow(20, 5));
}

// A bullet that did not bounce and spun against a plate met it more often in a step than is looked
// for: both were stopped where they were, step after step, with their momenta kept.
TEST(World, WhatDoesNotPartGoesOnTogether) {
  const Part plate =
      make_part(make_shape("box", {{"size_x", 0.02}, {"size_y", 0.4}, {"size_z", 0.3}}), 64, 800);
  const Part capsule =
      make_part(make_shape("capsule", {{"radius", 0.02}, {"length", 0.04}}), 32, 400);
  World world({.step = 1e-3, .gravity = {}});
  BodySettings wall = standing(plate, {});
  BodySettings bullet = standing(capsule, {rotation_about({0, 0, 1}, 1.55), {-0.4, -0.1, 0.02}});
  wall.material.restitution = bullet.material.restitution = 0;
  bullet.velocity = {200, 0, 0};
  bullet.fast = true;
  const BodyId hit = world.add_body(wall), id = world.add_body(bullet);
  const auto momentum = [&] {
    return world.body(hit).state.momentum + world.body(id).state.momentum;
  };
  const Vec3 before = momentum();
  for (int i = 0; i < 40; ++i) world.step();
  EXPECT_LE(length(momentum() - before), 1e-9 * length(before));
  const double speed = before.x / (plate.mass.mass + capsule.mass.mass);
  EXPECT_GT(world.body(hit).state.center.x, 0.5 * speed * 0.035);
  EXPECT_FALSE(world.trouble());
}

TEST(World, TellsWhenContactsBeginAndEnd) {
  World world({.step = 1e-3});
  world.add_body(make_ground());
  const BodyId id = world.add_body(standing(ball(), {.translation = {0, 0.12, 0}}));
  world.set_pair_material(0, id, {.stiffness = 1e8, .damping = 1e4, .friction = 0});
  int begun = 0, ended = 0, going_on = 0;
  for (int i = 0; i < 400; ++i) {
    world.step();
    for (const PairContact& c : world.contacts()) {
      begun += c.phase == ContactPhase::kBegin ? 1 : 0;
      going_on += c.phase == ContactPhase::kPersist ? 1 : 0;
      ended += c.phase == ContactPhase::kEnd ? 1 : 0;
      EXPECT_EQ(c.pair, (BodyPair{0, id}));
      if (c.phase != ContactPhase::kEnd && c.contact.depth > 0) {
        EXPECT_NEAR(c.contact.normal.y, -1, 1e-6);  // from B, the ball, towards A
      }
    }
  }
  EXPECT_GT(begun, 1);
  EXPECT_GT(going_on, begun);
  EXPECT_GE(ended, begun - 1);
}

std::uint64_t run_pile(int threads, int steps, std::vector<std::byte>* half = nullptr,
                       bool resume = false) {
  World world({.step = 1e-3, .threads = {threads}});
  world.add_body(make_ground());
  Random random(9);
  for (int i = 0; i < 8; ++i)
    world.add_body(standing(i % 2 == 0 ? cube() : ball(),
                            {random.rotation(), {0.02 * i, 0.2 + 0.25 * i, 0.01 * i}}));
  int begin = 0;
  if (resume) {
    world.restore(*half);
    begin = steps / 2;
  }
  for (int i = begin; i < steps; ++i) {
    if (half != nullptr && !resume && i == steps / 2) *half = world.save();
    world.step();
  }
  return world.hash();
}

TEST(World, SameBytesForAnyThreadsAndAfterResuming) {
  constexpr int kSteps = unless_slow(500, 240);
  std::vector<std::byte> half;
  const std::uint64_t want = run_pile(1, kSteps, &half);
  EXPECT_EQ(run_pile(2, kSteps), want);
  EXPECT_EQ(run_pile(7, kSteps), want);
  EXPECT_EQ(run_pile(1, kSteps, &half, true), want);
  // What is no snapshot is told.
  World empty;
  EXPECT_THROW(empty.restore(half), Error);
  half.resize(half.size() / 2);
  World other;
  EXPECT_THROW(other.restore(half), Error);
  EXPECT_THROW(other.restore({}), Error);
}

// A change of this hash is a change of all motions: meant, or a machine or compiler that computes
// otherwise.
TEST(World, TheGoldenRun) {
  for (const int threads : {1, 2, 7})
    EXPECT_EQ(run_pile(threads, 120), 17486295611106410665ULL) << threads;
}

TEST(World, KinematicBodiesPush) {
  World world({.step = 1e-3});
  world.add_body(make_ground());
  const BodyId box = world.add_body(standing(cube(), {.translation = {0, 0.0995, 0}}));
  BodySettings pusher = standing(cube(), {.translation = {-0.3, 0.12, 0}});
  pusher.kind = BodyKind::kKinematic;
  const BodyId id = world.add_body(pusher);
  for (int i = 0; i < 1000; ++i) {
    world.move_to(id, {.translation = {-0.3 + 0.3e-3 * i, 0.12, 0}});
    world.step();
  }
  EXPECT_NEAR(world.body(box).state.center.x, 0.2, 0.02);
  EXPECT_FALSE(world.trouble());
}

TEST(World, StopsWhenEnergyGrows) {
  World world({.step = 1e-2, .solve = ForceSolve::kExplicit, .impacts = ImpactRule::kOff});
  world.add_body(make_ground());
  const BodyId id = world.add_body(standing(cube(), {.translation = {0, 0.11, 0}}));
  world.set_pair_material(0, id, {.stiffness = 1e9, .damping = 0, .friction = 0});
  int steps = 0;
  for (; steps < 1000 && !world.trouble(); ++steps) world.step();
  ASSERT_TRUE(world.trouble());
  EXPECT_EQ(world.trouble()->body, id);
  EXPECT_NE(world.trouble()->message.find("time step"), std::string::npos);
}

TEST(World, DiscreteTwinRestsAlike) {
  for (const ContactRule rule : {ContactRule::kContinuous, ContactRule::kDiscrete}) {
    World world({.step = 5e-4, .contact = rule});
    world.add_body(make_ground());
    const BodyId id = world.add_body(standing(cube(), {.translation = {0, 0.1, 0}}));
    world.set_pair_material(0, id, {.stiffness = 4e6, .damping = 5e4, .friction = 0.5});
    for (int i = 0; i < 2000; ++i) world.step();
    EXPECT_NEAR(world.body(id).state.center.y, 0.1 - 78.48 / (4e6 * world.contacts()[0].area),
                2e-6);
  }
}

TEST(World, RefusesWhatMakesNoSense) {
  EXPECT_THROW(World({.step = 0}), Error);
  EXPECT_THROW(World({.gravity = {std::nan(""), 0, 0}}), Error);
  World world;
  BodySettings light = standing(cube(), {});
  light.mass.mass = 0;
  EXPECT_THROW(world.add_body(light), Error);
  BodySettings odd = standing(cube(), {});
  odd.material.friction = -1;
  EXPECT_THROW(world.add_body(odd), Error);
}

// Pairs are those that may touch: not two that stand still, nor any without contact.
TEST(World, PairsBodiesThatMayTouch) {
  const auto count_pairs = [](ContactRule rule, const Vec3& at) {
    World world({.step = 2e-3, .contact = rule});
    world.add_body(make_ground());
    BodySettings fixed = standing(cube(), {});
    fixed.kind = BodyKind::kStatic;
    for (const double x : {0.0, 0.01, 5.0}) {
      fixed.pose.translation = {x, 0.2, 0};
      world.add_body(fixed);
    }
    world.add_body(standing(cube(), {.translation = at}));
    world.step();
    return world.report().pairs;
  };
  EXPECT_EQ(count_pairs(ContactRule::kContinuous, {0, 3, 0}), 1U);  // an endless ground is near all
  EXPECT_EQ(count_pairs(ContactRule::kContinuous, {0.02, 0.21, 0}), 3U);
  EXPECT_EQ(count_pairs(ContactRule::kOff, {0.02, 0.21, 0}), 0U);
}

}  // namespace
}  // namespace isotact
