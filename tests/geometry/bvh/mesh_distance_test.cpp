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
#include "geometry/bvh/triangle_oracle.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using search_test::make_grid;
using search_test::make_soup;
using search_test::make_sphere;

using triangle_oracle::corners_of;
using triangle_oracle::point_triangle_sq;

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
    const double truth = triangle_oracle::find_distance(a, b, pose);
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
