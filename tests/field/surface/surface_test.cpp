#include "isotact/field/surface/surface.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"

#include "field/models/joined.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

TriangleMesh moved(TriangleMesh mesh, const Vec3f& by) {
  for (Vec3f& p : mesh.positions) p += by;
  return mesh;
}

// Without the triangles whose middle is somewhere.
TriangleMesh without(TriangleMesh mesh, const std::function<bool(const Vec3f&)>& where) {
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return where((mesh.positions[t[0]] + mesh.positions[t[1]] + mesh.positions[t[2]]) / 3.0F);
  });
  return mesh;
}

// Every triangle with corners of its own, each off by up to `noise`.
TriangleMesh as_soup(const TriangleMesh& mesh, double noise, bool flip_some, std::uint64_t seed) {
  Random random(seed);
  TriangleMesh soup;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(soup.positions.size());
    for (const Vec3f& p : corners(mesh, i))
      soup.positions.push_back(to_float(to_double(p) + random.in_unit_ball() * noise));
    const bool flip = flip_some && random.below(2) == 0;
    soup.triangles.push_back({first, first + (flip ? 2U : 1U), first + (flip ? 1U : 2U)});
  }
  return soup;
}

TriangleMesh random_triangles(int count, std::uint64_t seed) {
  Random random(seed);
  TriangleMesh soup;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
    const Vec3 middle = random.in_unit_ball();
    for (int k = 0; k < 3; ++k)
      soup.positions.push_back(to_float(middle + random.in_unit_ball() * 0.2));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return soup;
}

// A band of n quads around the y axis, turned by half turns on its way.
TriangleMesh make_band(std::uint32_t n, bool half_turn) {
  TriangleMesh band;
  for (std::uint32_t i = 0; i < n; ++i) {
    const double a = 6.283185307179586 * i / n, tilt = half_turn ? a / 2 : 0;
    for (const double side : {-0.2, 0.2}) {
      const double r = 1 + side * std::sin(tilt);
      band.positions.push_back(to_float({r * std::cos(a), side * std::cos(tilt), r * std::sin(a)}));
    }
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t a = 2 * i, b = a + 1;
    const bool last = i + 1 == n;
    const std::uint32_t c = last ? (half_turn ? 1U : 0U) : a + 2;
    const std::uint32_t d = last ? (half_turn ? 0U : 1U) : a + 3;
    band.triangles.push_back({a, b, c});
    band.triangles.push_back({b, d, c});
  }
  return band;
}

TriangleMesh make_sheet(int cells, const std::function<double(double, double)>& height) {
  TriangleMesh sheet;
  const auto n = static_cast<std::uint32_t>(cells);
  for (std::uint32_t j = 0; j <= n; ++j)
    for (std::uint32_t i = 0; i <= n; ++i) {
      const double x = 2.0 * i / n - 1, z = 2.0 * j / n - 1;
      sheet.positions.push_back(to_float({x, height(x, z), z}));
    }
  for (std::uint32_t j = 0; j < n; ++j)
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      sheet.triangles.push_back({a, c, b});
      sheet.triangles.push_back({b, c, d});
    }
  return sheet;
}

double extent_of(const TriangleMesh& mesh) {
  const Vec3f e = extent(bounds(mesh));
  return std::max({e.x, e.y, e.z});
}

Surface prepare(const TriangleMesh& mesh, double resolution = 64, SurfaceSettings settings = {}) {
  settings.voxel_size = extent_of(mesh) / resolution;
  return prepare_surface(mesh, settings);
}

// By a map, unlike the code under test.
bool has_balanced_edges(const TriangleMesh& mesh) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> net;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      net[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  return std::all_of(net.begin(), net.end(), [](const auto& e) { return e.second == 0; });
}

TriangleMesh given_part(const Surface& surface) {
  TriangleMesh given{surface.mesh.positions, surface.mesh.triangles};
  given.triangles.resize(surface.given_triangles);
  return given;
}

struct SignCheck {
  std::size_t points = 0, inside = 0, wrong = 0;
  std::size_t far_wrong = 0;  // further than 0.6 voxels from the surface
};

