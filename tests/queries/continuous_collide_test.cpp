#include "isotact/queries/continuous_collide.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"

#include "queries/swept/motions.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

const Shape& ball() {  // of radius 1
  static const Shape shape =
      Shape::from_field(AnyField{SphereField{{}, 1}}, {{-1, -1, -1}, {1, 1, 1}}, 0.05);
  return shape;
}
const Shape& box() {  // of side 2
  static const Shape shape =
      Shape::from_mesh(make_shape("box", {{"size_x", 2}, {"size_y", 2}, {"size_z", 2}}),
                       {.field = {.resolution = 48}});
  return shape;
}

BodyMotion shift(const Vec3& from, const Vec3& to) {
  return {.from = {.translation = from}, .to = {.translation = to}};
}

TEST(ContinuousCollide, BallsMeetWhereTheyShould) {
  for (const MotionModel model : kAllModels) {
    // Both move: they close a gap of 4 at a speed of 6.
    const ContinuousResult r = continuous_collide(ball(), shift({0, 0, 0}, {2, 0, 0}), ball(),
                                                  shift({6, 0, 0}, {2, 0, 0}), {.model = model});
    ASSERT_EQ(r.status, ContinuousStatus::kContact);
    EXPECT_NEAR(r.time_of_contact, 4.0 / 6, r.blind_depth / 6);
    EXPECT_NEAR(r.contact.normal.x, -1, 0.01);  // from B towards A
    EXPECT_NEAR(r.contact.position.x, 2 * r.time_of_contact + 1, 0.05);
    EXPECT_NEAR(r.contact.depth, 0, 1e-3);
    EXPECT_LE(length(r.contact.point_on_a - r.contact.point_on_b), 1e-3);
    EXPECT_LT(r.blind_depth, 0.15);
  }
}

TEST(ContinuousCollide, WhatPassesByIsFree) {
  const ContinuousResult r = continuous_collide(ball(), shift({-5, 2.2, 0}, {5, 2.2, 0}), ball(),
                                                at_rest({}), {.mode = Mode::kAll});
  EXPECT_EQ(r.status, ContinuousStatus::kFree);
  EXPECT_TRUE(std::isinf(r.time_of_contact));
  EXPECT_TRUE(r.points.empty());
  EXPECT_TRUE(r.contacts.empty());
  // With a margin it is not.
  EXPECT_EQ(continuous_collide(ball(), shift({-5, 2.2, 0}, {5, 2.2, 0}), ball(), at_rest({}),
                               {.margin = 0.4})
                .status,
            ContinuousStatus::kContact);
}

TEST(ContinuousCollide, AThinBladeDoesNotTunnel) {
  // Neither pose touches: what is asked at the ends alone misses it.
  const Shape blade =
      Shape::from_mesh(make_shape("box", {{"size_x", 0.1}, {"size_y", 2}, {"size_z", 2}}),
                       {.field = {.resolution = 64}});
  const ContinuousResult r =
      continuous_collide(blade, shift({-50, 0, 0}, {50, 0, 0}), ball(), at_rest({}));
  ASSERT_EQ(r.status, ContinuousStatus::kContact);
  EXPECT_NEAR(r.time_of_contact, (50 - 1.05) / 100, r.blind_depth / 100 + 1e-6);
}

// A bar that turns a quarter hits a ball in between; straight paths cut the corner and miss it.
TEST(ContinuousCollide, TurnsAreFollowed) {
  const Shape bar =
      Shape::from_mesh(make_shape("box", {{"size_x", 20}, {"size_y", 1}, {"size_z", 1}}),
                       {.field = {.resolution = 128}});
  const BodyMotion turn{.to = {.rotation = rotation_about({0, 0, 1}, kPi / 2)}};
  const Vec3 place = rotate(rotation_about({0, 0, 1}, kPi / 4), Vec3{9.5, 0, 0});
  const auto run = [&](MotionModel model, Roles roles = Roles::kBoth) {
    return continuous_collide(bar, turn, ball(), at_rest({.translation = place}),
                              {.model = model, .degree = 4, .roles = roles});
  };
  EXPECT_EQ(run(MotionModel::kStraight, Roles::kPointsOfA).status, ContinuousStatus::kFree);
  // The bar's upper side, 0.5 from its middle line, comes as near as 1 to the ball's centre.
  const double want = (kPi / 4 - std::asin(1.5 / 9.5)) / (kPi / 2);
  for (const MotionModel model : {MotionModel::kConstantRates, MotionModel::kScrew}) {
    const ContinuousResult r = run(model);
    ASSERT_EQ(r.status, ContinuousStatus::kContact);
    EXPECT_NEAR(r.time_of_contact, want, 0.02);
    EXPECT_LT(r.path_error, 0.02);
  }
  const ContinuousResult polynomial = run(MotionModel::kPolynomial);
  ASSERT_EQ(polynomial.status, ContinuousStatus::kContact);
  EXPECT_NEAR(polynomial.time_of_contact, want, 0.03);
}

