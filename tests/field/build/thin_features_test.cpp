#include "isotact/field/build/thin_features.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/surface_looks.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kCell = 0.02;

TriangleMesh turned(TriangleMesh mesh, const Quat& by) {
  for (Vec3f& p : mesh.positions) p = to_float(rotate(by, to_double(p)));
  return mesh;
}

TriangleMesh make_plate(double thickness, int segments = 4) {
  return make_box({.size_x = 1, .size_y = thickness, .size_z = 0.6, .segments = segments});
}

FieldResult build(const TriangleMesh& mesh, KeepThin keep = KeepThin::kReport) {
  return build_field(mesh, {.voxel_size = kCell, .keep_thin = keep});
}

// Share of points in the middle of a plate, an eighth of its size from the rim, that are inside.
double share_inside(const BrickField& field, const Quat& by) {
  Random random(4);
  int inside = 0;
  constexpr int kPoints = 2000;
  for (int i = 0; i < kPoints; ++i)
    if (field.value(rotate(by, {random.uniform(-0.4, 0.4), 0, random.uniform(-0.2, 0.2)})) < 0)
      ++inside;
  return static_cast<double>(inside) / kPoints;
}

// Within two cells of a point of the axis: a node, since no cell is solid anywhere without one.
bool has_solid_near_axis(const BrickField& field, const Quat& by, double along) {
  const Lattice& lattice = field.lattice();
  const Vec3 at = (rotate(by, {0, along, 0}) - lattice.origin) / lattice.spacing;
  const auto low = [](double x) { return static_cast<std::int32_t>(std::floor(x)) - 2; };
  for (std::int32_t k = low(at.z); k < low(at.z) + 6; ++k)
    for (std::int32_t j = low(at.y); j < low(at.y) + 6; ++j)
      for (std::int32_t i = low(at.x); i < low(at.x) + 6; ++i) {
        const Vec3 node{static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
        if (length(node - at) < 2 && field.node_value(i, j, k) <= 0) return true;
      }
  return false;
}

// A box with a needle of square section that stands on it: two closed parts that overlap.
TriangleMesh with_needle(double across, double height) {
  TriangleMesh box = make_box({.size_x = 0.8, .size_y = 0.4, .size_z = 0.6});
  const TriangleMesh needle =
      make_box({.size_x = across, .size_y = height + 0.1, .size_z = across});
  const auto first = static_cast<std::uint32_t>(box.positions.size());
  const auto up = static_cast<float>(0.2 + height / 2 - 0.05);
  for (const Vec3f& p : needle.positions) box.positions.push_back(p + Vec3f{0.1F, up, 0.07F});
  for (const auto& t : needle.triangles)
    box.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return box;
}

// A box with a fin on it, which leans so that no plane of nodes runs along it.
TriangleMesh with_fin(double thickness, double height) {
  const TriangleMesh fin =
      turned(make_box({.size_x = thickness, .size_y = height + 0.1, .size_z = 0.1}),
             normalized(Quat{0.1, 0.05, 0.2, 1}));
  TriangleMesh box = make_box({.size_x = 0.8, .size_y = 0.4, .size_z = 0.6});
  const auto first = static_cast<std::uint32_t>(box.positions.size());
  const auto up = static_cast<float>(0.2 + height / 2 - 0.05);
  for (const Vec3f& p : fin.positions) box.positions.push_back(p + Vec3f{0.1F, up, 0.07F});
  for (const auto& t : fin.triangles)
    box.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return box;
}

// The second one moved along x.
TriangleMesh joined(TriangleMesh a, const TriangleMesh& b, float apart) {
  const auto first = static_cast<std::uint32_t>(a.positions.size());
  for (const Vec3f& p : b.positions) a.positions.push_back(p + Vec3f{apart, 0, 0});
  for (const auto& t : b.triangles)
    a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return a;
}

// Base about the origin, tip at (0, height, 0).
TriangleMesh make_cone(double radius, double height) {
  constexpr std::uint32_t kSides = 16;
  TriangleMesh cone;
  cone.positions = {{0, 0, 0}, {0, static_cast<float>(height), 0}};
  for (std::uint32_t i = 0; i < kSides; ++i) {
    const auto [sine, cosine] = sin_cos(2 * kPi * i / kSides);
    cone.positions.push_back(to_float(Vec3{radius * cosine, 0, radius * sine}));
    const std::uint32_t a = 2 + i, b = 2 + (i + 1) % kSides;
    cone.triangles.push_back({0, a, b});
    cone.triangles.push_back({1, b, a});
  }
  return cone;
}

// A tube of this radius along an arc of three quarters of a circle, on a ball.
TriangleMesh make_tail(double radius) {
  constexpr std::uint32_t kRings = 60, kSides = 8;
  TriangleMesh mesh = make_sphere({.radius = 0.15, .frequency = 6});
  for (Vec3f& p : mesh.positions) p = p + Vec3f{0.2F, 0, 0};
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t i = 0; i < kRings; ++i) {
    const auto [sine, cosine] = sin_cos(1.5 * kPi * i / kRings);
    const Vec3 out{cosine, sine, 0};
    for (std::uint32_t k = 0; k < kSides; ++k) {
      const auto [s, c] = sin_cos(2 * kPi * k / kSides);
      mesh.positions.push_back(to_float(out * 0.2 + (out * c + Vec3{0, 0, 1} * s) * radius));
    }
  }
  const auto at = [&](std::uint32_t i, std::uint32_t k) { return first + i * kSides + k % kSides; };
  for (std::uint32_t i = 0; i + 1 < kRings; ++i)
    for (std::uint32_t k = 0; k < kSides; ++k) {
      mesh.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
      mesh.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
    }
  for (std::uint32_t k = 1; k + 1 < kSides; ++k) {
    mesh.triangles.push_back({at(0, 0), at(0, k), at(0, k + 1)});
    mesh.triangles.push_back({at(kRings - 1, 0), at(kRings - 1, k + 1), at(kRings - 1, k)});
  }
  return mesh;
}