// At points around the surface and near the membranes, compares the sign of the closed surface with
// the rule: the winding number of `given` is above one half. Skips points within `margin` voxels of
// the surface, and those for which the rule itself is a matter of rounding.
SignCheck check_signs(const Surface& surface, const TriangleMesh& given, double voxel,
                      double margin) {
  const WindingTree closed(surface.mesh, {.threads = {1}}), open(given, {.threads = {1}});
  const Aabb box = to_double(bounds(surface.mesh));
  const std::size_t membranes = surface.mesh.triangles.size() - surface.given_triangles;
  Random random(7);
  SignCheck check;
  for (int i = 0; i < 800; ++i) {
    Vec3 p = random.in_box(box.lower, box.upper);
    if (membranes > 0 && i % 2 == 0) {
      const std::size_t t =
          surface.given_triangles + random.below(static_cast<std::uint32_t>(membranes));
      p = to_double(corners(surface.mesh, t)[0]) + random.in_unit_ball() * (4 * voxel);
    }
    const Vec3f q = to_float(p);
    const double distance = find_closest_point(closed.bvh(), q).distance;
    if (distance < margin * voxel) continue;
    const double w = compute_winding_number(open, q, 4);
    if (std::abs(w - 0.5) < 0.003) continue;
    const bool inside = std::lround(compute_winding_number(closed, q)) >= 1;
    ++check.points;
    check.inside += inside ? 1U : 0U;
    if (inside == (w > 0.5)) continue;
    ++check.wrong;
    check.far_wrong += distance > 0.6 * voxel ? 1U : 0U;
  }
  return check;
}

TEST(Surface, LeavesACleanMeshAsItIs) {
  const TriangleMesh sphere = make_sphere({});
  const Surface surface = prepare(sphere);
  EXPECT_EQ(surface.mesh, sphere);
  EXPECT_EQ(surface.given_triangles, sphere.triangles.size());
  EXPECT_EQ(surface.report.method, SignMethod::kWinding);
  EXPECT_EQ(surface.report.reason, "closed and oriented");
  EXPECT_TRUE(surface.report.watertight);
  EXPECT_TRUE(surface.report.warnings.empty());
}

TEST(Surface, WeldsEqualPositionsAndDropsWhatCannotBeMeasured) {
  TriangleMesh soup = as_soup(make_box({}), 0, false, 1);
  soup.positions.push_back({std::numeric_limits<float>::quiet_NaN(), 0, 0});
  const auto nan = static_cast<std::uint32_t>(soup.positions.size() - 1);
  soup.triangles.push_back({0, 1, nan});
  soup.triangles.push_back({0, 1, 1});
  const Surface surface = prepare_surface(soup, {.voxel_size = 0.01});
  EXPECT_EQ(surface.mesh.positions.size(), 8U);
  EXPECT_EQ(surface.mesh.triangles.size(), 12U);
  EXPECT_EQ(surface.report.dropped_triangles, 2U);
  EXPECT_FALSE(surface.report.watertight);  // a triangle is missing
  EXPECT_EQ(surface.report.method, SignMethod::kWinding);
  EXPECT_EQ(surface.report.warnings.size(), 1U);
}

TEST(Surface, RefusesWhatHasNoSurface) {
  EXPECT_THROW(prepare_surface({}, {.voxel_size = 1}), Error);
  const TriangleMesh point{{{0, 0, 0}}, {{0, 0, 0}}};
  EXPECT_THROW(prepare_surface(point, {.voxel_size = 1}), Error);
  const TriangleMesh out_of_range{{{0, 0, 0}}, {{0, 1, 2}}};
  EXPECT_THROW(prepare_surface(out_of_range, {.voxel_size = 1}), Error);
  EXPECT_THROW(prepare_surface(make_box({}), {.voxel_size = 0}), Error);
  EXPECT_THROW(prepare_surface(make_box({}), {.voxel_size = 1, .shell_offset = -1}), Error);
}

TEST(Surface, TurnsOverWhatFacesInwards) {
  const TriangleMesh torus = make_torus({});
  const Surface surface = prepare(turned(torus));
  EXPECT_EQ(surface.report.turned_components, 1U);
  const SignCheck check = check_signs(surface, torus, 0.01, 0.1);
  EXPECT_EQ(check.wrong, 0U);
  EXPECT_GT(check.inside, 100U);
}

