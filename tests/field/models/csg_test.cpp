#include "isotact/field/models/csg.h"

#include <gtest/gtest.h>

#include "isotact/field/any_field.h"
#include "isotact/field/models/dense_grid.h"

#include "field/field_checks.h"
#include "field/models/sphere_csg_oracle.h"

namespace isotact {
namespace {

const SphereField kBall{.center = {0.1, 0, 0}, .radius = 0.8};
const BoxField kBlock{.center = {-0.4, 0.3, 0.2}, .half_size = {0.5, 0.7, 0.4}};
const TorusField kRing{.radius = 0.9, .tube_radius = 0.3};
const Pose kPose{.rotation = normalized(Quat{0.8, 0.1, -0.5, 0.3}),
                 .translation = {0.2, -0.3, 0.1}};

static_assert(Field<Union<SphereField, BoxField>>);
static_assert(Field<Intersection<SphereField, BoxField>>);
static_assert(Field<Difference<SphereField, AnyField>>);
static_assert(Field<Offset<DenseGrid>>);
static_assert(Field<Placed<Offset<TorusField>>>);
static_assert(kIsConvex<Placed<Intersection<SphereField, BoxField>>>);
static_assert(!kIsConvex<Intersection<SphereField, TorusField>>);

DenseGrid sampled_ring() {
  return sample_on_lattice(kRing,
                           {.origin = {-1.5, -0.6, -1.5}, .spacing = 0.1, .cells = {30, 12, 30}},
                           {.holds_body = true});
}

TEST(Csg, KeepsTheContract) {
  const CheckSettings loose{.range_is_exact = false};
  check_field(Union{kBall, kBlock}, loose);
  check_field(Intersection{kBall, kBlock}, loose);
  check_field(Difference{kBall, kBlock}, loose);
  check_field(Offset{kBlock, 0.2});
  check_field(Offset{kRing, -0.1});
  check_field(place(kBlock, kPose, 1.7), loose);
  check_field(place(Difference{Union{kBall, kRing}, Offset{kBlock, 0.1}}, kPose, 0.6), loose);
}

TEST(Csg, KeepsTheContractWithSampledParts) {
  const CheckSettings sampled{.step = 1e-4,
                              .tolerance = 1e-2,
                              .smooth_share = 0.9,
                              .rounding = 1e-7,
                              .range_is_exact = false};
  const DenseGrid ring = sampled_ring();
  check_field(Union{ring, kBlock}, sampled);
  check_field(Difference{kBall, ring}, sampled);
  check_field(place(Intersection{ring, kBall}, kPose, 1.3), sampled);
  check_field(AnyField{Offset{ring, 0.05}}, sampled);
}

struct Tally {
  int cases = 0, one_sided = 0, inexact = 0, inside = 0;
};

void expect_holds(const Interval& bounds, double truth, double value, Tally& tally) {
  ASSERT_LE(bounds.lower, truth);
  ASSERT_GE(bounds.upper, truth);
  const bool finite = std::isfinite(bounds.lower) && std::isfinite(bounds.upper);
  if (finite) {
    ASSERT_NEAR(value, truth, 1e-12);  // where both ends are known, they are the value
  }
  ++tally.cases;
  tally.one_sided += finite ? 0 : 1;
  tally.inexact += std::abs(value - truth) > 1e-9 ? 1 : 0;
  tally.inside += truth < 0 ? 1 : 0;
}

void expect_worthwhile(const Tally& tally) {
  EXPECT_GT(tally.cases, 5000);
  EXPECT_GT(tally.inside, tally.cases / 20);
  EXPECT_GT(tally.inexact, tally.cases / 50);
  EXPECT_GE(tally.one_sided, tally.inexact);
  EXPECT_LT(tally.one_sided, tally.cases * 9 / 10);
}

struct SpherePair {
  SphereField a, b;
};
SpherePair random_pair(Random& random) {
  return {.a = {.center = random.in_unit_ball(), .radius = random.uniform(0.2, 1)},
          .b = {.center = random.in_unit_ball(), .radius = random.uniform(0.2, 1)}};
}

TEST(Csg, BoundsHoldTheTrueDistanceOfSpheres) {
  Tally tallies[3];
  Random random(41);
  for (int i = 0; i < 300; ++i) {
    const SpherePair pair = random_pair(random);
    const SphereField &a = pair.a, &b = pair.b;
    for (int j = 0; j < 30; ++j) {
      const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2}) * random.uniform();
      const auto check = [&](SphereCsg kind, const auto& field) {
        if (const auto truth = true_distance(kind, a, b, p))
          expect_holds(field.distance_bounds(p), *truth, field.value(p),
                       tallies[static_cast<int>(kind)]);
      };
      check(SphereCsg::kUnion, Union{a, b});
      check(SphereCsg::kIntersection, Intersection{a, b});
      check(SphereCsg::kDifference, Difference{a, b});
    }
  }
  for (const Tally& tally : tallies) expect_worthwhile(tally);
}

