// Detection in one dispatch finds what several passes find, to the last bit, and what the CPU's
// exact rasteriser finds.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "gpu/gpu_fixture.h"
#include "once_scenery.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using GpuDepthOnceTest = GpuTest;

struct OnceTally {
  std::size_t poses = 0, colliding = 0, inside = 0, hits = 0, apart = 0, verdicts = 0;
};

void compare_with_cpu(const DepthResult& cpu, const DepthResult& gpu, const std::string& where,
                      OnceTally& tally) {
  ++tally.poses;
  tally.colliding += cpu.colliding ? 1U : 0U;
  tally.inside += cpu.inside ? 1U : 0U;
  tally.hits += cpu.pixels;
  const double apart = std::abs(static_cast<double>(cpu.pixels) - static_cast<double>(gpu.pixels));
  tally.apart += static_cast<std::size_t>(apart);
  EXPECT_LE(apart, 6 + 0.03 * cpu.pixels) << where;
  EXPECT_NEAR(cpu.depth, gpu.depth, 0.02) << where;
  // What hangs on one or two pixels whose middles lie on an edge, may be decided either way.
  const bool differs = cpu.colliding != gpu.colliding || cpu.inside != gpu.inside;
  tally.verdicts += differs ? 1U : 0U;
}

TEST_F(GpuDepthOnceTest, SameAsSeveralPassesAndAsTheCpu) {
  const std::vector<TriangleMesh> objects = make_once_objects();
  struct Case {
    DepthSettings settings;
    Vec3 direction;
  };
  // Tiles with more triangles than they take at once. Pictures that tiles and the 8 x 8 parts do
  // not divide, too.
  const Case cases[] = {
      {{.width = 40, .height = 32, .max_contacts = 12}, {0.3, 0.2, 1}},
      {{.width = 37, .height = 26}, {1, 0, 0}},
      {{.width = 32, .height = 40, .layers = 2, .find_inside = false}, {0, -1, 0}},
  };
  constexpr std::size_t kAtOnce = 8;
  const std::size_t rounds = unless_slow<std::size_t>(6, 3);
  const std::size_t submissions = unless_slow<std::size_t>(14, 3);
  OnceTally tally;
  for (std::size_t c = 0; c < std::size(cases); ++c) {
    const DepthSettings& settings = cases[c].settings;
    const GpuDepthSettings options{.queries = kAtOnce, .raster = GpuRaster::kCompute};
    GpuDepthSettings several = options;
    several.one_pass = false;
    GpuDepthDetector fast(gpu(), settings, options), slow(gpu(), settings, several);
    Random random(70 + c);
    for (std::size_t round = 0; round < rounds; ++round) {
      const TriangleMesh& object = objects[round % objects.size()];
      const DepthMesh cpu_object = make_depth_mesh(object);
      const DepthElement element[] = {make_depth_element(cpu_object, {}, 0, true)};
      const DepthView view = make_depth_view(to_double(bounds(object)), cases[c].direction);
      const MeshElement part[] = {make_mesh_element(object, {}, 0, true)};
      const GpuMeshes drawn(part);
      fast.draw_map(0, drawn, view);
      slow.draw_map(0, drawn, view);
      const DepthMap map = draw_depth_map(element, view, settings);
      const OnceScenery scenery(100 * c + round);
      const GpuMeshes environment(scenery.gpu);
      const GpuMeshes* const around[] = {&environment};
      for (std::size_t some = 0; some < submissions; ++some) {
        std::vector<GpuDepthQuery> queries;
        for (std::size_t q = 0; q < kAtOnce; ++q) {
          Pose pose = next_once_pose(random, q % 4 == 0 ? 4 : 2);
          if (q % 5 == 0) pose.translation = scenery.inside + 0.3 * pose.translation;
          queries.push_back({.world_from_object = pose});
        }
        std::vector<DepthResult> one, many;
        fast.fetch(fast.submit(queries, {.meshes = around}), one);
        slow.fetch(slow.submit(queries, {.meshes = around}), many);
        for (std::size_t q = 0; q < kAtOnce; ++q) {
          const std::string where = fmt::format("{} {} {} {}", c, round, some, q);
          expect_same(one[q], many[q], gpu().info().software, where);
          if (q % 4 == 0)
            compare_with_cpu(
                detect_by_depth(map, queries[q].world_from_object, scenery.cpu, settings), one[q],
                where, tally);
        }
      }
    }
    EXPECT_EQ(fast.submissions().one_pass, rounds * submissions);
    EXPECT_EQ(slow.submissions().one_pass, 0U);
  }
  RecordProperty("poses", std::to_string(tally.poses));
  RecordProperty("colliding", std::to_string(tally.colliding));
  RecordProperty("inside", std::to_string(tally.inside));
  RecordProperty("hits", std::to_string(tally.hits));
  RecordProperty("hits_apart", std::to_string(tally.apart));
  RecordProperty("verdicts_apart", std::to_string(tally.verdicts));
  EXPECT_GT(tally.colliding, tally.poses / 3);
  EXPECT_LT(tally.colliding, tally.poses * 4 / 5);
  EXPECT_GT(tally.inside, tally.poses / 50);
  EXPECT_LT(static_cast<double>(tally.apart), 0.005 * static_cast<double>(tally.hits));
  EXPECT_LE(tally.verdicts, tally.poses / 500);
}