TEST(Surface, KeepsCavitiesAndSolidsInSolids) {
  const TriangleMesh outer = make_sphere({.radius = 1}), inner = make_sphere({.radius = 0.5});
  const TriangleMesh cavity = joined(outer, turned(inner)), solid = joined(outer, inner);
  const Surface hollow = prepare(cavity);
  EXPECT_EQ(hollow.report.turned_components, 0U);
  EXPECT_EQ(hollow.mesh, cavity);
  EXPECT_EQ(prepare(solid).mesh, solid);
  EXPECT_EQ(prepare(solid, 64, {.nested = NestedRule::kEvenOdd}).nested, NestedRule::kEvenOdd);
}

TEST(Surface, TurnsAHollowBodyThatIsInsideOutAsAWhole) {
  const TriangleMesh outer = make_sphere({.radius = 1}), inner = make_sphere({.radius = 0.5});
  const Surface surface = prepare(turned(joined(outer, turned(inner))));
  EXPECT_EQ(surface.report.turned_components, 2U);
  EXPECT_EQ(check_signs(surface, joined(outer, turned(inner)), 0.03, 0.1).wrong, 0U);
}

TEST(Surface, TurnsOnlyTheInwardOneOfTwoBodies) {
  const TriangleMesh ball = make_sphere({.radius = 0.5});
  const TriangleMesh both = joined(ball, moved(turned(ball), {3, 0, 0}));
  const Surface surface = prepare(both);
  EXPECT_EQ(surface.report.turned_components, 1U);
  EXPECT_EQ(check_signs(surface, joined(ball, moved(ball, {3, 0, 0})), 0.05, 0.1).wrong, 0U);
}

TEST(Surface, MakesFlippedTrianglesAgree) {
  Random random(3);
  TriangleMesh sphere = make_sphere({});
  const TriangleMesh right = sphere;
  for (Triangle& t : sphere.triangles)
    if (random.below(3) == 0) std::swap(t[1], t[2]);
  const Surface surface = prepare(sphere);
  EXPECT_EQ(surface.report.consistent_components, 1U);
  EXPECT_EQ(surface.report.method, SignMethod::kWinding);
  EXPECT_TRUE(has_balanced_edges(surface.mesh));
  EXPECT_EQ(check_signs(surface, right, 0.02, 0.1).wrong, 0U);
}

TEST(Surface, TakesOverlappingBodiesAsTheyAre) {
  const TriangleMesh ball = make_sphere({.radius = 0.5});
  const TriangleMesh both = joined(ball, moved(ball, {0.5F, 0.1F, 0}));
  const Surface surface = prepare(both);
  EXPECT_EQ(surface.mesh, both);
  EXPECT_EQ(surface.report.reason, "closed and oriented");
}

struct HoledShape {
  const char* name;
  TriangleMesh mesh;
  std::size_t holes;
};

std::vector<HoledShape> make_holed_shapes() {
  const auto above = [](float y) { return [y](const Vec3f& p) { return p.y > y; }; };
  const auto between = [](float lower, float upper) {
    return [=](const Vec3f& p) { return p.y > lower && p.y < upper; };
  };
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 12});
  const auto outside_tube = [](float y) {
    return [y](const Vec3f& p) { return std::abs(p.y) > y; };
  };
  const TriangleMesh rod = make_cylinder({.radius = 0.5, .height = 2, .segments = 32});
  return {
      {"ball with a hole", without(ball, above(0.8F)), 1},
      {"half ball", without(ball, above(0)), 1},
      {"ball with little left", without(ball, above(-0.7F)), 1},
      {"ball inside out, with a hole", turned(without(ball, above(0.8F))), 1},
      {"ball with three holes",
       without(ball, [](const Vec3f& p) { return p.y > 0.85F || p.x > 0.8F || (p.z < -0.9F); }), 3},
      {"two half balls with a gap", without(ball, between(-0.15F, 0.15F)), 2},
      {"open box", without(make_box({.segments = 1}), above(0.45F)), 1},
      {"open fine box", without(make_box({.segments = 12}), above(0.49F)), 1},
      {"long tube", without(rod, outside_tube(0.99F)), 2},
      {"short tube", make_band(48, false), 2},
      {"bent tube with a hole",
       without(make_torus({.segments = 48, .tube_segments = 16}),
               [](const Vec3f& p) { return p.x > 0.3F && p.y > 0; }),
       1},
  };
}

