#include "isotact/dynamics/haptics/virtual_coupling.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/shape.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kStep = 1e-3;

RigidBody make_tool(const Vec3& center = {0.01, 0.02, 0}) {
  RigidBody tool;
  tool.mass = make_body_mass(0.1, center, diagonal3({4e-5, 6e-5, 5e-5}));
  set_pose(tool, {});
  return tool;
}

double energy(const RigidBody& tool, const Pose& device, const CouplingSettings& settings) {
  return kinetic_energy(tool) + coupling_energy(tool, device, settings);
}

TEST(VirtualCoupling, ComesToTheDevice) {
  RigidBody tool = make_tool();
  const Pose device{rotation_about({1, 2, 3}, 2), {0.05, 0.1, -0.03}};
  for (int i = 0; i < 3000; ++i) step_tool(tool, {device, device}, {}, {}, kStep);
  const Pose pose = world_from_body(tool);
  EXPECT_NEAR(length(pose.translation - device.translation), 0, 1e-6);
  EXPECT_NEAR(length(rotate(pose.rotation, {1, 1, 1}) - rotate(device.rotation, {1, 1, 1})), 0,
              1e-6);
}

// A load that does not give way: at rest the spring balances it.
TEST(VirtualCoupling, SteadyForceIsThatOfTheSpring) {
  RigidBody tool = make_tool();
  const CouplingSettings settings;
  const ToolContact push{.load = {{1, -2, 0.5}, {0.05, 0, -0.02}}};
  Load felt;
  for (int i = 0; i < 5000; ++i) felt = step_tool(tool, {}, push, settings, kStep);
  EXPECT_NEAR(length(felt.force + push.load.force), 0, 1e-6);
  EXPECT_NEAR(length(felt.torque + push.load.torque), 0, 1e-6);
  const Load spring = compute_coupling(tool, {}, settings);
  EXPECT_NEAR(length(spring.force - felt.force), 0, 1e-6);
  EXPECT_NEAR(length(spring.torque - felt.torque), 0, 1e-6);
  // The gap is force / stiffness, of the centre of mass.
  EXPECT_NEAR(length(tool.state.center - tool.mass.center - push.load.force / settings.stiffness),
              0, 1e-6);
}

// Whatever the springs, the tool and where it begins: while the device stands still, kinetic and
// spring energy together do not grow.
TEST(VirtualCoupling, NeverGainsEnergy) {
  Random random(11);
  int moved = 0;
  for (int run = 0; run < unless_slow(300, 30); ++run) {
    RigidBody tool = make_tool(random.in_unit_ball() * 0.05);
    set_velocity(tool, random.in_unit_ball(), random.in_unit_ball() * 5);
    const CouplingSettings settings{.stiffness = std::pow(10.0, random.uniform(1, 6)),
                                    .damping = random.below(3) == 0 ? 0 : random.uniform(0, 50),
                                    .turn_stiffness = std::pow(10.0, random.uniform(-2, 3)),
                                    .turn_damping = random.uniform(0, 0.1)};
    const Pose device{rotation_about(random.unit_vector(), random.uniform(0, 1.5)),
                      random.in_unit_ball() * 0.1};
    const double start = energy(tool, device, settings);
    double before = start;
    for (int i = 0; i < 300; ++i) {
      step_tool(tool, {device, device}, {}, settings, kStep);
      const double now = energy(tool, device, settings);
      ASSERT_LE(now, before + 1e-3 * start) << "run " << run << " step " << i;
      ASSERT_LE(now, start * (1 + 1e-6));
      before = now;
    }
    moved += before < 0.5 * start ? 1 : 0;
  }
  EXPECT_GT(moved, unless_slow(150, 15));
}

TEST(VirtualCoupling, PullsNoHarderThanItsLimits) {
  RigidBody tool = make_tool();
  const CouplingSettings settings{.max_force = 3, .max_torque = 0.1};
  const Pose device{rotation_about({0, 1, 0}, 2.5), {0.5, 0, 0}};
  int limited = 0;
  for (int i = 0; i < 3000; ++i) {
    const Load felt = step_tool(tool, {device, device}, {}, settings, kStep);
    ASSERT_LE(length(felt.force), 3 * (1 + 1e-9));
    ASSERT_LE(length(felt.torque), 0.1 * (1 + 1e-9));
    limited += length(felt.force) > 2.999 ? 1 : 0;
  }
  EXPECT_GT(limited, 50);
  EXPECT_NEAR(length(world_from_body(tool).translation - device.translation), 0, 1e-4);
}

