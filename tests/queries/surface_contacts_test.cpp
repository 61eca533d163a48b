// Contacts of exact collide() are those of the surfaces, not of samples: places, normals and depths
// beside formulas, and beside the exact depth.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

double angle_between(const Vec3& u, const Vec3& v) {
  return std::acos(std::clamp(dot(u, v), -1.0, 1.0));
}

Shape sampled(const TriangleMesh& mesh, std::uint32_t points) {
  return Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = points});
}

// Once the normals of samples' contacts were 4 degrees off in the median, and 30 at worst. Some
// pointed the wrong way: those where triangles crossed and no sample was inside.
TEST(SurfaceContacts, BallsHaveTheNormalsOfBalls) {
  constexpr double kLarge = 0.5, kSmall = 0.3;
  constexpr int kFrequency = 24;
  // The normal of a facet, and of a ball at its corners: 63 degrees are cut into so many.
  constexpr double kFacet = 1.3 * 1.107 / kFrequency;
  const Shape large = sampled(make_sphere({.radius = kLarge, .frequency = kFrequency}), 1500),
              small = sampled(make_sphere({.radius = kSmall, .frequency = kFrequency}), 1000);
  Random random(test_seed(71));
  CollideScratch scratch;
  int contacts = 0, unsampled = 0, deep = 0, close = 0;
  const int cases = test_cases(unless_slow(300, 40));
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const Pose of_large = random_pose(random, 0.3);
    const Vec3 along = random.unit_vector();
    const double overlap = kSmall * std::pow(10.0, random.uniform(-2.5, -0.3));
    const Pose of_small{random.rotation(),
                        of_large.translation + along * (kLarge + kSmall - overlap)};
    const bool swap = random.below(2) == 0;
    const CollideResult& r = swap ? collide(small, of_small, large, of_large, {}, scratch)
                                  : collide(large, of_large, small, of_small, {}, scratch);
    if (r.status != CollideStatus::kContact) continue;
    ASSERT_TRUE(r.exact);
    unsampled += r.touching_points == 0 ? 1 : 0;
    for (const Contact& c : r.contacts) {
      ++contacts;
      // The point on the surface that is not sampled has the normal.
      const bool on_a = c.sampled_by == Body::kB;
      const Vec3& on = on_a ? c.point_on_a : c.point_on_b;
      const Vec3 center = on_a == swap ? of_small.translation : of_large.translation;
      const Vec3 out = normalized(on - center);
      ASSERT_LT(angle_between(on_a ? -c.normal : c.normal, out), kFacet);
      ASSERT_NEAR(length(c.point_on_a - c.point_on_b), std::abs(c.depth), 1e-6);
      ASSERT_LE(c.depth, r.contacts[0].depth);
      ASSERT_NEAR(length(on - center), on_a == swap ? kSmall : kLarge, 2e-3);
    }
    // A facet is not the ball: the deepest place is within two facets of the line of centres.
    ASSERT_LT(angle_between(swap ? r.contacts[0].normal : -r.contacts[0].normal, along),
              2 * kFacet);
    const double depth = r.contacts[0].depth;
    ASSERT_EQ(r.distance, -depth);
    const DistanceResult truth = distance(large, of_large, small, of_small);
    ASSERT_LE(depth, -truth.lower_bound + 1e-6);
    ++deep;
    close += depth > -0.99 * truth.distance - 2e-6 ? 1 : 0;
    ASSERT_GT(depth, -0.7 * truth.distance - 2e-6);
    const CollideResult measured =
        collide(large, of_large, small, of_small, {.want_distance = true});
    ASSERT_EQ(measured.distance, truth.distance);
    ASSERT_EQ(measured.contacts.at(0).depth, -truth.distance);
    ASSERT_TRUE(measured.least_distance <= truth.distance &&
                truth.distance <= measured.most_distance);
  }
  EXPECT_GT(contacts, 2 * cases);
  EXPECT_GT(unsampled, cases / 100);
  EXPECT_GE(close, 0.95 * deep);
}