TEST(ThinFeatures, WallsOfMoreThanACellStayInEveryDirection) {
  Random random(1);
  for (int i = 0; i < 8; ++i) {
    const Quat by = random.rotation();
    const FieldResult built = build(turned(make_plate(1.1 * kCell), by));
    EXPECT_EQ(share_inside(built.field, by), 1);
    EXPECT_EQ(built.report.thin.lost, 0U) << describe(built.report.thin, kCell);
    EXPECT_TRUE(built.report.warnings.empty());
  }
}

TEST(ThinFeatures, ThinPlatesAreLostInParts) {
  Random random(2);
  double lost = 0;
  for (int i = 0; i < 8; ++i) {
    const Quat by = random.rotation();
    const double thickness = kCell * random.uniform(0.05, 0.6);
    const FieldResult built = build(turned(make_plate(thickness), by));
    const ThinReport& thin = built.report.thin;
    // What is seen from the surface is what is so in the middle.
    EXPECT_NEAR(thin.lost_share, 1 - share_inside(built.field, by), 0.25);
    lost += thin.lost_share;
    ASSERT_GT(thin.lost, 10U);
    EXPECT_NEAR(thin.thinnest, thickness, 0.01 * kCell);
    EXPECT_NEAR(thin.voxel_size_to_keep, 0.8 * thickness, 0.01 * kCell);
    ASSERT_FALSE(thin.places.empty());
    EXPECT_LE(thin.places.size(), 16U);
    for (const ThinPlace& place : thin.places) {
      EXPECT_NEAR(rotate(conjugate(by), place.position).y, 0, 0.51 * thickness);
      EXPECT_GT(place.samples, 0U);
    }
    ASSERT_EQ(built.report.warnings.size(), 1U);
    EXPECT_NE(built.report.warnings[0].find("walls as thin as"), std::string::npos);
  }
  EXPECT_GT(lost / 8, 0.4);
}

TEST(ThinFeatures, OrdinaryShapesAreNotReported) {
  Random random(3);
  const std::vector<TriangleMesh> shapes = {
      make_sphere({.radius = 0.3, .frequency = 12}),
      make_box({.size_x = 0.6, .size_y = 0.4, .size_z = 0.5}),
      make_torus({.radius = 0.3, .tube_radius = 0.1}),
      make_cylinder({.radius = 0.2, .height = 0.5}),
      make_gear({.module = 0.05, .teeth = 12, .width = 0.2, .bore_radius = 0.1, .backlash = 0}),
      make_knot({.segments = 96, .tube_segments = 12}),
      make_bowl({.radius = 0.4, .thickness = 0.05, .foot_radius = 0.1}),
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const FieldResult built = build(turned(shapes[i], random.rotation()));
    EXPECT_GT(built.report.thin.samples, 500U);
    EXPECT_EQ(built.report.thin.lost, 0U) << "shape " << i;
  }
}