// What does not fit into one dispatch goes in several passes, without a word: too many queries, and
// triangles whose edges would not be exact.
TEST_F(GpuDepthOnceTest, WhatDoesNotFitGoesInSeveralPasses) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 3});
  const TriangleMesh plain = make_box({.size_x = 2000, .size_y = 1, .size_z = 2000});
  const MeshElement object[] = {make_mesh_element(ball, {}, 0, true)};
  const MeshElement small[] = {make_mesh_element(ball, {}, 4, true)};
  const MeshElement large[] = {make_mesh_element(plain, {}, 5, true)};
  const GpuMeshes drawn(object), near(small), wide(large);
  GpuDepthDetector detector(gpu(), {.width = 32, .height = 32},
                            {.queries = 9, .raster = GpuRaster::kCompute, .first_check = false});
  detector.draw_map(0, drawn, make_depth_view(to_double(bounds(ball)), {0, 1, 0}));
  const Pose aside{.translation = {0.2, 0.4, 0.1}}, away{.translation = {0, 1.2, 0}};
  const GpuMeshes* const few[] = {&near};
  EXPECT_TRUE(detector.detect(aside, {.meshes = few}).colliding);
  EXPECT_FALSE(detector.detect(away, {.meshes = few}).colliding);
  EXPECT_EQ(detector.submissions().one_pass, 2U);
  const GpuMeshes* const ground[] = {&wide};
  EXPECT_EQ(detector.detect(aside, {.meshes = ground}).deepest_id, 5U);
  EXPECT_FALSE(detector.detect(away, {.meshes = ground}).colliding);
  const std::vector<GpuDepthQuery> queries(9, {.world_from_object = aside});
  std::vector<DepthResult> reports;
  detector.fetch(detector.submit(queries, {.meshes = few}), reports);
  for (const DepthResult& report : reports) EXPECT_EQ(report.pixels, reports.front().pixels);
  EXPECT_TRUE(reports.front().colliding);
  EXPECT_EQ(detector.submissions().one_pass, 2U);
  // Results that stay on the GPU, and one that nobody fetches.
  EXPECT_EQ(detector.submit_on_gpu({queries.data(), 1}, {.meshes = few}).queries, 1U);
  detector.forget(detector.submit({queries.data(), 1}, {.meshes = few}));
  EXPECT_TRUE(detector.detect(aside, {.meshes = few}).colliding);
  const GpuDepthTicket ticket = detector.submit({queries.data(), 1}, {.meshes = few});
  while (!detector.is_ready(ticket)) {
  }
  detector.fetch(ticket, reports);
  EXPECT_TRUE(reports.front().colliding);
  EXPECT_EQ(detector.submissions().one_pass, 6U);
}

// Drivers give memory out again with what was in it. The first report of a detector once was that
// of another one, which had had the same number.
TEST_F(GpuDepthOnceTest, ReportsOfAnotherDetectorAreNotBelieved) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 3});
  const MeshElement one[] = {make_mesh_element(ball, {}, 4, true)};
  const GpuMeshes drawn(one);
  const GpuMeshes* const around[] = {&drawn};
  for (int i = 0; i < 12; ++i) {
    GpuDepthDetector detector(gpu(), {.width = 32, .height = 32}, {.raster = GpuRaster::kCompute});
    detector.draw_map(0, drawn, make_depth_view(to_double(bounds(ball)), {0, 1, 0}));
    const bool near = i % 2 == 0;
    EXPECT_EQ(
        detector.detect({.translation = {near ? 0.1 : 1.2, 0, 0}}, {.meshes = around}).colliding,
        near)
        << i;
  }
}

}  // namespace
}  // namespace isotact
