#include "isotact/dynamics/rigid/detail/impact_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/pose.h"
#include "isotact/base/random.h"

#include "support/slow_build.h"

namespace isotact::detail {
namespace {

ImpactBody make_ball(const Vec3& center, const Vec3& velocity, double mass = 1) {
  const double i = 0.4 * mass * 0.01;
  return {.inverse_mass = 1 / mass,
          .inverse_inertia = identity3() * (1 / i),
          .center = center,
          .velocity = {velocity, {}}};
}

double approach_of(const ImpactProblem& p, const ImpactContact& c) {
  const auto at = [&](std::uint32_t b) {
    return moved(p.bodies[b].velocity, c.place - p.bodies[b].center).linear;
  };
  return -dot(at(c.a) - at(c.b), c.normal);
}

Mat3 invert(const Mat3& m) {
  const auto& [a, b, c] = m.rows;
  return transpose(Mat3{{cross(b, c), cross(c, a), cross(a, b)}}) * (1 / determinant(m));
}

double kinetic_energy(const ImpactProblem& p) {
  double sum = 0;
  for (const ImpactBody& b : p.bodies) {
    if (b.inverse_mass == 0) continue;
    const Vec3 spin = invert(b.inverse_inertia) * b.velocity.angular;
    sum += length_sq(b.velocity.linear) / b.inverse_mass / 2 + dot(spin, b.velocity.angular) / 2;
  }
  return sum;
}

// Balls in a row that touch: the first one comes, the last one goes.
TEST(ImpactSolver, NewtonsCradle) {
  for (const double restitution : {1.0, 0.0}) {
    ImpactProblem p;
    for (int i = 0; i < 5; ++i) p.bodies.push_back(make_ball({0.2 * i, 0, 0}, {}));
    p.bodies[0].velocity.linear = {2, 0, 0};
    for (std::uint32_t i = 0; i < 4; ++i)
      p.contacts.push_back({.a = i,
                            .b = i + 1,
                            .place = {0.2 * i + 0.1, 0, 0},
                            .normal = {-1, 0, 0},
                            .friction = 0.5,
                            .restitution = restitution});
    const ImpactReport report = solve_impacts(p);
    EXPECT_FALSE(report.stopped);
    for (std::size_t i = 0; i < 5; ++i) {
      const double want = restitution == 0 ? 0.4 : i == 4 ? 2 : 0;
      EXPECT_NEAR(p.bodies[i].velocity.linear.x, want, 1e-8) << i << " " << restitution;
      EXPECT_NEAR(length(p.bodies[i].velocity.angular), 0, 1e-12);
    }
  }
}

// All corners are hit at once: it does not begin to turn.
TEST(ImpactSolver, ABoxThatFallsFlatDoesNotTurn) {
  ImpactProblem p;
  p.bodies = {make_ball({0, 0.1, 0}, {0.3, -2, 0}), {}};
  for (const double x : {-0.1, 0.1})
    for (const double z : {-0.3, 0.3})
      p.contacts.push_back({.a = 0,
                            .b = 1,
                            .place = {x, 0, z},
                            .normal = {0, 1, 0},
                            .friction = 0,
                            .restitution = 0.5});
  solve_impacts(p);
  EXPECT_NEAR(p.bodies[0].velocity.linear.y, 1, 1e-8);
  EXPECT_NEAR(p.bodies[0].velocity.linear.x, 0.3, 1e-12);
  EXPECT_NEAR(length(p.bodies[0].velocity.angular), 0, 1e-9);
  for (const ImpactContact& c : p.contacts)  // of the same size
    EXPECT_NEAR(c.impulse, p.contacts[0].impulse, 1e-6);
}

// A ball that slides gets what Coulomb allows; with more friction it rolls.
TEST(ImpactSolver, FrictionIsCoulombs) {
  for (const double friction : {0.05, 10.0}) {
    ImpactProblem p;
    p.bodies = {make_ball({0, 0.1, 0}, {1, -1, 0}), {}};
    p.contacts = {{.a = 0,
                   .b = 1,
                   .place = {0, 0, 0},
                   .normal = {0, 1, 0},
                   .friction = friction,
                   .restitution = 0.5}};
    solve_impacts(p);
    const Twist& v = p.bodies[0].velocity;
    EXPECT_NEAR(v.linear.y, 0.5, 1e-8);
    // Rolling: 5/7 of the speed, as for a ball on a table.
    EXPECT_NEAR(v.linear.x, friction == 10 ? 5.0 / 7 : 1 - 0.05 * 1.5, 1e-8);
    if (friction == 10) {
      EXPECT_NEAR(v.linear.x + 0.1 * v.angular.z, 0, 1e-8);
    }
  }
}

ImpactProblem make_problem(Random& random) {
  ImpactProblem p;
  const std::uint32_t bodies = 2 + random.below(5);
  for (std::uint32_t i = 0; i < bodies; ++i) {
    const double mass = std::exp(random.uniform(-4, 4));
    ImpactBody b = make_ball(random.in_box({-1, -1, -1}, {1, 1, 1}),
                             random.in_box({-5, -5, -5}, {5, 5, 5}), mass);
    const Mat3 turn = to_matrix(random.rotation());
    const Vec3 moments{random.uniform(1, 1.8), random.uniform(1, 1.8), 1};
    b.inverse_inertia = turn * diagonal3(moments * (10 / mass)) * transpose(turn);
    b.velocity.angular = random.in_box({-9, -9, -9}, {9, 9, 9});
    if (i == 0 && random.below(2) == 0) b = {};
    p.bodies.push_back(b);
  }
  const std::uint32_t contacts = 1 + random.below(8);
  for (std::uint32_t i = 0; i < contacts; ++i) {
    const std::uint32_t a = 1 + random.below(bodies - 1), b = random.below(a);
    p.contacts.push_back({.a = a,
                          .b = b,
                          .place = random.in_box({-1, -1, -1}, {1, 1, 1}),
                          .normal = random.unit_vector(),
                          .friction = random.below(3) == 0 ? 0 : random.uniform(0, 2),
                          .restitution = random.below(3) == 0 ? 0 : random.uniform()});
  }
  if (random.below(3) == 0) {
    const std::uint32_t a = 1 + random.below(bodies - 1), b = random.below(a);
    const Vec3 place = random.in_box({-1, -1, -1}, {1, 1, 1});
    // Nothing pulls at the joint before.
    p.bodies[a].velocity = moved(p.bodies[b].velocity, p.bodies[a].center - p.bodies[b].center);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Vec3 u{};
      u[axis] = 1;
      p.joints.push_back({a, b, wrench_of(u, place - p.bodies[a].center),
                          wrench_of(u * -1.0, place - p.bodies[b].center)});
    }
  }
  p.rest_speed = random.below(2) == 0 ? 0 : 0.1;
  return p;
}

double joint_speed(const ImpactProblem& p, const ImpactJoint& j) {
  return dot(j.on_a, p.bodies[j.a].velocity) + dot(j.on_b, p.bodies[j.b].velocity);
}

TEST(ImpactSolver, NothingApproachesMomentumStaysAndEnergyNeverGrows) {
  Random random(1);
  int stopped = 0, rounds = 0;
  constexpr int kCases = unless_slow(4000, 500);
  for (int i = 0; i < kCases; ++i) {
    const ImpactProblem before = make_problem(random);
    ImpactProblem after = before;
    const ImpactReport report = solve_impacts(after);
    stopped += report.stopped ? 1 : 0;
    rounds += report.rounds;
    double fastest = 1;
    for (const ImpactBody& b : before.bodies)
      fastest = std::max({fastest, length(b.velocity.linear), length(b.velocity.angular)});
    // The mass ratio is up to 3000: light bodies may get many times the speed of heavy ones.
    for (const ImpactContact& c : after.contacts)
      EXPECT_LE(approach_of(after, c), 1e-5 * fastest + 2e-3 * before.rest_speed) << i;
    const double energy = kinetic_energy(before);
    EXPECT_LE(kinetic_energy(after), energy * (1 + 1e-12)) << i;
    Vec3 momentum{}, angular{};
    double size = 0;
    for (std::size_t k = 0; k < after.bodies.size(); ++k) {
      const ImpactBody& b = after.bodies[k];
      if (b.inverse_mass == 0) continue;
      const Vec3 change = (b.velocity.linear - before.bodies[k].velocity.linear) / b.inverse_mass;
      EXPECT_LE(length(change - b.impulse.linear), 1e-10 * (1 + length(change)) / b.inverse_mass);
      momentum += b.impulse.linear;
      angular += b.impulse.angular + cross(b.center, b.impulse.linear);
      // What a blow of next to nothing changes is as exact as the momenta that it changes.
      size += length(b.impulse.linear) + length(b.impulse.angular) +
              length(before.bodies[k].velocity.linear) / b.inverse_mass;
    }
    if (before.bodies[0].inverse_mass > 0) {  // all of them are free
      EXPECT_LE(length(momentum), 1e-12 * size) << i;
      EXPECT_LE(length(angular), 1e-12 * size) << i;
    }
    for (const ImpactJoint& j : after.joints)
      EXPECT_NEAR(joint_speed(after, j), joint_speed(before, j), 1e-8 * fastest) << i;
  }
  EXPECT_LT(stopped, kCases / 20);
  EXPECT_GT(rounds, kCases);
}

// Neither the order of bodies nor that of contacts changes the result. Few problems, whose masses
// differ by thousands, do not converge so far.
TEST(ImpactSolver, TheOrderDoesNotMatter) {
  Random random(2);
  constexpr int kCases = unless_slow(1000, 200);
  int differ = 0;
  for (int i = 0; i < kCases; ++i) {
    ImpactProblem p = make_problem(random), q = p;
    std::reverse(q.contacts.begin(), q.contacts.end());
    std::reverse(q.bodies.begin(), q.bodies.end());
    const auto n = static_cast<std::uint32_t>(p.bodies.size() - 1);
    for (ImpactContact& c : q.contacts) {
      const ImpactContact was = c;
      c.a = n - was.b;
      c.b = n - was.a;
      c.normal = -was.normal;
    }
    for (ImpactJoint& j : q.joints) {
      j.a = n - j.a;
      j.b = n - j.b;
    }
    solve_impacts(p);
    solve_impacts(q);
    double fastest = 1;
    for (const ImpactBody& b : p.bodies)
      fastest = std::max({fastest, length(b.velocity.linear), length(b.velocity.angular)});
    double most = 0;
    for (std::size_t k = 0; k <= n; ++k) {
      const Twist u = p.bodies[k].velocity - q.bodies[n - k].velocity;
      most = std::max(most, length(u.linear) + length(u.angular));
    }
    differ += most > 1e-9 * fastest ? 1 : 0;
    EXPECT_LE(most, 1e-2 * fastest) << i;
  }
  EXPECT_LE(differ, kCases / 100);
}

// What is symmetric stays so: balls from both sides, and one that falls on both, with friction.
TEST(ImpactSolver, SymmetryStays) {
  for (const double friction : {0.0, 0.3, 2.0})
    for (const double restitution : {0.0, 0.5, 1.0}) {
      ImpactProblem p;
      p.bodies = {make_ball({-0.1, 0, 0}, {3, -1, 0}),
                  make_ball({0.1, 0, 0}, {-3, -1, 0}),
                  make_ball({0, 0.17, 0}, {0, -4, 0}, 3),
                  {}};
      const auto add = [&](std::uint32_t a, std::uint32_t b, const Vec3& place, const Vec3& n) {
        p.contacts.push_back({.a = a,
                              .b = b,
                              .place = place,
                              .normal = normalized(n),
                              .friction = friction,
                              .restitution = restitution});
      };
      add(0, 1, {}, {-1, 0, 0});
      add(2, 0, {-0.05, 0.085, 0}, {0.1, 0.17, 0});
      add(2, 1, {0.05, 0.085, 0}, {-0.1, 0.17, 0});
      add(0, 3, {-0.1, -0.1, 0}, {0, 1, 0});
      add(1, 3, {0.1, -0.1, 0}, {0, 1, 0});
      solve_impacts(p);
      const Twist &a = p.bodies[0].velocity, &b = p.bodies[1].velocity, &c = p.bodies[2].velocity;
      EXPECT_NEAR(a.linear.x, -b.linear.x, 1e-9);
      EXPECT_NEAR(a.linear.y, b.linear.y, 1e-9);
      EXPECT_NEAR(a.angular.z, -b.angular.z, 1e-8);
      EXPECT_NEAR(c.linear.x, 0, 1e-9);
      EXPECT_NEAR(c.angular.z, 0, 1e-8);
    }
}

// Between a plate that comes down and the ground nothing has a free velocity: both contacts are
// named, and what else happens does.
TEST(ImpactSolver, APressJamsAndTheRestGoesOn) {
  ImpactProblem p;
  p.bodies = {make_ball({0, 0.1, 0}, {}), {}, {}, make_ball({0.2, 0.1, 0}, {-1, 0, 0})};
  p.bodies[2].velocity.linear = {0, -1, 0};
  p.contacts = {{.a = 0, .b = 1, .place = {0, 0, 0}, .normal = {0, 1, 0}},
                {.a = 2, .b = 0, .place = {0, 0.2, 0}, .normal = {0, 1, 0}},
                {.a = 3, .b = 0, .place = {0.1, 0.1, 0}, .normal = {1, 0, 0}, .restitution = 1}};
  solve_impacts(p);
  EXPECT_TRUE(p.contacts[0].jammed);
  EXPECT_TRUE(p.contacts[1].jammed);
  EXPECT_FALSE(p.contacts[2].jammed);
  EXPECT_NEAR(p.bodies[0].velocity.linear.x, -1, 1e-9);
  EXPECT_NEAR(p.bodies[3].velocity.linear.x, 0, 1e-9);
}

}  // namespace
}  // namespace isotact::detail