// A round solid over a face of a box: its lowest point is the deepest, along the face's normal.
TEST(SurfaceContacts, RoundSolidsOnFaces) {
  const Vec3 half{0.5, 0.4, 0.6};
  const Shape boxes[] = {sampled(make_box({.size_x = 1.0F, .size_y = 0.8F, .size_z = 1.2F}), 1000),
                         Shape::from_analytic(BoxField{.half_size = half})};
  constexpr double kRadius = 0.2;
  const Shape ball = Shape::from_analytic(SphereField{.radius = kRadius}),
              capsule = Shape::from_analytic(
                  CapsuleField{.a = {0, -0.15, 0}, .b = {0, 0.15, 0}, .radius = kRadius}),
              mesh_ball = sampled(make_sphere({.radius = kRadius, .frequency = 12}), 600);
  Random random(test_seed(72));
  int of_box = 0, of_solid = 0;
  const int cases = test_cases(unless_slow(300, 60));
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const Shape& box = boxes[random.below(2)];
    const int kind = i % 3;
    const Shape& solid = kind == 0 ? ball : kind == 1 ? capsule : mesh_ball;
    const std::size_t axis = random.below(3);
    const double side = random.below(2) == 0 ? 1 : -1;
    Vec3 normal{}, middle{};
    normal[axis] = side;
    for (std::size_t k = 0; k < 3; ++k) middle[k] = random.uniform(-0.1, 0.1);
    const Quat turn = random.rotation();
    // The lowest point of the core over the face.
    const double reach = kind == 1 ? 0.15 * std::abs(rotate(turn, {0, 1, 0})[axis]) : 0;
    const double depth = random.uniform(0.005, 0.12);
    middle[axis] = side * (half[axis] + kRadius + reach - depth);
    const Pose world = random_pose(random, 0.5);
    const CollideResult r = collide(box, world, solid, world * Pose{turn, middle});
    ASSERT_EQ(r.status, CollideStatus::kContact);
    ASSERT_TRUE(r.exact);
    const Contact& c = r.contacts.at(0);
    // The round surface's lowest point is the deepest, and has the face's normal. Points of the box
    // may be about as deep in the round solid: they have its normal, or that of a facet.
    const bool by_solid = c.sampled_by == Body::kB;
    ASSERT_NEAR(c.depth, depth, (kind == 2 ? 0.02 * kRadius : 1e-6) + (by_solid ? 0 : 1e-3));
    const double off = angle_between(c.normal, transform_vector(world, -normal));
    ASSERT_LT(off, by_solid ? 1e-5 : kind == 2 ? 0.25 : 0.02);
    ++(c.sampled_by == Body::kA ? of_box : of_solid);
  }
  EXPECT_GT(of_solid, cases / 4);
}

// The corner of one box deep in the face of another.
TEST(SurfaceContacts, CornersOnFaces) {
  const Vec3 half{0.5, 0.4, 0.6}, small_half{0.2, 0.15, 0.1};
  const Shape boxes[] = {sampled(make_box({.size_x = 1.0F, .size_y = 0.8F, .size_z = 1.2F}), 700),
                         Shape::from_analytic(BoxField{.half_size = half})};
  const Shape smalls[] = {sampled(make_box({.size_x = 0.4F, .size_y = 0.3F, .size_z = 0.2F}), 500),
                          Shape::from_analytic(BoxField{.half_size = small_half})};
  Random random(test_seed(73));
  const int cases = test_cases(unless_slow(300, 60));
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const Shape &box = boxes[random.below(2)], &small = smalls[random.below(2)];
    const std::size_t axis = random.below(3);
    const Quat turn = random.rotation();
    Vec3 middle{};
    for (std::size_t k = 0; k < 3; ++k) middle[k] = random.uniform(-0.05, 0.05);
    double reach = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3 side{};
      side[k] = small_half[k];
      reach += std::abs(rotate(turn, side)[axis]);
    }
    const double depth = random.uniform(0.002, 0.04);
    middle[axis] = half[axis] + reach - depth;
    Vec3 normal{};
    normal[axis] = 1;
    const Pose world = random_pose(random, 0.5);
    const CollideResult r = collide(small, world * Pose{turn, middle}, box, world);
    ASSERT_EQ(r.status, CollideStatus::kContact);
    const Contact& c = r.contacts.at(0);
    ASSERT_EQ(c.sampled_by, Body::kA);
    ASSERT_NEAR(c.depth, depth, 1e-3 * depth + 2e-6);
    ASSERT_LT(angle_between(c.normal, transform_vector(world, normal)), 1e-5);
  }
}

}  // namespace
}  // namespace isotact
