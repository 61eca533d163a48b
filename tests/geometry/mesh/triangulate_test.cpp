#include "isotact/geometry/mesh/triangulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/pose.h"
#include "isotact/base/random.h"
#include "isotact/geometry/mesh/predicates.h"

namespace isotact {
namespace {

using Points = std::vector<Vec3f>;

std::vector<std::uint32_t> first_indices(std::size_t count) {
  std::vector<std::uint32_t> polygon(count);
  std::iota(polygon.begin(), polygon.end(), 0U);
  return polygon;
}

std::vector<Triangle> triangulate(const Points& points) {
  std::vector<Triangle> triangles;
  triangulate_polygon(points, first_indices(points.size()), triangles);
  return triangles;
}

Vec3 area_vector(const Points& points, const Triangle& t) {
  const Vec3 a = to_double(points[t[0]]);
  return cross(to_double(points[t[1]]) - a, to_double(points[t[2]]) - a) / 2.0;
}

Vec3 polygon_area_vector(const Points& points) {
  Vec3 sum;
  for (std::size_t i = 0; i < points.size(); ++i)
    sum += cross(to_double(points[i]), to_double(points[(i + 1) % points.size()])) / 2.0;
  return sum;
}

// A triangulation without overlap: sizes of the parts add up to the size of the whole. Folded ones
// only agree as vectors.
void expect_tiles(const Points& points, double tolerance = 1e-5) {
  const std::vector<Triangle> triangles = triangulate(points);
  ASSERT_EQ(triangles.size(), points.size() - 2);
  const Vec3 whole = polygon_area_vector(points);
  double sum = 0;
  for (const Triangle& t : triangles) {
    const Vec3 part = area_vector(points, t);
    sum += length(part);
    EXPECT_GE(dot(part, whole), -1e-9 * dot(whole, whole));
  }
  EXPECT_NEAR(sum, length(whole), tolerance * length(whole));
}

Points in_space(const Points& flat, const Pose& pose) {
  Points points;
  for (const Vec3f& p : flat) points.push_back(to_float(transform_point(pose, to_double(p))));
  return points;
}

Points make_star(Random& random, std::uint32_t count) {
  Points points;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * i / count, r = random.uniform(0.1, 1);
    points.push_back(to_float({r * std::cos(angle), r * std::sin(angle), 0}));
  }
  return points;
}

Points make_comb(std::uint32_t teeth) {
  Points points{{0, 0, 0}, {static_cast<float>(teeth), 0, 0}};
  for (std::uint32_t i = teeth; i-- > 0;) {
    const auto x = static_cast<float>(i);
    points.push_back({x + 1, 10, 0});
    points.push_back({x + 0.5F, 1, 0});
  }
  points.push_back({0, 10, 0});
  return points;
}

Points make_spiral(std::uint32_t turns, std::uint32_t steps) {
  Points outer, inner;
  for (std::uint32_t i = 0; i <= turns * steps; ++i) {
    const double angle = 6.283185307179586 * i / steps, r = 1 + angle;
    outer.push_back(to_float({(r + 2) * std::cos(angle), (r + 2) * std::sin(angle), 0}));
    inner.push_back(to_float({r * std::cos(angle), r * std::sin(angle), 0}));
  }
  outer.insert(outer.end(), inner.rbegin(), inner.rend());
  return outer;
}

TEST(Triangulate, FewCorners) {
  EXPECT_TRUE(triangulate({}).empty());
  EXPECT_TRUE(triangulate({{0, 0, 0}}).empty());
  EXPECT_TRUE(triangulate({{0, 0, 0}, {1, 0, 0}}).empty());
  EXPECT_EQ(triangulate({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(Triangulate, ConvexPolygonsBecomeFansFromTheFirstCorner) {
  const Points hexagon{{2, 0, 0}, {1, 2, 0}, {-1, 2, 0}, {-2, 0, 0}, {-1, -2, 0}, {1, -2, 0}};
  EXPECT_EQ(triangulate(hexagon),
            (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}));
  const Points square{{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}};
  EXPECT_EQ(triangulate(square), (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
}

TEST(Triangulate, QuadsThatAreDentedAtAnyCornerKeepTheirArea) {
  const Points dart{{0, 0, 0}, {2, 2, 0}, {0, 1, 0}, {-2, 2, 0}};
  for (std::size_t turn = 0; turn < 4; ++turn) {
    Points points = dart;
    std::rotate(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(turn), points.end());
    expect_tiles(points);
  }
}

TEST(Triangulate, CornersInTheMiddleOfSidesMakeNoFlatTriangles) {
  const Points quad{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 2, 0}};
  const Points square{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0},
                      {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  for (const Points& points : {quad, square}) {
    expect_tiles(points);
    for (const Triangle& t : triangulate(points))
      EXPECT_FALSE(are_collinear(points[t[0]], points[t[1]], points[t[2]]));
  }
}

TEST(Triangulate, StarsAreTiledInAnyPlaneAndDirection) {
  Random random(41);
  for (int i = 0; i < 400; ++i) {
    Points star = make_star(random, 5 + random.below(40));
    if (i % 2 == 1) std::reverse(star.begin(), star.end());
    expect_tiles(in_space(star, {random.rotation(), random.in_box({-9, -9, -9}, {9, 9, 9})}));
  }
}

TEST(Triangulate, CombsAndSpiralsAreTiled) {
  Random random(42);
  for (const std::uint32_t teeth : {2U, 3U, 10U, 100U, 1500U}) expect_tiles(make_comb(teeth));
  for (const std::uint32_t turns : {1U, 3U, 8U, 60U})
    expect_tiles(in_space(make_spiral(turns, 16), {random.rotation(), {1, 2, 3}}));
}

TEST(Triangulate, PolygonsWithABridgeToTheirHoleAreTiled) {
  expect_tiles({{0, 0, 0},
                {4, 0, 0},
                {4, 4, 0},
                {0, 4, 0},
                {0, 0, 0},
                {1, 1, 0},
                {1, 3, 0},
                {3, 3, 0},
                {3, 1, 0},
                {1, 1, 0}});
}

TEST(Triangulate, HugeNeedlesTakeBoundedTimeAndGiveTheirCount) {
  // Every ear spans the whole width, over the other corners: the search runs out of tests.
  Points needles;
  constexpr std::uint32_t kCount = 20000;
  for (std::uint32_t i = 0; i < kCount; ++i)
    needles.push_back(
        {i % 2 == 0 ? 0.0F : 1.0F + static_cast<float>(i) / kCount, static_cast<float>(i), 0});
  needles.push_back({-1, kCount, 0});
  needles.push_back({-1, 0, 0});
  EXPECT_EQ(triangulate(needles).size(), needles.size() - 2);
}

TEST(Triangulate, OneHugeFaceOverFewVerticesTakesBoundedTime) {
  // Every ear has every blocker in its box, nearly on its edge: each test has to be exact. Without
  // a limit for the whole face this takes a minute.
  const Points points{{-1e4F, -1e4F, 0},   {1e4F, -1e4F, 0}, {1e4F, 1e4F, 0}, {-1e4F, 1e4F, 0},
                      {1e-20F, 1e-20F, 0}, {1, 1, 0},        {10, 20, 0},     {5, 5, 0}};
  std::vector<std::uint32_t> polygon{0, 1, 2, 3};
  for (std::uint32_t i = 0; i < 4000; ++i) {
    polygon.insert(polygon.end(), {4, 5, 6});
    polygon.insert(polygon.end(), 125, 7);
  }
  std::vector<Triangle> triangles;
  triangulate_polygon(points, polygon, triangles);
  EXPECT_EQ(triangles.size(), polygon.size() - 2);
}

TEST(Triangulate, AnyInputGivesItsCountOfTriangles) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  Random random(43);
  for (int i = 0; i < 2000; ++i) {
    Points points;
    const std::uint32_t count = 3 + random.below(20), kind = random.below(5);
    for (std::uint32_t k = 0; k < count; ++k) {
      Vec3f p = to_float(random.in_box({-1, -1, -1}, {1, 1, 1}));
      if (kind == 0)
        p = {static_cast<float>(random.below(3)), static_cast<float>(random.below(3)), 0};
      if (kind == 1) p = {static_cast<float>(random.below(4)), 0, 0};
      if (kind == 2 && random.below(4) == 0) p.y = random.below(2) == 0 ? nan : inf;
      if (kind == 3) p = p * std::numeric_limits<float>::max();
      points.push_back(p);
    }
    std::vector<Triangle> triangles{{7, 8, 9}};
    triangulate_polygon(points, first_indices(count), triangles);
    ASSERT_EQ(triangles.size(), count - 1);
    EXPECT_EQ(triangles[0], (Triangle{7, 8, 9}));
    // Every corner is used, and each triangle runs along the polygon.
    std::vector<int> used(count);
    for (std::size_t t = 1; t < triangles.size(); ++t) {
      for (const std::uint32_t v : triangles[t]) ++used[v];
      int descents = 0;
      for (std::size_t k = 0; k < 3; ++k)
        descents += triangles[t][k] >= triangles[t][(k + 1) % 3] ? 1 : 0;
      EXPECT_EQ(descents, 1);
    }
    for (const int n : used) EXPECT_GT(n, 0);
  }
}

}  // namespace
}  // namespace isotact
