// distance() by the triangles: beside formulas, all pairs, and a dense sampling of the depth.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

Shape shape_of(const TriangleMesh& mesh) {
  return Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = 400});
}

double size_of(const TriangleMesh& mesh) { return length(extent(to_double(bounds(mesh)))); }

// The deepest of many points of a's surface inside of b.
double sample_depth(const TriangleMesh& a, const Pose& b_from_a, const WindingTree& b,
                    Random& random, int count) {
  double deepest = 0;
  for (int i = 0; i < count; ++i) {
    const auto c = corners(a, random.next_u32() % a.triangles.size());
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const Vec3 p = to_double(c[0]) + (to_double(c[1]) - to_double(c[0])) * u +
                   (to_double(c[2]) - to_double(c[0])) * v;
    const Vec3f x = to_float(transform_point(b_from_a, p));
    const double depth = double{find_closest_point(b.bvh(), x).distance};
    if (depth > deepest && compute_winding_number(b, x) > 0.5) deepest = depth;
  }
  return deepest;
}

TEST(ExactDistance, IsThatOfTheTriangles) {
  const TriangleMesh meshes[] = {make_shape("gear", {}), make_shape("knot", {}),
                                 make_shape("bowl", {}), make_shape("box", {})};
  std::vector<Shape> shapes;
  for (const TriangleMesh& mesh : meshes) shapes.push_back(shape_of(mesh));
  Random random(21);
  int apart = 0, overlapping = 0, contained = 0;
  for (int i = 0; i < unless_slow(240, 24); ++i) {
    const std::size_t k = random.next_u32() % 4, l = random.next_u32() % 4;
    const TriangleMesh &a = meshes[k], &b = meshes[l];
    const double size = size_of(a) + size_of(b);
    const Pose of_a = random_pose(random, 0.3 * size), of_b = random_pose(random, 0.3 * size);
    const DistanceResult r = distance(shapes[k], of_a, shapes[l], of_b);
    SCOPED_TRACE(i);
    ASSERT_TRUE(r.exact && r.status == DistanceStatus::kDone);
    ASSERT_LE(r.lower_bound, r.distance);
    ASSERT_GE(r.upper_bound, r.distance);
    const Pose a_from_b = inverse(of_a) * of_b;
    const MeshDistance truth = compute_mesh_distance(Bvh(a), Bvh(b), a_from_b);
    ASSERT_EQ(r.touching, truth.touching);
    ASSERT_NEAR(length(r.contact.point_on_a - r.contact.point_on_b), std::abs(r.distance),
                1e-6 * size);
    ASSERT_EQ(r.contact.depth, -r.distance);
    if (!r.touching && !r.contained) {
      ASSERT_EQ(r.distance, truth.distance);
      ++apart;
      continue;
    }
    ++(r.touching ? overlapping : contained);
    if (overlapping % 4 != 0) continue;  // what follows takes long
    const WindingTree tree_a(a), tree_b(b);
    const int samples = unless_slow(20'000, 2'000);
    const double sampled = std::max(sample_depth(a, inverse(a_from_b), tree_b, random, samples),
                                    sample_depth(b, a_from_b, tree_a, random, samples));
    ASSERT_GE(-r.distance, sampled - 2e-6 * size);
    ASSERT_LE(-r.distance, sampled + 0.05 * size);
  }
  EXPECT_GT(apart, unless_slow(30, 2));
  EXPECT_GT(overlapping, unless_slow(30, 2));
}

TEST(ExactDistance, DepthsOfBoxesAreKnown) {
  const Shape mesh = shape_of(make_box({})), box = Shape::from_analytic(BoxField{});
  const double side = 1;
  for (const double depth : {0.01, 0.1, 0.3}) {
    const Pose up{.translation = {0.02 * side, (1 - depth) * side, 0.03 * side}};
    const DistanceResult r = distance(mesh, up, mesh, {});
    EXPECT_NEAR(r.distance, -depth * side, 5e-6 * side);
    EXPECT_TRUE(r.touching && !r.contained);
    EXPECT_NEAR(r.contact.normal.y, 1, 1e-3);
  }
  const Shape small = Shape::from_analytic(BoxField{.half_size = {0.1, 0.1, 0.1}});
  const DistanceResult in = distance(small, {.translation = {0.2, 0, 0}}, box, {});
  EXPECT_TRUE(in.contained && !in.touching && in.exact);
  EXPECT_NEAR(in.distance, -0.4, 5e-6);  // its side at x = 0.1 is 0.4 from that at 0.5
}

