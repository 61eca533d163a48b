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
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "geometry/bvh/triangle_oracle.h"
#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

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
  Random random(test_seed(21));
  int apart = 0, overlapping = 0, contained = 0;
  for (int i = 0; i < test_cases(unless_slow(240, 24)); ++i) {
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
  Random random(test_seed(22));
  for (int i = 0; i < 300; ++i) {
    const Pose pose = random_pose(random, 2);
    const Vec3 at = pose.translation;
    const DistanceResult to_ground = distance(ball, pose, ground, {});
    ASSERT_TRUE(to_ground.exact);
    ASSERT_NEAR(to_ground.distance, at.y - 0.5, 1e-6);
    const DistanceResult to_ball = distance(ball, {}, ball, pose);
    ASSERT_TRUE(to_ball.exact);
    // Equal balls: all of a surface is as deep as the middles are apart, once these have entered.
    ASSERT_NEAR(to_ball.distance, length(at) < 0.5 ? -length(at) : length(at) - 1, 1e-6);
    const Vec3 x = transform_point(inverse(pose), {});
    const double to_axis = length(Vec3{x.x, x.y - std::clamp(x.y, -1.0, 1.0), x.z});
    const DistanceResult to_rod = distance(ball, {}, rod, pose);
    ASSERT_TRUE(to_rod.exact);
    if (to_axis >= 0.25) {
      ASSERT_NEAR(to_rod.distance, to_axis - 0.75, 1e-6);
    }
    const double value = BoxField{}.value(x);
    const DistanceResult to_box = distance(ball, {}, box, pose);
    ASSERT_TRUE(to_box.exact);
    if (value > 0) {  // the middle of the ball is outside
      ASSERT_NEAR(to_box.distance, value - 0.5, 1e-6);
    }
  }
}

// In the middle of a unit cube, by hand.
TEST(ExactDistance, BallsInCubesAreAsDeepAsTheirDeepestPoint) {
  const Shape cube = shape_of(make_box({}));
  for (const double radius : {0.1, 0.3, 0.5}) {
    const Shape ball = Shape::from_analytic(SphereField{.radius = radius});
    for (const bool swap : {false, true}) {
      const DistanceResult r = swap ? distance(ball, {}, cube, {}) : distance(cube, {}, ball, {});
      ASSERT_TRUE(r.exact && r.status == DistanceStatus::kDone) << radius << ' ' << r.work.tests;
      // A point along the diagonal is nearest to the middle of the cube, in all directions alike.
      ASSERT_NEAR(r.distance, -(0.5 - radius / std::sqrt(3.0)), 4e-6);
      ASSERT_LE(r.lower_bound, -(0.5 - radius / std::sqrt(3.0)));
      ASSERT_NEAR(length(r.contact.point_on_a - r.contact.point_on_b), -r.distance, 1e-6);
    }
  }
}

