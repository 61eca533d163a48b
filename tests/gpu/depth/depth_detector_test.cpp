// Image-space detection on the GPU against closed forms.
#include "isotact/gpu/depth/depth_detector.h"

#include <algorithm>
#include <cmath>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "drawn_mesh.h"
#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuDepthTest = GpuTest;

constexpr std::int32_t kDepthSize = 64;

Aabb to_box(const TriangleMesh& mesh) { return to_double(bounds(mesh)); }

Pose random_pose(Random& random, double reach) {
  const auto next = [&] { return random.uniform(-1, 1); };
  Quat q{next(), next(), next(), next()};
  return {normalized(q), Vec3{next(), next(), next()} * reach};
}

struct Ball {
  TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 12});
  DrawnMesh drawn{mesh};
  DepthView view = make_depth_view(to_box(mesh), {0, 0, 1});
};

TEST_F(GpuDepthTest, BallsAtRandomPosesMeetAsSpheresDo) {
  Ball ball;
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const double miss = compute_depth_miss(ball.view, detector.settings());
  Random random(7);
  int met = 0, apart = 0;
  for (int i = 0; i < 60; ++i) {
    const Pose a = random_pose(random, 1), b = random_pose(random, 1);
    const double overlap = 1 - length(a.translation - b.translation);
    const DepthResult report = detector.detect(a, {ball.drawn.drawable(9, b)});
    // Facets lie up to a few thousandths inside of the sphere.
    if (overlap < 0) {
      ASSERT_FALSE(report.colliding) << i << " " << overlap;
      ++apart;
    }
    // A lens this thick holds a ball of that radius.
    if (overlap / 2 > miss + 0.01) {
      ASSERT_TRUE(report.colliding) << i << " " << overlap;
      ASSERT_EQ(report.ids, std::vector<std::uint32_t>{9});
      ASSERT_LE(length(report.deepest - a.translation), 0.5 + 1e-4);
      ASSERT_NEAR(length(report.deepest - b.translation), 0.5, 0.01);
      ASSERT_GT(report.pixels, 0U);
      ++met;
    }
  }
  EXPECT_GT(met, 10);
  EXPECT_GT(apart, 20);
}

TEST_F(GpuDepthTest, MapsHoldTheObject) {
  Ball ball;
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const DepthMap map = detector.read_map(0);
  EXPECT_EQ(map.open, 0U);
  EXPECT_EQ(map.overfull, 0U);
  const double share = map.covered / double(kDepthSize * kDepthSize);
  EXPECT_NEAR(share, 3.14159 / 4 / (1.01 * 1.01), 0.02);
  const DepthMap::Interval middle = map.intervals[kDepthSize / 2 * kDepthSize + kDepthSize / 2];
  EXPECT_NEAR(double{middle.near}, 0.005, 0.003);
  EXPECT_NEAR(double{middle.far}, 1.005, 0.003);
}

// FAB's wrong frames: a thing that has passed through the object and left it at the rear.
TEST_F(GpuDepthTest, AThingBehindTheObjectIsAFalsePositiveOfThePaperOnly) {
  Ball ball;
  DrawnMesh speck(make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.02}));
  const auto detect = [&](DepthMethod method, bool two_sided, double z) {
    DepthView view = ball.view;
    view.half_size.z = 0.7;
    GpuDepthDetector detector(
        gpu(),
        {.method = method, .width = kDepthSize, .height = kDepthSize, .two_sided = two_sided});
    detector.draw_map(0, {ball.drawn.drawable()}, view);
    return detector.detect({}, {speck.drawable(4, {.translation = {0, 0, z}})}).colliding;
  };
  for (const DepthMethod method : {DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
    EXPECT_TRUE(detect(method, false, -0.6));
    EXPECT_FALSE(detect(method, true, -0.6));
    for (const bool two_sided : {false, true}) {
      EXPECT_TRUE(detect(method, two_sided, 0.4));
      EXPECT_FALSE(detect(method, two_sided, 0.6));
    }
  }
  EXPECT_FALSE(detect(DepthMethod::kIntervals, false, -0.6));
  EXPECT_TRUE(detect(DepthMethod::kIntervals, false, -0.4));
  EXPECT_FALSE(detect(DepthMethod::kIntervals, false, 0.6));
}