// Wedges: their edges recede, but where a cell or more fits between the faces nothing is lost.
TEST(ThinFeatures, EdgesAreNotWalls) {
  Random random(5);
  for (const double half_width : {0.15, 0.25, 0.4}) {  // of a base 0.4 below the edge: 41 to 90 deg
    TriangleMesh wedge;
    const auto w = static_cast<float>(half_width);
    wedge.positions = {{-w, 0, -0.3F}, {w, 0, -0.3F}, {0, 0.4F, -0.3F},
                       {-w, 0, 0.3F},  {w, 0, 0.3F},  {0, 0.4F, 0.3F}};
    wedge.triangles = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3},
                       {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
    const FieldResult built = build(turned(wedge, random.rotation()));
    EXPECT_EQ(built.report.thin.lost, 0U) << half_width << describe(built.report.thin, kCell);
  }
}

TEST(ThinFeatures, BowlsAndPipesAreFoundWhereTheyAreThin) {
  const TriangleMesh bowl =
      make_bowl({.radius = 0.4, .thickness = 0.006, .foot_radius = 0.04, .segments = 48});
  const ThinReport thin = build(bowl).report.thin;
  EXPECT_GT(thin.lost_share, 0.3);
  EXPECT_NEAR(thin.thinnest, 0.006, 0.002);
  const TriangleMesh pipe = make_pipe({.segments = 96, .tube_segments = 24});
  EXPECT_GT(build(pipe).report.thin.lost_share, 0.2);
}

TEST(ThinFeatures, RodsAndStripsAreFound) {
  Random random(6);
  for (int i = 0; i < 4; ++i) {
    const Quat by = random.rotation();
    const double across = kCell * random.uniform(0.1, 0.4);
    const TriangleMesh rod = make_box({.size_x = 1, .size_y = across, .size_z = across}),
                       strip = make_box({.size_x = 1, .size_y = across, .size_z = 2.5 * kCell});
    for (const TriangleMesh& mesh : {rod, strip}) {
      const ThinReport thin = build(turned(mesh, by)).report.thin;
      EXPECT_GT(thin.lost_share, 0.3);
      EXPECT_NEAR(thin.thinnest, across, 0.01 * kCell);
    }
  }
}

TEST(ThinFeatures, RefiningKeepsWalls) {
  const Quat by = Random(7).rotation();
  const TriangleMesh plate = turned(make_plate(0.4 * kCell), by);
  EXPECT_LT(share_inside(build(plate).field, by), 0.8);
  const FieldResult refined = build(plate, KeepThin::kRefine);
  EXPECT_EQ(share_inside(refined.field, by), 1);
  EXPECT_LT(refined.report.lattice.spacing, 0.4 * kCell);
  EXPECT_GT(refined.report.thin.lost, 0U) << "what was found at first";
  EXPECT_EQ(refined.report.thin.refined_from, kCell);
  EXPECT_EQ(refined.report.thin.lost_afterwards, 0U);
}

