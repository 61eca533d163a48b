#include "isotact/dynamics/rigid/detail/velocity_solver.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

#include "support/test_seed.h"

namespace isotact {
namespace {

using detail::ContactPush;

RigidBody random_body(Random& random) {
  RigidBody body{.mass = make_body_mass(random.uniform(0.5, 2), {}, diagonal3({0.02, 0.03, 0.04}))};
  body.state.center = random.in_unit_ball() * 3;
  body.state.rotation = random.rotation();
  set_velocity(body, random.in_unit_ball(), random.in_unit_ball());
  return body;
}

// Springs of some points near both, of many sizes.
struct Pair {
  std::size_t a, b;
};
ContactPush random_contact(Random& random, const std::vector<RigidBody>& bodies, const Pair& pair,
                           double stiffness) {
  const auto [a, b] = pair;
  ContactPush c{.a = a, .b = b, .normal = 1e6};
  c.place = lerp(bodies[a].state.center, bodies[b].state.center, 0.5);
  for (int i = 0; i < 4; ++i) {
    const Vec3 arm = random.in_unit_ball() * 0.3;
    c.response += resist_along(random.unit_vector(), arm, random.uniform(0, stiffness));
    c.response += resist_all(arm, random.uniform(0, 10));
  }
  c.push = wrench_of(random.in_unit_ball() * 10, random.in_unit_ball() * 0.3);
  return c;
}

Twist twist_at(const RigidBody& b, const Vec3& place) {
  return moved(Twist{velocity(b), angular_velocity(b)}, place - b.state.center);
}

double norm(const SpatialMatrix& m) {
  double sum = 0;
  for (const Mat3* part : {&m.ll, &m.la, &m.aa})
    for (const Vec3& row : part->rows) sum += length(row);
  return sum;
}

// Velocities come out such that the pushes that they call for lead to them.
void expect_solved(int count, double stiffness, std::uint64_t seed, double tolerance) {
  Random random(seed);
  std::vector<RigidBody> bodies, before;
  for (int i = 0; i < count; ++i) bodies.push_back(random_body(random));
  bodies[0].kind = BodyKind::kStatic;
  std::vector<ContactPush> contacts;
  for (std::size_t i = 1; i < bodies.size(); ++i) {
    const std::size_t other = i == 1 ? 0 : 1 + random.below(static_cast<std::uint32_t>(i - 1));
    contacts.push_back(random_contact(random, bodies, {other, i}, stiffness));
    if (i > 2) contacts.push_back(random_contact(random, bodies, {i - 1, i}, stiffness));
  }
  before = bodies;
  std::vector<RigidBody*> all;
  for (RigidBody& b : bodies) all.push_back(&b);
  const std::vector<Twist> twists(bodies.size());
  const auto report = detail::solve_velocities({all, twists, contacts, {}, 1e-3, {2}});
  EXPECT_EQ(report.islands, 1U);
  std::vector<double> sizes(bodies.size());  // of what is summed up
  for (const ContactPush& c : contacts) {
    const Twist zero{};
    const Twist u = (c.a == 0 ? zero : twist_at(bodies[c.a], c.place)) -
                    (c.b == 0 ? zero : twist_at(bodies[c.b], c.place));
    const Wrench answer = c.response * u, w = c.push - answer;
    for (const std::size_t k : {c.a, c.b}) {
      RigidBody& b = before[k];
      const Wrench at = moved(w, b.state.center - c.place) * (k == c.a ? 1.0 : -1.0);
      b.state.momentum += at.linear;
      b.state.angular_momentum += at.angular;
      sizes[k] += length(c.push.linear) + length(answer.linear) + length(answer.angular) +
                  norm(c.response) * length(u.angular);
    }
  }
  for (std::size_t i = 1; i < bodies.size(); ++i) {
    const BodyState &got = bodies[i].state, &want = before[i].state;
    EXPECT_LE(length(got.momentum - want.momentum), tolerance * sizes[i]) << i;
    EXPECT_LE(length(got.angular_momentum - want.angular_momentum), tolerance * sizes[i]) << i;
  }
}

TEST(VelocitySolver, SolvesFewBodiesDirectly) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    expect_solved(2 + static_cast<int>(seed), 1e3, seed, 1e-8);
}

TEST(VelocitySolver, SolvesManyBodiesByIteration) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_solved(60, 10, seed, 1e-6);
}