// FAB, Figure 2 c.
TEST_F(GpuDepthTest, AnObjectWithinAClosedElementIsFound) {
  Ball ball;
  DrawnMesh room(make_box({.size_x = 4, .size_y = 4, .size_z = 4}));
  DrawnMesh elsewhere(make_box({.size_x = 0.3, .size_y = 0.3, .size_z = 0.3}));
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const Pose pose{rotation_about({1, 2, 3}, 0.7), {0.3, 0.2, -0.4}};
  const GpuDrawable small = elsewhere.drawable(3, {.translation = {2, 1, 1}});
  const DepthResult report = detector.detect(pose, {small, room.drawable(8)});
  EXPECT_TRUE(report.colliding);
  EXPECT_TRUE(report.inside);
  EXPECT_EQ(report.pixels, 0U);
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{8});
  EXPECT_EQ(report.deepest_id, 8U);
  EXPECT_LT(length(report.deepest - pose.translation), 0.5);
  EXPECT_FALSE(detector.detect(pose, {small, room.drawable(8, {}, false)}).colliding);
  EXPECT_FALSE(detector.detect({.translation = {0, 0, 9}}, {room.drawable(8)}).colliding);
  EXPECT_FALSE(detector.detect({.translation = {0, 0, -9}}, {room.drawable(8)}).colliding);
  // The room's wall through the ball: no longer inside, but colliding.
  const DepthResult wall = detector.detect({.translation = {0, 0, 1.9}}, {room.drawable(8)});
  EXPECT_TRUE(wall.colliding);
  EXPECT_FALSE(wall.inside);
}

// A pillar along the view: its sides show in no pixel, its ends are beyond the object.
TEST_F(GpuDepthTest, PillarsAlongTheViewAreFound) {
  Ball ball;
  DrawnMesh pillar(make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 4}));
  DrawnMesh ring(make_torus({.radius = 0.4, .tube_radius = 0.1, .segments = 24}));
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const DepthResult report =
      detector.detect({}, {pillar.drawable(4, {.translation = {-0.3, 0.2, 0}})});
  EXPECT_TRUE(report.colliding);
  EXPECT_TRUE(report.inside);
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{4});
  EXPECT_NEAR(report.deepest.x, -0.3, 0.06);
  EXPECT_NEAR(report.deepest.y, 0.2, 0.06);
  EXPECT_EQ(detector.detect({}, {pillar.drawable(4, {.translation = {0.55, 0.2, 0}})}).ids.size(),
            0U);
  // Between the two walls of a ring that is seen edge-on, and in the second of them.
  detector.draw_map(0, {ring.drawable()}, ball.view);
  for (const double z : {-0.4, 0.0, 0.4}) {
    DrawnMesh peg(make_box({.size_x = 0.1, .size_y = 0.4, .size_z = 0.4}));
    const DepthResult wall = detector.detect({}, {peg.drawable(2, {.translation = {0, 0, z}})});
    EXPECT_EQ(wall.colliding, z != 0.0) << z;
  }
}

TEST_F(GpuDepthTest, HiddenObstaclesAreSeenByIntervals) {
  Ball ball;
  DrawnMesh plate(make_box({.size_x = 3, .size_y = 3, .size_z = 0.05}));
  const std::vector<GpuDrawable> plates{plate.drawable(5, {.translation = {0, 0, 0.2}}),
                                        plate.drawable(2, {.translation = {0, 0, -0.2}}),
                                        plate.drawable(7, {.translation = {0, 0, 0.8}})};
  const auto ids = [&](DepthMethod method) {
    GpuDepthDetector detector(gpu(), {.method = method, .width = kDepthSize, .height = kDepthSize});
    detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
    return detector.detect({}, GpuDepthScene{plates}).ids;
  };
  const std::vector<std::uint32_t> both{2, 5}, first{2};
  EXPECT_EQ(ids(DepthMethod::kIntervals), both);
  EXPECT_EQ(ids(DepthMethod::kFragments), both);
  EXPECT_EQ(ids(DepthMethod::kTwoMaps), first);
}

