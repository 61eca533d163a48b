// Two bodies at rest, both ways.
#include "isotact/queries/collide.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/allocation_count.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

const Shape& gear() {
  static const Shape shape =
      Shape::from_mesh(make_shape("gear", {}), {.field = {.resolution = 48}, .points = 1500});
  return shape;
}
const Shape& knot() {
  static const Shape shape =
      Shape::from_mesh(make_shape("knot", {}), {.field = {.resolution = 48}, .points = 1500});
  return shape;
}

TEST(Collide, ForceIsTheSameForBothBodies) {
  Random random(81);
  CollideScratch one, other;
  int touching = 0;
  for (int i = 0; i < unless_slow(200, 40); ++i) {
    const Pose a = random_pose(random, 0.3), b = random_pose(random, 0.3);
    const CollideRequest request{.want_force = true};
    const CollideResult& ab = collide(gear(), a, knot(), b, request, one);
    const CollideResult& ba = collide(knot(), b, gear(), a, request, other);
    const double scale = 1 + length(ab.force);
    ASSERT_EQ(ab.status, ba.status);
    ASSERT_EQ(ab.touching_points, ba.touching_points);
    ASSERT_NEAR(length(ab.force + ba.force), 0, 1e-9 * scale);
    const Vec3 about_b = ab.torque - cross(b.translation - a.translation, ab.force);
    ASSERT_NEAR(length(about_b + ba.torque), 0, 1e-9 * scale);
    ASSERT_NEAR(ab.area, ba.area, 1e-12);
    if (ab.contacts.empty()) continue;
    ++touching;
    // If no sample is inside, the triangles that touch lead to the contact: others for other roles.
    if (ab.touching_points > 0)
      ASSERT_EQ(ab.contacts[0].depth, ba.contacts[0].depth);
    else
      ASSERT_NEAR(ab.contacts[0].depth, ba.contacts[0].depth, 1e-12);
    ASSERT_NEAR(length(ab.contacts[0].normal + ba.contacts[0].normal), 0, 1e-9);
    ASSERT_NEAR(length(ab.contacts[0].point_on_a - ba.contacts[0].point_on_b), 0, 1e-9);
  }
  EXPECT_GT(touching, unless_slow(80, 15));
}

// A way alone misses it: the points of what encloses are all outside.
TEST(Collide, ContainmentIsContact) {
  const Shape large = Shape::from_mesh(make_sphere({.radius = 0.5, .frequency = 8}),
                                       {.field = {.resolution = 32}, .points = 100});
  const Shape small = Shape::from_mesh(make_sphere({.radius = 0.05, .frequency = 8}),
                                       {.field = {.resolution = 32}, .points = 100});
  const Pose inside{.translation = {0.1, 0.05, 0}};
  for (const bool swapped : {false, true}) {
    const Shape &a = swapped ? small : large, &b = swapped ? large : small;
    const CollideResult both = collide(a, swapped ? inside : Pose{}, b, swapped ? Pose{} : inside);
    EXPECT_EQ(both.status, CollideStatus::kContact);
    EXPECT_EQ(both.touching_points, small.tree()->point_count());
    EXPECT_NEAR(both.contacts[0].depth, 0.5 - 0.112 + 0.05, 0.02);
  }
  const CollideResult blind =
      collide(large, {}, small, inside, {.accuracy = Accuracy::kField, .roles = Roles::kPointsOfA});
  EXPECT_EQ(blind.status, CollideStatus::kFree);
  // The triangles see it with any role, level and budget of nodes.
  for (const CollideRequest& request :
       {CollideRequest{.roles = Roles::kPointsOfA}, CollideRequest{.level = 0},
        CollideRequest{.max_nodes = 1}}) {
    const CollideResult seen = collide(large, {}, small, inside, request);
    EXPECT_TRUE(seen.exact && seen.contained && seen.status == CollideStatus::kContact);
  }
}

