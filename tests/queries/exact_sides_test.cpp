// One rule of sign for fields and triangles: surfaces that face inwards, in parts or as a whole,
// and nested parts under both rules. And depths of round solids beside dense samples.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

void reverse(TriangleMesh& mesh, std::size_t from = 0) {
  for (std::size_t i = from; i < mesh.triangles.size(); ++i)
    std::swap(mesh.triangles[i][1], mesh.triangles[i][2]);
}

TriangleMesh moved(TriangleMesh mesh, const Vec3& by) {
  for (Vec3f& p : mesh.positions) p = to_float(to_double(p) + by);
  return mesh;
}

TriangleMesh joined(TriangleMesh a, const TriangleMesh& b) {
  const auto first = static_cast<std::uint32_t>(a.positions.size());
  a.positions.insert(a.positions.end(), b.positions.begin(), b.positions.end());
  for (const Triangle& t : b.triangles)
    a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return a;
}

ShapeSettings coarse(NestedRule nested = NestedRule::kWinding) {
  return {.field = {.resolution = 32, .nested = nested}, .points = 300};
}

// As `isotact build` keeps it.
Shape from_asset(const Shape& whole, const TriangleMesh& mesh, const FieldSettings& settings) {
  Asset asset;
  asset.source.settings = describe(settings);
  asset.field = whole.field();
  asset.mesh = FlatMesh::build(mesh);
  set_point_sphere_tree(asset, *whole.tree());
  return Shape::from_asset(decode_asset(encode_asset(asset), ""));
}

Vec3 random_on(const TriangleMesh& mesh, Random& random) {
  const auto c = corners(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())));
  double u = random.uniform(), v = random.uniform();
  if (u + v > 1) u = 1 - u, v = 1 - v;
  return to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
}

struct SidedCase {
  const char* name;
  TriangleMesh mesh;   // as it is given
  TriangleMesh truth;  // the same triangles, facing as they should
  NestedRule nested = NestedRule::kWinding;
  int inner = 0;  // Boxes of which an even number counts, for the other rule.
};

// Whether a point is in the body, by sums over all triangles.
bool is_in(const SidedCase& c, const Vec3& x) {
  const double winding = brute_force::compute_winding_number(c.truth, to_float(x));
  if (c.nested == NestedRule::kEvenOdd) return std::lround(winding) % 2 != 0;
  return winding > 0.5;
}

std::vector<SidedCase> sided_cases() {
  const TriangleMesh torus = make_torus({.radius = 0.3, .tube_radius = 0.12, .segments = 32});
  const TriangleMesh cube = make_box({}),
                     small = make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5});
  TriangleMesh inward = torus, hollow = joined(cube, small), cavity = small;
  reverse(inward);
  reverse(cavity);
  const TriangleMesh with_cavity = joined(cube, cavity);
  TriangleMesh turned_cavity = with_cavity;
  reverse(turned_cavity);
  const TriangleMesh pair = joined(cube, moved(make_sphere({.frequency = 4}), {1.2, 0, 0}));
  TriangleMesh half = pair;
  reverse(half, cube.triangles.size());
  const TriangleMesh crossing = joined(cube, moved(cube, {0.6, 0.1, 0.05}));
  TriangleMesh inward_crossing = crossing;
  reverse(inward_crossing);
  return {{"torus", torus, torus},
          {"torus, inward", inward, torus},
          {"two bodies, one inward", half, pair},
          {"two bodies that overlap, inward", inward_crossing, crossing},
          {"cavity", with_cavity, with_cavity},
          {"cavity, all inside out", turned_cavity, with_cavity},
          {"nested, solid", hollow, hollow},
          {"nested, even-odd", hollow, hollow, NestedRule::kEvenOdd},
          {"cavity, even-odd", with_cavity, hollow, NestedRule::kEvenOdd}};
}

