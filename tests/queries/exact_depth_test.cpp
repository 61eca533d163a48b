// Depths of parts that fit each other: a peg in a bore, with an overlap or a gap all round. Flat
// parts over a plane.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

constexpr double kBore = 0.05, kLength = 0.2;

Shape fit_shape_of(const TriangleMesh& mesh) {
  return Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = 400});
}

// Walls around the y axis. Outward if `out`. Each wall's first edge may have a needle, a triangle
// without area, between its ends and a point on it.
void add_walls(TriangleMesh& mesh, double radius, double length, std::uint32_t sides, bool out,
               double needle_at) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t i = 0; i < sides; ++i)
    for (const double y : {-0.5 * length, 0.5 * length}) {
      const double angle = 2 * std::numbers::pi * i / sides;
      mesh.positions.push_back(
          to_float(Vec3{radius * std::cos(angle), y, radius * std::sin(angle)}));
    }
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    mesh.triangles.push_back(out ? Triangle{a, b, c} : Triangle{a, c, b});
  };
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t low = first + 2 * i, high = low + 1,
                        next_low = first + 2 * ((i + 1) % sides), next_high = next_low + 1;
    if (needle_at == 0) {
      add(low, high, next_low);
    } else {
      const auto middle = static_cast<std::uint32_t>(mesh.positions.size());
      const Vec3 a = to_double(mesh.positions[low]), b = to_double(mesh.positions[high]);
      mesh.positions.push_back(to_float(a + (b - a) * needle_at));
      add(low, middle, next_low);
      add(middle, high, next_low);
      add(low, high, middle);
    }
    add(next_low, high, next_high);
  }
}

TriangleMesh make_peg(double radius, double length, std::uint32_t sides, double needle_at) {
  TriangleMesh mesh;
  add_walls(mesh, radius, length, sides, true, needle_at);
  for (std::uint32_t i = 1; i + 1 < sides; ++i) {
    mesh.triangles.push_back({0, 2 * i, 2 * i + 2});
    mesh.triangles.push_back({1, 2 * i + 3, 2 * i + 1});
  }
  return mesh;
}

TriangleMesh make_bushing(double radius, std::uint32_t sides) {
  TriangleMesh mesh;
  add_walls(mesh, radius, kLength, sides, false, 0);
  add_walls(mesh, 2 * radius, kLength, sides, true, 0);
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t next = (i + 1) % sides, in = 2 * i, in_next = 2 * next, wide = 2 * sides;
    mesh.triangles.push_back({in, in_next + wide, in_next});
    mesh.triangles.push_back({in, in + wide, in_next + wide});
    mesh.triangles.push_back({in + 1, in_next + 1, in_next + wide + 1});
    mesh.triangles.push_back({in + 1, in_next + wide + 1, in + wide + 1});
  }
  return mesh;
}

// The deepest of points on the edges and inside of the triangles of one mesh.
double sample_fit_depth(const TriangleMesh& of, const Pose& other_from_of, const WindingTree& other,
                        Random& random, int per_triangle) {
  double deepest = 0;
  for (std::size_t t = 0; t < of.triangles.size(); ++t) {
    const auto c = corners(of, t);
    for (int i = 0; i < per_triangle; ++i) {
      const double u = random.uniform(), v = i % 2 == 0 ? 0 : random.uniform() * (1 - u);
      const Vec3 p = to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
      const Vec3f x = to_float(transform_point(other_from_of, p));
      const double depth = double{find_closest_point(other.bvh(), x).distance};
      if (depth > deepest && compute_winding_number(other, x) > 0.5) deepest = depth;
    }
  }
  return deepest;
}