TEST(Collide, BudgetsNeverSayFreeOfWhatTouches) {
  Random random(82);
  CollideScratch full_state, cut_state;
  int gave_up = 0, cut = 0, free = 0;
  const int count = unless_slow(600, 80);
  for (int i = 0; i < count; ++i) {
    const Pose pose = random_pose(random, 0.6);
    const CollideResult& full = collide(gear(), pose, knot(), {}, {.want_force = true}, full_state);
    CollideRequest request{.want_force = true};
    if (i % 2 == 0)
      request.max_nodes = 1 + random.below(300);
    else
      request.max_microseconds = random.uniform(1e-3, 5);
    const CollideResult& part = collide(gear(), pose, knot(), {}, request, cut_state);
    ASSERT_LE(part.lower_bound, std::min(full.distance, 0.0) + 1e-6);
    ASSERT_TRUE(!part.complete || part.status == full.status);
    ASSERT_TRUE(part.status == CollideStatus::kGaveUp || part.status == full.status);
    gave_up += part.status == CollideStatus::kGaveUp ? 1 : 0;
    cut += part.complete ? 0 : 1;
    free += part.status == CollideStatus::kFree ? 1 : 0;
  }
  EXPECT_GT(gave_up, count / 20);
  EXPECT_GT(cut, count / 4);
  EXPECT_GT(free, count / 20);
}

TEST(Collide, TakesVoxelmaps) {
  const TriangleMesh mesh = make_shape("knot", {});
  const double voxel = 0.02;
  const Lattice lattice = voxmap_lattice(to_double(bounds(mesh)), voxel);
  Random random(83);
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    const Shape map = Shape::from_parts(std::nullopt, knot().tree(),
                                        build_voxmap(mesh, lattice, {.encoding = encoding}).voxmap);
    CollideScratch state, other;
    int touching = 0;
    for (int i = 0; i < unless_slow(60, 20); ++i) {
      const Pose pose = random_pose(random, 0.3);
      const CollideRequest request{.roles = Roles::kPointsOfA, .want_force = true};
      const CollideResult& by_map = collide(gear(), pose, map, {}, request, state);
      const CollideResult& by_field = collide(gear(), pose, knot(), {}, request, other);
      if (by_field.status == CollideStatus::kContact && by_field.distance < -2 * voxel) {
        ASSERT_EQ(by_map.status, CollideStatus::kContact);
        EXPECT_NEAR(by_map.distance, by_field.distance, 3 * voxel);
        ++touching;
      }
      // The other way there is nothing to hold points against but the gear's field.
      const CollideResult& both = collide(gear(), pose, map, {}, {}, state);
      EXPECT_GE(both.touching_points, by_map.touching_points);
    }
    EXPECT_GT(touching, unless_slow(8, 2));
  }
}

TEST(Collide, RefusesWhatItCannotAnswer) {
  const Shape points = Shape::from_parts(std::nullopt, gear().tree());
  const Shape field = Shape::from_parts(gear().field(), std::nullopt);
  EXPECT_THROW(collide(points, {}, points, {}), Error);
  EXPECT_NO_THROW(collide(field, {}, field, {}));  // points are made of the field
  EXPECT_THROW(collide(points, {}, field, {}, {.roles = Roles::kPointsOfB}), Error);
  EXPECT_NO_THROW(collide(points, {}, field, {}));
  EXPECT_THROW(collide(gear(), {}, knot(), {}, {.max_contacts = 5}), Error);
  EXPECT_THROW(collide(gear(), {}, knot(), {}, {.patches = 0}), Error);
  EXPECT_THROW(collide(gear(), {}, knot(), {}, {.margin = std::nan("")}), Error);
}