// It used to fail where the first step was too large.
TEST(ThinFeatures, RefiningGoesAsFarAsTheMemoryLimitAllows) {
  const TriangleMesh plate = turned(make_plate(0.05 * kCell), Random(7).rotation());
  FieldSettings settings{
      .voxel_size = kCell, .keep_thin = KeepThin::kRefine, .max_memory = 20'000'000};
  const FieldReport report = build_field(plate, settings).report;
  EXPECT_LT(report.lattice.spacing, 0.7 * kCell);
  EXPECT_LT(report.bytes, settings.max_memory);
  EXPECT_GT(report.bytes, settings.max_memory / 4);
  EXPECT_TRUE(report.thin.memory_limited);
  EXPECT_GT(report.thin.lost_afterwards, 0U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("as far as the memory limit allows"), std::string::npos);
  EXPECT_NE(report.warnings[0].find("lost all the same"), std::string::npos);
  // And where nothing smaller fits, the first build stays.
  const auto fits = [&](std::uint64_t limit) {
    try {
      build_field(plate, {.voxel_size = kCell, .max_memory = limit});
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  settings.max_memory = 100'000;
  while (!fits(settings.max_memory)) settings.max_memory += settings.max_memory / 16;
  const FieldReport same = build_field(plate, settings).report;
  EXPECT_EQ(same.lattice.spacing, kCell);
  EXPECT_EQ(same.thin.refined_from, 0);
  EXPECT_TRUE(same.thin.memory_limited);
  EXPECT_NE(same.warnings[0].find("allows no smaller ones"), std::string::npos);
}

TEST(ThinFeatures, RefiningCanBeCancelled) {
  const TriangleMesh plate = turned(make_plate(0.3 * kCell), Random(7).rotation());
  int builds = 0;
  CancelToken token;
  FieldSettings settings{.voxel_size = kCell, .keep_thin = KeepThin::kRefine};
  settings.monitor.cancel = &token;
  settings.monitor.on_progress = [&](const ProgressReport& progress) {
    if (progress.done == 0 && progress.total == 5 && ++builds == 2) token.cancel();
  };
  EXPECT_THROW(build_field(plate, settings), Cancelled);
  EXPECT_EQ(builds, 2);
}

// A fold of the mesh, as a bad hole filling leaves: it asked for cells of a thousandth the size,
// which no memory holds, or for a body that is fatter by a cell.
TEST(ThinFeatures, FilmsAreToldApartAndAskForNothing) {
  const TriangleMesh body = with_fin(0.005 * kCell, 4 * kCell);
  const FieldResult plain = build(body);
  const ThinReport& thin = plain.report.thin;
  EXPECT_EQ(thin.lost, 0U);
  EXPECT_EQ(thin.parts, 0U);
  EXPECT_EQ(thin.voxel_size_to_keep, 0);
  EXPECT_EQ(thin.films, 1U);
  EXPECT_NEAR(thin.thinnest_film, 0.005 * kCell, 1e-3 * kCell);
  EXPECT_GT(thin.film_share, 0);
  EXPECT_LT(thin.film_share, kFilmShare);
  ASSERT_EQ(thin.places.size(), 1U);
  EXPECT_TRUE(thin.places[0].is_film);
  ASSERT_EQ(plain.report.warnings.size(), 1U);
  EXPECT_NE(plain.report.warnings[0].find("1 film thinner than 1/8 of a cell"), std::string::npos)
      << plain.report.warnings[0];
  for (const KeepThin keep : {KeepThin::kRefine, KeepThin::kOffset}) {
    const FieldResult kept = build(body, keep);
    EXPECT_EQ(kept.report.thin.offset, 0);
    EXPECT_EQ(kept.report.thin.refined_from, 0);
    EXPECT_EQ(kept.report.warnings, plain.report.warnings);
  }
}

TEST(ThinFeatures, FilmsDoNotHideWalls) {
  const TriangleMesh body =
      joined(with_fin(0.005 * kCell, 4 * kCell), with_fin(0.4 * kCell, 5 * kCell), 1.2F);
  const ThinReport plain = build(body).report.thin;
  EXPECT_EQ(plain.films, 1U);
  EXPECT_EQ(plain.parts, 1U);
  EXPECT_NEAR(plain.thinnest, 0.4 * kCell, 0.05 * kCell);
  EXPECT_GT(plain.voxel_size_to_keep, 0.1 * kCell);
  const FieldReport refined = build(body, KeepThin::kRefine).report;
  EXPECT_EQ(refined.thin.lost_afterwards, 0U);
  EXPECT_EQ(refined.thin.films_afterwards, 1U);
  EXPECT_GT(refined.lattice.spacing, 0.1 * kCell);
  ASSERT_GE(refined.warnings.size(), 2U);
  EXPECT_NE(refined.warnings.back().find("1 film thinner"), std::string::npos);
}

// Slivers with a normal of their own seem to be thick, and the advice was the present cell.
TEST(ThinFeatures, AdviceIsAlwaysASmallerCell) {
  const std::vector<detail::LostPoint> lost = {
      {.position = {0, 0, 0}, .area = 1e-9, .thickness = 1.25, .gap = 1.25, .is_wall = true}};
  const auto parts = detail::gather_lost_parts(lost, {}, 2, 1);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_LE(parts[0].voxel_size_to_keep, 0.7);
  const ThinReport report{.lost = 1,
                          .parts = 1,
                          .thinnest = 1.25,
                          .voxel_size_to_keep = 0.7,
                          .places = {parts[0].place}};
  const std::string text = describe(report, 1);
  EXPECT_EQ(text.find("thin as"), std::string::npos) << text;
  EXPECT_NE(text.find("1 part of the surface is missing in the field"), std::string::npos) << text;
}

TEST(ThinFeatures, GrowingKeepsWalls) {
  Random random(8);
  for (const double thickness : {0.02, 0.3, 0.7}) {
    const Quat by = random.rotation();
    const TriangleMesh plate = turned(make_plate(thickness * kCell), by);
    const FieldResult grown = build(plate, KeepThin::kOffset);
    const ThinReport& thin = grown.report.thin;
    EXPECT_EQ(share_inside(grown.field, by), 1);
    EXPECT_GT(thin.offset, 0.2 * kCell);
    EXPECT_LT(thin.offset, 0.61 * kCell);
    EXPECT_EQ(thin.lost_afterwards, 0U);
    EXPECT_EQ(find_flaw_in_brick_field(grown.field.buffer()), std::nullopt);
    // Everything grows: away from the plate the field is less by the offset.
    const double high = grown.field.value(rotate(by, {0, 0.1, 0}));
    EXPECT_NEAR(high, 0.1 - thickness * kCell / 2 - thin.offset, 0.1 * kCell);
  }
}

TEST(ThinFeatures, KeepingChangesNothingWhereNothingIsLost) {
  const TriangleMesh box = make_box({.size_x = 0.6, .size_y = 0.4, .size_z = 0.5});
  const FieldResult plain = build(box, KeepThin::kIgnore), refined = build(box, KeepThin::kRefine);
  EXPECT_EQ(plain.report.thin.samples, 0U);
  EXPECT_TRUE(std::ranges::equal(plain.field.buffer(), refined.field.buffer()));
  EXPECT_EQ(build(box, KeepThin::kOffset).report.thin.offset, 0);
}

TEST(ThinFeatures, ShellsThatAreTooThinAreReported) {
  const TriangleMesh sphere = make_sphere({.radius = 0.3, .frequency = 12});
  FieldSettings settings{.voxel_size = kCell, .sign = SignMethod::kUnsigned};
  EXPECT_EQ(build_field(sphere, settings).report.thin.lost, 0U);
  settings.shell_offset = 0.1 * kCell;
  const ThinReport thin = build_field(sphere, settings).report.thin;
  EXPECT_GT(thin.lost_share, 0.5);
  EXPECT_NEAR(thin.thinnest, 0.2 * kCell, 1e-9);
}

TEST(ThinFeatures, RoundRodsAreFoundInEveryDirection) {
  Random random(10);
  int whole = 0;
  const int tries = unless_slow(12, 4);
  for (int i = 0; i < tries; ++i) {
    const Quat by = random.rotation();
    const TriangleMesh rod =
        turned(make_cylinder({.radius = 0.3 * kCell, .height = 0.8, .segments = 8}), by);
    const FieldResult built = build(rod);
    const ThinReport& thin = built.report.thin;
    // Points of the axis with nothing of the field nearby.
    int bare = 0;
    for (int k = -36; k <= 36; ++k) bare += has_solid_near_axis(built.field, by, 0.01 * k) ? 0 : 1;
    if (bare == 0) {
      ++whole;
      continue;
    }
    ASSERT_GT(thin.lost, 0U) << i << ": " << bare;
    EXPECT_NEAR(thin.thinnest, 0.6 * kCell, 0.1 * kCell);
    EXPECT_FALSE(thin.places[0].is_wall);
    EXPECT_GE(thin.places[0].extent, kCell);
    EXPECT_GT(thin.lost_area, 0);
    ASSERT_EQ(built.report.warnings.size(), 1U);
    EXPECT_NE(built.report.warnings[0].find("rods or tips as thin as"), std::string::npos);
  }
  EXPECT_LE(whole, tries / 4);
}

// A rod of one part in ten thousand of the surface: no share hides it.
TEST(ThinFeatures, NeedlesOnLargeBodiesAreFound) {
  Random random(11);
  for (int i = 0; i < 4; ++i) {
    const TriangleMesh mesh = turned(with_needle(0.15 * kCell, 6 * kCell), random.rotation());
    const FieldResult built = build(mesh);
    EXPECT_GT(built.report.thin.lost, 0U);
    EXPECT_LT(built.report.thin.lost_share, 1e-3);
    EXPECT_EQ(built.report.warnings.size(), 1U);
  }
}

TEST(ThinFeatures, TipsOfSharpConesAreFound) {
  Random random(12);
  for (int i = 0; i < 6; ++i) {
    const FieldResult built = build(turned(make_cone(0.06, 0.6), random.rotation()));
    ASSERT_EQ(built.report.thin.parts, 1U) << i;
    EXPECT_NEAR(length(built.report.thin.places[0].position), 0.6, 6 * kCell) << "the tip";
    EXPECT_EQ(build(turned(make_cone(0.3, 0.3), random.rotation())).report.thin.lost, 0U);
  }
}

TEST(ThinFeatures, BentTailsAreFoundAndKept) {
  Random random(13);
  for (int i = 0; i < unless_slow(3, 1); ++i) {
    const TriangleMesh tail = turned(make_tail(0.25 * kCell), random.rotation());
    const ThinReport thin = build(tail).report.thin;
    EXPECT_GT(thin.lost_share, 0.05);
    EXPECT_NEAR(thin.thinnest, 0.5 * kCell, 0.15 * kCell);
    const FieldResult refined = build(tail, KeepThin::kRefine),
                      grown = build(tail, KeepThin::kOffset);
    for (const FieldResult* kept : {&refined, &grown}) {
      EXPECT_EQ(kept->report.thin.lost_afterwards, 0U);
      int outside = 0;
      for (const Vec3f& p : tail.positions)
        outside += kept->field.value(to_double(p)) > 0.6 * kCell ? 1 : 0;
      EXPECT_EQ(outside, 0);
    }
    EXPECT_LE(grown.report.thin.offset, 0.96 * kCell);
    EXPECT_LT(refined.report.lattice.spacing, 0.4 * kCell);
  }
}

TEST(ThinFeatures, CornersOfCubesAndOctahedraAreNotLost) {
  Random random(14);
  for (int i = 0; i < 10; ++i) {
    const double size = random.uniform(0.2, 0.4);
    TriangleMesh octahedron;
    const auto s = static_cast<float>(size);
    octahedron.positions = {{s, 0, 0}, {-s, 0, 0}, {0, s, 0}, {0, -s, 0}, {0, 0, s}, {0, 0, -s}};
    octahedron.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                            {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (const TriangleMesh& mesh :
         {octahedron, make_box({.size_x = size, .size_y = size, .size_z = size})}) {
      const FieldResult built = build(turned(mesh, random.rotation()));
      EXPECT_EQ(built.report.thin.lost + built.report.thin.crumbs, 0U);
      EXPECT_TRUE(built.report.warnings.empty());
    }
  }
}

TEST(ThinFeatures, SharesArePrintedInPlainNumbers) {
  ThinReport report{.lost = 1, .lost_share = 1, .places = {{}}};
  EXPECT_NE(describe(report, kCell).find(" 100 % of"), std::string::npos);
  report.lost_share = 0.0123;
  EXPECT_NE(describe(report, kCell).find(" 1.2 % of"), std::string::npos);
}

TEST(ThinFeatures, IsTheSameOnAnyNumberOfThreads) {
  // A plate of more places than are looked at, and a crowd of thin parts of many sizes.
  const TriangleMesh plate = turned(make_plate(0.3 * kCell), Random(9).rotation());
  Random random(15);
  TriangleMesh crowd;
  for (int i = 0; i < 150; ++i) {
    const TriangleMesh part = turned(make_box({.size_x = kCell * random.uniform(0.01, 0.5),
                                               .size_y = kCell * random.uniform(0.3, 2),
                                               .size_z = kCell * random.uniform(2, 6)}),
                                     random.rotation());
    const auto first = static_cast<std::uint32_t>(crowd.positions.size());
    const Vec3f at = to_float(random.in_unit_ball());
    for (const Vec3f& p : part.positions) crowd.positions.push_back(p + at);
    for (const auto& t : part.triangles)
      crowd.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  const auto find = [&](const TriangleMesh& mesh, double size, int threads) {
    return build_field(mesh, {.voxel_size = size, .threads = {threads}}).report;
  };
  EXPECT_EQ(find(plate, kCell / 4, 1).thin, find(plate, kCell / 4, 3).thin);
  const FieldReport one = find(crowd, kCell, 1);
  EXPECT_GT(one.thin.parts, 30U);
  for (const int threads : {2, 3, 7}) {
    const FieldReport more = find(crowd, kCell, threads);
    EXPECT_EQ(one.thin, more.thin) << threads;
    EXPECT_EQ(one.warnings, more.warnings) << threads;
  }
}

}  // namespace
}  // namespace isotact