TEST(ExactSides, AreThoseOfTheField) {
  Random random(test_seed(71));
  const TriangleMesh speck = make_box({.size_x = 0.002, .size_y = 0.002, .size_z = 0.002});
  const Shape small = Shape::from_mesh(speck, coarse());
  for (const SidedCase& c : sided_cases()) {
    SCOPED_TRACE(c.name);
    const ShapeSettings settings = coarse(c.nested);
    const Shape whole = Shape::from_mesh(c.mesh, settings);
    const Shape bare =
        Shape::from_parts({.mesh = std::make_shared<const TriangleMesh>(c.mesh)}, settings);
    const Shape shapes[] = {whole, from_asset(whole, c.mesh, settings.field), bare};
    const double cell = whole.cell();
    const Bvh triangles(c.mesh), speck_triangles(speck);
    int inside = 0, outside = 0;
    for (int i = 0; i < test_cases(unless_slow(400, 40)); ++i) {
      // Most are within a cell of the surface.
      const double reach = cell * (i % 4 == 0 ? 4 : 1);
      const Vec3 x = random_on(c.mesh, random) + random.unit_vector() * random.uniform(0, reach);
      const Pose pose{.translation = to_double(to_float(x))};
      if (compute_mesh_distance(triangles, speck_triangles, pose).distance < 1e-5) continue;
      const bool truth = is_in(c, pose.translation);
      ++(truth ? inside : outside);
      for (const Shape& shape : shapes) {
        const DistanceResult r = distance(small, pose, shape, {}, {.want_depth = false});
        ASSERT_EQ(r.contained, truth) << i;
        ASSERT_FALSE(r.touching) << i;
        const CollideStatus expected = truth ? CollideStatus::kContact : CollideStatus::kFree;
        ASSERT_EQ(collide(small, pose, shape, {}, {.mode = Mode::kAny}).status, expected) << i;
      }
      if (i % 20 != 0) continue;
      const CollideStatus expected = truth ? CollideStatus::kContact : CollideStatus::kFree;
      ASSERT_EQ(collide(small, pose, whole, {}).status, expected) << i;
    }
    EXPECT_GT(inside, unless_slow(80, 4));
    EXPECT_GT(outside, unless_slow(80, 4));
  }
}

// Depths do not depend on how the triangles face.
TEST(ExactSides, DepthsOfReversedMeshesAreTheSame) {
  Random random(test_seed(72));
  int deep = 0;
  for (const SidedCase& c : sided_cases()) {
    if (c.nested == NestedRule::kEvenOdd) continue;
    SCOPED_TRACE(c.name);
    const Shape given = Shape::from_mesh(c.mesh, coarse()),
                truth = Shape::from_mesh(c.truth, coarse());
    const Shape other = Shape::from_mesh(
        make_torus({.radius = 0.2, .tube_radius = 0.05, .segments = 16}), coarse());
    for (int i = 0; i < test_cases(unless_slow(20, 3)); ++i) {
      const Pose pose = random_pose(random, 0.6);
      const DistanceResult a = distance(other, pose, given, {}),
                           b = distance(other, pose, truth, {});
      ASSERT_TRUE(a.exact && b.exact);
      ASSERT_EQ(a.touching, b.touching);
      ASSERT_NEAR(a.distance, b.distance, 1e-5) << i;
      ASSERT_LE(a.lower_bound, b.distance + 1e-5);
      ASSERT_GE(a.upper_bound, b.distance - 1e-5);
      deep += a.distance < -1e-3 ? 1 : 0;
    }
  }
  EXPECT_GT(deep, unless_slow(30, 3));
}

// The field of a shell is no inside.
TEST(ExactSides, ShellsContainNothing) {
  const TriangleMesh cube = make_box({});
  const Shape shell = Shape::from_mesh(
      cube, {.field = {.resolution = 32, .sign = SignMethod::kUnsigned, .shell_offset = 0.2},
             .points = 300});
  const Shape die =
      Shape::from_mesh(make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.1}), coarse());
  for (const double x : {0.0, 0.35, 0.44}) {
    const DistanceResult r = distance(die, {.translation = {x, 0, 0}}, shell, {});
    EXPECT_FALSE(r.contained || r.touching) << x;
    EXPECT_NEAR(r.distance, 0.45 - x, 1e-6);
    EXPECT_EQ(collide(die, {.translation = {x, 0, 0}}, shell, {}).status, CollideStatus::kFree);
  }
}

// ---- round solids -------------------------------------------------------------------------------

struct Round {
  AnalyticSolid solid;
  double radius = 0, half = 0, ring = 0;  // of a capsule along y, or a torus around y