// Apart, and inside of the field's box: the two searches agree. Further away collide's is a lower
// bound.
TEST(Collide, DistanceApartIsThatOfTheClosestApproach) {
  const Shape ball = Shape::from_parts(
      std::nullopt,
      build_point_sphere_tree(sample_by_repulsion(make_sphere({.radius = 0.05, .frequency = 8}),
                                                  {.count = 300, .rounds = 2})));
  const TriangleMesh mesh = make_shape("knot", {});
  constexpr double kCell = 0.02;
  const Shape body = Shape::from_parts(
      build_field(mesh, {.voxel_size = kCell, .padding = 20}).field, std::nullopt);
  const BrickField& field = *body.field();
  const double tolerance = 0.1 * kCell + static_cast<double>(field.header().far_error);
  Random random(84);
  CollideScratch state;
  int near = 0, apart = 0;
  for (int i = 0; i < unless_slow(300, 60); ++i) {
    const Pose pose = random_pose(random, 0.9);
    const CollideResult& quick = collide(ball, pose, body, {}, {.want_distance = true}, state);
    if (quick.status == CollideStatus::kContact) continue;
    ++apart;
    const DistanceResult exact = distance(ball, pose, body, {});
    ASSERT_LE(quick.distance, exact.distance + tolerance);  // which lies within its bounds
    ASSERT_EQ(quick.lower_bound, quick.distance);
    if (exact.distance > 0.2) continue;
    ASSERT_NEAR(quick.distance, exact.distance, tolerance);
    ++near;
  }
  EXPECT_GT(near, unless_slow(60, 10));
  EXPECT_GT(apart, unless_slow(150, 25));
}

// The search for the deepest point keeps its memory once it has some: it has to be warm.
TEST(Collide, DoesNotAllocate) {
  for (const bool coherent : {false, true})
    for (const std::uint32_t patches : {1U, 15U})
      for (const double budget : {0.0, 20.0})
        for (const bool want_distance : {false, true}) {
          CollideScratch state;
          state.set_coherent(coherent);
          const CollideRequest request{.patches = patches,
                                       .max_microseconds = budget,
                                       .want_distance = want_distance,
                                       .want_force = true};
          std::uint64_t touching = 0;
          const auto approach = [&] {
            for (int i = 0; i < 100; ++i)
              touching +=
                  collide(gear(), {.translation = {1 - 0.01 * i, 0, 0}}, knot(), {}, request, state)
                      .touching_points;
          };
          // Apart, so that nothing that it finds has made room for what it will find.
          collide(gear(), {.translation = {5, 0, 0}}, knot(), {}, request, state);
          if (want_distance) approach();
          touching = 0;
          const std::size_t before = allocation_count();
          approach();
          EXPECT_EQ(allocation_count() - before, 0U)
              << "coherent " << coherent << ", patches " << patches << ", budget " << budget;
          // Sanitizers find little within a budget of time.
          EXPECT_GE(touching, kSlowBuild && budget > 0 ? 0U : 1001U);
        }
}

// A level that saw no point inside said that the bodies were free.
TEST(Collide, LevelsNeverSayFreeOfWhatTouches) {
  const Shape ball = Shape::from_mesh(make_sphere({.radius = 0.5, .frequency = 8}),
                                      {.field = {.resolution = 32}, .points = 500});
  Random random(90);
  int gave_up = 0;
  for (int i = 0; i < 60; ++i) {
    const Pose at{random.rotation(), random.unit_vector() * random.uniform(0.85, 1.05)};
    const CollideResult all = collide(ball, at, ball, {});
    for (int level = 0; level < ball.tree()->level_count(); ++level) {
      const CollideResult part =
          collide(ball, at, ball, {},
                  {.accuracy = Accuracy::kField, .level = level, .want_distance = true});
      const CollideResult exact = collide(ball, at, ball, {}, {.level = level});
      EXPECT_TRUE(exact.exact && exact.status == all.status);
      EXPECT_FALSE(all.status == CollideStatus::kContact && part.status == CollideStatus::kFree);
      if (part.status == CollideStatus::kGaveUp) {
        ++gave_up;
        EXPECT_GT(part.blind_depth, all.blind_depth);
      }
    }
  }
  EXPECT_GT(gave_up, 20);
}