TEST(Surface, ClosesHolesWhereTheWindingNumberIsOneHalf) {
  for (const HoledShape& shape : make_holed_shapes())
    for (const double resolution : {24.0, 96.0}) {
      if (kSlowBuild && resolution > 24) continue;
      SCOPED_TRACE(std::string(shape.name) + " at " + std::to_string(resolution));
      const Surface surface = prepare(shape.mesh, resolution);
      ASSERT_EQ(surface.report.method, SignMethod::kWinding) << surface.report.reason;
      EXPECT_TRUE(has_balanced_edges(surface.mesh));
      EXPECT_EQ(surface.report.holes, shape.holes);
      EXPECT_FALSE(surface.report.watertight);
      EXPECT_EQ(surface.report.warnings.size(),
                (surface.report.turned_components > 0 ? 1U : 0U) +
                    (surface.report.membrane_share > 0.03 ? 1U : 0U));
      EXPECT_EQ(surface.report.membrane_triangles,
                surface.mesh.triangles.size() - surface.given_triangles);
      const double voxel = extent_of(shape.mesh) / resolution;
      const SignCheck check = check_signs(surface, given_part(surface), voxel, 0.25);
      EXPECT_GT(check.points, 400U);
      EXPECT_GT(check.inside, 8U);
      EXPECT_LT(check.inside, check.points - 8);
      EXPECT_LE(check.wrong, 3U) << "of " << check.points;
      EXPECT_EQ(check.far_wrong, 0U);
    }
}

TEST(Surface, KeepsTheGivenTrianglesFirst) {
  const TriangleMesh open = without(make_sphere({}), [](const Vec3f& p) { return p.y > 0.4F; });
  const Surface surface = prepare(open);
  ASSERT_EQ(surface.given_triangles, open.triangles.size());
  for (std::size_t i = 0; i < open.triangles.size(); ++i)
    ASSERT_EQ(corners(surface.mesh, i), corners(open, i));
}

TEST(Surface, FillsSlitsAtTJunctionsWithoutLeavingThem) {
  // Regression: the slits between 18 long edges and 36 short ones around a threaded bore were one
  // rim each, and fans from its middle closed the bore.
  TriangleMesh rod = make_cylinder({.radius = 0.5, .height = 1, .segments = 24});
  const std::size_t count = rod.triangles.size();
  for (std::size_t i = 0; i < count; ++i) {
    // Triangles of the wall with an edge on top are cut in two: their neighbours on top are not.
    const Triangle t = rod.triangles[i];
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
      const Vec3f pa = rod.positions[a], pb = rod.positions[b], pc = rod.positions[c];
      if (pa.y < 0.49F || pb.y < 0.49F || pc.y > 0.49F) continue;
      const auto middle = static_cast<std::uint32_t>(rod.positions.size());
      rod.positions.push_back((pa + pb) * 0.5F);
      rod.triangles.push_back({middle, b, c});
      rod.triangles[i] = {a, middle, c};
      break;
    }
  }
  const Surface surface = prepare(rod, 128);
  EXPECT_EQ(surface.report.holes, 24U);
  EXPECT_EQ(surface.report.membrane_triangles, 24U);
  EXPECT_TRUE(has_balanced_edges(surface.mesh));
  EXPECT_EQ(surface.mesh.positions.size(), rod.positions.size());
}

TEST(Surface, StitchesCracksAndSaysSo) {
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 10});
  for (const double noise : {1e-6, 2e-3}) {
    const Surface surface = prepare(as_soup(ball, noise, false, 5), 64);
    EXPECT_EQ(surface.report.method, SignMethod::kWinding) << surface.report.reason;
    EXPECT_TRUE(has_balanced_edges(surface.mesh));
    EXPECT_FALSE(surface.report.warnings.empty());
    EXPECT_EQ(check_signs(surface, ball, 1.0 / 32, 0.5).wrong, 0U);
  }
}

TEST(Surface, RepairsASoupThatIsOnlyTurnedAtRandom) {
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 10});
  const Surface surface = prepare(as_soup(ball, 0, true, 5), 64);
  EXPECT_EQ(surface.report.method, SignMethod::kWinding);
  EXPECT_EQ(surface.report.consistent_components, 1U);
  EXPECT_EQ(check_signs(surface, ball, 1.0 / 32, 0.1).wrong, 0U);
}

TEST(Surface, TakesOneOfEachTwoFacesThatCancel) {
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 6});
  const Surface surface = prepare(joined(turned(ball), ball));
  EXPECT_EQ(surface.report.method, SignMethod::kWinding) << surface.report.reason;
  EXPECT_EQ(surface.report.dropped_triangles, ball.triangles.size());
  EXPECT_GE(surface.report.warnings.size(), 1U);
  EXPECT_EQ(check_signs(surface, ball, 0.03, 0.1).wrong, 0U);
}