  double value(const Vec3& x) const { return solid.value(x); }
  Vec3 random_on_surface(Random& random) const {
    const Vec3 u = random.unit_vector();
    if (ring > 0) {
      const double angle = random.uniform(0, 6.283185307179586);
      const Vec3 out{std::cos(angle), 0, std::sin(angle)};
      const double around = random.uniform(0, 6.283185307179586);
      return out * (ring + radius * std::cos(around)) + Vec3{0, radius * std::sin(around), 0};
    }
    if (half > 0 && random.below(2) == 0) {
      const double across = std::sqrt(u.x * u.x + u.z * u.z);
      return {u.x * radius / across, random.uniform(-half, half), u.z * radius / across};
    }
    return u * radius + Vec3{0, u.y > 0 ? half : -half, 0};
  }
};

Round random_round(Random& random) {
  const double radius = random.uniform(0.05, 0.5), half = random.uniform(0.05, 0.6),
               ring = radius + random.uniform(0.02, 0.6);
  switch (random.below(3)) {
    case 0:
      return {SphereField{.radius = radius}, radius};
    case 1:
      return {CapsuleField{{0, -half, 0}, {0, half, 0}, radius}, radius, half};
    default:
      return {TorusField{.radius = ring, .tube_radius = radius}, radius, 0, ring};
  }
}

TEST(ExactRound, DepthsOfPairsAreThoseOfTheDeepestSample) {
  Random random(test_seed(73));
  int deep = 0, crossing = 0;
  for (int i = 0; i < test_cases(unless_slow(400, 30)); ++i) {
    SCOPED_TRACE(i);
    const Round a = random_round(random), b = random_round(random);
    const Shape of_a = Shape::from_analytic(a.solid), of_b = Shape::from_analytic(b.solid);
    Pose pose = random_pose(random, 0.5);
    if (i % 16 == 0) pose = {};  // with one middle, or one axis
    const DistanceResult r = distance(of_a, {}, of_b, pose, {.accuracy = Accuracy::kExact});
    ASSERT_TRUE(r.exact && r.status == DistanceStatus::kDone);
    ASSERT_LE(r.lower_bound, r.distance);
    ASSERT_LE(r.distance, r.upper_bound);
    ASSERT_LT(r.upper_bound - r.lower_bound, 2e-5);
    double sampled = 0;
    const int count = unless_slow(4000, 500);
    for (int k = 0; k < count; ++k) {
      sampled =
          std::max(sampled, -b.value(transform_point(inverse(pose), a.random_on_surface(random))));
      sampled = std::max(sampled, -a.value(transform_point(pose, b.random_on_surface(random))));
    }
    if (sampled == 0 && r.distance > 0) continue;
    ++deep;
    crossing += -r.distance < a.radius + b.radius - 1e-3 ? 1 : 0;
    ASSERT_GE(-r.lower_bound, sampled - 1e-6);
    ASSERT_LE(-r.distance, sampled + 0.06);
    // One witness is on each surface.
    const Vec3 &p = r.contact.point_on_a, &q = r.contact.point_on_b;
    ASSERT_NEAR(length(p - q), -r.distance, 2e-5);
    ASSERT_NEAR(a.value(p), 0, 2e-5);
    ASSERT_NEAR(b.value(transform_point(inverse(pose), q)), 0, 2e-5);
    const DistanceResult swapped = distance(of_b, pose, of_a, {});
    ASSERT_NEAR(swapped.distance, r.distance, 2e-5);
  }
  EXPECT_GT(deep, unless_slow(200, 10));
  EXPECT_GT(crossing, unless_slow(100, 5));
}

