#include "isotact/field/models/exact_field.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/brute_force.h"
#include "isotact/geometry/primitives/primitives.h"

#include "field/models/joined.h"

namespace isotact {
namespace {

static_assert(Field<ExactField>);

TriangleMesh scaled(TriangleMesh mesh, float by) {
  for (Vec3f& p : mesh.positions) p = p * by;
  return mesh;
}

ExactField make_field(const TriangleMesh& mesh, const SurfaceSettings& settings) {
  return ExactField(prepare_surface(mesh, settings));
}

// The signed distance to a box about the origin.
double box_distance(const Vec3& p, const Vec3& half) {
  const Vec3 d{std::abs(p.x) - half.x, std::abs(p.y) - half.y, std::abs(p.z) - half.z};
  return length(max(d, Vec3{})) + std::min(std::max({d.x, d.y, d.z}), 0.0);
}

TEST(ExactField, KnowsTheDistanceToABox) {
  const TriangleMesh box = make_box({.size_x = 1, .size_y = 2, .size_z = 3, .segments = 5});
  const ExactField by_winding = make_field(box, {.voxel_size = 0.1});
  const ExactField by_normals =
      make_field(box, {.sign = SignMethod::kPseudonormal, .voxel_size = 0.1});
  Random random(1);
  int inside = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = to_double(to_float(random.in_box({-1, -2, -2.5}, {1, 2, 2.5})));
    const double truth = box_distance(p, {0.5, 1, 1.5});
    inside += truth < 0 ? 1 : 0;
    ASSERT_NEAR(by_winding.value(p), truth, 1e-6);
    ASSERT_NEAR(by_normals.value(p), truth, 1e-6);
    ASSERT_TRUE(contains(by_winding.distance_bounds(p), truth));
  }
  EXPECT_GT(inside, 200);
}

TEST(ExactField, AgreesWithBruteForceOnARoughShape) {
  const TriangleMesh gear = make_gear({.teeth = 12});
  const ExactField by_winding = make_field(gear, {.voxel_size = 0.001});
  const ExactField by_normals =
      make_field(gear, {.sign = SignMethod::kPseudonormal, .voxel_size = 0.001});
  const Aabb box = to_double(bounds(gear));
  Random random(2);
  int inside = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = random.in_box(box.lower - Vec3{0.02, 0.02, 0.02}, box.upper);
    const Vec3f q = to_float(p);
    const double distance = brute_force::find_closest_point(gear, q).distance;
    const bool is_in = brute_force::compute_winding_number(gear, q) > 0.5;
    const double truth = is_in ? -distance : distance;
    inside += is_in ? 1 : 0;
    ASSERT_NEAR(by_winding.value(p), truth, 1e-7);
    ASSERT_NEAR(by_normals.value(p), truth, 1e-7);
  }
  EXPECT_GT(inside, 20);
}

TEST(ExactField, HasAUnitGradientThatPointsOut) {
  const ExactField field = make_field(make_torus({}), {.voxel_size = 0.01});
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Vec3 p = random.in_box({-0.6, -0.2, -0.6}, {0.6, 0.2, 0.6});
    const FieldSample sample = field.sample(p);
    ASSERT_EQ(sample.distance, field.value(p));
    ASSERT_NEAR(length(sample.gradient), 1, 1e-12);
    // Moving along the gradient of an exact distance, away from the medial axis, gains as much.
    const double step = 1e-3 * std::min(1.0, std::abs(sample.distance));
    if (sample.distance < 0) continue;
    EXPECT_NEAR(field.value(p + sample.gradient * step) - sample.distance, step, 1e-6);
  }
  const Vec3 corner = to_double(make_torus({}).positions[5]);
  EXPECT_EQ(field.value(corner), 0);
  EXPECT_NEAR(length(field.sample(corner).gradient), 1, 1e-12);
}

TEST(ExactField, BoundsItsValuesInBoxes) {
  const ExactField field = make_field(make_knot({}), {.voxel_size = 0.01});
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = random.in_box({-1, -1, -1}, {1, 1, 1});
    const Vec3 b = a + random.in_box({0, 0, 0}, {0.3, 0.3, 0.3});
    const Interval range = field.range({a, b});
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(contains(range, field.value(random.in_box(a, b))));
  }
  EXPECT_EQ(field.range(field.bounds()).lower, -std::numeric_limits<double>::infinity());
}

TEST(ExactField, ChangesNoFasterThanThePointMoves) {
  const ExactField field = make_field(make_gear({}), {.voxel_size = 0.001});
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.in_box({-0.08, -0.02, -0.08}, {0.08, 0.02, 0.08});
    const Vec3 q = p + random.in_unit_ball() * 0.005;
    ASSERT_LE(std::abs(field.value(p) - field.value(q)), length(p - q) + 1e-7);
  }
}

TEST(ExactField, FollowsTheRuleForNestedParts) {
  const TriangleMesh ball = make_sphere({.radius = 1}), core = scaled(ball, 0.5F);
  const TriangleMesh both = joined(ball, core);
  EXPECT_LT(make_field(both, {.voxel_size = 0.05}).value({}), 0);
  const ExactField hollow = make_field(both, {.nested = NestedRule::kEvenOdd, .voxel_size = 0.05});
  EXPECT_GT(hollow.value({}), 0);
  EXPECT_LT(hollow.value({0.75, 0, 0}), 0);
  EXPECT_GT(hollow.value({1.5, 0, 0}), 0);
}

TEST(ExactField, IsAnOffsetShellWithoutSign) {
  const TriangleMesh triangle{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const ExactField field = make_field(triangle, {.voxel_size = 0.1, .shell_offset = 0.25});
  EXPECT_DOUBLE_EQ(field.value({0.25, 0.25, 1}), 0.75);
  EXPECT_DOUBLE_EQ(field.value({0.25, 0.25, -0.125}), -0.125);
  EXPECT_EQ(field.sample({0.25, 0.25, -1}).gradient, (Vec3{0, 0, -1}));
}

TEST(ExactField, AnswersManyPointsLikeOne) {
  const ExactField field = make_field(make_sphere({}), {.voxel_size = 0.01});
  Random random(6);
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i) points.push_back(random.in_box({-1, -1, -1}, {1, 1, 1}));
  std::vector<double> one(points.size()), three(points.size());
  compute_signed_distances(field, points, one, {1});
  compute_signed_distances(field, points, three, {3});
  EXPECT_EQ(one, three);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(one[i], field.value(points[i]));
}

}  // namespace
}  // namespace isotact