// A union grown is the union of the grown spheres; an intersection shrunk, of the shrunk ones.
TEST(Csg, BoundsHoldTheTrueDistanceOfOffsets) {
  Tally grown, shrunk;
  Random random(42);
  for (int i = 0; i < 400; ++i) {
    const SpherePair pair = random_pair(random);
    const SphereField &a = pair.a, &b = pair.b;
    const double r = random.uniform(0.05, 0.4);
    for (int j = 0; j < 30; ++j) {
      const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2}) * random.uniform();
      const auto resized = [](SphereField s, double by) {
        s.radius += by;
        return s;
      };
      const Offset more{Union{a, b}, r};
      if (const auto truth = true_distance(SphereCsg::kUnion, resized(a, r), resized(b, r), p))
        expect_holds(more.distance_bounds(p), *truth, more.value(p), grown);
      if (a.radius <= r || b.radius <= r) continue;
      const Offset less{Intersection{a, b}, -r};
      if (const auto truth =
              true_distance(SphereCsg::kIntersection, resized(a, -r), resized(b, -r), p))
        expect_holds(less.distance_bounds(p), *truth, less.value(p), shrunk);
    }
  }
  EXPECT_GT(grown.cases, 5000);
  EXPECT_GT(grown.inexact, grown.cases / 50);
  EXPECT_GT(shrunk.cases, 1000);
  EXPECT_GT(shrunk.inexact, shrunk.cases / 50);
}

TEST(Csg, GrowingConvexBodiesIsExactInsideToo) {
  Random random(43);
  const CapsuleField pill{.a = {-0.3, 0, 0}, .b = {0.5, 0.2, 0}, .radius = 0.2};
  CapsuleField thick = pill;
  thick.radius += 0.3;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.in_box({-1, -1, -1}, {1, 1, 1});
    const Interval d = place(Offset{place(pill, {}), 0.3}, {}).distance_bounds(p);
    ASSERT_TRUE(contains(d, thick.value(p)));
    ASSERT_LT(d.upper - d.lower, 1e-13);
  }
}

// Two half-spaces with a common plane fill all of space, which has no surface: zero is no distance
// there, nor is any other number.
TEST(Csg, HalvesThatShareAFaceHaveNoSurface) {
  const Union all{PlaneField{}, PlaneField{.normal = {0, -1, 0}}};
  for (const double y : {-1.0, -1e-9, 0.0, 0.5})
    EXPECT_EQ(all.distance_bounds({0, y, 0}).lower, -std::numeric_limits<double>::infinity());
}

TEST(Csg, PlacedIsTheShapeMovedByHand) {
  const auto moved = place(SphereField{.center = {1, 0, 0}, .radius = 0.5},
                           {.rotation = {0, 0, 1, 0}, .translation = {0, 1, 0}}, 2);
  const SphereField by_hand{.center = {-2, 1, 0}, .radius = 1};
  Random random(44);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.in_box({-3, -3, -3}, {3, 3, 3});
    ASSERT_NEAR(moved.value(p), by_hand.value(p), 1e-12);
    ASSERT_LT(length(moved.sample(p).gradient - by_hand.sample(p).gradient), 1e-12);
    ASSERT_TRUE(contains(moved.distance_bounds(p), by_hand.value(p)));
  }
}

TEST(Csg, PlaceRefusesWhatIsNoPose) {
  EXPECT_THROW(place(kBall, {.rotation = {1, 1, 0, 0}}), Error);
  EXPECT_THROW(place(kBall, {.translation = {std::nan(""), 0, 0}}), Error);
  EXPECT_THROW(place(kBall, {}, 0), Error);
  EXPECT_THROW(place(kBall, {}, -1), Error);
}

TEST(Csg, BoundsFollowTheBodies) {
  const DenseGrid ring = sampled_ring();
  EXPECT_EQ((Union{ring, kBall}.bounds()), all_of_space());
  EXPECT_EQ((Intersection{ring, kBall}.bounds()), ring.bounds());
  EXPECT_EQ((Difference{ring, kBall}.bounds()), ring.bounds());
  const auto far = place(ring, {.translation = {9, 0, 0}});
  EXPECT_TRUE(is_empty(Intersection{ring, far}.bounds()));
  EXPECT_TRUE(is_empty(place(Intersection{ring, far}, {}).bounds()));
  EXPECT_NEAR(far.bounds().upper.x, 10.5, 1e-12);
}

TEST(Csg, ProjectsOntoTheSurface) {
  Random random(45);
  const auto shape = place(kRing, kPose, 1.4);
  const DenseGrid grid = sampled_ring();
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.in_box({-1.2, -0.5, -1.2}, {1.2, 0.5, 1.2});
    ASSERT_NEAR(shape.value(project_onto_surface(shape, p)), 0, 1e-12);
    if (std::abs(kRing.value(p)) > 0.15) continue;  // the tube's middle is a crease
    Vec3 q = p;
    for (int step = 0; step < 10; ++step) q = project_onto_surface(grid, q);
    ASSERT_NEAR(grid.value(q), 0, 1e-4);
  }
}

TEST(AnyField, GivesTheSameBitsAsWhatItHolds) {
  const auto body = Difference{Union{kBall, kRing}, place(kBlock, kPose, 0.8)};
  AnyField tree = AnyField{Union{AnyField{kBall}, AnyField{kRing}}};
  tree = AnyField{Difference{tree, AnyField{place(AnyField{kBlock}, kPose, 0.8)}}};
  Random random(46);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2});
    ASSERT_EQ(tree.value(p), body.value(p));
    ASSERT_EQ(tree.sample(p).gradient, body.sample(p).gradient);
    ASSERT_EQ(tree.distance_bounds(p), body.distance_bounds(p));
    ASSERT_EQ(tree.range({p, p + Vec3{0.3, 0.2, 0.1}}), body.range({p, p + Vec3{0.3, 0.2, 0.1}}));
  }
  EXPECT_EQ(tree.lipschitz(), 1);
  EXPECT_EQ(tree.bounds(), all_of_space());
}

}  // namespace
}  // namespace isotact