// By hand, and beside meshes and fields of the same bodies.
TEST(ExactRound, DepthsByHand) {
  const Shape small = Shape::from_analytic(SphereField{.radius = 0.3}),
              large = Shape::from_analytic(SphereField{.radius = 0.5}),
              ring = Shape::from_analytic(TorusField{.radius = 1, .tube_radius = 0.3}),
              rod = Shape::from_analytic(CapsuleField{{0, -1, 0}, {0, 1, 0}, 0.2}),
              beam = Shape::from_analytic(CapsuleField{{-1, 0, 0}, {1, 0, 0}, 0.3});
  const Pose aside{.translation = {0.1, 0, 0}};
  EXPECT_NEAR(distance(small, {}, large, aside).distance, -0.3, 1e-6);
  EXPECT_NEAR(distance(large, {}, small, aside).distance, -0.3, 1e-6);
  EXPECT_NEAR(distance(small, {}, large, {}).distance, -0.2, 1e-6);
  EXPECT_NEAR(distance(ring, {}, large, {.translation = {1, 0, 0}}).distance, -0.3, 3e-6);
  EXPECT_NEAR(distance(rod, {}, beam, {}).distance, -0.3, 1e-6);
  const ShapeSettings fine{.field = {.resolution = 96}, .points = 20000};
  const Shape of_small = Shape::from_mesh(make_sphere({.radius = 0.3, .frequency = 24}), fine),
              of_large = Shape::from_mesh(make_sphere({.radius = 0.5, .frequency = 24}), fine);
  EXPECT_NEAR(distance(of_small, {}, of_large, aside).distance, -0.3, 2e-3);
  EXPECT_NEAR(distance(of_small, {}, large, aside).distance, -0.3, 2e-3);
  EXPECT_NEAR(distance(of_small, {}, of_large, aside, {.accuracy = Accuracy::kField}).distance,
              -0.3, 1e-2);
}

TEST(ExactRound, RingsInMeshesAreAsDeepAsTheirDeepestSample) {
  const TriangleMesh meshes[] = {make_box({}), make_shape("gear")};
  Random random(test_seed(74));
  int deep = 0;
  for (int i = 0; i < test_cases(unless_slow(40, 4)); ++i) {
    SCOPED_TRACE(i);
    const TriangleMesh& mesh = meshes[i % 2];
    static const Shape bodies[] = {Shape::from_mesh(meshes[0], coarse()),
                                   Shape::from_mesh(meshes[1], coarse())};
    const double size = length(extent(to_double(bounds(mesh)))),
                 tube = size * random.uniform(0.02, 0.1);
    const Round ring{TorusField{.radius = 0.25 * size, .tube_radius = tube}, tube, 0, 0.25 * size};
    const Pose pose = random_pose(random, 0.3 * size);
    const DistanceResult r = distance(bodies[i % 2], {}, Shape::from_analytic(ring.solid), pose,
                                      {.accuracy = Accuracy::kExact});
    ASSERT_TRUE(r.exact && r.status == DistanceStatus::kDone);
    if (r.distance > 0) continue;
    ++deep;
    ASSERT_LT(r.distance - r.lower_bound, 3e-5 * size);
    const WindingTree tree(mesh);
    double sampled = 0;
    for (int k = 0; k < unless_slow(4000, 400); ++k) {
      const Vec3f at = to_float(transform_point(pose, ring.random_on_surface(random)));
      const double depth = double{find_closest_point(tree.bvh(), at).distance};
      if (depth > sampled && compute_winding_number(tree, at) > 0.5) sampled = depth;
      sampled =
          std::max(sampled, -ring.value(transform_point(inverse(pose), random_on(mesh, random))));
    }
    ASSERT_GE(-r.lower_bound, sampled - 1e-6 * size);
    ASSERT_LE(-r.distance, sampled + 0.05 * size);
  }
  EXPECT_GT(deep, unless_slow(15, 1));
}

// ---- bounds -------------------------------------------------------------------------------------

