#include "isotact/dynamics/model/rigid_body.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

RigidBody make_brick(const Vec3& size, double mass = 2) {
  RigidBody body;
  const Vec3 s{size.x * size.x, size.y * size.y, size.z * size.z};
  body.mass =
      make_body_mass(mass, {}, diagonal3(Vec3{s.y + s.z, s.z + s.x, s.x + s.y} * (mass / 12)));
  return body;
}

TEST(RigidBody, FliesFreely) {
  RigidBody body = make_brick({1, 2, 3});
  set_velocity(body, {3, 4, 0}, {});
  const double step = 1e-3;
  for (int i = 0; i < 1000; ++i) {
    kick(body, {.force = {0, -9.81 * body.mass.mass, 0}}, step);
    drift(body, step);
  }
  // Symplectic Euler is a step's half late: g t (t + h) / 2.
  EXPECT_NEAR(body.state.center.x, 3, 1e-9);
  EXPECT_NEAR(body.state.center.y, 4 - 9.81 * 1.0 * (1 + step) / 2, 1e-9);
  EXPECT_EQ(body.state.rotation, Quat{});
}

// Torque-free tumbling about the middle axis, against steps a hundred times as small.
TEST(RigidBody, TumblesLikeAFineReference) {
  const auto run = [](double step, TurnRule rule) {
    RigidBody body = make_brick({1, 2, 3});
    set_velocity(body, {}, {0.01, 4, 0.02});
    const double energy = kinetic_energy(body);
    const Vec3 momentum = body.state.angular_momentum;
    const int steps = static_cast<int>(std::lround(5 / step));
    double drift_of_energy = 0;
    for (int i = 0; i < steps; ++i) {
      drift(body, step, rule);
      drift_of_energy = std::max(drift_of_energy, std::abs(kinetic_energy(body) / energy - 1));
    }
    EXPECT_EQ(body.state.angular_momentum, momentum);
    EXPECT_NEAR(length_sq(body.state.rotation), 1, 1e-12);
    return std::pair{body.state.rotation, drift_of_energy};
  };
  const auto angle = [](const Quat& a, const Quat& b) {
    const Quat d = conjugate(a) * b;
    return 2 * std::asin(std::min(1.0, std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z)));
  };
  const Quat reference = run(2e-5, TurnRule::kMidpoint).first;
  const auto [coarse, coarse_energy] = run(4e-3, TurnRule::kMidpoint);
  const auto [fine, fine_energy] = run(2e-3, TurnRule::kMidpoint);
  EXPECT_LT(angle(fine, reference), 2e-3);
  EXPECT_LT(angle(fine, reference), angle(coarse, reference) / 3);  // second order
  EXPECT_LT(coarse_energy, 1e-3);
  // The paper's rule is of first order.
  const double euler = angle(run(2e-3, TurnRule::kEuler).first, reference);
  EXPECT_GT(euler, 10 * angle(fine, reference));
}

// A heavy top: precession at the rate that theory has for a fast spin.
TEST(RigidBody, ATopPrecesses) {
  RigidBody body;
  const double mass = 1, arm = 0.1, spin = 300, gravity = 9.81;
  const Mat3 inertia = diagonal3({0.002, 0.001, 0.002});
  body.mass = make_body_mass(mass, {}, inertia);
  const Quat tilt = rotation_about({0, 0, 1}, -kPi / 3);
  body.state.rotation = tilt;
  const Vec3 axis = rotate(tilt, Vec3{0, 1, 0});
  // About the fixed foot, an arm below the centre, moments are larger by m arm^2.
  const double across = 0.002 + mass * arm * arm, along = 0.001;
  body.mass = make_body_mass(mass, {}, diagonal3({across, along, across}));
  const double slow = mass * gravity * arm / (along * spin);
  const double c = axis.y, exact = along * spin / (2 * across * c) *
                                   (1 - std::sqrt(1 - 4 * across * c * mass * gravity * arm /
                                                          (along * along * spin * spin)));
  // Without nutation: the rate along the axis beside that of precession.
  set_velocity(body, {}, axis * (spin - exact * c) + Vec3{0, exact, 0});
  const double step = 1e-5, time = 0.5;
  for (int i = 0; i < static_cast<int>(time / step); ++i) {
    const Vec3 up = rotate(body.state.rotation, Vec3{0, 1, 0});
    kick(body, {.torque = cross(up * arm, Vec3{0, -mass * gravity, 0})}, step);
    drift(body, step);
    ASSERT_NEAR(rotate(body.state.rotation, Vec3{0, 1, 0}).y, c, 2e-3);
  }
  const Vec3 now = rotate(body.state.rotation, Vec3{0, 1, 0});
  // It began at angle 0 of the plane x z; the precession turns about y.
  const double turned = std::atan2(-now.z, now.x);
  EXPECT_NEAR(turned, exact * time, 0.01);
  EXPECT_NEAR(exact, slow, 0.1 * slow);
}

TEST(RigidBody, PushesMoveThePlaceByItsMobility) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    RigidBody body = make_brick({1, 2, 0.5});
    body.mass.center = random.in_unit_ball();
    set_pose(body, {random.rotation(), random.in_unit_ball()});
    const Vec3 place = random.in_unit_ball() * 3, direction = random.unit_vector();
    const double before = dot(velocity_at(body, place), direction);
    push(body, place, direction * 0.7);
    EXPECT_NEAR(dot(velocity_at(body, place), direction) - before,
                0.7 * mobility(body, place, direction), 1e-12);
    const Pose pose = world_from_body(body);
    EXPECT_LE(length(transform_point(pose, body.mass.center) - body.state.center), 1e-12);
  }
  RigidBody wall;
  wall.kind = BodyKind::kStatic;
  push(wall, {1, 0, 0}, {5, 5, 5});
  EXPECT_EQ(wall.state, BodyState{});
  EXPECT_EQ(mobility(wall, {}, {1, 0, 0}), 0);
}

TEST(RigidBody, TakesMassFromMeshes) {
  const MassProperties properties =
      compute_mass_properties(make_shape("box", {{"size_x", 1}, {"size_y", 2}, {"size_z", 3}}));
  const BodyMass mass = make_body_mass(properties, 500);
  EXPECT_NEAR(mass.mass, 3000, 1e-6);
  EXPECT_NEAR(mass.inertia.rows[0].x, 3000.0 * 13 / 12, 1e-3);
  const Mat3 one = mass.inertia * mass.inverse_inertia;
  EXPECT_NEAR(one.rows[1].y, 1, 1e-12);
}

TEST(RigidBody, RefusesWhatNoBodyIs) {
  EXPECT_THROW(make_body_mass(0, {}, identity3()), Error);
  EXPECT_THROW(make_body_mass(std::nan(""), {}, identity3()), Error);
  EXPECT_THROW(make_body_mass(1, {}, diagonal3({1, 1, 3})), Error);
  EXPECT_THROW(make_body_mass(1, {}, diagonal3({1, 1, -1})), Error);
  EXPECT_THROW(make_body_mass(1, {}, Mat3{{Vec3{1, 1, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}}), Error);
  EXPECT_THROW(make_body_mass(MassProperties{}, 1000), Error);
  BodyState state;
  EXPECT_FALSE(find_flaw(state));
  state.momentum.y = std::nan("");
  EXPECT_TRUE(find_flaw(state));
}

}  // namespace
}  // namespace isotact