// The wall between two boxes used to stay in the field as zeros.
TEST(Surface, BodiesThatShareASideBecomeOne) {
  const TriangleMesh box = make_box({.segments = 3});
  for (const bool open : {false, true}) {
    TriangleMesh both = joined(box, moved(box, {1, 0, 0}));
    if (open) both.triangles.pop_back();  // a hole elsewhere does not matter
    const Surface surface = prepare(both);
    EXPECT_EQ(surface.report.method, SignMethod::kWinding) << surface.report.reason;
    EXPECT_EQ(surface.report.cancelled_pairs, 18U);
    EXPECT_EQ(surface.given_triangles, both.triangles.size() - 36);
    EXPECT_GE(surface.report.warnings.size(), 1U);
    for (std::size_t t = 0; t < surface.mesh.triangles.size(); ++t) {
      const auto c = corners(surface.mesh, t);
      EXPECT_FALSE(c[0].x == 0.5F && c[1].x == 0.5F && c[2].x == 0.5F);
    }
    EXPECT_NEAR(brute_force::compute_winding_number(surface.mesh, {0.45F, 0.1F, 0.2F}), 1, 1e-6);
  }
  // Three boxes in one place: winding numbers stay as they are, and so do the triangles.
  EXPECT_EQ(prepare(joined(box, joined(box, box))).report.cancelled_pairs, 0U);
}

// Distances to a sheet without thickness mean something where it is not within a body.
TEST(Surface, SheetsOfTwoSidesStayOutsideOfBodies) {
  const TriangleMesh box = make_box({.segments = 3});
  TriangleMesh sheet = moved(make_sheet(4, [](double, double) { return 0.0; }), {0, 2, 0});
  const TriangleMesh outside = joined(box, joined(sheet, turned(sheet)));
  EXPECT_EQ(prepare(outside).report.cancelled_pairs, 0U);
  EXPECT_EQ(prepare(outside).mesh.triangles.size(), outside.triangles.size());
  for (Vec3f& p : sheet.positions) p = {0.3F * p.x, 0.1F, 0.3F * p.z};
  EXPECT_EQ(prepare(joined(box, joined(sheet, turned(sheet)))).report.cancelled_pairs, 32U);
}

// A bowl without thickness was filled without a word.
TEST(Surface, WideOpeningsAreToldOf) {
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 24});
  const auto cut_above = [&](float y) {
    return prepare(without(ball, [y](const Vec3f& p) { return p.y > y; })).report;
  };
  const SignReport bowl = cut_above(0.2F), pinhole = cut_above(0.99F);
  EXPECT_EQ(bowl.holes, 1U);
  EXPECT_NEAR(bowl.largest_hole, 2, 0.1);
  EXPECT_GT(bowl.membrane_area, 3);  // at least the disc, pi
  EXPECT_GT(bowl.membrane_share, 0.3);
  ASSERT_EQ(bowl.warnings.size(), 1U);
  EXPECT_NE(bowl.warnings[0].find("SignMethod::kUnsigned"), std::string::npos) << bowl.warnings[0];
  EXPECT_EQ(pinhole.holes, 1U);
  EXPECT_GT(pinhole.membrane_share, 0);
  EXPECT_LT(pinhole.membrane_share, 0.03);
  EXPECT_TRUE(pinhole.warnings.empty());
}

TEST(Surface, FallsBackToAShellWhereThereIsNoInside) {
  const auto flat = [](double, double) { return 0.0; };
  const auto hilly = [](double x, double z) { return 0.2 * std::sin(9 * x) * std::cos(7 * z); };
  const TriangleMesh ball = make_sphere({.radius = 1, .frequency = 8});
  const std::vector<std::pair<const char*, TriangleMesh>> shapes{
      {"triangle", {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}}},
      {"flat sheet", make_sheet(8, flat)},
      {"terrain", make_sheet(24, hilly)},
      {"sheet with two sides", joined(make_sheet(8, flat), turned(make_sheet(8, flat)))},
      {"one-sided band", make_band(40, true)},
      {"random triangles", random_triangles(200, 1)},
      {"soup with wide cracks, turned at random", as_soup(ball, 0.1, true, 9)},
  };
  for (const auto& [shape_name, mesh] : shapes) {
    SCOPED_TRACE(shape_name);
    const Surface surface = prepare(mesh, 50);
    EXPECT_EQ(surface.report.method, SignMethod::kUnsigned) << surface.report.reason;
    EXPECT_FALSE(surface.report.reason.empty());
    EXPECT_EQ(surface.given_triangles, surface.mesh.triangles.size());
    EXPECT_DOUBLE_EQ(surface.report.shell_offset, extent_of(mesh) / 50);
    EXPECT_THROW(prepare(mesh, 50, {.sign = SignMethod::kWinding}), Error);
    EXPECT_THROW(prepare(mesh, 50, {.sign = SignMethod::kPseudonormal}), Error);
  }
}