// Beside points of the round surface, for middles inside, across the surface, and outside.
TEST(ExactDistance, RoundDepthsAreThoseOfTheDeepestSample) {
  const TriangleMesh meshes[] = {make_box({}), make_shape("gear"), make_shape("torus")};
  Random random(test_seed(32));
  int deep = 0, gave_up = 0;
  std::uint64_t most_tests = 0;
  for (int i = 0; i < test_cases(unless_slow(90, 9)); ++i) {
    SCOPED_TRACE(i);
    const TriangleMesh& mesh = meshes[i % 3];
    const Shape& body = [&]() -> const Shape& {
      static const Shape shapes[] = {shape_of(meshes[0]), shape_of(meshes[1]), shape_of(meshes[2])};
      return shapes[i % 3];
    }();
    const double size = size_of(mesh), radius = size * (0.02 + 0.2 * random.uniform());
    const double half = i % 2 == 0 ? 0 : 0.2 * size * random.uniform();
    const Shape round =
        half == 0 ? Shape::from_analytic(SphereField{.radius = radius})
                  : Shape::from_analytic(CapsuleField{{0, -half, 0}, {0, half, 0}, radius});
    const Pose pose = random_pose(random, 0.4 * size);
    const DistanceResult r = distance(body, {}, round, pose);
    if (!r.touching && !r.contained) continue;
    ++deep;
    ASSERT_TRUE(r.exact);
    gave_up += r.status == DistanceStatus::kGaveUp ? 1 : 0;
    most_tests = std::max(most_tests, r.work.tests);
    ASSERT_LE(r.lower_bound, r.distance);
    const bool done = r.status == DistanceStatus::kDone;
    ASSERT_TRUE(!done || r.distance - r.lower_bound < 8e-6 * size);
    const WindingTree tree(mesh);
    double sampled = 0;
    for (int k = 0; k < unless_slow(4000, 400); ++k) {
      const Vec3 u = random.unit_vector();
      Vec3 x = u * radius;
      if (k % 2 == 0 && half > 0) {
        const double across = std::sqrt(u.x * u.x + u.z * u.z);
        x = {u.x * radius / across, half * (2 * random.uniform() - 1), u.z * radius / across};
      } else {
        x.y += u.y > 0 ? half : -half;
      }
      const Vec3f at = to_float(transform_point(pose, x));
      const double depth = double{find_closest_point(tree.bvh(), at).distance};
      if (depth > sampled && compute_winding_number(tree, at) > 0.5) sampled = depth;
      // Of the mesh: the deepest corner in the round body.
      const Vec3 c = transform_point(
          inverse(pose), to_double(mesh.positions[random.next_u32() % mesh.positions.size()]));
      const double off = length(Vec3{c.x, c.y - std::clamp(c.y, -half, half), c.z});
      sampled = std::max(sampled, radius - off);
    }
    ASSERT_GE(-r.lower_bound, sampled - 1e-6 * size);
    ASSERT_TRUE(!done || -r.distance >= sampled - 4e-6 * size);
    ASSERT_LE(-r.distance, sampled + 0.03 * size);
  }
  RecordProperty("most_tests", static_cast<int>(most_tests));
  EXPECT_GT(deep, unless_slow(30, 3));
  EXPECT_LE(gave_up, 0) << most_tests;
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
  Random random(test_seed(23));
  int apart = 0, overlapping = 0;
  for (int i = 0; i < test_cases(unless_slow(60, 6)); ++i) {
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
  const Shape tube = Shape::from_analytic(
      Difference{CylinderField{.radius = 0.4}, CylinderField{.radius = 0.3, .height = 2}});
  const Pose up{.translation = {0, 5, 0}};
  EXPECT_THROW(distance(gear, {}, tube, up, {.accuracy = Accuracy::kExact}), Error);
  EXPECT_FALSE(distance(gear, {}, tube, up).exact);
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

// Parts of a mesh inside of another one, by exact winding numbers. Needs connected meshes.
bool winds_around(const TriangleMesh& outer, const TriangleMesh& inner,
                  const Pose& outer_from_inner) {
  const Vec3 x = transform_point(outer_from_inner, to_double(inner.positions[0]));
  return brute_force::compute_winding_number(outer, to_float(x)) > 0.5;
}

TEST(ExactDistance, IsTheTruth) {
  const TriangleMesh plate = make_box({.size_x = 1, .size_y = 0.002, .size_z = 0.8});
  TriangleMesh open = make_shape("torus", {{"segments", 12}, {"tube_segments", 8}});
  open.triangles.resize(open.triangles.size() * 3 / 4);
  const TriangleMesh meshes[] = {make_box({.size_x = 0.3, .size_y = 0.4, .size_z = 0.2}), plate,
                                 make_shape("torus", {{"segments", 16}, {"tube_segments", 8}}),
                                 open, make_box({.size_x = 2, .size_y = 2, .size_z = 2})};
  constexpr std::size_t kOpen = 3;
  std::vector<Shape> shapes;
  for (const TriangleMesh& mesh : meshes) shapes.push_back(shape_of(mesh));
  Random random(test_seed(23));
  int apart = 0, touching = 0, contained = 0, cut_short = 0;
  for (int i = 0; i < test_cases(unless_slow(1500, 100)); ++i) {
    const std::size_t k = random.below(5), l = random.below(5);
    const double size = size_of(meshes[k]) + size_of(meshes[l]);
    const Pose of_a = random_pose(random, 0.25 * size), of_b = random_pose(random, 0.25 * size);
    const Pose a_from_b = inverse(of_a) * of_b;
    SCOPED_TRACE(i);
    const double truth = triangle_oracle::find_distance(meshes[k], meshes[l], a_from_b);
    const DistanceResult r = distance(shapes[k], of_a, shapes[l], of_b);
    ASSERT_TRUE(r.exact && r.status == DistanceStatus::kDone);
    ASSERT_LE(r.lower_bound, r.distance);
    ASSERT_GE(r.upper_bound, r.distance);
    ASSERT_EQ(r.touching, truth == 0);
    if (!r.touching && k != kOpen && l != kOpen) {
      ASSERT_EQ(r.contained, winds_around(meshes[k], meshes[l], a_from_b) ||
                                 winds_around(meshes[l], meshes[k], inverse(a_from_b)));
    }
    // Only what lies in a closed mesh overlaps.
    const bool in_open = r.contained && (k == kOpen || l == kOpen) && r.distance > 0;
    if (!r.touching && (!r.contained || in_open)) {
      ASSERT_NEAR(r.distance, truth, 1e-9 * size);
      ASSERT_LE(r.lower_bound, truth);
    }
    ++(r.touching ? touching : r.contained ? contained : apart);
    // Whatever ends the search: bounds are bounds.
    const auto limit = static_cast<std::uint64_t>(std::pow(10, random.uniform(0, 4)));
    const DistanceResult cut = distance(shapes[k], of_a, shapes[l], of_b, {.max_tests = limit});
    const double slack = 4e-6 * size;  // of depths
    ASSERT_LE(cut.lower_bound, r.distance + (r.distance < 0 ? slack : 1e-12));
    ASSERT_GE(cut.upper_bound, r.distance - (r.distance < 0 ? slack : 1e-12));
    cut_short += cut.status == DistanceStatus::kGaveUp ? 1 : 0;
    if (cut.status == DistanceStatus::kDone) {
      ASSERT_NEAR(cut.distance, r.distance, 1e-12);
    }
    const DistanceResult rough =
        distance(shapes[k], of_a, shapes[l], of_b, {.relative_tolerance = 0.2});
    ASSERT_LE(rough.lower_bound, r.distance + (r.distance < 0 ? slack : 1e-12));
    if (r.distance >= 0 || (k != kOpen && l != kOpen)) {
      ASSERT_LE(std::abs(rough.distance - r.distance), 0.2 * std::abs(r.distance) + slack);
    }
    const double reach = random.uniform(0.001, 0.5) * size;
    const DistanceResult near =
        distance(shapes[k], of_a, shapes[l], of_b, {.near_enough = reach, .want_depth = false});
    ASSERT_EQ(near.status == DistanceStatus::kNearEnough, r.distance <= reach);
    ASSERT_GE(near.upper_bound, std::max(0.0, r.distance - 1e-12));
    ASSERT_LE(near.lower_bound, std::max(0.0, r.distance) + 1e-12);
    if (near.status == DistanceStatus::kNearEnough) {
      ASSERT_LE(near.upper_bound, reach);
    } else {
      ASSERT_NEAR(near.distance, r.distance, 1e-12);
    }
    const DistanceResult within =
        distance(shapes[k], of_a, shapes[l], of_b, {.max_distance = reach, .want_depth = false});
    ASSERT_EQ(std::isfinite(within.distance), r.distance <= reach);
  }
  EXPECT_GT(apart, unless_slow(200, 10));
  EXPECT_GT(touching, unless_slow(200, 10));
  EXPECT_GT(contained, unless_slow(50, 2));
  EXPECT_GT(cut_short, unless_slow(200, 10));
}

// A box without its lid has no inside of its own: a ball in it is as far from it as its triangles
// are. All calls agree.
TEST(ExactDistance, WhatLiesInAnOpenMeshIsOnlyReported) {
  TriangleMesh crate = make_box({});
  std::erase_if(crate.triangles, [&](const Triangle& t) {
    return crate.positions[t[0]].y > 0 && crate.positions[t[1]].y > 0 &&
           crate.positions[t[2]].y > 0;
  });
  ASSERT_EQ(crate.triangles.size(), 10U);
  const TriangleMesh die = make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2});
  const Shape open = shape_of(crate), closed = shape_of(make_box({})), inner = shape_of(die);
  const Pose aside{.translation = {0.1, 0, 0}};
  const BodyMotion slide{.from = aside, .to = {}};
  const DistanceResult in_closed = distance(inner, aside, closed, {});
  EXPECT_TRUE(in_closed.contained && in_closed.exact);
  EXPECT_LT(in_closed.distance, 0);
  EXPECT_EQ(collide(inner, aside, closed, {}).status, CollideStatus::kContact);
  const ContinuousResult moved_in_closed = continuous_collide(inner, slide, closed, {});
  EXPECT_TRUE(moved_in_closed.contained);
  EXPECT_EQ(moved_in_closed.status, ContinuousStatus::kContact);
  for (const bool wants_depth : {false, true}) {
    const DistanceResult r = distance(inner, aside, open, {}, {.want_depth = wants_depth});
    EXPECT_TRUE(r.contained && r.exact && !r.touching);
    EXPECT_NEAR(r.distance, 0.3, 1e-6);
    EXPECT_NEAR(r.lower_bound, 0.3, 1e-6);
  }
  EXPECT_EQ(collide(inner, aside, open, {}).status, CollideStatus::kFree);
  EXPECT_EQ(collide(inner, aside, open, {}, {.margin = 0.31}).status, CollideStatus::kContact);
  const ContinuousResult moved =
      continuous_collide(inner, slide, open, {}, {.want_distance = true});
  EXPECT_TRUE(moved.contained);
  EXPECT_EQ(moved.status, ContinuousStatus::kFree);
  EXPECT_NEAR(moved.distance, 0.3, 1e-5);
}