TEST_F(GpuDepthTest, ReportsWhereAndHowDeep) {
  DrawnMesh cube(make_box({.size_x = 1, .size_y = 1, .size_z = 1}));
  DrawnMesh bar(make_box({.size_x = 0.25, .size_y = 4, .size_z = 0.1}));
  const DepthView view{.half_size = {1, 1, 1}};
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  detector.draw_map(0, {cube.drawable()}, view);
  const DepthResult report = detector.detect({.translation = {10, 0, 0}},
                                             {bar.drawable(6, {.translation = {10.125, 0, 0}})});
  // 64 pixels for 2 m: the bar covers 8 columns from the middle on, the cube 32 rows.
  EXPECT_EQ(report.pixels, 8U * 32U);
  EXPECT_EQ(report.first_pixel[0], 32);
  EXPECT_EQ(report.last_pixel[0], 39);
  EXPECT_EQ(report.first_pixel[1], 16);
  EXPECT_EQ(report.last_pixel[1], 47);
  EXPECT_NEAR(report.depth, 0.45, 1e-6);
  EXPECT_NEAR(std::abs(report.deepest.z), 0.05, 1e-6);
  EXPECT_EQ(report.deepest_id, 6U);
}

// Against a plane the contact at a pixel is known: the normal is the plane's, and where the object
// ends, seen along the view, its distance from the plane is the depth.
TEST_F(GpuDepthTest, ContactsAreThoseOfAPlaneAndASphere) {
  Ball ball;
  DrawnMesh slab(make_box({.size_x = 6, .size_y = 2, .size_z = 6}));
  GpuDepthDetector detector(gpu(), {.width = 128, .height = 128, .max_contacts = 64});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const Pose tilt{rotation_about({1, 0.2, 0}, 0.6), {0, -1.1, 0}};
  const Vec3 normal = transform_vector(tilt, {0, 1, 0});
  const Vec3 on_plane = transform_point(tilt, {0, 1, 0});
  const Pose pose{rotation_about({0, 1, 1}, 2), {0.1, 0.2, 0.1}};
  const DepthResult report = detector.detect(pose, {slab.drawable(3, tilt)});
  ASSERT_GT(report.contacts.size(), 10U);
  double before = 1e9;
  for (const Contact& c : report.contacts) {
    EXPECT_LE(c.depth, before);
    before = c.depth;
    EXPECT_EQ(c.point, 3U);
    EXPECT_NEAR(length(c.normal - normal), 0, 2e-3);
    EXPECT_NEAR(dot(on_plane - c.point_on_a, normal), c.depth, 2e-3);
    EXPECT_NEAR(dot(c.point_on_b - on_plane, normal), 0, 3e-3);
    EXPECT_NEAR(length(c.point_on_a - pose.translation), 0.5, 0.01);
  }
  // A ball in a ball: normals are those of the other sphere where its surface is.
  const DepthResult balls =
      detector.detect({}, {ball.drawn.drawable(1, {.translation = {0, 0.3, 0.6}})});
  ASSERT_GT(balls.contacts.size(), 5U);
  for (const Contact& c : balls.contacts) {
    EXPECT_GT(c.depth, 0);
    EXPECT_NEAR(length(c.normal), 1, 1e-6);
    EXPECT_LT(dot(c.normal, Vec3{0, 0.3, 0.6}), 0.1);
  }
}