// Points of an edge lie over the corner at its end, seen along the normal. One of them was taken
// for the corner.
TEST(Collide, ABoxThatLiesFlatHasItsCorners) {
  const Shape ground = Shape::from_analytic(PlaneField{});
  Random random(56);
  for (int i = 0; i < unless_slow(200, 30); ++i) {
    const Vec3 half{random.uniform(0.2, 1), random.uniform(0.2, 1), random.uniform(0.2, 1)};
    const Shape box = Shape::from_analytic(BoxField{.half_size = half});
    const double depth = 0.2 * half.y * random.uniform(0.1, 1);
    const CollideResult r =
        collide(box, {.translation = {0, half.y - depth, 0}}, ground, {}, {.max_contacts = 4});
    ASSERT_EQ(r.contacts.size(), 4U);
    for (const Contact& c : r.contacts) {
      ASSERT_NEAR(c.depth, depth, 1e-6);
      ASSERT_NEAR(std::abs(c.point_on_a.x), half.x, 1e-6);
      ASSERT_NEAR(std::abs(c.point_on_a.z), half.z, 1e-6);
    }
  }
}

// Coarse points and fields beside exact distances: verdicts are those of the triangles.
TEST(Collide, TrianglesDecide) {
  const ShapeSettings coarse{.field = {.resolution = 16}, .points = 60};
  const Shape shapes[] = {Shape::from_mesh(make_shape("gear", {{"module", 0.03}}), coarse),
                          Shape::from_mesh(make_knot({.segments = 96, .tube_segments = 8}), coarse),
                          Shape::from_mesh(make_box({.size_y = 0.02}), coarse),
                          Shape::from_analytic(SphereField{.radius = 0.3}),
                          Shape::from_analytic(PlaneField{{0, 1, 0}, -0.4})};
  Random random(55);
  CollideScratch scratch;
  int contacts = 0, free = 0, corrected = 0;
  for (int i = 0; i < unless_slow(3000, 200); ++i) {
    SCOPED_TRACE(i);
    const std::size_t k = random.next_u32() % 4, l = random.next_u32() % 5;
    const Pose of_a = random_pose(random, 0.5), of_b = random_pose(random, 0.5);
    const double margin = i % 3 == 0 ? 0.02 : 0;
    const DistanceResult d = distance(shapes[k], of_a, shapes[l], of_b, {.want_depth = false});
    if (!d.exact && !d.touching && !d.contained) continue;
    const CollideResult& r = collide(shapes[k], of_a, shapes[l], of_b, {.margin = margin}, scratch);
    ASSERT_TRUE(r.exact);
    ASSERT_EQ(r.blind_depth, 0);
    const bool touch = d.touching || d.contained || d.distance <= margin;
    ASSERT_EQ(r.status, touch ? CollideStatus::kContact : CollideStatus::kFree);
    ASSERT_EQ(r.contacts.empty(), !touch);
    ASSERT_EQ(r.first_contact.back(), r.contacts.size());
    ++(touch ? contacts : free);
    const CollideResult by_field =
        collide(shapes[k], of_a, shapes[l], of_b,
                {.accuracy = Accuracy::kField, .margin = margin, .only_points = true});
    ASSERT_FALSE(by_field.exact);
    if (by_field.status != r.status) ++corrected;
  }
  EXPECT_GT(contacts, unless_slow(500, 30));
  EXPECT_GT(free, unless_slow(300, 20));
  EXPECT_GT(corrected, unless_slow(20, 1));
}

