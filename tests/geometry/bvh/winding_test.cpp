#include "isotact/geometry/bvh/winding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/machine.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/detail/solid_angle.h"

#include "geometry/bvh/search_meshes.h"

namespace isotact {
namespace {

using search_test::make_search_meshes;
using search_test::make_sphere;
using search_test::NamedMesh;

void append(TriangleMesh& mesh, const TriangleMesh& other) {
  const auto base = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  for (const auto& [a, b, c] : other.triangles)
    mesh.triangles.push_back({base + a, base + b, base + c});
}

TEST(Winding, AnglesAgreeWithTheLibrary) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = random.uniform(-1, 1) * std::pow(10, random.uniform(-20, 20));
    const double y = random.uniform(-1, 1) * std::pow(10, random.uniform(-20, 20));
    EXPECT_NEAR(detail::angle_of(y, x), std::atan2(y, x), 1e-15);
  }
  EXPECT_EQ(detail::angle_of(0.0, -1.0), 0);
  EXPECT_EQ(detail::angle_of(0.0, 0.0), 0);
  EXPECT_EQ(detail::angle_of(-2.0, 0.0), std::atan2(-2.0, 0.0));
}

TEST(Winding, ExactSumOfAClosedMeshIsWhole) {
  const TriangleMesh mesh = make_sphere(3);
  Random random(2);
  int inside = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 p = random.in_unit_ball() * 1.3;
    if (std::abs(length(p) - 0.99) < 0.02) continue;
    const double expected = length(p) < 1 ? 1 : 0;
    EXPECT_NEAR(brute_force::compute_winding_number(mesh, to_float(p)), expected, 1e-12);
    inside += length(p) < 1 ? 1 : 0;
  }
  EXPECT_GT(inside, 150);
  EXPECT_LT(inside, 350);
}

TEST(Winding, FastNumbersAreNearTheExactOnes) {
  Random random(3);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const WindingTree tree(named.mesh);
    const Aabb box = tree.bvh().triangle_count() == 0 ? Aabb{{0, 0, 0}, {1, 1, 1}}
                                                      : to_double(tree.bvh().bounds());
    double worst = 0, worst_finer = 0;
    for (int i = 0; i < 400; ++i) {
      const Vec3 pad = extent(box) * 0.3;
      const Vec3f p = to_float(random.in_box(box.lower - pad, box.upper + pad));
      const double exact = brute_force::compute_winding_number(named.mesh, p);
      worst = std::max(worst, std::abs(compute_winding_number(tree, p) - exact));
      worst_finer = std::max(worst_finer, std::abs(compute_winding_number(tree, p, 4) - exact));
      EXPECT_NEAR(compute_winding_number(tree, p, std::numeric_limits<double>::infinity()), exact,
                  1e-11);
    }
    RecordProperty(named.name, std::to_string(worst));
    EXPECT_LT(worst, 0.01);
    EXPECT_LT(worst_finer, 0.001);
  }
}

TEST(Winding, InsideIsDecidedAsTheExactSumDoes) {
  Random random(4);
  TriangleMesh nested = make_sphere(4);
  append(nested, make_sphere(3, 0.5F, {0.2F, 0, 0}));
  TriangleMesh overlapping = make_sphere(4);
  append(overlapping, make_sphere(4, 1, {1, 0.1F, 0}));
  for (const TriangleMesh& mesh : {make_sphere(4), nested, overlapping}) {
    const WindingTree tree(mesh);
    int decided = 0, inside = 0;
    for (int i = 0; i < 700; ++i) {
      const Vec3f p = to_float(random.in_box({-1.2, -1.2, -1.2}, {2.2, 1.2, 1.2}));
      if (find_closest_point(tree.bvh(), p).distance < 1e-3F) continue;
      ++decided;
      const double exact = brute_force::compute_winding_number(mesh, p);
      EXPECT_EQ(std::round(compute_winding_number(tree, p)), std::round(exact));
      inside += exact > 0.5 ? 1 : 0;
    }
    EXPECT_GT(decided, 650);
    EXPECT_GT(inside, 100);
    EXPECT_LT(inside, 600);
  }
}

TEST(Winding, AHoleMakesTheNumberSmooth) {
  TriangleMesh open = make_sphere(4);
  std::erase_if(open.triangles, [&](const Triangle& t) { return open.positions[t[0]].z > 0.8F; });
  const WindingTree tree(open);
  for (const float z : {0.0F, 0.5F, 0.8F, 1.2F}) {
    const Vec3f p{0.05F, 0.02F, z};
    EXPECT_NEAR(compute_winding_number(tree, p), brute_force::compute_winding_number(open, p),
                0.01);
  }
  EXPECT_GT(compute_winding_number(tree, {0, 0, 0}), 0.8);
  EXPECT_LT(compute_winding_number(tree, {0, 0, 1.2F}), 0.5);
}

TEST(Winding, OnAFaceItIsTheMeanOfBothSides) {
  const TriangleMesh mesh = make_sphere(0);
  EXPECT_NEAR(brute_force::compute_winding_number(mesh, {0.25F, 0.25F, 0.5F}), 0.5, 1e-12);
  EXPECT_NEAR(compute_winding_number(WindingTree(mesh), {0.25F, 0.25F, 0.5F}), 0.5, 0.01);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compute_winding_number(WindingTree(mesh), {nan, 0, 0}), 0);
  EXPECT_EQ(compute_winding_number(WindingTree(), {0, 0, 0}), 0);
}

TEST(Winding, BitsDoNotDependOnThreadsOrWidth) {
  Random random(5);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const WindingTree tree(named.mesh);
    const Aabb box = tree.bvh().triangle_count() == 0 ? Aabb{{0, 0, 0}, {1, 1, 1}}
                                                      : to_double(tree.bvh().bounds());
    std::vector<Vec3f> points;
    for (int i = 0; i < 500; ++i) points.push_back(to_float(random.in_box(box.lower, box.upper)));
    std::vector<double> expected;
    for (const Vec3f& p : points)
      expected.push_back(detail::compute_winding_number(tree, p, 2, SimdLevel::kBaseline));
    for (const int threads : {1, 2, 7}) {
      std::vector<double> results(points.size());
      compute_winding_numbers(tree, points, results, Threads{threads});
      EXPECT_EQ(results, expected);
    }
    if (simd_level_of_cpu() != SimdLevel::kAvx2) continue;
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(detail::compute_winding_number(tree, points[i], 2, SimdLevel::kAvx2), expected[i]);
  }
}

}  // namespace
}  // namespace isotact
