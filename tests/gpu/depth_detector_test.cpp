// Image-space detection on the GPU against closed forms.
#include "isotact/gpu/depth_detector.h"

#include <algorithm>
#include <cmath>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives.h"

#include "drawn_mesh.h"
#include "gpu_fixture.h"

namespace isotact {
namespace {

using GpuDepthTest = GpuTest;

constexpr std::int32_t kSize = 64;

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
  GpuDepthDetector detector(gpu(), {.width = kSize, .height = kSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const double miss = find_depth_miss(ball.view, detector.settings());
  Random random(7);
  int met = 0, apart = 0;
  for (int i = 0; i < 60; ++i) {
    const Pose a = random_pose(random, 1), b = random_pose(random, 1);
    const double overlap = 1 - length(a.translation - b.translation);
    const DepthReport report = detector.detect(a, {ball.drawn.drawable(9, b)});
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
  GpuDepthDetector detector(gpu(), {.width = kSize, .height = kSize});
  detector.draw_map(0, {ball.drawn.drawable()}, ball.view);
  const DepthMap map = detector.read_map(0);
  EXPECT_EQ(map.open, 0U);
  EXPECT_EQ(map.overfull, 0U);
  const double share = map.covered / double(kSize * kSize);
  EXPECT_NEAR(share, 3.14159 / 4 / (1.01 * 1.01), 0.02);
  const DepthMap::Interval middle = map.intervals[kSize / 2 * kSize + kSize / 2];
  EXPECT_NEAR(double{middle.near}, 0.005, 0.003);
  EXPECT_NEAR(double{middle.far}, 1.005, 0.003);
}

}  // namespace
}  // namespace isotact
