// Shapes of all kinds, and the parts of them that queries make on first use.
#include "isotact/queries/shape.h"

#include <chrono>
#include <cmath>
#include <span>
#include <thread>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape_views.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

TEST(Shape, AnalyticShapesAreCheapAndKnowTheirBox) {
  const Shape ground = Shape::from_analytic(PlaneField{});
  EXPECT_FALSE(ground.is_bounded());
  EXPECT_FALSE(ground.can_have_points());
  EXPECT_TRUE(ground.can_have_field());
  EXPECT_EQ(ground.bounds().upper.y, 0);
  EXPECT_EQ(ground.cell(), 1e-3);
  EXPECT_THROW(ground.points(), Error);
  EXPECT_THROW(ground.brick_field(), Error);
  EXPECT_THROW(ground.surface(), Error);
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.01});
  EXPECT_TRUE(ball.is_bounded() && ball.can_have_points());
  EXPECT_EQ(ball.cell(), 0.02 * 0.01);
  EXPECT_EQ(Shape::from_analytic(SphereField{}, {.cell = 0.125}).cell(), 0.125);
  EXPECT_THROW(Shape::from_analytic(Intersection{SphereField{}, SphereField{{3, 0, 0}, 1}}), Error);
  EXPECT_THROW(Shape::from_analytic(SphereField{}, {.spacing = -1}), Error);
}

TEST(Shape, RefusesWhatHasNoSense) {
  const TriangleMesh box = make_shape("box", {});
  EXPECT_THROW(Shape::from_mesh(box, {.spacing = -1}), Error);
  EXPECT_THROW(
      Shape::from_field(AnyField{SphereField{}}, {{-2, -2, -2}, {2, 2, 2}}, 0.1, {.spacing = -1}),
      Error);
  const Shape ball = Shape::from_analytic(SphereField{});
  const Pose far{.translation = {1e300, 0, 0}};
  EXPECT_THROW(collide(ball, far, ball, {}), Error);
  EXPECT_THROW(distance(ball, {}, ball, far), Error);
  EXPECT_THROW(collide(ball, {}, ball, {}, {.method = static_cast<Method>(77)}), Error);
}

std::vector<AnalyticSolid> bounded_solids() {
  const Pose turned{.rotation = normalized(Quat{0.8, 0.1, -0.5, 0.3}), .translation = {0.1, 0, 0}};
  const AnalyticSolid plate =
      Difference{BoxField{.half_size = {0.5, 0.1, 0.4}}, CylinderField{.radius = 0.2, .height = 1}};
  return {SphereField{{0.2, 0, 0.1}, 0.4},
          BoxField{{0.1, 0.2, 0}, {0.5, 0.2, 0.3}},
          CapsuleField{{-0.3, 0.2, 0.1}, {0.4, -0.2, 0.3}, 0.15},
          CapsuleField{{0, 0, 0}, {0, 0, 0}, 0.2},
          CylinderField{{0, 0.1, 0}, 0.3, 0.7},
          ConeField{{0.1, 0, 0}, 0.4, 0.9},
          TorusField{{0, 0.1, 0}, 0.4, 0.12},
          plate,
          Union{BoxField{}, BoxField{.center = {1, 0.1, 0}}},  // they share a part of a face
          place(Union{plate, ConeField{{0, 0.4, 0}, 0.2, 0.6}}, turned, 0.7),
          Offset{Intersection{BoxField{}, SphereField{.radius = 0.6}}, 0.05}};
}

// Random points of the formula's surface, found along random lines.
TEST(Shape, PointsOfSolidsLieOnTheFormulaAndCoverIt) {
  Random random(71);
  for (const AnalyticSolid& solid : bounded_solids()) {
    const double size = length(extent(solid.body()));
    const Shape shape = Shape::from_analytic(solid, {.spacing = 0.03 * size});
    const PointSphereTree& tree = shape.points();
    EXPECT_LT(tree.covering_radius(), 0.05 * size);
    for (std::uint32_t i = 0; i < tree.point_count(); ++i)
      ASSERT_NEAR(solid.value(to_double(tree.point(i))), 0, 2e-6 * size);
    const Vec3 around = extent(solid.body()) * 0.2;
    const Aabb room{solid.body().lower - around, solid.body().upper + around};
    int found = 0;
    double furthest = 0;
    const int wanted = unless_slow(300, 60);
    for (int trial = 0; trial < 40'000 && found < wanted; ++trial) {
      Vec3 in = random.in_box(room.lower, room.upper), out = random.in_box(room.lower, room.upper);
      if (!(solid.value(in) < 0 && solid.value(out) > 0)) continue;
      for (int i = 0; i < 60; ++i) {
        const Vec3 middle = (in + out) * 0.5;
        (solid.value(middle) < 0 ? in : out) = middle;
      }
      double nearest_sq = 1e30;
      for (std::uint32_t i = 0; i < tree.point_count(); ++i)
        nearest_sq = std::min(nearest_sq, length_sq(to_double(tree.point(i)) - in));
      furthest = std::max(furthest, std::sqrt(nearest_sq));
      ++found;
    }
    EXPECT_EQ(found, wanted);
    EXPECT_LE(furthest, tree.covering_radius());
    EXPECT_GT(furthest, 0.3 * tree.covering_radius());
  }
}

