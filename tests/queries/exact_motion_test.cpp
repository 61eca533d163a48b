// continuous_collide by the triangles: shapes of all kinds, beside formulas and distance().
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

Shape body_of(const TriangleMesh& mesh) {
  return Shape::from_mesh(mesh, {.field = {.resolution = 32}, .points = 200});
}

BodyMotion shift(const Vec3& from, const Vec3& to) {
  return {.from = {.translation = from}, .to = {.translation = to}};
}

TEST(ExactMotion, SimpleSolidsMeetWhenFormulasSay) {
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.5});
  const Shape box = Shape::from_analytic(BoxField{});
  const Shape ground = Shape::from_analytic(PlaneField{});
  const Shape rod = Shape::from_analytic(CapsuleField{{0, -1, 0}, {0, 1, 0}, 0.25});
  struct Case {
    const Shape &a, &b;
    Vec3 from, to;  // of A
    double gap;     // at which they touch
  };
  for (const Case& c :
       {Case{ball, ball, {3, 0, 0}, {0, 0, 0}, 1.0}, Case{ball, box, {3, 0, 0}, {0, 0, 0}, 1.0},
        Case{ball, ground, {0, 3, 0}, {1, 0, 2}, 0.5}, Case{box, ground, {0, 3, 0}, {0, 0, 0}, 0.5},
        Case{rod, ground, {0, 3, 0}, {0, 0, 0}, 1.25},
        Case{rod, ball, {3, 0, 0}, {0, 0, 0}, 0.75}}) {
    for (const bool swapped : {false, true}) {
      const BodyMotion moving = shift(c.from, c.to);
      const ContinuousResult r = swapped ? continuous_collide(c.b, {}, c.a, moving)
                                         : continuous_collide(c.a, moving, c.b, {});
      ASSERT_TRUE(r.exact);
      ASSERT_EQ(r.status, ContinuousStatus::kContact);
      const double time = (3 - c.gap) / 3;
      EXPECT_LE(r.time_of_contact, time + 1e-12);
      EXPECT_GE(r.latest_time, time - 1e-7);
      EXPECT_LE(r.latest_time - r.time_of_contact, 1e-6);
      EXPECT_NEAR(r.contact.depth, 0, 1e-5);
      EXPECT_EQ(r.blind_depth, 0);
      // From B towards A.
      const Vec3 up = normalized(c.from) * (swapped ? -1.0 : 1.0);
      EXPECT_NEAR(dot(r.contact.normal, up), 1, 1e-3);
    }
  }
}

// Two balls took five million tests: their middles are points, and no interval was short enough.
TEST(ExactMotion, RoundSolidsTakeFewTests) {
  const Shape solids[] = {Shape::from_analytic(SphereField{.radius = 0.5}),
                          Shape::from_analytic(SphereField{.center = {0.1, 0, 0}, .radius = 1e-3}),
                          Shape::from_analytic(CapsuleField{}),
                          Shape::from_analytic(CapsuleField{{0, -20, 0}, {0, 20, 0}, 0.01}),
                          Shape::from_analytic(BoxField{}),
                          Shape::from_analytic(PlaneField{}),
                          body_of(make_sphere({.radius = 0.4, .frequency = 6})),
                          Shape::from_analytic(CylinderField{}),
                          Shape::from_analytic(TorusField{})};
  Random random(test_seed(96));
  int contacts = 0, free = 0;
  for (int i = 0; i < unless_slow(400, 40); ++i) {
    const std::size_t k = random.below(9);
    const std::size_t l = k == 5 || k > 6 ? random.below(5) : random.below(7);
    const Shape &a = solids[k], &b = solids[l];
    if (k == 5 && l == 5) continue;
    BodyMotion motion{.from = random_pose(random, 3), .to = random_pose(random, 3)};
    if (i % 3 == 0) motion.to.rotation = motion.from.rotation;
    const double margin = i % 4 == 3 ? 0.01 : 0;
    const ContinuousResult r = continuous_collide(a, motion, b, {}, {.margin = margin});
    SCOPED_TRACE(testing::Message() << i << ": " << k << ' ' << l);
    ASSERT_TRUE(r.exact);
    ASSERT_LT(r.work.tests, k > 5 || l > 5 ? 20'000U : 1'500U);
    const auto apart_at = [&](double time) {
      return distance(a, compute_pose(motion, time), b, {}, {.want_depth = false}).distance -
             margin;
    };
    const double end = std::min(r.time_of_contact, 1.0);
    for (int step = 0; step <= 20 && end > 0; ++step)
      ASSERT_GT(apart_at(end * step / 20 * (1 - 1e-9)), -1e-8);
    if (r.status != ContinuousStatus::kContact) {
      ++free;
      continue;
    }
    ++contacts;
    ASSERT_LE(r.latest_time - r.time_of_contact, 1e-6);
    // Of cylinders and tori the error of their polygons is a margin.
    ASSERT_LE(apart_at(r.latest_time), k > 6 ? 1e-6 : 1e-9);
  }
  EXPECT_GT(contacts, unless_slow(100, 10));
  EXPECT_GT(free, unless_slow(30, 3));
}

