#include "isotact/field/build/thin_features.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives.h"

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
    EXPECT_GT(built.report.thin.samples, 1000U);
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

TEST(ThinFeatures, RefiningStopsAtTheMemoryLimit) {
  const TriangleMesh plate = turned(make_plate(0.05 * kCell), Random(7).rotation());
  const FieldSettings settings{
      .voxel_size = kCell, .keep_thin = KeepThin::kRefine, .max_memory = 20'000'000};
  try {
    build_field(plate, settings);
    FAIL() << "built";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("walls as thin as"), std::string::npos) << text;
    EXPECT_NE(text.find("MB"), std::string::npos) << text;
  }
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

TEST(ThinFeatures, IsTheSameOnAnyNumberOfThreads) {
  const TriangleMesh plate = turned(make_plate(0.3 * kCell), Random(9).rotation());
  const auto find = [&](int threads) {
    return build_field(plate, {.voxel_size = kCell / 4, .threads = {threads}}).report.thin;
  };
  const ThinReport one = find(1), three = find(3);
  EXPECT_EQ(one.lost, three.lost);
  EXPECT_EQ(one.thinnest, three.thinnest);
  ASSERT_EQ(one.places.size(), three.places.size());
  for (std::size_t i = 0; i < one.places.size(); ++i)
    EXPECT_EQ(one.places[i].position, three.places[i].position);
}

}  // namespace
}  // namespace isotact