TEST(ExactDistance, SimpleSolidsAgreeWithFormulas) {
  const Shape ground = Shape::from_analytic(PlaneField{});
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.5});
  const Shape rod = Shape::from_analytic(CapsuleField{{0, -1, 0}, {0, 1, 0}, 0.25});
  const Shape box = Shape::from_analytic(BoxField{});
  Random random(22);
  for (int i = 0; i < 300; ++i) {
    const Pose pose = random_pose(random, 2);
    const Vec3 at = pose.translation;
    const DistanceResult to_ground = distance(ball, pose, ground, {});
    ASSERT_TRUE(to_ground.exact);
    ASSERT_NEAR(to_ground.distance, at.y - 0.5, 1e-6);
    const DistanceResult to_ball = distance(ball, {}, ball, pose);
    ASSERT_TRUE(to_ball.exact);
    ASSERT_NEAR(to_ball.distance, length(at) - 1, 1e-6);
    const Vec3 x = transform_point(inverse(pose), {});
    const double to_axis = length(Vec3{x.x, x.y - std::clamp(x.y, -1.0, 1.0), x.z});
    const DistanceResult to_rod = distance(ball, {}, rod, pose);
    ASSERT_TRUE(to_rod.exact);
    ASSERT_NEAR(to_rod.distance, to_axis - 0.75, 1e-6);
    const double value = BoxField{}.value(x);
    const DistanceResult to_box = distance(ball, {}, box, pose);
    if (value > 0) {  // the middle of the ball is outside
      ASSERT_TRUE(to_box.exact);
      ASSERT_NEAR(to_box.distance, value - 0.5, 1e-6);
    } else {
      ASSERT_FALSE(to_box.exact);
    }
  }
}

Shape shape_of(const Asset& asset) {
  return Shape::from_asset(decode_asset(encode_asset(asset), ""));
}

// With the same field and points, a shape of an asset answers as that of the mesh, to the bit.
TEST(ExactDistance, AssetsThatKeepTheirMeshAnswerAlike) {
  TriangleMesh open = make_shape("bowl", {});
  open.triangles.resize(open.triangles.size() / 2);
  const TriangleMesh meshes[] = {make_shape("gear", {}), open};
  std::vector<Shape> of_meshes, of_assets;
  for (const TriangleMesh& mesh : meshes) {
    const Shape whole = shape_of(mesh);
    of_meshes.push_back(whole);
    Asset asset;
    asset.field = whole.field();
    asset.mesh = FlatMesh::build(mesh);
    set_point_sphere_tree(asset, *whole.tree());
    of_assets.push_back(shape_of(asset));
    // The mesh itself, not the surface of the field.
    EXPECT_EQ(of_assets.back().surface().triangles.size(), mesh.triangles.size());
    EXPECT_EQ(bounds(of_assets.back().surface()), bounds(mesh));
    EXPECT_EQ(of_assets.back().mass().volume, whole.mass().volume);
    asset.mesh.reset();
    EXPECT_THROW(prepare(shape_of(asset), DistanceRequest{.accuracy = Accuracy::kExact}), Error);
    EXPECT_FALSE(distance(shape_of(asset), {}, whole, {.translation = {0, 9, 0}}).exact);
  }
  Random random(23);
  int apart = 0, overlapping = 0;
  for (int i = 0; i < unless_slow(60, 6); ++i) {
    const std::size_t k = random.below(2), l = random.below(2);
    const double size = size_of(meshes[k]) + size_of(meshes[l]);
    const Pose pose = random_pose(random, 0.4 * size);
    const DistanceRequest request{.want_depth = i % 10 == 0};  // depths take long
    const DistanceResult a = distance(of_meshes[k], {}, of_meshes[l], pose, request);
    const DistanceResult b = distance(of_assets[k], {}, of_assets[l], pose, request);
    ASSERT_TRUE(a.exact && b.exact) << i;
    ASSERT_EQ(a.touching, b.touching) << i;
    ASSERT_EQ(a.contained, b.contained) << i;
    if (!a.touching && !a.contained) {
      ASSERT_EQ(a.distance, b.distance) << i;
    }
    ASSERT_NEAR(a.distance, b.distance, 4e-6 * size) << i;
    ++(a.touching || a.contained ? overlapping : apart);
  }
  EXPECT_GT(apart, unless_slow(10, 0));
  EXPECT_GT(overlapping, unless_slow(10, 0));
}

TEST(ExactDistance, AsksAreAnsweredOrRefused) {
  const Shape gear = shape_of(make_shape("gear", {}));
  const Shape torus = Shape::from_analytic(TorusField{});
  const Pose up{.translation = {0, 5, 0}};
  EXPECT_THROW(distance(gear, {}, torus, up, {.accuracy = Accuracy::kExact}), Error);
  EXPECT_FALSE(distance(gear, {}, torus, up).exact);
  EXPECT_FALSE(distance(gear, {}, gear, up, {.accuracy = Accuracy::kField}).exact);
  const DistanceResult exact = distance(gear, {}, gear, up);
  EXPECT_TRUE(exact.exact);
  const DistanceResult far = distance(gear, {}, gear, up, {.max_distance = 1});
  EXPECT_TRUE(std::isinf(far.distance) && far.lower_bound >= 1 - 1e-9);
  const DistanceResult cut = distance(gear, {}, gear, up, {.max_tests = 2});
  EXPECT_LE(cut.lower_bound, exact.distance);
  EXPECT_GE(cut.upper_bound, exact.distance);
  EXPECT_THROW(distance(gear, {}, gear, up, {.absolute_tolerance = -1}), Error);
  EXPECT_THROW(distance(gear, {}, gear, up,
                        {.relative_tolerance = std::numeric_limits<double>::quiet_NaN()}),
               Error);
}

}  // namespace
}  // namespace isotact
