// Bodies in batches: what comes to rest, what is filtered, and what stays as it was.
#include "isotact/adapters/bullet/batch.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#if defined(ISOTACT_HAS_GPU)
#include "isotact/adapters/bullet/gpu_batch.h"
#endif

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kStep = 1.0 / 120;

double speed(const btRigidBody& body) { return length(from_bullet(body.getLinearVelocity())); }

// A hand's breadth, with a thread in it.
const IsotactShape& nut_shape() {
  static const auto shape = cook_bullet_shape(
      make_nut({.diameter = 0.16, .pitch = 0.03, .height = 0.13, .width = 0.28, .segments = 48}),
      {.shape = {.field = {.resolution = 48}, .points = 500}});
  return *shape;
}

struct Rest {
  Vec3 ball{}, cube{}, nut{};
};

Rest come_to_rest(const BatchSettings& settings, int steps) {
  BatchWorld w(settings);
  btStaticPlaneShape ground({0, 1, 0}, 0);
  w.add(ground, 0);
  IsotactShape ball = copy(ball_shape()), cube = copy(cube_shape()), nut = copy(nut_shape());
  const btRigidBody& b = w.add(ball, 1, {0, 0.35, 0});
  const btRigidBody& c = w.add(cube, 1, {2, 0.4, 0});
  const btRigidBody& n = w.add(nut, 1, {4, 0.25, 0}, rotation_about({0, 0, 1}, 0.3));
  double lowest = 1;
  for (int i = 0; i < steps; ++i) {
    w.step(1, kStep);
    lowest = std::min(lowest, place(b).y);
  }
  EXPECT_GT(lowest, kBallRadius - 2e-3);
  if (kSlowBuild) return {place(b), place(c), place(n)};  // what comes to rest takes its time
  EXPECT_LT(speed(c), 5e-3);
  EXPECT_LT(speed(n), 5e-3);
  EXPECT_LT(length(from_bullet(c.getAngularVelocity())), 1e-2);
  EXPECT_NEAR(b.getLinearVelocity().y(), 0, 1e-2);
  return {place(b), place(c), place(n)};
}

TEST(Batch, ABallABoxAndANutComeToRestOnAPlane) {
  const Rest rest = come_to_rest({}, unless_slow(120, 10));
  EXPECT_GT(std::min({rest.ball.y, rest.cube.y, rest.nut.y}), 0.06);
  if (kSlowBuild) return;  // what comes to rest takes its time
  EXPECT_NEAR(rest.ball.y, kBallRadius, 1e-3);
  EXPECT_NEAR(rest.cube.y, 0.25, 1e-3);
  EXPECT_NEAR(rest.nut.y, 0.065, 2e-3);
}

#if defined(ISOTACT_HAS_GPU)
TEST(Batch, TheGpuLetsThemRestInTheSamePlaces) {
  std::string why;
  const auto gpu = GpuContext::try_create(&why);
  ASSERT_TRUE(gpu) << why;
  const GpuBatchQuery query(*gpu);
  EXPECT_EQ(query.times(), nullptr);
  const int steps = unless_slow(100, 5);
  const Rest on_gpu = come_to_rest({.backend = query}, steps), on_cpu = come_to_rest({}, steps);
  EXPECT_NEAR(on_gpu.ball.y, on_cpu.ball.y, 5e-4);
  EXPECT_NEAR(length(on_gpu.cube - on_cpu.cube), 0, 3e-3);
  EXPECT_NEAR(on_gpu.nut.y, on_cpu.nut.y, 1e-3);
  ASSERT_NE(query.times(), nullptr);
  EXPECT_GT(query.times()->wall, 0);
}
#endif