TEST(Shape, GroundMeetsMeshes) {
  const Shape gear =
      Shape::from_mesh(make_shape("gear", {}), {.field = {.resolution = 48}, .points = 1500});
  const Shape ground = Shape::from_analytic(PlaneField{});
  Random random(72);
  CollideScratch state;
  int touching = 0, apart = 0;
  for (int i = 0; i < 300; ++i) {
    const Pose pose = random_pose(random, 0.6);
    double lowest = 1e30;
    for (std::uint32_t p = 0; p < gear.tree()->point_count(); ++p)
      lowest = std::min(lowest, transform_point(pose, to_double(gear.tree()->point(p))).y);
    const CollideResult& r = collide(gear, pose, ground, {},
                                     {.accuracy = Accuracy::kField, .want_distance = true}, state);
    ASSERT_NEAR(r.distance, lowest, 1e-6);
    ASSERT_EQ(r.status == CollideStatus::kContact, lowest <= 0);
    ASSERT_EQ(r.blind_depth, gear.tree()->covering_radius());
    if (lowest <= 0) {
      ASSERT_NEAR(r.contacts[0].normal.y, 1, 1e-6);
      ASSERT_NEAR(r.contacts[0].depth, -lowest, 1e-6);
    }
    const DistanceResult d = distance(ground, {}, gear, pose);
    ASSERT_EQ(d.status, DistanceStatus::kDone);
    ASSERT_NEAR(d.distance, lowest, 1e-4 + 1e-6);
    ASSERT_LE(d.lower_bound, lowest + 1e-9);
    (lowest <= 0 ? touching : apart) += 1;
  }
  EXPECT_GT(touching, 60);
  EXPECT_GT(apart, 60);
}

TEST(Shape, TwoWithoutEndAreRefused) {
  const Shape ground = Shape::from_analytic(PlaneField{});
  EXPECT_THROW(collide(ground, {}, ground, {}), Error);
  EXPECT_THROW(distance(ground, {}, ground, {}), Error);
}

// However many ask at once, also from within the library's own loops: it is made once.
TEST(Shape, IntersectionFieldsTakeShapes) {
  const Shape shapes[] = {Shape::from_mesh(make_shape("torus"), {.field = {.resolution = 32}}),
                          Shape::from_analytic(SphereField{.radius = 0.1}),
                          Shape::from_analytic(PlaneField{})};
  const IdfBody bodies[] = {
      {.shape = 0}, {.shape = 1, .world_from_body = {.translation = {0.05, 0, 0}}}, {.shape = 2}};
  const IdfPair pairs[] = {{0, 1}, {0, 2}, {1, 2}};
  IdfResult of_shapes, of_views;
  IdfScratch a, b;
  intersect_fields(shapes, bodies, pairs, {.max_contacts = 4}, of_shapes, a);
  intersect_fields(intersection_shapes(shapes), bodies, pairs, {.max_contacts = 4}, of_views, b);
  ASSERT_GT(of_shapes.contacts.size(), 4U);
  ASSERT_EQ(of_shapes.contacts.size(), of_views.contacts.size());
  for (std::size_t i = 0; i < of_shapes.contacts.size(); ++i)
    EXPECT_EQ(of_shapes.contacts[i].position, of_views.contacts[i].position);
}

// A mesh alone gets what from_mesh makes, when a query first needs it.
TEST(Shape, AMeshAloneMakesItsParts) {
  const auto mesh = std::make_shared<const TriangleMesh>(make_shape("torus"));
  const ShapeSettings settings{.field = {.resolution = 40}};
  const Shape whole = Shape::from_mesh(*mesh, settings);
  const Shape bare = Shape::from_parts(ShapeParts{.mesh = mesh}, settings);
  EXPECT_TRUE(bare.can_have_field() && bare.can_have_points());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      if (i % 2 == 0)
        bare.points();
      else
        bare.brick_field();
    });
  for (std::thread& t : threads) t.join();
  const auto same = [](std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::ranges::equal(a, b);
  };
  EXPECT_TRUE(same(bare.brick_field().buffer(), whole.brick_field().buffer()));
  EXPECT_TRUE(same(bare.points().buffer(), whole.points().buffer()));
  // With the field given, points lie on the triangles and not on the field's surface.
  const Shape given =
      Shape::from_parts(ShapeParts{.field = whole.brick_field(), .mesh = mesh}, settings);
  EXPECT_TRUE(same(given.points().buffer(), whole.points().buffer()));
  for (const Method method :
       {Method::kPoints, Method::kSwept, Method::kIntersectionField, Method::kDepthMap}) {
    const Pose apart{.translation = {0.02, 0.01, 0}};
    EXPECT_EQ(collide(bare, {}, bare, apart, {.method = method}).contacts.size(),
              collide(whole, {}, whole, apart, {.method = method}).contacts.size());
  }
  EXPECT_THROW(Shape::from_parts(ShapeParts{.mesh = std::make_shared<const TriangleMesh>()}),
               Error);
}

TEST(Shape, PartsAreMadeOnce) {
  const Shape ball = Shape::from_analytic(SphereField{}, {.spacing = 0.05});
  const Shape box = Shape::from_analytic(BoxField{}, {.spacing = 0.05});
  std::vector<const void*> seen(32);
  parallel_for(seen.size(), 1, {8}, [&](std::size_t begin, std::size_t) {
    const Shape& shape = begin % 2 == 0 ? ball : box;
    seen[begin] = begin % 4 < 2 ? static_cast<const void*>(&shape.points())
                                : static_cast<const void*>(shape.shell_target(0.01).get());
    if (begin % 8 == 0) (void)shape.brick_field();
  });
  for (std::size_t i = 4; i < seen.size(); ++i) ASSERT_EQ(seen[i], seen[i % 4]);
}

}  // namespace
}  // namespace isotact
