// The distance between two meshes, beside all pairs in long double.
#include "isotact/geometry/bvh/mesh_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/primitives/primitives.h"

#include "geometry/bvh/search_meshes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using search_test::make_grid;
using search_test::make_soup;
using search_test::make_sphere;

// ---- The oracle: other formulas, in long double ------------------------------------------------

using Real = long double;
struct Point {
  Real x, y, z;
  friend Point operator-(const Point& a, const Point& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend Point operator+(const Point& a, const Point& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend Point operator*(const Point& a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
};
Real dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Point cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
using Corners = std::array<Point, 3>;

Real unit(Real t) { return std::min<Real>(1, std::max<Real>(0, t)); }

Real point_segment_sq(const Point& p, const Point& a, const Point& b) {
  const Real l = dot(b - a, b - a);
  const Point d = p - (a + (b - a) * (l > 0 ? unit(dot(p - a, b - a) / l) : 0));
  return dot(d, d);
}

// Inside the prism over the face, the plane; else the nearest edge.
Real point_triangle_sq(const Point& p, const Corners& t) {
  Real best = std::numeric_limits<Real>::infinity();
  const Point n = cross(t[1] - t[0], t[2] - t[0]);
  bool inside = dot(n, n) > 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Point &a = t[k], &b = t[(k + 1) % 3];
    best = std::min(best, point_segment_sq(p, a, b));
    inside = inside && dot(cross(n, b - a), p - a) >= 0;
  }
  if (!inside) return best;
  const Real h = dot(n, p - t[0]);
  return std::min(best, h * h / dot(n, n));
}

// The four ends, and the foot of the common perpendicular if it is on both.
Real segment_segment_sq(const Point& p, const Point& q, const Point& a, const Point& b) {
  Real best = std::min({point_segment_sq(p, a, b), point_segment_sq(q, a, b),
                        point_segment_sq(a, p, q), point_segment_sq(b, p, q)});
  const Point u = q - p, v = b - a, n = cross(u, v), r = a - p;
  const Real nn = dot(n, n);
  if (!(nn > 0)) return best;
  const Real s = dot(cross(r, v), n) / nn, t = dot(cross(r, u), n) / nn;
  if (s < 0 || s > 1 || t < 0 || t > 1) return best;
  const Real h = dot(r, n);
  return std::min(best, h * h / nn);
}

bool passes(const Point& p, const Point& q, const Corners& t) {
  const Point n = cross(t[1] - t[0], t[2] - t[0]);
  const Real from = dot(n, p - t[0]), to = dot(n, q - t[0]);
  if ((from > 0 && to > 0) || (from < 0 && to < 0) || from == to) return false;
  const Point at = p + (q - p) * (from / (from - to));
  for (std::size_t k = 0; k < 3; ++k)
    if (dot(cross(n, t[(k + 1) % 3] - t[k]), at - t[k]) < 0) return false;
  return true;
}

Real triangle_distance_sq(const Corners& a, const Corners& b) {
  Real best = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    if (passes(a[i], a[(i + 1) % 3], b) || passes(b[i], b[(i + 1) % 3], a)) return 0;
    best = std::min({best, point_triangle_sq(a[i], b), point_triangle_sq(b[i], a)});
    for (std::size_t k = 0; k < 3; ++k)
      best = std::min(best, segment_segment_sq(a[i], a[(i + 1) % 3], b[k], b[(k + 1) % 3]));
  }
  return best;
}

Corners corners_of(const TriangleMesh& mesh, std::size_t i, const Pose& pose) {
  // The rotation matrix in double is the pose; what follows is exact enough to be the truth.
  const Mat3 m = to_matrix(pose.rotation);
  Corners out;
  const auto c = corners(mesh, i);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto row = [&](std::size_t r) {
      return Real{m.rows[r].x} * Real{c[k].x} + Real{m.rows[r].y} * Real{c[k].y} +
             Real{m.rows[r].z} * Real{c[k].z} + Real{pose.translation[r]};
    };
    out[k] = {row(0), row(1), row(2)};
  }
  return out;
}

double find_true_distance(const TriangleMesh& a, const TriangleMesh& b, const Pose& a_from_b) {
  Real best = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < a.triangles.size(); ++i)
    for (std::size_t k = 0; k < b.triangles.size(); ++k)
      best = std::min(best, triangle_distance_sq(corners_of(a, i, {}), corners_of(b, k, a_from_b)));
  return static_cast<double>(std::sqrt(best));
}

// ---- The tests
// -----------------------------------------------------------------------------------

Pose random_pose(Random& random, double reach) {
  const Vec3 t = random.in_box({-reach, -reach, -reach}, {reach, reach, reach});
  const Vec3 v = random.in_box({-1, -1, -1}, {1, 1, 1});
  return {.rotation = normalized(Quat{random.uniform(-1, 1), v.x, v.y, v.z}), .translation = t};
}

struct Named {
  const char* name;
  TriangleMesh mesh;
};

std::vector<Named> make_meshes() {
  Random random(3);
  TriangleMesh needle;  // slivers, a segment and a point
  needle.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1e-6F, 0}, {0.5F, 0, 1}, {0.5F, 0, 1}};
  needle.triangles = {{0, 1, 2}, {0, 3, 3}, {3, 4, 3}, {2, 1, 3}};
  return {{"sphere", make_sphere(1)},      {"grid", make_grid(4)},
          {"soup", make_soup(random, 60)}, {"needle", needle},
          {"box", make_shape("box", {})},  {"far", make_sphere(1, 0.5F, {100, 200, -50})}};
}