// What a field is certain of holds for the triangles, and the distance is in the band that it
// leaves.
TEST(Collide, FieldsSayWhatIsCertain) {
  const ShapeSettings settings{.field = {.resolution = 48}, .points = 2000};
  const Shape shapes[] = {
      Shape::from_mesh(make_shape("gear", {{"module", 0.03}}), settings),
      Shape::from_mesh(make_knot({.segments = 96, .tube_segments = 8}), settings),
      Shape::from_mesh(make_box({.size_y = 0.2}), settings),
      Shape::from_mesh(make_sphere({.radius = 0.05, .frequency = 4}), settings)};
  Random random(test_seed(57));
  CollideScratch scratch;
  int counts[4] = {};
  for (int i = 0; i < test_cases(unless_slow(1500, 100)); ++i) {
    SCOPED_TRACE(i);
    const std::size_t k = random.next_u32() % 4, l = random.next_u32() % 4;
    const Pose of_a = random_pose(random, 0.7), of_b = random_pose(random, 0.7);
    const double margin = i % 3 == 0 ? 0.02 : 0;
    const DistanceResult d = distance(shapes[k], of_a, shapes[l], of_b);
    ASSERT_TRUE(d.exact);
    const CollideResult& r = collide(shapes[k], of_a, shapes[l], of_b,
                                     {.accuracy = Accuracy::kField, .margin = margin}, scratch);
    ASSERT_FALSE(r.exact);
    ++counts[static_cast<int>(r.status)];
    ASSERT_LE(r.least_distance, d.distance + 1e-6);
    ASSERT_GE(r.most_distance, d.distance - 1e-6);
    if (r.status == CollideStatus::kFree) {
      ASSERT_GT(d.distance, margin);
    } else if (r.status == CollideStatus::kContact) {
      ASSERT_LE(d.distance, margin);
      ASSERT_FALSE(r.contacts.empty());
    } else {
      ASSERT_EQ(r.status, CollideStatus::kUncertain);
      ASSERT_TRUE(r.least_distance <= margin && r.most_distance > margin);
    }
  }
  EXPECT_GT(counts[static_cast<int>(CollideStatus::kFree)], unless_slow(300, 15));
  EXPECT_GT(counts[static_cast<int>(CollideStatus::kContact)], unless_slow(300, 15));
  EXPECT_GT(counts[static_cast<int>(CollideStatus::kUncertain)], unless_slow(50, 2));
  EXPECT_THROW(collide(shapes[0], {}, shapes[1], {}, {.only_points = true}), Error);
}

TEST(Collide, LimitsOfExactVerdictsLeaveBounds) {
  const ShapeSettings coarse{.field = {.resolution = 16}, .points = 60};
  const Shape gear = Shape::from_mesh(make_shape("gear", {{"module", 0.03}}), coarse);
  const Shape knot = Shape::from_mesh(make_knot({.segments = 96, .tube_segments = 8}), coarse);
  Random random(test_seed(58));
  int gave_up = 0, decided = 0;
  for (int i = 0; i < test_cases(unless_slow(600, 60)); ++i) {
    SCOPED_TRACE(i);
    const Pose of_a = random_pose(random, 0.6), of_b = random_pose(random, 0.6);
    const double margin = i % 3 == 0 ? 0.02 : 0;
    const DistanceResult d = distance(gear, of_a, knot, of_b);
    const CollideResult whole = collide(gear, of_a, knot, of_b, {.margin = margin});
    const CollideResult cut = collide(
        gear, of_a, knot, of_b,
        {.accuracy = Accuracy::kExact, .margin = margin, .max_tests = 1 + random.below(60)});
    ASSERT_NE(whole.status, CollideStatus::kGaveUp);
    if (cut.status == CollideStatus::kGaveUp) {
      ++gave_up;
      ASSERT_FALSE(cut.exact);
      ASSERT_LE(cut.least_distance, d.distance + 1e-6);
      ASSERT_GE(cut.most_distance, d.distance - 1e-6);
      ASSERT_LE(cut.least_distance, margin);
    } else {
      ++decided;
      ASSERT_EQ(cut.status, whole.status);
    }
  }
  EXPECT_GT(gave_up, unless_slow(30, 2));
  EXPECT_GT(decided, unless_slow(100, 10));
  EXPECT_THROW(collide(gear, {}, knot, {}, {.accuracy = Accuracy::kField, .max_tests = 9}), Error);
}