// Boxes, cylinders, spheres and capsules, lying and standing, scaled and grown.
TEST(Batch, BodiesRestOnBulletsShapes) {
  BatchWorld w;
  btBoxShape box(to_bullet(Vec3{0.5, 0.3, 0.5}));
  btCylinderShapeX lying(to_bullet(Vec3{0.5, 0.3, 0.3}));
  btCylinderShape standing(to_bullet(Vec3{0.5, 0.3, 0.5}));
  btCapsuleShapeZ capsule(btScalar(0.3), 1);
  btSphereShape sphere(btScalar(0.3));
  btCollisionShape* below[] = {&box, &lying, &standing, &capsule, &sphere};
  IsotactShape ball = copy(ball_shape()), small = copy(ball_shape()), grown = copy(ball_shape());
  small.setLocalScaling({0.5, 0.5, 0.5});
  grown.setMargin(btScalar(0.05));
  const std::pair<IsotactShape*, double> above[] = {
      {&ball, kBallRadius}, {&small, kBallRadius / 2}, {&grown, kBallRadius + 0.05}};
  std::vector<std::pair<const btRigidBody*, double>> all;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 3; ++k) {
      const Vec3 at{3.0 * i, 0, 3.0 * k};
      w.add(*below[i], 0, at);
      const double height = 0.3 + above[k].second;
      all.emplace_back(&w.add(*above[k].first, 1, at + Vec3{0, height + 0.004, 0}), height);
    }
  // Soon, before they roll off.
  w.step(8, kStep);
  for (const auto& [body, height] : all) EXPECT_NEAR(place(*body).y, height, 2e-3);
  EXPECT_GT(w.contact_count(), 14);
}

TEST(Batch, BouncesAsHighAsItShould) {
  for (const double e : {0.0, 0.5, 0.8}) {
    BatchWorld w;
    btStaticPlaneShape ground({0, 1, 0}, 0);
    w.add(ground, 0).setRestitution(1);
    IsotactShape ball = copy(ball_shape());
    btRigidBody& b = w.add(ball, 1, {0, 1 + kBallRadius, 0});
    b.setRestitution(static_cast<btScalar>(e));
    double highest = 0;
    bool has_met = false;
    for (int i = 0; i < 130; ++i) {
      w.step(1, kStep);
      has_met = has_met || place(b).y < kBallRadius + 0.02;
      if (has_met && b.getLinearVelocity().y() > 0) highest = std::max(highest, place(b).y);
    }
    EXPECT_NEAR(highest - (highest > 0 ? kBallRadius : 0), e * e, 0.03) << e;
  }
}

// A ball of 40 cm at 12 m/s against a wall of 10 cm: in a step it would go 10 cm, and have its way
// out on the far side.
TEST(Batch, DoesNotGoThroughThinWalls) {
  const auto wall = cook_bullet_shape(make_box({.size_x = 0.1, .size_y = 2, .size_z = 2}),
                                      {.shape = {.field = {.resolution = 80}, .points = 100}});
  BatchWorld w;
  w.world.setGravity({0, 0, 0});
  w.add(*wall, 0);
  IsotactShape ball = copy(ball_shape());
  Random random(3);
  for (int i = 0; i < unless_slow(10, 2); ++i) {
    btRigidBody& b = w.add(ball, 1, {-1 - 0.1 * random.uniform(), random.uniform(-0.5, 0.5), 0.1});
    b.setLinearVelocity({12, static_cast<btScalar>(random.uniform(-2, 2)), 0});
    double furthest = -1;
    for (int k = 0; k < 20; ++k) {
      w.step(1, kStep);
      furthest = std::max(furthest, place(b).x);
    }
    EXPECT_LT(furthest, -0.05 - kBallRadius + 0.02);
    EXPECT_GT(furthest, -0.05 - kBallRadius - 0.02);
    w.remove_last();
  }
}

struct Seen {
  std::size_t pairs = 0, steps = 0;
};
BatchSettings watched(Seen& seen) {
  return {.observer = [&seen](const BatchStep& step, const IdfResult& result) {
    seen.pairs = step.pairs.size();
    ++seen.steps;
    EXPECT_EQ(result.first_contact.size(), step.pairs.size() + 1);
    for (const IdfPair& pair : step.pairs) {
      EXPECT_LT(step.bodies[pair.a].shape, step.shapes.size());
      EXPECT_LT(step.bodies[pair.b].shape, step.shapes.size());
    }
  }};
}

