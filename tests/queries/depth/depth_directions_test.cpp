#include "isotact/queries/depth/depth_directions.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact::test {
namespace {

constexpr std::int32_t kSamples = 1024;
constexpr DepthDirectionSettings kHeights{.method = DepthMethod::kTwoMaps, .samples = kSamples};
constexpr DepthDirectionSettings kParts{.samples = kSamples, .candidates = 24};

void put_box(TriangleMesh& mesh, const Vec3& middle, const BoxShape& shape) {
  const TriangleMesh box = make_box(shape);
  const auto offset = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p : box.positions) mesh.positions.push_back(p + to_float(middle));
  for (const Triangle& t : box.triangles)
    mesh.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
}

// A body with a cabin and four wheels: FAB, Figure 3.
TriangleMesh make_car() {
  TriangleMesh car;
  put_box(car, {0, 0.5, 0}, {.size_x = 4, .size_y = 0.5, .size_z = 1.6});
  put_box(car, {-0.3, 0.95, 0}, {.size_x = 2, .size_y = 0.5, .size_z = 1.4});
  for (const double x : {-1.3, 1.3})
    for (const double z : {-0.6, 0.6})
      put_box(car, {x, 0.15, z}, {.size_x = 0.6, .size_y = 0.6, .size_z = 0.2});
  return car;
}

TEST(DepthDirections, AConvexBodyNeedsOneAxisWithBothSides) {
  for (const TriangleMesh& mesh :
       {make_box({}), make_sphere({.frequency = 6}), make_cylinder({.segments = 24})}) {
    const DepthCompliance found = choose_depth_directions(mesh, kHeights);
    ASSERT_EQ(found.directions.size(), 1U);
    EXPECT_EQ(found.seen, 1);
    EXPECT_EQ(found.unseen, 0);
    EXPECT_EQ(found.directions[0].seen, 1);
    EXPECT_NEAR(length(found.directions[0].direction), 1, 1e-12);
  }
}

// Only candidates whose bound comes first are drawn. With one layer, many places lie in pixels with
// more parts, and bounds are far too good.
TEST(DepthDirections, NoCandidateSeesMoreThanTheChosenOne) {
  const Vec3 axes[] = {{0, 1, 0},  {0, 0, 1},  {1, 0, 0}, {1, 1, 0},  {1, -1, 0},
                       {0, 1, 1},  {0, 1, -1}, {1, 0, 1}, {-1, 0, 1}, {1, 1, 1},
                       {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};
  std::size_t overfull = 0;
  for (const char* name : {"torus", "knot", "gear", "link"}) {
    const TriangleMesh mesh = make_shape(name, {});
    for (const int layers : {1, 2, kMostDepthLayers}) {
      DepthDirectionSettings settings = kParts;
      settings.layers = layers;
      settings.max_directions = 1;
      const DepthCompliance found = choose_depth_directions(mesh, settings);
      ASSERT_EQ(found.directions.size(), 1U);
      const DepthDirectionShare& chosen = found.directions[0];
      for (const Vec3& axis : axes)
        EXPECT_LE(check_depth_directions(mesh, {&axis, 1}, settings).seen, found.seen) << name;
      const DepthMesh part = make_depth_mesh(mesh);
      const DepthElement element = make_depth_element(part, {}, 0, true);
      const DepthMap map =
          draw_depth_map({&element, 1}, make_depth_view(to_double(bounds(mesh)), chosen.direction),
                         {.width = 128, .height = 128, .layers = layers});
      EXPECT_EQ(chosen.covered, map.covered);
      EXPECT_EQ(chosen.overfull, map.overfull);
      EXPECT_EQ(chosen.open, map.open);
      overfull += chosen.overfull;
    }
  }
  EXPECT_GT(overfull, 100U);
}

TEST(DepthDirections, OneSideNeedsAsFewAsMustBe) {
  DepthDirectionSettings settings = kHeights;
  settings.two_sided = false;
  const TriangleMesh box = make_box({});
  const DepthCompliance found = choose_depth_directions(box, settings);
  EXPECT_EQ(found.directions.size(), 2U);
  EXPECT_EQ(found.seen, 1);
  // Along one axis: all but the bottom.
  const Vec3 up[] = {{0, 3, 0}};
  const DepthCompliance one = check_depth_directions(box, up, settings);
  EXPECT_NEAR(one.seen, 5.0 / 6, 2.0 / kSamples);
  EXPECT_NEAR(one.worst.y, -0.5, 1e-6);
  settings.max_directions = 1;
  EXPECT_EQ(choose_depth_directions(box, settings).directions.size(), 1U);
}

TEST(DepthDirections, AnLIsSeenAlongItsProfile) {
  // Drawn out along z, as one closed surface.
  const Vec3f profile[] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
  TriangleMesh mesh;
  for (const float z : {0.0F, 1.0F})
    for (const Vec3f& p : profile) mesh.positions.push_back({p.x, p.y, z});
  for (const Triangle& t : {Triangle{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}}) {
    mesh.triangles.push_back({t[2], t[1], t[0]});
    mesh.triangles.push_back({t[0] + 6, t[1] + 6, t[2] + 6});
  }
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::uint32_t j = (i + 1) % 6;
    mesh.triangles.push_back({i, j, j + 6});
    mesh.triangles.push_back({i, j + 6, i + 6});
  }
  const DepthCompliance found = choose_depth_directions(mesh, kHeights);
  ASSERT_EQ(found.directions.size(), 1U);
  EXPECT_EQ(found.seen, 1);
  // From the side, one of the arms hides the notch.
  const Vec3 bad[] = {{-1, 1, 0}};
  const DepthCompliance checked = check_depth_directions(mesh, bad, kHeights);
  EXPECT_LT(checked.seen, 0.95);
  EXPECT_GT(checked.worst.x, 0.9);
  EXPECT_GT(checked.worst.y, 0.9);
}