TEST(Surface, DoesAsItIsTold) {
  const TriangleMesh ball = make_sphere({});
  EXPECT_EQ(prepare(ball, 64, {.sign = SignMethod::kPseudonormal}).report.method,
            SignMethod::kPseudonormal);
  const Surface shell = prepare(ball, 64, {.sign = SignMethod::kUnsigned, .shell_offset = 0.25});
  EXPECT_EQ(shell.report.method, SignMethod::kUnsigned);
  EXPECT_EQ(shell.report.shell_offset, 0.25);
  EXPECT_EQ(shell.mesh, ball);

  const TriangleMesh crossing = joined(ball, moved(ball, {0.5F, 0.1F, 0}));
  try {
    prepare(crossing, 64, {.sign = SignMethod::kPseudonormal});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("found: "), std::string::npos);
  }
}

TEST(Surface, IsTheSameForAnyNumberOfThreads) {
  for (const HoledShape& shape : make_holed_shapes()) {
    const Surface one = prepare(shape.mesh, 48, {.threads = {1}});
    const Surface three = prepare(shape.mesh, 48, {.threads = {3}});
    EXPECT_EQ(one.mesh, three.mesh) << shape.name;
  }
}

TEST(Surface, ClosesOrDeclinesWhateverItIsGiven) {
  // A dozen vertices and as many triangles between them: non-manifold, pinched, doubled, crossing.
  Random random(11);
  int signed_ones = 0;
  const int tries = unless_slow(300, 100);
  for (int i = 0; i < tries; ++i) {
    TriangleMesh mesh;
    const std::uint32_t vertices = 4 + random.below(8);
    for (std::uint32_t v = 0; v < vertices; ++v)
      mesh.positions.push_back(to_float(random.in_unit_ball()));
    const std::uint32_t triangles = 1 + random.below(16);
    for (std::uint32_t t = 0; t < triangles; ++t)
      mesh.triangles.push_back(
          {random.below(vertices), random.below(vertices), random.below(vertices)});
    try {
      const Surface surface = prepare_surface(mesh, {.voxel_size = 0.2});
      if (surface.report.method == SignMethod::kUnsigned) continue;
      ++signed_ones;
      ASSERT_TRUE(has_balanced_edges(surface.mesh)) << i;
      ASSERT_FALSE(find_flaw(surface.mesh)) << i;
    } catch (const Error&) {  // only collapsed triangles
    }
  }
  EXPECT_GT(signed_ones, tries / 10);
}

TEST(Surface, BoundsItsWorkHoweverSmallTheVoxel) {
  const TriangleMesh open = without(make_sphere({}), [](const Vec3f& p) { return p.y > 0.4F; });
  for (const double voxel : {1e-12, 1e-5, 10.0}) {
    const Surface surface = prepare_surface(open, {.voxel_size = voxel});
    EXPECT_TRUE(has_balanced_edges(surface.mesh));
    EXPECT_LT(surface.report.membrane_triangles, 30'000U);
  }
}

TEST(Surface, StopsWhenTold) {
  CancelToken token;
  token.cancel();
  EXPECT_THROW(prepare(make_sphere({}), 64, {.monitor = {.cancel = &token}}), Cancelled);
}

TEST(Surface, NamesItsMethods) {
  EXPECT_EQ(name(SignMethod::kAuto), "auto");
  EXPECT_EQ(name(SignMethod::kPseudonormal), "pseudonormal");
  EXPECT_EQ(name(SignMethod::kWinding), "winding");
  EXPECT_EQ(name(SignMethod::kUnsigned), "unsigned");
}

}  // namespace
}  // namespace isotact