// A search once went on for ever in triangles without area, and for minutes in narrow gaps.
TEST(ExactDepth, PegsThatFitABore) {
  constexpr double kOverlaps[] = {2e-3,  1e-4,  2e-6,  3e-7,  1e-7, 0,
                                  -1e-7, -3e-7, -1e-6, -1e-5, -1e-3};
  Random random(test_seed(41));
  int overlapping = 0, apart = 0;
  std::uint64_t most_tests = 0;
  const int cases = test_cases(unless_slow(132, 11));
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const double overlap = kOverlaps[i % 11];
    const bool is_aligned = i % 3 != 0;
    const std::uint32_t sides = 12 + random.below(40);
    const TriangleMesh bushing = make_bushing(kBore, sides);
    const TriangleMesh peg = make_peg(kBore + overlap, kLength * (i % 2 == 0 ? 1 : 1.5),
                                      is_aligned ? sides : 12 + random.below(40),
                                      i % 4 == 0 ? 0 : 0.05 + 0.9 * random.uniform());
    const double shift = i % 5 == 0 ? std::abs(overlap) * random.uniform() : 0;
    const double angle = is_aligned ? 0 : 6 * random.uniform();
    const Pose bushing_from_peg{rotation_about({0, 1, 0}, angle), {shift, 0.1 * shift, 0}};
    const Pose world = i % 7 == 0 ? Pose{} : random_pose(random, 0.3);
    const Shape a = fit_shape_of(peg), b = fit_shape_of(bushing);
    const DistanceResult r =
        distance(a, world * bushing_from_peg, b, world, {.max_tests = 100'000});
    ASSERT_TRUE(r.exact);
    ASSERT_EQ(r.status, DistanceStatus::kDone) << r.lower_bound << ' ' << r.upper_bound;
    ASSERT_TRUE(r.lower_bound <= r.distance && r.distance <= r.upper_bound);
    most_tests = std::max(most_tests, r.work.tests);
    const double size = 1.2;  // of both, and their way from the origin
    if (is_aligned && shift == 0 && i % 2 != 0) {
      // The peg's edges are as deep as it is wider, or its walls are apart.
      const double truth = overlap > 0 ? -overlap : -overlap * std::cos(std::numbers::pi / sides);
      ASSERT_NEAR(r.distance, truth, 3e-6 * size);
    }
    if (!r.touching && !r.contained) {
      ++apart;
      continue;
    }
    ++overlapping;
    ASSERT_LT(r.distance - r.lower_bound, 4e-6 * size);
    if (i % 4 != 0) continue;  // what follows takes long
    const Pose peg_from_bushing = inverse(bushing_from_peg);
    const double sampled =
        std::max(sample_fit_depth(peg, bushing_from_peg, WindingTree(bushing), random, 20),
                 sample_fit_depth(bushing, peg_from_bushing, WindingTree(peg), random, 20));
    ASSERT_LE(r.lower_bound, -sampled + 1e-7);  // of points in float
    ASSERT_GE(-r.distance, sampled - 3e-6 * size);
  }
  EXPECT_GT(overlapping, cases / 4);
  EXPECT_GT(apart, cases / 12);
  EXPECT_LT(most_tests, 100'000U);
}

// A contact that no point found needs no deepest point, but a distance does.
TEST(ExactDepth, ContactsThatPointsMissed) {
  const Shape ball = fit_shape_of(make_sphere({.frequency = 8}));
  Random random(test_seed(43));
  int unsampled = 0;
  const int cases = test_cases(unless_slow(200, 20));
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const Pose of_a = random_pose(random, 0.3);
    Pose of_b{random.rotation(), of_a.translation};
    const Vec3 along = random.unit_vector();
    of_b.translation += along * 5;
    const DistanceResult apart = distance(ball, of_a, ball, of_b);
    // Until they touch, along the line between the nearest points, and a little further.
    const Vec3 nearer = normalized(apart.contact.point_on_a - apart.contact.point_on_b);
    of_b.translation += nearer * (apart.distance + 2e-3 * random.uniform() - 2e-4);
    const CollideResult r = collide(ball, of_a, ball, of_b, {});
    ASSERT_TRUE(r.exact);
    const DistanceResult truth = distance(ball, of_a, ball, of_b);
    ASSERT_EQ(r.status == CollideStatus::kContact, truth.touching);
    if (!truth.touching || r.touching_points > 0) continue;
    ++unsampled;
    const Contact& c = r.contacts.at(0);
    ASSERT_TRUE(c.depth >= 0 && c.depth <= -truth.lower_bound);
    ASSERT_EQ(r.distance, -c.depth);
    ASSERT_NEAR(length(c.point_on_a - c.point_on_b), c.depth, 1e-6);
    const CollideResult deep = collide(ball, of_a, ball, of_b, {.want_distance = true});
    ASSERT_EQ(deep.distance, truth.distance);
    ASSERT_EQ(deep.contacts.at(0).depth, -truth.distance);
  }
  EXPECT_GT(unsampled, cases / 20);
}

// All corners of a flat face were once read, as they are of equal height.
TEST(ExactDepth, FlatPartsOverAPlane) {
  const Shape ground = Shape::from_analytic(PlaneField{});
  Random random(test_seed(42));
  for (const char* name : {"gear", "box", "nut", "bowl"}) {
    const TriangleMesh mesh = make_shape(name);
    const Shape body = fit_shape_of(mesh);
    for (int i = 0; i < test_cases(unless_slow(100, 10)); ++i) {
      SCOPED_TRACE(name);
      Pose pose = random_pose(random, 0.1);
      const bool is_flat = i % 2 == 0;
      if (is_flat) pose.rotation = rotation_about({0, 1, 0}, 6 * random.uniform());
      double lowest = std::numeric_limits<double>::infinity();
      for (const Vec3f& p : mesh.positions)
        lowest = std::min(lowest, transform_point(pose, to_double(p)).y);
      const DistanceResult r = distance(body, pose, ground, {});
      ASSERT_TRUE(r.exact);
      ASSERT_NEAR(r.distance, lowest, 1e-12);
      ASSERT_TRUE(r.lower_bound <= lowest && r.lower_bound > lowest - 1e-12);
      ASSERT_NEAR(r.contact.point_on_a.y, lowest, 1e-12);
      if (is_flat) {
        ASSERT_LT(r.work.tests, 30U);
      }
      const CollideResult any = collide(body, pose, ground, {}, {.mode = Mode::kAny});
      ASSERT_EQ(any.status == CollideStatus::kContact, r.touching);
    }
  }
}

}  // namespace
}  // namespace isotact