double size_of(const TriangleMesh& mesh) { return length(extent(to_double(bounds(mesh)))); }

TEST(MeshDistance, IsThatOfAllPairs) {
  const std::vector<Named> meshes = make_meshes();
  Random random(11);
  int touching = 0, apart = 0;
  for (int i = 0; i < unless_slow(600, 60); ++i) {
    const Named& first = meshes[random.next_u32() % meshes.size()];
    const Named& second = meshes[random.next_u32() % meshes.size()];
    SCOPED_TRACE(std::string(first.name) + " " + second.name + " " + std::to_string(i));
    const TriangleMesh &a = first.mesh, &b = second.mesh;
    const double size = size_of(a) + size_of(b);
    Pose pose = random_pose(random, (i % 2 == 0 ? 0.7 : 0.2) * size);
    pose.translation +=
        center(to_double(bounds(a))) - rotate(pose.rotation, center(to_double(bounds(b))));
    const Bvh bvh_a(a), bvh_b(b);
    const double truth = find_true_distance(a, b, pose);
    const double scale = size + length(pose.translation) + 300;
    for (const SimdLevel level : {SimdLevel::kBaseline, simd_level_of_cpu()}) {
      const MeshDistance d = detail::compute_mesh_distance(bvh_a, bvh_b, pose, {}, level);
      ASSERT_NEAR(d.distance, truth, 1e-11 * scale);
      ASSERT_LE(d.lower_bound, truth);
      ASSERT_GE(d.lower_bound, truth - 1e-11 * scale);
      ASSERT_NEAR(length(d.point_on_a - d.point_on_b), d.distance, 1e-11 * scale);
      // The witnesses lie on their triangles.
      const auto on = [&](const TriangleMesh& mesh, std::uint32_t t, const Pose& p, const Vec3& x) {
        return std::sqrt(
            static_cast<double>(point_triangle_sq({x.x, x.y, x.z}, corners_of(mesh, t, p))));
      };
      ASSERT_LE(on(a, d.triangle_a, {}, d.point_on_a), 1e-11 * scale);
      ASSERT_LE(on(b, d.triangle_b, pose, d.point_on_b), 1e-11 * scale);
    }
    ASSERT_NEAR(compute_mesh_distance_brute_force(a, b, pose).distance, truth, 1e-11 * scale);
    ++(truth == 0 ? touching : apart);
  }
  EXPECT_GT(touching, unless_slow(50, 5));
  EXPECT_GT(apart, unless_slow(50, 5));
}

TEST(MeshDistance, BoundsHoldAtAnyCut) {
  const TriangleMesh a = make_shape("gear", {}), b = make_shape("knot", {});
  const Bvh bvh_a(a), bvh_b(b);
  const double size = size_of(a) + size_of(b);
  Random random(12);
  for (int i = 0; i < unless_slow(300, 40); ++i) {
    const Pose pose = random_pose(random, 0.6 * size);
    const MeshDistance exact = compute_mesh_distance(bvh_a, bvh_b, pose);
    const double tiny = 1e-12 * size;
    for (const unsigned limit : {1U, 3U, 10U, 30U, 100U, 300U}) {
      const MeshDistance cut = compute_mesh_distance(bvh_a, bvh_b, pose, {.max_tests = limit});
      ASSERT_LE(cut.lower_bound, exact.distance + tiny);
      ASSERT_GE(cut.distance, exact.distance - tiny);
      if (!cut.gave_up) {
        ASSERT_EQ(cut.distance, exact.distance);
      }
    }
    const MeshDistance rough = compute_mesh_distance(
        bvh_a, bvh_b, pose, {.relative_tolerance = 0.1, .absolute_tolerance = 0.01 * size});
    ASSERT_LE(rough.distance, 1.1 * exact.distance + 0.011 * size);
    ASSERT_LE(rough.lower_bound, exact.distance + tiny);
    ASSERT_GE(rough.lower_bound, rough.distance / 1.1 - 0.011 * size);
    // A cut-off between them, above and below.
    const double reach = random.uniform(0, 2) * exact.distance;
    const MeshDistance near = compute_mesh_distance(bvh_a, bvh_b, pose, {.max_distance = reach});
    if (exact.distance < reach) {
      ASSERT_EQ(near.distance, exact.distance);
    } else if (exact.distance > reach * (1 + 1e-9)) {
      ASSERT_TRUE(std::isinf(near.distance) && near.lower_bound >= reach - tiny);
    }
    const MeshDistance early = compute_mesh_distance(bvh_a, bvh_b, pose, {.near_enough = reach});
    ASSERT_GE(early.distance, exact.distance - tiny);
    ASSERT_LE(early.lower_bound, exact.distance + tiny);
    if (exact.distance <= reach) {
      ASSERT_LE(early.distance, reach);
    }
  }
}

TEST(MeshDistance, NothingIsInfinitelyFar) {
  const Bvh nothing, box(make_shape("box", {}));
  const MeshDistance d = compute_mesh_distance(nothing, box, {});
  EXPECT_TRUE(std::isinf(d.distance) && std::isinf(d.lower_bound));
  EXPECT_EQ(d.triangle_a, kNoTriangle);
}

}  // namespace
}  // namespace isotact