TEST(DepthDirections, ACupIsSeenAlongItsAxis) {
  const TriangleMesh bowl = make_bowl({.thickness = 0.01, .segments = 24});
  const DepthCompliance found = choose_depth_directions(bowl, kHeights);
  ASSERT_GE(found.directions.size(), 1U);
  EXPECT_GT(std::abs(found.directions[0].direction.y), 0.7);
  EXPECT_GT(found.seen, 0.97);
  // Across, the inside is not seen.
  const Vec3 across[] = {{1, 0, 0}};
  EXPECT_LT(check_depth_directions(bowl, across, kHeights).seen, 0.75);
  // Parts along the ray know the inside from any direction.
  EXPECT_GT(check_depth_directions(bowl, across, kParts).seen, 0.75);
}

TEST(DepthDirections, ACarIsNotSeenFromOneSide) {
  const TriangleMesh car = make_car();
  DepthDirectionSettings settings = kHeights;
  settings.two_sided = false;
  settings.max_directions = 1;
  const DepthCompliance one = choose_depth_directions(car, settings);
  EXPECT_LT(one.seen, 0.95);
  for (const Vec3& axis : {Vec3{1, 0, 0}, Vec3{-1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}})
    EXPECT_LE(check_depth_directions(car, {&axis, 1}, settings).seen, one.seen);
  settings.max_directions = 8;
  const DepthCompliance more = choose_depth_directions(car, settings);
  EXPECT_GT(more.seen, one.seen);
  EXPECT_LT(more.seen, 1);  // where parts overlap, surfaces lie within the body
  double sum = 0;
  for (const DepthDirectionShare& share : more.directions) {
    EXPECT_LE(share.gained, share.seen);
    sum += share.gained;
  }
  EXPECT_NEAR(sum, more.seen, 1e-9);
  EXPECT_NEAR(more.seen + more.unseen, 1, 1e-12);
}