TEST(ContinuousCollide, RolesSeeEachOthersCorners) {
  // A corner of the box comes down on the middle of a side: only its own points see it soon.
  const Quat on_corner = rotation_about({1, 0, -1}, std::atan(std::sqrt(2.0)));
  const BodyMotion falling{.from = {on_corner, {0, 5, 0}}, .to = {on_corner, {0, 2, 0}}};
  const auto run = [&](Roles roles) {
    return continuous_collide(box(), falling, box(), at_rest({}),
                              {.accuracy = Accuracy::kField, .roles = roles});
  };
  const double want = (5 - 1 - std::sqrt(3.0)) / 3;
  const ContinuousResult of_a = run(Roles::kPointsOfA), both = run(Roles::kBoth);
  EXPECT_NEAR(of_a.time_of_contact, want, 0.01);
  EXPECT_NEAR(of_a.contact.normal.y, 1, 1e-3);
  EXPECT_EQ(of_a.contact.sampled_by, Body::kA);
  EXPECT_EQ(both.time_of_contact, of_a.time_of_contact);
  EXPECT_GE(run(Roles::kPointsOfB).time_of_contact, want);
  // Exchanged bodies see the same, with the normal turned round.
  const ContinuousResult turned =
      continuous_collide(box(), at_rest({}), box(), falling, {.accuracy = Accuracy::kField});
  EXPECT_EQ(turned.time_of_contact, both.time_of_contact);
  EXPECT_NEAR(turned.contact.normal.y, -1, 1e-3);
  EXPECT_EQ(turned.contact.sampled_by, Body::kB);
}

TEST(ContinuousCollide, AllPointsComeWithTheirTimes) {
  ContinuousScratch scratch;
  const ContinuousRequest request{.mode = Mode::kAll, .max_contacts = 5};
  const ContinuousResult& r = continuous_collide(ball(), shift({-4, 0, 0}, {4, 0, 0}), ball(),
                                                 at_rest({}), request, scratch);
  ASSERT_EQ(r.contacts.size(), 5U);
  EXPECT_EQ(r.contacts[0].time, r.time_of_contact);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_LE(r.contacts[i - 1].time, r.contacts[i].time);
  EXPECT_GT(r.points.size(), 1000U);
  for (const TouchingPoint& p : r.points) {
    const std::size_t end = p.first_interval + p.interval_count;
    ASSERT_LE(end, r.intervals.size());
    const Shape& whose = ball();
    // In the middle of the first interval it is inside of the other ball.
    const SegmentInterval& in = r.intervals[p.first_interval];
    const double t = (static_cast<double>(in.enter) + static_cast<double>(in.exit)) / 2;
    const double shift_now = -4 + 8 * t;
    const Vec3 x = to_double(whose.tree()->point(p.point)) +
                   Vec3{p.body == Body::kA ? shift_now : -shift_now, 0, 0};
    ASSERT_LE(length(x), 1.01);
  }
  // The memory serves again, with the same answers.
  continuous_collide(ball(), shift({-9, 0, 0}, {-8, 0, 0}), ball(), at_rest({}), request, scratch);
  EXPECT_EQ(r.status, ContinuousStatus::kFree);
  EXPECT_TRUE(r.points.empty());
}

