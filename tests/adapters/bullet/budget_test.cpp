// Queries within a budget of each step.
#include <cmath>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcherMt.h>
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_throws.h"
#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {

template class BudgetDispatcher<btCollisionDispatcherMt>;  // Threads can have a budget, too.

namespace {

using bullet_throws::make_throw;
using bullet_throws::Throw;
using bullet_throws::wall_of;
using Budgeted = WorldWith<BudgetDispatcher<>>;
using GuardedBudgeted = WorldWith<BudgetDispatcher<>, GuardedWorld<btDiscreteDynamicsWorld>>;

// A pile of rings on a box. Returns the rings.
template <typename World>
std::vector<btRigidBody*> fill(World& world, IsotactShape& ring, btCollisionShape& floor,
                               int count = 12) {
  world.add(floor, 0, {0, -0.5, 0});
  std::vector<btRigidBody*> bodies;
  ring.setLocalScaling({0.3F, 0.3F, 0.3F});  // 0.3 m wide.
  for (int i = 0; i < count; ++i)
    bodies.push_back(&world.add(ring, 1, {0.05 * (i % 3), 0.2 + 0.31 * i, 0.06 * (i % 2)},
                                rotation_about({1, 0, 0.3 * i}, 0.4 * i)));
  return bodies;
}

std::vector<Vec3> places_after(StepBudget budget, int steps, int count = 12) {
  IsotactShape ring = copy(torus_shape());
  btBoxShape floor({3, 0.5F, 3});
  Budgeted world({0, -10, 0}, budget);
  const auto bodies = fill(world, ring, floor, count);
  world.step(steps, 1.0 / 120);
  std::vector<Vec3> places;
  for (const btRigidBody* body : bodies) places.push_back(place(*body));
  return places;
}

// Not for fast bodies: with limited work, their paths are followed by other parts.
TEST(BulletBudget, ThatSufficesChangesNothing) {
  constexpr int kSlow = 3;
  IsotactShape ring = copy(torus_shape());
  btBoxShape floor({3, 0.5F, 3});
  BulletWorld world;
  const auto bodies = fill(world, ring, floor, kSlow);
  world.step(90, 1.0 / 120);
  const std::vector<Vec3> with = places_after({.nodes = 1'000'000'000}, 90, kSlow);
  const std::vector<Vec3> without_limit = places_after({}, 90, kSlow);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_EQ(place(*bodies[i]), with[i]) << i;
    EXPECT_EQ(place(*bodies[i]), without_limit[i]) << i;
  }
}

// The same work in each run, never more than allowed, and the pile stands.
TEST(BulletBudget, InNodesIsKeptAndRepeatable) {
  constexpr std::uint64_t kNodes = 6000;
  IsotactShape ring = copy(torus_shape());
  btBoxShape floor({3, 0.5F, 3});
  Budgeted world({0, -10, 0}, StepBudget{.nodes = kNodes});
  const auto bodies = fill(world, ring, floor);
  int cut = 0, complete = 0;
  std::uint64_t most = 0;
  for (int i = 0; i < 240; ++i) {
    world.step(1, 1.0 / 120);
    const BudgetReport& report = world.dispatcher.budget_report();
    most = std::max(most, report.nodes);
    EXPECT_LE(report.nodes, kNodes) << i;
    cut += static_cast<int>(report.cut);
    for (const PairReport& pair : report.pairs) {
      complete += pair.is_complete ? 1 : 0;
      EXPECT_EQ(pair.is_complete, pair.level < 0);
      EXPECT_TRUE(pair.body_0 != nullptr && pair.body_1 != nullptr);
      EXPECT_GE(pair.depth_bound, 0);
    }
  }
  EXPECT_GT(cut, 100);
  EXPECT_GT(complete, 100);
  EXPECT_GT(most, kNodes / 2);
  for (const btRigidBody* body : bodies) EXPECT_GT(place(*body).y, 0.02);
  const std::vector<Vec3> once = places_after({.nodes = kNodes}, 120);
  const std::vector<Vec3> again = places_after({.nodes = kNodes}, 120);
  EXPECT_EQ(once, again);
  EXPECT_NE(once, places_after({}, 120));
}

TEST(BulletBudget, InTimeIsKept) {
  IsotactShape ring = copy(torus_shape());
  btBoxShape floor({3, 0.5F, 3});
  constexpr double kMost = 150;
  Budgeted world({0, -10, 0}, StepBudget{.microseconds = kMost});
  fill(world, ring, floor);
  int over = 0, cut = 0;
  for (int i = 0; i < 240; ++i) {
    world.step(1, 1.0 / 120);
    over += world.dispatcher.budget_report().microseconds > kMost ? 1 : 0;
    cut += static_cast<int>(world.dispatcher.budget_report().cut);
  }
  EXPECT_GT(cut, 0);
  // The time is that of a build as users have it. Other processes interrupt this one.
  if (!kSlowBuild) {
    EXPECT_LE(over, 24);
  }
}

// Coarse contacts let bodies through. The guard does not, however small its own budget is.
TEST(BulletBudget, NoBodyPassesAGuardThatRunsOut) {
  Random random(test_seed(21));
  std::uint32_t unproved = 0;
  for (int i = 0; i < unless_slow(40, 3); ++i) {
    Throw t = make_throw(random);
    if (t.is_multibody) continue;
    const auto& wall = wall_of(t.wall, t.thickness);
    GuardedBudgeted world({0, 0, 0}, StepBudget{.nodes = 200});
    world.world.set_guard_budget({.nodes = 2000});
    world.add(*wall.shape, 0, {0, 0, wall.place});
    IsotactShape& shape = *t.thrown->info.shape;
    btRigidBody& body = world.add(shape, t.mass, t.pose.translation, t.pose.rotation);
    body.setLinearVelocity(to_bullet(t.velocity));
    body.setAngularVelocity(to_bullet(t.turn));
    const double middle =
        wall.kind == bullet_throws::WallKind::kHeights ? -0.06 : -wall.thickness / 2;
    Vec3 before = place(body);
    for (int k = 0; k < static_cast<int>(0.4 * t.rate); ++k) {
      world.step(1, 1 / t.rate);
      EXPECT_FALSE(bullet_throws::passes(before, place(body), middle)) << i;
      before = place(body);
      unproved += world.world.guard_report().unproved;
    }
  }
  EXPECT_GT(unproved, kSlowBuild ? 0U : 20U);
}

TEST(BulletBudget, ALevelOfDetailTestsFewerPoints) {
  const CookSettings all{.shape = {.field = {.resolution = 48}, .points = 3000}};
  CookSettings coarse = all;
  coarse.bullet.level = 2;
  std::uint64_t nodes[2];
  for (const bool is_coarse : {false, true}) {
    const auto ball = cook_bullet_shape(make_sphere({.radius = kBallRadius, .frequency = 32}),
                                        is_coarse ? coarse : all);
    btBoxShape floor({3, 0.5F, 3});
    Budgeted world({0, -10, 0}, StepBudget{.nodes = 1'000'000});
    world.add(floor, 0, {0, -0.5, 0});
    btRigidBody& body = world.add(*ball, 1, {0, kBallRadius + 0.01, 0});
    world.step(60);
    nodes[is_coarse ? 1 : 0] = world.dispatcher.budget_report().nodes;
    EXPECT_NEAR(place(body).y, kBallRadius, is_coarse ? 0.05 : 1e-3);
  }
  EXPECT_LT(nodes[1], nodes[0]);
}

}  // namespace
}  // namespace isotact