TEST(Batch, FiltersAndSleepAreBullets) {
  Seen seen;
  BatchWorld w(watched(seen));
  btStaticPlaneShape ground({0, 1, 0}, 0);
  btRigidBody& floor = w.add(ground, 0);
  IsotactShape ball = copy(ball_shape());
  btRigidBody& a = w.add(ball, 1, {0, kBallRadius, 0});
  btRigidBody& b = w.add(ball, 1, {0.3, kBallRadius, 0});
  w.step(1, kStep);
  EXPECT_EQ(seen.pairs, 3U);
  EXPECT_EQ(w.dispatcher.report().pairs, 3U);
  EXPECT_GE(w.dispatcher.report().contacts, 3U);
  EXPECT_GE(w.dispatcher.report().all_seconds, w.dispatcher.report().query_seconds);
  a.setIgnoreCollisionCheck(&b, true);
  w.step(1, kStep);
  EXPECT_EQ(seen.pairs, 2U);
  // By groups: b meets the ground only by its mask.
  w.world.removeRigidBody(&b);
  w.world.addRigidBody(&b, 2, 2);
  w.step(1, kStep);
  EXPECT_EQ(seen.pairs, 1U);
  // Who has no answer to contact has contacts all the same.
  floor.setCollisionFlags(floor.getCollisionFlags() | btCollisionObject::CF_NO_CONTACT_RESPONSE);
  const double height = place(a).y;
  w.step(2, kStep);
  EXPECT_EQ(seen.pairs, 1U);
  EXPECT_LT(place(a).y, height - 1e-3);
  for (btRigidBody* body : {&floor, &a, &b}) body->forceActivationState(ISLAND_SLEEPING);
  w.step(1, kStep);
  EXPECT_EQ(seen.pairs, 0U);
}

TEST(Batch, NearCallbacksAndLaterInstallsDoNotChangeIt) {
  Seen seen;
  BatchWorld w(watched(seen));
  btStaticPlaneShape ground({0, 1, 0}, 0);
  w.add(ground, 0);
  IsotactShape ball = copy(ball_shape());
  w.add(ball, 1, {0, kBallRadius, 0});
  const BulletPlugin again = install(w.dispatcher);
  static int asked;
  asked = 0;
  w.dispatcher.setNearCallback(
      [](btBroadphasePair& pair, btCollisionDispatcher& dispatcher, const btDispatcherInfo& info) {
        ++asked;
        btCollisionDispatcher::defaultNearCallback(pair, dispatcher, info);
      });
  w.step(3, kStep);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(seen.pairs, 1U);
  EXPECT_EQ(seen.steps, 3U);
  EXPECT_GT(w.contact_count(), 0);
}

// Bullet's own pairs, triangle meshes, compounds with a child of ours, shapes without a field.
TEST(Batch, OtherShapesOfTheWorldGoTheirOwnWay) {
  Seen seen;
  BatchWorld w(watched(seen));
  btTriangleMesh triangles;
  triangles.addTriangle({-20, 0, -20}, {0, 0, 20}, {20, 0, -20});
  btBvhTriangleMeshShape floor(&triangles, true);
  w.add(floor, 0);
  btBoxShape box(to_bullet(Vec3{0.2, 0.2, 0.2}));
  IsotactShape cube = copy(cube_shape()), child = copy(cube_shape());
  btCompoundShape compound;
  compound.addChildShape(btTransform::getIdentity(), &child);
  const auto points = cook_bullet_shape(Shape::from_parts({.tree = cube_shape().body().tree}));
  const btRigidBody& stock = w.add(box, 1, {0, 0.25, 0});
  const btRigidBody& ours = w.add(cube, 1, {2, 0.3, 0});
  const btRigidBody& top = w.add(compound, 1, {2, 0.82, 0});
  const btRigidBody& shell = w.add(*points, 1, {-2, 0.3, 0});
  const btRigidBody& on_shell = w.add(cube, 1, {-2, 0.82, 0});
  w.step(unless_slow(60, 30), kStep);
  EXPECT_EQ(seen.pairs, 1U);  // of the two cubes, one in a compound
  if (kSlowBuild) return;
  EXPECT_NEAR(place(stock).y, 0.2, 0.02);
  EXPECT_NEAR(place(ours).y, 0.25, 5e-3);
  EXPECT_NEAR(place(top).y, 0.75, 5e-3);
  EXPECT_NEAR(place(shell).y, 0.25, 5e-3);
  EXPECT_NEAR(place(on_shell).y, 0.75, 5e-3);

  struct Count final : btCollisionWorld::ContactResultCallback {
    btScalar addSingleResult(btManifoldPoint&, const btCollisionObjectWrapper*, int, int,
                             const btCollisionObjectWrapper*, int, int) override {
      ++count;
      return 0;
    }
    int count = 0;
  } result;
  w.world.contactTest(const_cast<btRigidBody*>(&ours), result);
  EXPECT_GT(result.count, 0);
}