TEST(ExactDistance, SeparationsSeparate) {
  const TriangleMesh meshes[] = {make_box({.size_x = 0.3, .size_y = 0.4, .size_z = 0.2}),
                                 make_shape("torus", {{"segments", 12}, {"tube_segments", 6}}),
                                 make_shape("link", {})};
  std::vector<Shape> shapes;
  for (const TriangleMesh& mesh : meshes) shapes.push_back(shape_of(mesh));
  Random random(test_seed(24));
  int overlapping = 0;
  for (int i = 0; i < test_cases(unless_slow(2500, 60)); ++i) {
    const std::size_t k = random.below(3), l = random.below(3);
    const double size = size_of(meshes[k]) + size_of(meshes[l]);
    const Pose of_a = random_pose(random, 0.2 * size), of_b = random_pose(random, 0.2 * size);
    const DistanceResult r = distance(shapes[k], of_a, shapes[l], of_b, {.want_separation = true});
    if (!r.touching && !r.contained) {
      ASSERT_FALSE(r.has_separation);
      continue;
    }
    ++overlapping;
    SCOPED_TRACE(i);
    ASSERT_TRUE(r.has_separation);
    ASSERT_GE(length(r.separation), -r.distance - 4e-6 * size);  // less leaves that point inside
    Pose moved = of_a;
    moved.translation += r.separation;
    const DistanceResult after = distance(shapes[k], moved, shapes[l], of_b);
    ASSERT_TRUE(after.exact && !after.touching && !after.contained && after.distance > 0);
    ASSERT_LE(after.distance, 1e-4 * size);  // no further than it has to be
  }
  EXPECT_GT(overlapping, unless_slow(1000, 20));
}