TEST(ExactMotion, MissesAreFreeHoweverNear) {
  const Shape sheet = body_of(make_box({.size_x = 1, .size_y = 0.001, .size_z = 1}));
  const Shape box = body_of(make_box({}));
  // A sheet a millimetre thick passes a box by a hundredth of that.
  const ContinuousResult by = continuous_collide(sheet, shift({-9, 0.50051, 0}, {9, 0.50051, 0}),
                                                 box, {}, {.want_distance = true});
  EXPECT_EQ(by.status, ContinuousStatus::kFree);
  EXPECT_NEAR(by.distance, 1e-5, 1e-6);
  EXPECT_LE(by.lower_bound, 1.001e-5);
  EXPECT_TRUE(std::isinf(by.time_of_contact) && std::isinf(by.latest_time));
  // And goes through it between its two poses.
  const ContinuousResult through =
      continuous_collide(sheet, shift({0, -400, 0}, {0, 400, 0}), box, {});
  ASSERT_EQ(through.status, ContinuousStatus::kContact);
  EXPECT_NEAR(through.time_of_contact, (400 - 0.5005) / 800, 1e-6);
}

TEST(ExactMotion, WhatLiesInsideTouchesFromTheStart) {
  const Shape small = body_of(make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.1}));
  const Shape box = body_of(make_box({}));
  const ContinuousResult r = continuous_collide(small, shift({0.1, 0, 0}, {0.2, 0, 0}), box, {});
  ASSERT_EQ(r.status, ContinuousStatus::kContact);
  EXPECT_EQ(r.time_of_contact, 0);
  EXPECT_NEAR(r.contact.depth, 0.45, 1e-4);
}

TEST(ExactMotion, AgreesWithDistancesAtManyTimes) {
  const Shape shapes[] = {body_of(make_shape("gear", {{"module", 0.03}})),
                          body_of(make_knot({.segments = 96, .tube_segments = 8})),
                          body_of(make_bowl({.radius = 0.5, .thickness = 0.05})),
                          Shape::from_analytic(SphereField{.radius = 0.2}),
                          Shape::from_analytic(BoxField{})};
  Random random(test_seed(41));
  int free = 0, contacts = 0;
  for (int i = 0; i < test_cases(unless_slow(80, 12)); ++i) {
    SCOPED_TRACE(i);
    const Shape &a = shapes[random.next_u32() % 5], &b = shapes[random.next_u32() % 5];
    const ShellMotion m = random_motion(random, 1.2);
    const double margin = i % 2 == 0 ? 0 : 0.02;
    const ContinuousResult r =
        continuous_collide(a, m.shell, b, m.field, {.margin = margin, .want_distance = true});
    ASSERT_TRUE(r.exact && r.has_distance);
    const double end = std::min(1.0, r.time_of_contact);
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 50 && end > 0; ++k) {
      const double time = end * k / 50;
      const DistanceResult d = distance(a, compute_pose(m.shell, time), b,
                                        compute_pose(m.field, time), {.want_depth = false});
      ASSERT_GT(d.distance, margin - 1e-12);
      least = std::min(least, d.distance);
    }
    ASSERT_LE(std::max(r.lower_bound, 0.0), least + 1e-6);
    if (r.status == ContinuousStatus::kFree) {
      ++free;
      ASSERT_GE(r.distance, margin - 1e-6);
    } else {
      ++contacts;
    }
  }
  EXPECT_GT(free, unless_slow(15, 1));
  EXPECT_GT(contacts, unless_slow(15, 1));
}

TEST(ExactMotion, AsksAreAnsweredOrRefused) {
  const Shape box = body_of(make_box({}));
  const Shape both = Shape::from_analytic(
      Intersection{AnalyticSolid(BoxField{}), AnalyticSolid(SphereField{.radius = 0.6})});
  const BodyMotion fall = shift({0, 3, 0}, {0, 0, 0});
  EXPECT_THROW(continuous_collide(box, fall, both, {}, {.accuracy = Accuracy::kExact}), Error);
  EXPECT_FALSE(continuous_collide(box, fall, both, {}, {.want_distance = true}).exact);
  for (const ContinuousRequest& request :
       {ContinuousRequest{.accuracy = Accuracy::kExact, .margin = -0.1},
        ContinuousRequest{.accuracy = Accuracy::kExact, .roles = Roles::kPointsOfA},
        ContinuousRequest{.accuracy = Accuracy::kExact, .method = Method::kSwept},
        ContinuousRequest{.time_tolerance = 0}, ContinuousRequest{.distance_tolerance = -1}})
    EXPECT_THROW(continuous_collide(box, fall, box, {}, request), Error);
  EXPECT_FALSE(continuous_collide(box, fall, box, {}, {.accuracy = Accuracy::kField}).exact);
  const ContinuousResult cut = continuous_collide(box, fall, box, {}, {.max_tests = 3});
  EXPECT_EQ(cut.status, ContinuousStatus::kGaveUp);
  EXPECT_LE(cut.time_of_contact, 2.0 / 3);
  const ContinuousResult near = continuous_collide(box, shift({0, 3, 0}, {0, 2, 0}), box, {},
                                                   {.want_distance = true, .max_tests = 3});
  EXPECT_TRUE(near.distance_gave_up);
  EXPECT_LE(near.lower_bound, 1);
  EXPECT_GE(near.distance, 1 - 1e-6);
  prepare(box, ContinuousRequest{});
}