// Two equal boxes that slide along each other: points on four faces run along faces of the other
// box. Their paths were once halved to the end, which took 40 seconds.
TEST(ContinuousCollide, PointsThatRunAlongAFaceTakeFewValues) {
  const BoxField box{.half_size = {0.3, 0.2, 0.25}};
  const Shape a = Shape::from_analytic(box, {.spacing = 0.04}),
              b = Shape::from_analytic(box, {.spacing = 0.04});
  Random random(test_seed(3));
  for (int i = 0; i < 4; ++i) {
    // As they stand, and in a turned world, where faces are flush but for rounding.
    const Pose world = i == 0 ? Pose{} : random_pose(random, 1);
    const Pose from{world.rotation, transform_point(world, {1.5, 0, 0})},
        to{world.rotation, transform_point(world, {-1.5, 0, 0})};
    const ContinuousResult r = continuous_collide(
        a, {from, to}, b, at_rest(world), {.accuracy = Accuracy::kField, .mode = Mode::kAll});
    ASSERT_EQ(r.status, ContinuousStatus::kContact);
    ASSERT_GT(r.points.size(), a.points().point_count());
    ASSERT_LT(r.work.tracing.nodes, 500 * r.points.size());
    for (const TouchingPoint& p : r.points) {
      const Shape& whose = p.body == Body::kA ? a : b;
      const double x = to_double(whose.points().point(p.point)).x * (p.body == Body::kA ? 1 : -1);
      const SegmentInterval& first = r.intervals[p.first_interval];
      // The point is inside while its coordinate along the path is between -0.3 and 0.3.
      ASSERT_EQ(p.interval_count, 1U);
      ASSERT_NEAR(static_cast<double>(first.enter), (1.5 + x - 0.3) / 3, 1e-3);
      ASSERT_NEAR(static_cast<double>(first.exit), (1.5 + x + 0.3) / 3, 1e-3);
    }
  }
}

TEST(ContinuousCollide, StartsInside) {
  const ContinuousResult r =
      continuous_collide(ball(), shift({0.5, 0, 0}, {3, 0, 0}), ball(), at_rest({}));
  EXPECT_EQ(r.time_of_contact, 0);
  EXPECT_GT(r.contact.depth, 0);
  // At rest it is a test of one moment.
  EXPECT_EQ(
      continuous_collide(ball(), at_rest({.translation = {0, 1.5, 0}}), ball(), at_rest({})).status,
      ContinuousStatus::kContact);
  EXPECT_EQ(
      continuous_collide(ball(), at_rest({.translation = {0, 2.5, 0}}), ball(), at_rest({})).status,
      ContinuousStatus::kFree);
}

TEST(ContinuousCollide, NeedsPointsAndAField) {
  const Shape points = Shape::from_parts(std::nullopt, ball().tree());
  const Shape field = Shape::from_parts(ball().field(), std::nullopt);
  EXPECT_THROW(Shape::from_parts(std::nullopt, std::nullopt), Error);
  EXPECT_THROW(Shape::from_asset(Asset{}), Error);
  EXPECT_THROW(continuous_collide(points, {}, points, {}), Error);
  EXPECT_NO_THROW(continuous_collide(field, {}, field, {}));  // points are made of the field
  EXPECT_THROW(continuous_collide(points, {}, field, {}, {.roles = Roles::kPointsOfB}), Error);
  EXPECT_EQ(continuous_collide(points, {}, field, {}).status, ContinuousStatus::kContact);
  EXPECT_EQ(continuous_collide(field, {}, points, {}).contact.sampled_by, Body::kB);
  Asset asset;
  asset.field = ball().field();
  set_point_sphere_tree(asset, *ball().tree());
  EXPECT_TRUE(Shape::from_asset(asset).tree().has_value());
  EXPECT_THROW(continuous_collide(points, {}, field, {}, {.margin = std::nan("")}), Error);
  EXPECT_THROW(continuous_collide(points, {}, field, {}, {.path_tolerance = -1}), Error);
  EXPECT_THROW(continuous_collide(points, shift({}, {std::nan(""), 0, 0}), field, {}), Error);
}

TEST(ContinuousCollide, ShapesKeepTracers) {
  const auto one = box().swept_tracer({.margin = 0.25}), two = box().swept_tracer({.margin = 0.5});
  EXPECT_EQ(one, box().swept_tracer({.margin = 0.25}));
  EXPECT_NE(one, two);
  for (int i = 0; i < 10; ++i) box().swept_tracer({.margin = 1.0 + i});
  EXPECT_NE(one, box().swept_tracer({.margin = 0.25}));
}

}  // namespace
}  // namespace isotact