TEST(VelocitySolver, WhatPullsHasEnded) {
  Random random(3);
  std::vector<RigidBody> bodies = {random_body(random), random_body(random)};
  ContactPush c = random_contact(random, bodies, {0, 1}, 1e3);
  c.normal = -1e6;
  const std::vector<RigidBody> before = bodies;
  const std::vector<RigidBody*> all = {&bodies[0], &bodies[1]};
  const std::vector<Twist> twists(2);
  detail::solve_velocities({all, twists, std::span(&c, 1), {}, 1e-3, {1}});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(bodies[i].state, before[i].state);
}

double kinetic(const std::vector<RigidBody>& bodies) {
  double sum = 0;
  for (const RigidBody& b : bodies)
    if (b.kind == BodyKind::kDynamic) sum += kinetic_energy(b);
  return sum;
}

// Pushes of any size, on bodies that joints may connect: what bodies gain, contacts lose.
TEST(VelocitySolver, ContactsGiveNoMoreThanTheyHave) {
  Random random(test_seed(8));
  const int cases = test_cases(400);
  int limited = 0, gained = 0;
  for (int i = 0; i < cases; ++i) {
    std::vector<RigidBody> bodies;
    const int count = 2 + static_cast<int>(random.below(i % 20 == 0 ? 40 : 6));
    for (int k = 0; k < count; ++k) bodies.push_back(random_body(random));
    if (i % 2 == 0) bodies[0].kind = BodyKind::kStatic;
    std::vector<ContactPush> contacts;
    double stored = 0;
    for (std::size_t k = 1; k < bodies.size(); ++k) {
      const std::size_t other = random.below(static_cast<std::uint32_t>(k));
      contacts.push_back(
          random_contact(random, bodies, {other, k}, std::pow(10.0, random.uniform(0, 6))));
      ContactPush& c = contacts.back();
      c.push = c.push * std::pow(10.0, random.uniform(-2, 2));
      c.taken = random.below(3) == 0 ? 0 : std::pow(10.0, random.uniform(-3, 2));
      c.most = c.taken;
      stored += c.taken;
    }
    std::vector<JointSettings> joints;
    std::vector<RigidBody*> all;
    std::vector<Twist> starts;
    for (RigidBody& b : bodies) {
      if (b.kind == BodyKind::kStatic) set_velocity(b, {}, {});
      all.push_back(&b);
      starts.push_back({velocity(b), angular_velocity(b)});
    }
    if (i % 3 == 0 && bodies.size() > 2 && bodies.size() <= 24) {
      // Both turn about their common middle as one: the joint holds before and after.
      JointSettings j{.kind = JointKind::kBall, .a = 1, .b = 2};
      const Vec3 middle = lerp(bodies[1].state.center, bodies[2].state.center, 0.5);
      j.a_from_joint.translation = transform_point(inverse(world_from_body(bodies[1])), middle);
      j.b_from_joint.translation = transform_point(inverse(world_from_body(bodies[2])), middle);
      const Vec3 at = velocity_at(bodies[1], middle);
      const Vec3 turn = angular_velocity(bodies[2]);
      set_velocity(bodies[2], at - cross(turn, middle - bodies[2].state.center), turn);
      starts[2] = {velocity(bodies[2]), turn};
      joints.push_back(j);
    }
    const double before = kinetic(bodies);
    const std::vector<Twist> still(bodies.size());
    const auto report = detail::solve_velocities({all, still, contacts, joints, 1e-3, {1}, starts});
    const double change = kinetic(bodies) - before;
    double left = 0;
    for (const ContactPush& c : contacts) {
      EXPECT_GE(c.taken, 0);
      left += c.taken;
    }
    double size = 1e-9 * (before + stored + left);
    // Joints hold to a few billionths of what they carry, of bodies of half a kilogram or more.
    if (!joints.empty())
      for (const ContactPush& c : contacts) size += 1e-7 * length_sq(c.push.linear) / 0.5;
    EXPECT_LE(change, stored + size) << i;
    EXPECT_LE(change + left, stored + size) << i;
    limited += report.limited > 0 ? 1 : 0;
    gained += change > 1e-3 * before ? 1 : 0;
  }
  EXPECT_GT(limited, cases / 5);
  EXPECT_GT(gained, cases / 10);
}

}  // namespace
}  // namespace isotact