TEST(ExactDistance, KnownSeparations) {
  const Shape box = Shape::from_analytic(BoxField{}), ball = Shape::from_analytic(SphereField{});
  const Shape ground = Shape::from_analytic(PlaneField{});
  const DistanceRequest request{.want_separation = true};
  Random random(test_seed(25));
  for (int i = 0; i < 50; ++i) {
    const Pose world = random_pose(random, 3);
    const Vec3 off = random.in_box({-0.9, -0.9, -0.9}, {0.9, 0.9, 0.9});
    const DistanceResult boxes =
        distance(box, world, box, world * Pose{.translation = off}, request);
    ASSERT_TRUE(boxes.has_separation);
    const double least = 1 - std::max({std::abs(off.x), std::abs(off.y), std::abs(off.z)});
    ASSERT_NEAR(length(boxes.separation), least, 1e-5);
    const Vec3 aside = random.unit_vector() * random.uniform(0.1, 0.9);
    const DistanceResult balls =
        distance(ball, world, ball, {.translation = world.translation + aside}, request);
    ASSERT_TRUE(balls.has_separation);
    ASSERT_NEAR(length(balls.separation), 1 - length(aside), 1e-5);
    const double height = random.uniform(-2, 0.4);
    const DistanceResult sunk =
        distance(ball, {.translation = {0, height, 0}}, ground, {}, request);
    ASSERT_TRUE(sunk.has_separation);
    ASSERT_NEAR(sunk.separation.y, 0.5 - height, 1e-5);
  }
  EXPECT_THROW(distance(box, {}, box, {}, {.accuracy = Accuracy::kField, .near_enough = 1}), Error);
  EXPECT_THROW(distance(box, {}, box, {}, {.near_enough = -1}), Error);
}

