// The GPU against the CPU's exact rasteriser: the same pixels, but for those whose middles lie on
// an edge within the GPU's snapping of corners (1/256 of a pixel).
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives.h"
#include "isotact/gpu/depth_detector.h"

#include "drawn_mesh.h"
#include "gpu_fixture.h"

namespace isotact {
namespace {

using GpuDepthTwinTest = GpuTest;

struct TwinMesh {
  TriangleMesh mesh;
  DepthMesh cpu = make_depth_mesh(mesh);
  DrawnMesh gpu{mesh};
  explicit TwinMesh(TriangleMesh m) : mesh(std::move(m)) {}
};

Pose next_pose(Random& random, double reach) {
  const auto next = [&] { return random.uniform(-1, 1); };
  return {normalized(Quat{next(), next(), next(), next()}), Vec3{next(), next(), next()} * reach};
}

struct MapDifference {
  std::size_t pixels = 0, layers = 0;  // covered on one side only; depths apart
  double worst = 0;
};

MapDifference compare_maps(const DepthMap& a, const DepthMap& b) {
  MapDifference difference;
  for (std::size_t i = 0; i < a.intervals.size(); ++i) {
    const DepthMap::Interval &p = a.intervals[i], &q = b.intervals[i];
    if ((p.near > p.far) != (q.near > q.far)) {
      ++difference.pixels;
    } else if (p.near <= p.far) {
      const double apart = std::max(std::abs(double{p.near} - double{q.near}),
                                    std::abs(double{p.far} - double{q.far}));
      difference.worst = std::max(difference.worst, apart);
      // A corner that is snapped moves steep surfaces.
      difference.layers += apart > 0.02 ? 1U : 0U;
    }
  }
  return difference;
}

TEST_F(GpuDepthTwinTest, MapsAndReportsAreTheSame) {
  std::vector<std::unique_ptr<TwinMesh>> shapes;
  shapes.push_back(std::make_unique<TwinMesh>(make_sphere({.radius = 0.5, .frequency = 6})));
  shapes.push_back(
      std::make_unique<TwinMesh>(make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.7})));
  shapes.push_back(std::make_unique<TwinMesh>(
      make_torus({.radius = 0.5, .tube_radius = 0.2, .segments = 24, .tube_segments = 12})));
  double worst = 0;
  std::size_t pixels = 0, map_edges = 0, map_layers = 0, hits = 0, hit_edges = 0, colliding = 0,
              runs = 0, verdicts = 0, ids = 0;
  for (const DepthMethod method :
       {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
    for (const bool two_sided : {false, true}) {
      if (method == DepthMethod::kIntervals && two_sided) continue;
      const DepthSettings settings{
          .method = method, .width = 64, .height = 48, .two_sided = two_sided, .max_contacts = 20};
      GpuDepthDetector detector(gpu(), settings);
      Random random(11);
      for (int run = 0; run < 24; ++run) {
        const TwinMesh& shape = *shapes[static_cast<std::size_t>(run % 3)];
        DrawnMesh& drawn = shapes[static_cast<std::size_t>(run % 3)]->gpu;
        const DepthElement object[] = {make_depth_element(shape.cpu, {}, 0, true)};
        const auto next = [&] { return random.uniform(-1, 1); };
        const DepthView view =
            make_depth_view(to_double(bounds(shape.mesh)), {next(), next(), next()});
        const DepthMap cpu_map = draw_depth_map(object, view, settings);
        detector.draw_map(0, {drawn.drawable()}, view);
        const DepthMap gpu_map = detector.read_map(0);
        const MapDifference difference = compare_maps(cpu_map, gpu_map);
        pixels += cpu_map.covered;
        map_edges += difference.pixels;
        map_layers += difference.layers;
        worst = std::max(worst, difference.worst);
        EXPECT_LE(std::abs(double(cpu_map.covered) - double(gpu_map.covered)), 12.0);
        EXPECT_LE(gpu_map.open, cpu_map.open + 2);

        std::vector<DepthElement> elements;
        std::vector<GpuDrawable> drawables;
        for (std::uint32_t i = 0; i < 4; ++i) {
          TwinMesh& other = *shapes[i % 3];
          const Pose pose = next_pose(random, 1.1);
          elements.push_back(make_depth_element(other.cpu, pose, 30 - i, i != 2));
          drawables.push_back(other.gpu.drawable(30 - i, pose, i != 2));
        }
        const Pose pose = next_pose(random, 0.5);
        const DepthReport on_cpu = detect_by_depth(cpu_map, pose, elements, settings);
        const DepthReport on_gpu = detector.detect(pose, GpuDepthScene{drawables});
        ++runs;
        colliding += on_cpu.colliding ? 1U : 0U;
        verdicts += on_cpu.colliding != on_gpu.colliding ? 1U : 0U;
        ids += on_cpu.ids != on_gpu.ids ? 1U : 0U;
        hits += on_cpu.pixels;
        const double apart = std::abs(double(on_cpu.pixels) - double(on_gpu.pixels));
        hit_edges += static_cast<std::size_t>(apart);
        EXPECT_LE(apart, 6 + 0.03 * on_cpu.pixels) << run << " " << static_cast<int>(method);
        EXPECT_NEAR(on_cpu.depth, on_gpu.depth, 0.02) << run << " " << static_cast<int>(method);
        EXPECT_LE(std::abs(double(on_cpu.contacts.size()) - double(on_gpu.contacts.size())), 3.0);
        if (!on_cpu.contacts.empty() && !on_gpu.contacts.empty()) {
          EXPECT_NEAR(on_cpu.contacts[0].depth, on_gpu.contacts[0].depth, 0.03);
        }
      }
    }
  }
  RecordProperty("pixels", static_cast<int>(pixels));
  std::printf(
      "worst %g pixels %zu edges %zu layers %zu | hits %zu edges %zu | runs %zu colliding %zu "
      "verdicts "
      "%zu ids %zu\n",
      worst, pixels, map_edges, map_layers, hits, hit_edges, runs, colliding, verdicts, ids);
  EXPECT_LT(static_cast<double>(map_edges), 0.005 * static_cast<double>(pixels));
  EXPECT_LT(static_cast<double>(hit_edges), 0.01 * static_cast<double>(hits));
  EXPECT_GT(colliding, runs / 2);
  EXPECT_EQ(verdicts, 0U);
  EXPECT_LE(ids, 1U);
}

}  // namespace
}  // namespace isotact