// Of exact verdicts with a margin, and of distances by the field.
TEST(ExactSides, BoundsAreBounds) {
  const ShapeSettings settings{.field = {.resolution = 32}, .points = 1500};
  const Shape shapes[] = {Shape::from_mesh(make_shape("gear", {{"module", 0.03}}), settings),
                          Shape::from_mesh(make_box({.size_y = 0.2}), settings),
                          Shape::from_mesh(make_sphere({.radius = 0.2, .frequency = 4}), settings)};
  Random random(test_seed(75));
  int contacts = 0, uncertain = 0;
  for (int i = 0; i < test_cases(unless_slow(300, 30)); ++i) {
    SCOPED_TRACE(i);
    const Shape &a = shapes[random.below(3)], &b = shapes[random.below(3)];
    const Pose of_a = random_pose(random, 0.6), of_b = random_pose(random, 0.6);
    const DistanceResult truth = distance(a, of_a, b, of_b);
    const CollideResult r = collide(a, of_a, b, of_b, {.margin = 0.1, .want_distance = true});
    ASSERT_TRUE(r.exact && r.has_distance);
    ASSERT_LE(r.lower_bound, truth.distance + 1e-6);
    if (truth.distance > 1e-6) {
      ASSERT_NEAR(r.distance, truth.distance, 1e-6);
      ASSERT_GE(r.most_distance, truth.distance - 1e-6);
    }
    contacts += r.status == CollideStatus::kContact ? 1 : 0;
    const CollideResult plain = collide(a, of_a, b, of_b, {.margin = 0.1});
    ASSERT_LE(plain.lower_bound, truth.distance + 1e-6);
    ASSERT_LE(plain.least_distance, truth.distance + 1e-6);
    const DistanceResult field = distance(a, of_a, b, of_b, {.accuracy = Accuracy::kField});
    ASSERT_FALSE(field.exact);
    ASSERT_LE(field.lower_bound, truth.distance + 1e-6);
    ASSERT_GE(field.upper_bound, truth.distance - 1e-6);
    const CollideStatus status = compute_status(field);
    uncertain += status == CollideStatus::kUncertain ? 1 : 0;
    if (status != CollideStatus::kUncertain) {
      ASSERT_EQ(status == CollideStatus::kContact, truth.distance <= 0);
    }
  }
  EXPECT_GT(contacts, unless_slow(60, 4));
  EXPECT_GT(uncertain, unless_slow(5, 0));
}

TEST(ExactSides, LimitsOfBatchesAreThoseOfSingleCalls) {
  const Shape gear = Shape::from_mesh(make_shape("gear", {{"module", 0.03}}), coarse());
  const Shape knot = Shape::from_mesh(make_knot({.segments = 96, .tube_segments = 8}), coarse());
  Random random(test_seed(76));
  std::vector<Pose> poses;
  for (int i = 0; i < 200; ++i) poses.push_back(random_pose(random, 0.8));
  BatchScratch scratch;
  int gave_up = 0;
  for (const std::uint64_t limit : {3U, 20U, 100U}) {
    const CollideRequest request{.mode = Mode::kAny, .max_tests = limit};
    const auto rows = collide_poses(gear, {}, knot, poses, {.collide = request}, scratch);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const CollideResult one = collide(gear, {}, knot, poses[i], request);
      ASSERT_EQ(rows[i].status, one.status) << i;
      ASSERT_EQ(rows[i].exact, one.exact) << i;
      gave_up += one.status == CollideStatus::kGaveUp ? 1 : 0;
    }
  }
  EXPECT_GT(gave_up, 20);
}

// Triangles that are lines have distances.
TEST(ExactSides, LinesHaveDistances) {
  const TriangleMesh line{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}, {0, 1, 1}}};
  const Shape lines = Shape::from_mesh(line, coarse());
  EXPECT_FALSE(lines.warnings().empty());
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.25});
  const Pose above{.translation = {1.5, 1, 0}};
  prepare(lines, DistanceRequest{});
  EXPECT_NEAR(distance(lines, {}, ball, above).distance, 0.75, 1e-6);
  const Pose on{.translation = {1.5, 0.2, 0}};
  EXPECT_EQ(collide(lines, {}, ball, on, {.mode = Mode::kAny}).status, CollideStatus::kContact);
}

TEST(ExactSides, VerdictsSayHowBodiesTouch) {
  const Shape cube = Shape::from_mesh(make_box({}), coarse());
  const Shape die =
      Shape::from_mesh(make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2}), coarse());
  for (const Mode mode : {Mode::kAll, Mode::kAny}) {
    const auto ask = [&](double x, double margin) {
      return collide(die, {.translation = {x, 0, 0}}, cube, {}, {.mode = mode, .margin = margin});
    };
    EXPECT_TRUE(ask(0, 0).contained && !ask(0, 0).touching);
    EXPECT_TRUE(ask(0.5, 0).touching && !ask(0.5, 0).contained);
    EXPECT_FALSE(ask(0.7, 0).touching || ask(0.7, 0).contained);
    EXPECT_FALSE(ask(0.62, 0.05).touching || ask(0.62, 0.05).contained);
  }
}

}  // namespace
}  // namespace isotact