TEST(Collide, ExactVerdictsAreRefusedWhereTheyCannotBe) {
  const Shape box = Shape::from_analytic(BoxField{});
  const Shape cut =
      Shape::from_analytic(Intersection{AnalyticSolid(BoxField{}), AnalyticSolid(SphereField{})});
  const Accuracy exact = Accuracy::kExact;
  EXPECT_THROW(collide(box, {}, cut, {}, {.accuracy = exact}), Error);
  EXPECT_THROW(collide(box, {}, box, {}, {.accuracy = exact, .margin = -0.1}), Error);
  EXPECT_THROW(collide(box, {}, box, {}, {.accuracy = exact, .max_microseconds = 9}), Error);
  EXPECT_TRUE(collide(box, {}, box, {}, {.accuracy = exact, .level = 2}).exact);
  EXPECT_THROW(collide(box, {}, box, {}, {.accuracy = exact, .method = Method::kDepthMap}), Error);
  EXPECT_FALSE(collide(box, {}, cut, {}).exact);
  EXPECT_FALSE(collide(box, {}, box, {}, {.margin = -0.1}).exact);
  const Pose apart{.translation = {3, 0, 0}};
  const CollideResult far = collide(box, apart, box, {}, {.want_distance = true});
  EXPECT_TRUE(far.exact && far.has_distance);
  EXPECT_NEAR(far.distance, 2, 1e-6);
}

TEST(Collide, RefusesPosesThatAreNone) {
  const Shape ball = Shape::from_mesh(make_sphere({.radius = 0.5, .frequency = 4}),
                                      {.field = {.resolution = 16}, .points = 50});
  Pose nowhere;
  nowhere.translation.x = std::nan("");
  EXPECT_THROW(collide(ball, nowhere, ball, {}), Error);
  EXPECT_THROW(collide(ball, {{2, 0, 0, 0}, {}}, ball, {}), Error);
}

// Points outside of a field's box are known to within the covering radius of its body. If the
// nearest point lay inside of the box, such points were split in time, though nothing moved, until
// four million values were looked up: seconds, for an answer that was there from the start.
TEST(Distance, PointsOutsideOfTheBoxAreLookedAtOnce) {
  const Shape body = Shape::from_mesh(make_sphere({.radius = 0.1, .frequency = 16}),
                                      {.field = {.voxel_size = 0.01}, .points = 60});
  // On a sphere that leaves the box through its sides, and not at its edges.
  const Shape around = Shape::from_parts(
      std::nullopt,
      build_point_sphere_tree(sample_by_repulsion(make_sphere({.radius = 0.2, .frequency = 16}),
                                                  {.count = 2000, .rounds = 2})));
  const DistanceResult r = distance(around, {}, body, {});
  EXPECT_EQ(r.status, DistanceStatus::kDone);
  EXPECT_NEAR(r.distance, 0.1, 2e-3);
  EXPECT_LE(r.lower_bound, r.distance);
  // The bound is one of surfaces: what lies between the points of either counts, and the error of
  // the field so far from its surface.
  EXPECT_GT(r.lower_bound, r.distance - 2 * body.tree()->covering_radius() -
                               around.tree()->covering_radius() - 2e-3);
  EXPECT_LT(r.work.values, 40000U);
  const DistanceResult cut = distance(around, {}, body, {}, {.max_values = 100});
  EXPECT_EQ(cut.status, DistanceStatus::kGaveUp);
  EXPECT_LE(cut.lower_bound, 0.1);
}

}  // namespace
}  // namespace isotact
