#include "isotact/dynamics/model/joint.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"
#include "isotact/dynamics/rigid/world.h"

#include "support/test_seed.h"

namespace isotact {
namespace {

BodySettings make_rod(const Pose& pose, double mass = 1) {
  // Thin, along x, of length 1.
  return {.name = "rod",
          .mass = {.mass = mass, .inertia = diagonal3({0.01 * mass, mass / 12, mass / 12})},
          .pose = pose};
}
BodySettings make_anchor() { return {.name = "anchor", .kind = BodyKind::kStatic}; }

// A rod on a hinge swings as a physical pendulum: of small swings, 2 pi sqrt(I / (m g l)).
TEST(Joints, APendulumKeepsItsTime) {
  World world({.step = 1e-4});
  const BodyId anchor = world.add_body(make_anchor());
  const double angle = 0.05;
  const Quat hang = rotation_about({0, 0, 1}, -kPi / 2 + angle);
  const BodyId rod = world.add_body(make_rod({hang, rotate(hang, Vec3{0.5, 0, 0})}));
  const JointFrames frames =
      compute_joint_frames(world.pose(anchor), world.pose(rod), {}, {0, 0, 1});
  const std::size_t joint = world.add_joint({.kind = JointKind::kHinge,
                                             .a = anchor,
                                             .b = rod,
                                             .a_from_joint = frames.a_from_joint,
                                             .b_from_joint = frames.b_from_joint});
  const double inertia = 1.0 / 12 + 0.25;
  const double period = 2 * kPi * std::sqrt(inertia / (9.81 * 0.5));
  const double energy = world.energies().total();
  double last = world.joint_position(joint);
  std::vector<double> crossings;
  for (int i = 0; i < 60000 && crossings.size() < 5; ++i) {
    world.step();
    const double now = world.joint_position(joint);
    if ((last + angle < 0) != (now + angle < 0)) crossings.push_back(world.time());
    last = now;
  }
  ASSERT_EQ(crossings.size(), 5U);
  EXPECT_NEAR((crossings[4] - crossings[0]) / 2, period, 2e-3 * period);
  EXPECT_NEAR(world.energies().total(), energy, 1e-3);
  const detail::JointError error =
      detail::compute_joint_error(world.joints()[joint], world.body(anchor), world.body(rod));
  EXPECT_LT(error.distance, 1e-6);
  EXPECT_LT(error.angle, 1e-6);
}

TEST(Joints, AChainHoldsTogether) {
  World world({.step = 1e-3});
  BodyId before = world.add_body(make_anchor());
  for (int i = 0; i < 12; ++i) {
    const BodyId rod = world.add_body(make_rod({.translation = {0.5 + i, 0, 0}}));
    world.add_joint({.kind = JointKind::kBall,
                     .a = before,
                     .b = rod,
                     .a_from_joint = {.translation = {i == 0 ? 0.0 : 0.5, 0, 0}},
                     .b_from_joint = {.translation = {-0.5, 0, 0}}});
    before = rod;
  }
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    world.step();
    for (const JointSettings& j : world.joints())
      worst = std::max(worst,
                       detail::compute_joint_error(j, world.body(j.a), world.body(j.b)).distance);
  }
  EXPECT_LT(worst, 2e-3);
  EXPECT_FALSE(world.trouble());
}

TEST(Joints, MotorsReachTheirSpeedWithinTheirForce) {
  World world({.step = 1e-3, .gravity = {}});
  const BodyId anchor = world.add_body(make_anchor());
  const BodyId rod = world.add_body(make_rod({}));
  const JointFrames frames = compute_joint_frames({}, {}, {}, {0, 0, 1});
  const std::size_t joint = world.add_joint({.kind = JointKind::kHinge,
                                             .a = anchor,
                                             .b = rod,
                                             .a_from_joint = frames.a_from_joint,
                                             .b_from_joint = frames.b_from_joint,
                                             .motor = Motor{3, 0.5}});
  world.step();
  // Torque over inertia.
  EXPECT_NEAR(angular_velocity(world.body(rod)).z, 0.5 * 12 * 1e-3, 1e-9);
  for (int i = 0; i < 1000; ++i) world.step();
  EXPECT_NEAR(angular_velocity(world.body(rod)).z, 3, 1e-9);
  world.set_motor(joint, {0, 1000});
  world.step();
  EXPECT_NEAR(angular_velocity(world.body(rod)).z, 0, 1e-8);
}

TEST(Joints, SlidersStopAtTheirLimits) {
  World world({.step = 1e-3});
  const BodyId anchor = world.add_body(make_anchor());
  const BodyId rod = world.add_body(make_rod({}));
  const JointFrames frames = compute_joint_frames({}, {}, {0.2, 0, 0}, {0, 1, 0});
  const std::size_t joint = world.add_joint({.kind = JointKind::kSlider,
                                             .a = anchor,
                                             .b = rod,
                                             .a_from_joint = frames.a_from_joint,
                                             .b_from_joint = frames.b_from_joint,
                                             .limits = JointLimits{-0.3, 0.1}});
  for (int i = 0; i < 200; ++i) world.step();
  EXPECT_NEAR(world.joint_position(joint), -0.5 * 9.81 * 0.2 * 0.201, 1e-6);
  for (int i = 0; i < 800; ++i) world.step();
  EXPECT_NEAR(world.joint_position(joint), -0.3, 1e-6);
  EXPECT_NEAR(world.body(rod).state.center.x, 0, 1e-6);
  EXPECT_LT(
      detail::compute_joint_error(world.joints()[joint], world.body(anchor), world.body(rod)).angle,
      1e-6);
}

TEST(Joints, FixedBodiesMoveAsOne) {
  World world({.step = 1e-3, .gravity = {}});
  BodySettings first = make_rod({});
  first.angular_velocity = {1, 2, 3};
  const BodyId a = world.add_body(first),
               b = world.add_body(make_rod({.translation = {1, 0, 0}}, 3));
  world.add_joint({.kind = JointKind::kFixed,
                   .a = a,
                   .b = b,
                   .a_from_joint = {.translation = {0.5, 0, 0}},
                   .b_from_joint = {.translation = {-0.5, 0, 0}}});
  const auto momentum = [&] { return world.body(a).state.momentum + world.body(b).state.momentum; };
  for (int i = 0; i < 1000; ++i) world.step();
  const detail::JointError error =
      detail::compute_joint_error(world.joints()[0], world.body(a), world.body(b));
  EXPECT_LT(error.distance, 1e-4);
  EXPECT_LT(error.angle, 1e-4);
  EXPECT_LT(length(momentum()), 1e-12);
}

// A hinge with friction holds a load below its bound, and gives in to a greater one by the rest.
TEST(Joints, FrictionHoldsUpToItsBound) {
  Random random(test_seed(31));
  for (int i = 0; i < test_cases(40); ++i) {
    World world({.step = 1e-3, .gravity = {}});
    const BodyId anchor = world.add_body(make_anchor());
    const BodyId rod = world.add_body(make_rod({}));
    const auto kind = i % 3 == 0 ? JointKind::kBall : JointKind::kHinge;
    const JointFrames frames = compute_joint_frames({}, {}, {}, {0, 0, 1});
    const double friction = random.uniform(0.1, 2), load = random.uniform(-4, 4);
    const std::optional<Motor> motor =
        i % 3 == 1 ? std::optional(Motor{random.uniform(-1, 1), 0.05}) : std::nullopt;
    world.add_joint({.kind = kind,
                     .a = anchor,
                     .b = rod,
                     .a_from_joint = frames.a_from_joint,
                     .b_from_joint = frames.b_from_joint,
                     .motor = motor,
                     .friction = friction});
    for (int k = 0; k < 10; ++k) {
      world.add_load(rod, {.torque = {0, 0, load}});
      world.step();
    }
    const double speed = angular_velocity(world.body(rod)).z, spare = motor ? 0.05 : 0;
    if (std::abs(load) < friction - spare) {
      EXPECT_NEAR(speed, 0, 1e-9) << i;
    } else if (!motor && std::abs(load) > friction) {
      EXPECT_NEAR(speed, std::copysign(std::abs(load) - friction, load) * 0.12, 1e-6) << i;
    }
  }
}

TEST(Joints, RefusesWhatMakesNoSense) {
  World world;
  const BodyId a = world.add_body(make_anchor()), b = world.add_body(make_rod({}));
  EXPECT_THROW(world.add_joint({.a = a, .b = 7}), Error);
  EXPECT_THROW(world.add_joint({.a = b, .b = b}), Error);
  EXPECT_THROW(world.add_joint({.a = a, .b = b, .motor = Motor{1, 1}}), Error);
  EXPECT_THROW(
      world.add_joint({.kind = JointKind::kHinge, .a = a, .b = b, .limits = JointLimits{1, 0}}),
      Error);
  EXPECT_THROW(world.add_joint({.a = a, .b = b, .friction = -1}), Error);
  EXPECT_THROW(world.add_joint({.kind = JointKind::kFixed, .a = a, .b = b, .friction = 1}), Error);
  const std::size_t ball = world.add_joint({.a = a, .b = b});
  const std::size_t hinge = world.add_joint({.kind = JointKind::kHinge, .a = a, .b = b});
  EXPECT_THROW(world.set_motor(7, {1, 1}), Error);
  EXPECT_THROW(world.set_motor(ball, {1, 1}), Error);
  EXPECT_THROW(world.set_motor(hinge, {std::nan(""), 1}), Error);
  EXPECT_THROW(world.set_motor(hinge, {1, -1}), Error);
  for (const JointKind kind :
       {JointKind::kBall, JointKind::kHinge, JointKind::kSlider, JointKind::kFixed})
    EXPECT_EQ(find_joint_kind(name(kind)), kind);
}

}  // namespace
}  // namespace isotact