TEST(DepthDirections, PartsWantNormalsAndLayers) {
  // A box is best seen over a corner: no face along the view.
  const DepthCompliance box = choose_depth_directions(make_box({}), kParts);
  ASSERT_EQ(box.directions.size(), 1U);
  EXPECT_EQ(box.seen, 1);
  EXPECT_EQ(box.grazing, 0);
  EXPECT_GT(box.directions[0].covered, 0U);
  EXPECT_EQ(box.directions[0].overfull, 0U);
  const Vec3 along[] = {{0, 0, 1}};
  EXPECT_NEAR(check_depth_directions(make_box({}), along, kParts).grazing, 2.0 / 3, 0.01);

  // Five plates in a row, and two layers: not along the row.
  TriangleMesh plates;
  for (int i = 0; i < 5; ++i)
    put_box(plates, {0, 0.3 * i, 0}, {.size_x = 1, .size_y = 0.1, .size_z = 1});
  DepthDirectionSettings settings = kParts;
  settings.layers = 2;
  const Vec3 row[] = {{0, 1, 0}};
  const DepthCompliance checked = check_depth_directions(plates, row, settings);
  EXPECT_LT(checked.seen, 0.01);
  EXPECT_EQ(checked.directions[0].overfull, checked.directions[0].covered);
  EXPECT_GT(choose_depth_directions(plates, settings).seen, 0.6);
}

TEST(DepthDirections, SameForAnyNumberOfThreads) {
  DepthDirectionSettings settings = kHeights;
  settings.samples = 300;
  settings.threads = {1};
  const DepthCompliance one = choose_depth_directions(make_car(), settings);
  settings.threads = {3};
  const DepthCompliance three = choose_depth_directions(make_car(), settings);
  ASSERT_EQ(one.directions.size(), three.directions.size());
  for (std::size_t i = 0; i < one.directions.size(); ++i)
    EXPECT_EQ(one.directions[i].direction, three.directions[i].direction);
  EXPECT_EQ(one.seen, three.seen);
}

TEST(DepthDirections, StarZones) {
  const TriangleMesh ball = make_sphere({.frequency = 4});
  EXPECT_TRUE(check_star_zone(ball, {0.1, 0.2, 0}, kSamples).is_star_convex);
  EXPECT_EQ(check_star_zone(ball, {0.1, 0.2, 0}, kSamples).visible_share, 1);
  const StarZone outside = check_star_zone(ball, {0.8, 0, 0}, kSamples);
  EXPECT_FALSE(outside.is_star_convex);
  EXPECT_EQ(outside.visible_share, 0);
  // From within the tube of a torus its far side is not seen.
  const TriangleMesh torus = make_torus({.segments = 24, .tube_segments = 12});
  const StarZone ring = check_star_zone(torus, {0.375, 0, 0}, kSamples);
  EXPECT_FALSE(ring.is_star_convex);
  EXPECT_GT(ring.visible_share, 0.1);
  EXPECT_LT(ring.visible_share, 0.7);
  const TriangleMesh gear = make_gear({});
  EXPECT_FALSE(check_star_zone(gear, {0, 0, 0}, kSamples).is_star_convex);

  const Vec3 points[] = {{0, 0, 0.3}, {0, 0, 2}, {0.2, 0, 0}};
  EXPECT_NEAR(compute_visible_share(ball, {}, points), 2.0 / 3, 1e-12);
  EXPECT_EQ(compute_visible_share(ball, {}, {}), 1);
}

TEST(DepthDirections, RefusesWhatMakesNoSense) {
  EXPECT_THROW(choose_depth_directions({}, kParts), Error);
  TriangleMesh broken = make_box({});
  broken.positions[0].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(choose_depth_directions(broken, kParts), Error);
  const TriangleMesh box = make_box({});
  for (const auto change : {+[](DepthDirectionSettings& s) { s.samples = 0; },
                            +[](DepthDirectionSettings& s) { s.samples = 1 << 30; },
                            +[](DepthDirectionSettings& s) { s.candidates = -1; },
                            +[](DepthDirectionSettings& s) { s.max_directions = 0; },
                            +[](DepthDirectionSettings& s) { s.layers = 99; },
                            +[](DepthDirectionSettings& s) { s.wanted_share = 2; },
                            +[](DepthDirectionSettings& s) { s.grazing_degrees = 0; }}) {
    DepthDirectionSettings settings = kParts;
    change(settings);
    EXPECT_THROW(choose_depth_directions(box, settings), Error);
  }
  const Vec3 zero[] = {{0, 0, 0}};
  EXPECT_THROW(check_depth_directions(box, zero, kParts), Error);
}

}  // namespace
}  // namespace isotact::test