// Beside the formulas, from a ball, a point nearly, and a plane.
template <typename Solid>
void compare_with_formula(const Solid& solid, Random& random) {
  const Shape shape = Shape::from_analytic(solid);
  const Shape dot_shape = Shape::from_analytic(SphereField{.radius = 1e-3});
  int outside = 0;
  for (int i = 0; i < test_cases(unless_slow(400, 40)); ++i) {
    const Pose world = random_pose(random, 2);
    const Vec3 x = random.in_box({-1, -1, -1}, {1, 1, 1});
    const double truth = solid.value(x) - 1e-3;
    const DistanceResult r =
        distance(dot_shape, {.translation = transform_point(world, x)}, shape, world);
    if (truth < 0.001) continue;
    ++outside;
    ASSERT_TRUE(r.exact);
    ASSERT_NEAR(r.distance, truth, 2e-6);
    ASSERT_LE(r.lower_bound, truth + 1e-9);
    ASSERT_GE(r.upper_bound, truth - 1e-9);
    ASSERT_LE(r.upper_bound - r.lower_bound, 4e-6);
  }
  EXPECT_GT(outside, unless_slow(150, 10));
}

TEST(ExactDistance, RoundSolidsAreExactToTheirTolerance) {
  Random random(test_seed(26));
  compare_with_formula(CylinderField{.center = {0.1, 0, -0.2}}, random);
  compare_with_formula(ConeField{.center = {0, 0.1, 0.2}}, random);
  compare_with_formula(TorusField{.center = {0.1, 0.1, 0}}, random);
  // Two crossing rods: depth and separation.
  const Shape rod = Shape::from_analytic(CylinderField{.radius = 0.1, .height = 2});
  const Pose across{.rotation = rotation_about({1, 0, 0}, 1.5707963267948966),
                    .translation = {0.15, 0, 0}};
  const DistanceResult r = distance(rod, {}, rod, across, {.want_separation = true});
  EXPECT_TRUE(r.exact && r.touching && r.has_separation);
  EXPECT_NEAR(length(r.separation), 0.05, 1e-5);
  EXPECT_LE(r.lower_bound, r.distance);
}

}  // namespace
}  // namespace isotact