// The triangles decide, and points tell their times: in one call what two would say.
TEST(ExactMotion, AllPointsAndAnExactVerdictInOneCall) {
  const Shape box = body_of(make_box({}));
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.4});
  const BodyMotion fall = shift({0.1, 3, 0.2}, {0.1, 0, 0.2});
  const BodyMotion past = shift({0.1, 3, 0.2}, {0.1, 1.5, 0.2});
  for (const Shape* other : {&box, &ball})
    for (const BodyMotion& motion : {fall, past}) {
      const ContinuousResult first = continuous_collide(*other, motion, box, {});
      const ContinuousResult by_points = continuous_collide(
          *other, motion, box, {}, {.accuracy = Accuracy::kField, .mode = Mode::kAll});
      ContinuousScratch scratch;
      ContinuousRequest request{.mode = Mode::kAll, .want_distance = true, .max_contacts = 5};
      prepare(*other, request);
      const ContinuousResult& all = continuous_collide(*other, motion, box, {}, request, scratch);
      EXPECT_TRUE(all.exact && all.has_distance);
      EXPECT_EQ(all.status, first.status);
      EXPECT_EQ(all.time_of_contact, first.time_of_contact);
      EXPECT_EQ(all.contact.point_on_a, first.contact.point_on_a);
      EXPECT_EQ(all.intervals, by_points.intervals);
      EXPECT_EQ(all.points.size(), by_points.points.size());
      EXPECT_EQ(all.blind_depth, by_points.blind_depth);
      EXPECT_GT(all.work.points + all.work.spheres, 0U);
      EXPECT_GT(all.work.tests, 0U);
      if (all.status == ContinuousStatus::kFree) {
        EXPECT_TRUE(all.contacts.empty());
        EXPECT_GT(all.lower_bound, 0.49);
        continue;
      }
      EXPECT_EQ(all.distance, 0);
      ASSERT_EQ(all.contacts.size(), 5U);
      EXPECT_EQ(all.contacts[0].time, first.time_of_contact);
      for (std::size_t i = 1; i < 5; ++i) EXPECT_GE(all.contacts[i].time, first.time_of_contact);
      // The scratch serves again, for what is not exact as well.
      request.roles = Roles::kPointsOfA;
      EXPECT_FALSE(continuous_collide(*other, motion, box, {}, request, scratch).exact);
      EXPECT_LT(all.distance, 0);  // by the field, inside
    }
}

// Without triangles the distance is that of points and fields, as find_closest_approach has it.
TEST(ExactMotion, DistancesByFields) {
  const Shape ball =
      Shape::from_field(AnyField{SphereField{{}, 1}}, {{-1, -1, -1}, {1, 1, 1}}, 0.05);
  const BodyMotion past = shift({-5, 2.5, 0}, {5, 2.5, 0});
  const ContinuousResult r = continuous_collide(ball, past, ball, {}, {.want_distance = true});
  ASSERT_TRUE(r.has_distance && !r.exact && !r.distance_gave_up);
  EXPECT_NEAR(r.distance, 0.5, 0.02);
  EXPECT_NEAR(r.time_of_distance, 0.5, 0.05);
  EXPECT_LE(r.lower_bound, r.distance);
  EXPECT_NEAR(length(r.nearest.point_on_a - r.nearest.point_on_b), r.distance, 1e-2);
  EXPECT_EQ(r.distance, find_closest_approach(ball, past, ball, {}).distance);
  EXPECT_FALSE(continuous_collide(ball, past, ball, {}).has_distance);
}

// Cores of capsules that cross have no bound that would end the search for a distance.
TEST(ExactMotion, TouchingRoundSolidsHaveTheMarginAsDistance) {
  const Shape a = Shape::from_analytic(CapsuleField{{-1, 0, 0}, {1, 0, 0}, 0.2});
  const Shape b = Shape::from_analytic(CapsuleField{{0, 0, -1}, {0, 0, 1}, 0.2});
  const BodyMotion through = shift({0, 2, 0}, {0, -2, 0});
  const ContinuousResult touch = continuous_collide(a, through, b, {}, {.want_distance = true});
  ASSERT_EQ(touch.status, ContinuousStatus::kContact);
  EXPECT_EQ(touch.distance, 0);
  EXPECT_EQ(touch.time_of_distance, touch.latest_time);
  const ContinuousResult near = continuous_collide(a, shift({0, 2, 0}, {0, 0.45, 0}), b, {},
                                                   {.margin = 0.1, .want_distance = true});
  ASSERT_EQ(near.status, ContinuousStatus::kContact);
  EXPECT_LE(near.distance, 0.1);
  EXPECT_NEAR(near.distance, 0.05, 1e-5);
}

}  // namespace
}  // namespace isotact