TEST_F(GpuDepthTest, TheStencilChangesNothing) {
  Ball ball;
  DrawnMesh plate(make_box({.size_x = 3, .size_y = 3, .size_z = 0.05}));
  std::vector<DepthResult> reports;
  for (const bool use_stencil : {false, true}) {
    GpuDepthDetector detector(gpu(),
                              {.method = DepthMethod::kTwoMaps,
                               .width = kDepthSize,
                               .height = kDepthSize,
                               .max_contacts = 9},
                              {.use_stencil = use_stencil});
    for (const double size : {0.0, 0.1}) {  // a map that changes needs another stencil
      DepthView view = ball.view;
      view.half_size.x += size;
      detector.draw_map(0, {ball.drawn.drawable()}, view);
      reports.push_back(
          detector.detect({}, {plate.drawable(2, {rotation_about({1, 0, 0}, 0.3), {}})}));
    }
    const std::vector<float> map = detector.read_environment(0);
    const auto drawn =
        std::count_if(map.begin(), map.end(), [](float z) { return std::isfinite(z); });
    if (use_stencil)
      EXPECT_EQ(drawn, static_cast<std::ptrdiff_t>(detector.read_map(0).covered));
    else
      EXPECT_EQ(drawn, kDepthSize * kDepthSize);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(reports[i].pixels, 100U);
    EXPECT_EQ(reports[i].pixels, reports[i + 2].pixels);
    EXPECT_EQ(reports[i].depth, reports[i + 2].depth);
    EXPECT_EQ(reports[i].contacts.size(), reports[i + 2].contacts.size());
  }
  EXPECT_NE(reports[0].pixels, reports[1].pixels);
}

TEST_F(GpuDepthTest, MapsMakeRoomForManySurfaces) {
  Ball ball;
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize}, {.surfaces = 50});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  EXPECT_EQ(detector.read_map(0).open, 0U);
  GpuDepthDetector small(gpu(), {.width = kDepthSize, .height = kDepthSize}, {.surfaces = 50});
  const GpuDrawable object[] = {ball.drawn.drawable()};
  small.draw_map(0, object, ball.view, MapUpdate::kQueue);
  EXPECT_THROW((void)small.detect({}, {ball.drawn.drawable()}), Error);
}

TEST_F(GpuDepthTest, SaysWhatIsWrong) {
  EXPECT_THROW(GpuDepthDetector(gpu(), {.width = 0}), Error);
  EXPECT_THROW(GpuDepthDetector(gpu(), {.width = 64, .height = 64}, {.slots = 5000}), Error);
  EXPECT_THROW(GpuDepthDetector(gpu(), {.width = 4096, .height = 4096}, {.slots = 1000}), Error);
  if (!gpu().info().conservative_raster) {
    EXPECT_THROW(GpuDepthDetector(gpu(), {.conservative = true}), Error);
  }
  GpuDepthDetector detector(gpu(), {.width = kDepthSize, .height = kDepthSize});
  EXPECT_THROW((void)detector.detect({}, GpuDepthScene{}), Error);  // no map
  EXPECT_THROW((void)detector.read_map(1), Error);
  EXPECT_THROW((void)detector.read_environment(0), Error);
}

// Where the GPU cannot use them they are compiled, at least.
TEST_F(GpuDepthTest, ConservativeShadersCompile) {
  for (const bool whole : {false, true})
    for (const bool from_vertex : {false, true}) {
      std::vector<ShaderDefine> defines{{"CONSERVATIVE", "1"}};
      if (whole) defines.push_back({"WHOLE", "1"});
      if (from_vertex) defines.push_back({"FROM_VERTEX", "1"});
      EXPECT_NO_THROW(FragmentShader("depth_gather.frag", defines));
      EXPECT_NO_THROW(FragmentShader("depth_intervals.frag", defines));
    }
  EXPECT_NO_THROW(GpuProgram("depth_resolve.comp", {{"CONSERVATIVE", "1"}}));
}

TEST_F(GpuDepthTest, ConservativeRasterisationMissesNothing) {
  if (!gpu().info().conservative_raster) GTEST_SKIP() << "this GPU has none";
  Ball ball;
  DrawnMesh needle(make_box({.size_x = 1e-3, .size_y = 1e-3, .size_z = 0.5}));
  GpuDepthDetector detector(gpu(), {.width = 16, .height = 16, .conservative = true});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const Vec3 at{random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), random.uniform(0.2, 0.6)};
    EXPECT_TRUE(detector.detect({}, {needle.drawable(1, {.translation = at})}).colliding) << i;
  }
  EXPECT_FALSE(detector.detect({}, {needle.drawable(1, {.translation = {0, 0, 1}})}).colliding);
}

}  // namespace
}  // namespace isotact