// A ball that a device presses into a block, at 1 kHz, against contact a thousand times as stiff
// as the coupling: it stays on the surface, does not shake, and the hand feels the spring.
TEST(VirtualCoupling, StopsAtTheContact) {
  const Shape block =
      Shape::from_mesh(make_shape("box", {{"size_x", 0.1}, {"size_y", 0.04}, {"size_z", 0.1}}),
                       {.field = {.resolution = 48}});
  const TriangleMesh mesh = make_shape("sphere", {{"radius", 0.01}});
  const Shape ball = Shape::from_mesh(mesh, {.field = {.resolution = 32}, .points = 2000});
  RigidBody tool;
  tool.mass = make_body_mass(compute_mass_properties(mesh), 5000);
  for (const ShellForceScale scale : {ShellForceScale::kPressure, ShellForceScale::kMeanDepth}) {
    const CollideRequest request{
        .want_force = true,
        .force = {.stiffness = scale == ShellForceScale::kPressure ? 1e11 : 1e6, .scale = scale}};
    CollideScratch state;
    set_pose(tool, {.translation = {0, 0.04, 0}});
    set_velocity(tool, {}, {});
    const CouplingSettings settings;
    Pose device{.translation = {0, 0.04, 0}};
    Load felt;
    double lowest = 1, highest = 0;
    for (int i = 0; i < unless_slow(1500, 800); ++i) {
      const Pose before = device;
      device.translation.y = std::max(0.02, 0.04 - 0.04 * kStep * i);
      const CollideResult& touch = collide(ball, world_from_body(tool), block, {}, request, state);
      felt = step_tool(tool, {before, device}, make_tool_contact(touch, tool, request.force),
                       settings, kStep);
      if (i < unless_slow(1300, 700)) continue;
      lowest = std::min(lowest, tool.state.center.y);
      highest = std::max(highest, tool.state.center.y);
    }
    EXPECT_NEAR(tool.state.center.y, 0.03, 5e-4);  // on the face at 0.02
    EXPECT_LT(highest - lowest, 2e-5);             // at rest
    const double gap = tool.state.center.y - device.translation.y;
    EXPECT_NEAR(felt.force.y, -settings.stiffness * gap, 0.05 * settings.stiffness * gap);
  }
}

TEST(VirtualCoupling, ContactIsAboutTheCentreOfMass) {
  RigidBody tool = make_tool();
  set_pose(tool, {.translation = {0.3, 0.2, 0.1}});
  CollideResult result;
  result.area = 2;
  result.force = {0, 5, 0};
  result.torque = {0.1, 0.2, 0.3};
  result.contacts.push_back({.position = tool.state.center + Vec3{1, 0, 0}, .normal = {0, 1, 0}});
  const ToolContact c = make_tool_contact(result, tool, {.stiffness = 10});
  EXPECT_EQ(c.load.force, result.force);
  const Vec3 expected = result.torque - cross(rotate({}, tool.mass.center), result.force);
  EXPECT_NEAR(length(c.load.torque - expected), 0, 1e-12);
  EXPECT_NEAR(c.stiffness[1][1], 20, 1e-12);  // area times stiffness
  EXPECT_NEAR(c.stiffness[5][5], 20, 1e-12);  // at an arm of a metre
  EXPECT_NEAR(c.stiffness[1][5], 20, 1e-12);
  EXPECT_EQ(c.stiffness[0][0], 0);
}

TEST(VirtualCoupling, RefusesSettingsWithoutSense) {
  EXPECT_NO_THROW(check(CouplingSettings{}));
  EXPECT_THROW(check(CouplingSettings{.stiffness = -1}), Error);
  EXPECT_THROW(check(CouplingSettings{.max_torque = std::nan("")}), Error);
}

}  // namespace
}  // namespace isotact