std::vector<Vec3> drop_pile(Threads threads, int steps) {
  BatchSettings settings;
  settings.query.threads = threads;
  settings.query.samples = 6;
  BatchWorld w(settings);
  btStaticPlaneShape planes[] = {{{0, 1, 0}, 0},
                                 {{1, 0, 0}, btScalar(-0.7)},
                                 {{-1, 0, 0}, btScalar(-0.7)},
                                 {{0, 0, 1}, btScalar(-0.7)},
                                 {{0, 0, -1}, btScalar(-0.7)}};
  for (btStaticPlaneShape& plane : planes) w.add(plane, 0);
  IsotactShape ball = copy(ball_shape()), nut = copy(nut_shape()), torus = copy(torus_shape());
  IsotactShape cube = copy(cube_shape());
  torus.setLocalScaling(to_bullet(Vec3{0.6, 0.6, 0.6}));
  cube.setLocalScaling(to_bullet(Vec3{0.6, 0.6, 0.6}));
  btCollisionShape* shapes[] = {&ball, &nut, &torus, &cube};
  Random random(5);
  std::vector<const btRigidBody*> all;
  for (int i = 0; i < unless_slow(12, 8); ++i)
    all.push_back(&w.add(
        *shapes[i % 4], 1,
        {0.35 * (i % 2 == 0 ? 1 : -1), 0.35 + 0.3 * (i / 4), 0.35 * (i / 2 % 2 == 0 ? 1 : -1)},
        random.rotation()));
  w.step(steps, kStep);
  std::vector<Vec3> places;
  for (const btRigidBody* body : all) {
    places.push_back(place(*body));
    EXPECT_TRUE(is_finite(place(*body)));
    EXPECT_GT(place(*body).y, 0.04);
    EXPECT_LT(place(*body).y, 1.6);
    EXPECT_LT(std::max(std::abs(place(*body).x), std::abs(place(*body).z)), 0.66);
    EXPECT_LT(speed(*body), steps >= 100 ? 2 : 9);
  }
  return places;
}

TEST(Batch, APileNeitherSinksNorExplodes) { drop_pile({}, unless_slow(120, 8)); }

TEST(Batch, TheSameAgainAndWithAnyNumberOfThreads) {
  const auto once = drop_pile({1}, unless_slow(40, 6));
  EXPECT_EQ(once, drop_pile({1}, unless_slow(40, 6)));
  EXPECT_EQ(once, drop_pile({3}, unless_slow(40, 6)));
}

TEST(Batch, SettingsOutOfRangeAreRefused) {
  btDefaultCollisionConfiguration configuration;
  EXPECT_THROW(BatchDispatcher(&configuration, {.cells = 5}), Error);
  EXPECT_THROW(BatchDispatcher(&configuration, {.recovery_speed = 0}), Error);
  EXPECT_NO_THROW(BatchDispatcher(&configuration, {.cells = 32}));
}

// A backend that fails leaves the world fit for the next step.
TEST(Batch, WhatTheBackendThrowsComesOutOfTheStep) {
  bool fails = true;
  const BatchQuery usual = cpu_batch_query();
  BatchWorld w({.backend = [&](const BatchStep& step, IdfResult& result, IdfScratch& scratch) {
    if (fails) throw Error("the GPU has gone");
    usual(step, result, scratch);
  }});
  btStaticPlaneShape ground({0, 1, 0}, 0);
  w.add(ground, 0);
  IsotactShape ball = copy(ball_shape());
  w.add(ball, 1, {0, kBallRadius, 0});
  EXPECT_THROW(w.step(1, kStep), Error);
  fails = false;
  w.step(2, kStep);
  EXPECT_GT(w.contact_count(), 0);
}

}  // namespace
}  // namespace isotact
