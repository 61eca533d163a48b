// The GPU against the CPU's exact rasteriser: the same pixels, but for those whose middles lie on
// an edge within the GPU's snapping of corners (1/256 of a pixel).
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "drawn_mesh.h"
#include "gpu/gpu_fixture.h"

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

struct Tally {
  std::size_t runs = 0, colliding = 0, verdicts = 0, ids = 0, hits = 0;
  std::size_t hit_edges = 0;  // of counts: which pixels they are is not told
};

void compare_reports(const DepthResult& cpu, const DepthResult& gpu, const std::string& where,
                     Tally& tally) {
  ++tally.runs;
  tally.colliding += cpu.colliding ? 1U : 0U;
  tally.verdicts += cpu.colliding != gpu.colliding || cpu.inside != gpu.inside ? 1U : 0U;
  tally.ids += cpu.ids != gpu.ids ? 1U : 0U;
  tally.hits += cpu.pixels;
  const double apart = std::abs(static_cast<double>(cpu.pixels) - static_cast<double>(gpu.pixels));
  tally.hit_edges += static_cast<std::size_t>(apart);
  EXPECT_LE(apart, 6 + 0.03 * cpu.pixels) << where;
  EXPECT_NEAR(cpu.depth, gpu.depth, 0.02) << where;
  EXPECT_NEAR(static_cast<double>(cpu.contacts.size()), static_cast<double>(gpu.contacts.size()), 3)
      << where;
  if (!cpu.contacts.empty() && !gpu.contacts.empty()) {
    EXPECT_NEAR(cpu.contacts[0].depth, gpu.contacts[0].depth, 0.03) << where;
  }
}

std::vector<std::unique_ptr<TwinMesh>> make_shapes() {
  std::vector<std::unique_ptr<TwinMesh>> shapes;
  for (TriangleMesh& mesh : std::vector<TriangleMesh>{
           make_sphere({.radius = 0.5, .frequency = 6}),
           make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.7}),
           make_torus({.radius = 0.5, .tube_radius = 0.2, .segments = 24, .tube_segments = 12})})
    shapes.push_back(std::make_unique<TwinMesh>(std::move(mesh)));
  return shapes;
}

TEST_F(GpuDepthTwinTest, MapsAndReportsAreTheSame) {
  const std::vector<std::unique_ptr<TwinMesh>> shapes = make_shapes();
  std::size_t pixels = 0, map_edges = 0;
  Tally tally;
  for (const DepthMethod method :
       {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
    for (const bool two_sided : {false, true}) {
      const DepthSettings settings{
          .method = method, .width = 64, .height = 48, .two_sided = two_sided, .max_contacts = 20};
      // Intervals have no sides: instead, both rasterisers.
      GpuDepthDetector detector(
          gpu(), settings,
          {.raster = two_sided ? GpuRaster::kCompute : GpuRaster::kGraphics, .one_pass = false});
      // Views of their own for each: the same ones again would prove nothing more.
      Random random(11 + 10 * static_cast<std::uint64_t>(method) + (two_sided ? 1U : 0U));
      for (int run = 0; run < 30; ++run) {
        const std::string where = std::to_string(run) + " by " +
                                  std::to_string(static_cast<int>(method)) +
                                  (two_sided ? ", two sides" : "");
        TwinMesh& shape = *shapes[static_cast<std::size_t>(run % 3)];
        const DepthElement object[] = {make_depth_element(shape.cpu, {}, 0, true)};
        const auto next = [&] { return random.uniform(-1, 1); };
        const DepthView view =
            make_depth_view(to_double(bounds(shape.mesh)), {next(), next(), next()});
        const DepthMap cpu_map = draw_depth_map(object, view, settings);
        detector.draw_map(0, {shape.gpu.drawable()}, view);
        const DepthMap gpu_map = detector.read_map(0);
        const MapDifference difference = compare_maps(cpu_map, gpu_map);
        pixels += cpu_map.covered;
        map_edges += difference.pixels + difference.layers;
        EXPECT_NEAR(static_cast<double>(cpu_map.covered), static_cast<double>(gpu_map.covered), 12);
        EXPECT_LE(gpu_map.open, cpu_map.open + 2);

        std::vector<DepthElement> elements;
        std::vector<GpuDrawable> drawables;
        std::vector<MeshElement> parts;
        for (std::uint32_t i = 0; i < 4; ++i) {
          TwinMesh& other = *shapes[i % 3];
          const Pose pose = next_pose(random, 1.1);
          elements.push_back(make_depth_element(other.cpu, pose, 30 - i, i != 2));
          drawables.push_back(other.gpu.drawable(30 - i, pose, i != 2));
          parts.push_back(make_mesh_element(other.mesh, pose, 30 - i, i != 2));
        }
        const Pose pose = next_pose(random, 0.5);
        const DepthResult report = detect_by_depth(cpu_map, pose, elements, settings);
        compare_reports(report, detector.detect(pose, {.drawables = drawables}), where, tally);
        const GpuMeshes meshes(parts);
        const GpuMeshes* const all[] = {&meshes};
        compare_reports(report, detector.detect(pose, {.meshes = all}), where + ", meshes", tally);
      }
    }
  }
  RecordProperty("pixels", std::to_string(pixels));
  RecordProperty("pixels_apart", std::to_string(map_edges));
  RecordProperty("hits", std::to_string(tally.hits));
  RecordProperty("hit_counts_apart", std::to_string(tally.hit_edges));
  EXPECT_LT(static_cast<double>(map_edges), 0.005 * static_cast<double>(pixels));
  EXPECT_LT(static_cast<double>(tally.hit_edges), 0.01 * static_cast<double>(tally.hits));
  EXPECT_GT(tally.colliding, tally.runs / 2);
  EXPECT_EQ(tally.verdicts, 0U);
  EXPECT_LE(tally.ids, 1U);
}

// Few pixels differ above. That this is not for want of looking: a view that is off by a part of a
// pixel is noticed.
TEST_F(GpuDepthTwinTest, SmallShiftsAreNoticed) {
  const std::vector<std::unique_ptr<TwinMesh>> shapes = make_shapes();
  const DepthSettings settings{.width = 64, .height = 48};
  GpuDepthDetector detector(gpu(), settings);
  std::vector<std::size_t> apart;
  std::size_t covered = 0;
  for (const double pixels : {0.0, 1.0 / 16, 1.0 / 4}) {
    Random random(19);
    apart.push_back(0);
    for (int run = 0; run < 30; ++run) {
      TwinMesh& shape = *shapes[static_cast<std::size_t>(run % 3)];
      const DepthElement object[] = {make_depth_element(shape.cpu, {}, 0, true)};
      const auto next = [&] { return random.uniform(-1, 1); };
      const DepthView view =
          make_depth_view(to_double(bounds(shape.mesh)), {next(), next(), next()});
      DepthView moved = view;
      moved.object_from_view.translation = transform_point(
          view.object_from_view, {pixels * 2 * view.half_size.x / settings.width, 0, 0});
      const DepthMap map = draw_depth_map(object, view, settings);
      detector.draw_map(0, {shape.gpu.drawable()}, moved);
      apart.back() += compare_maps(map, detector.read_map(0)).pixels;
      covered += map.covered;
    }
  }
  RecordProperty("pixels", std::to_string(covered / 3));
  RecordProperty("pixels_apart", std::to_string(apart[0]));
  EXPECT_GT(apart[1], apart[0] + 50);
  EXPECT_GT(apart[2], 2 * apart[1]);
}

// Lines and points by compute shaders follow the CPU's rules to the letter, wide triangles as well.
TEST_F(GpuDepthTwinTest, LinesPointsAndWideTriangles) {
  const std::vector<std::unique_ptr<TwinMesh>> shapes = make_shapes();
  Random random(5);
  const auto next = [&] { return random.uniform(-1, 1); };
  std::vector<Vec3> positions;
  std::vector<Vec3f> rounded;
  std::vector<std::uint32_t> points, lines;
  for (std::uint32_t i = 0; i < 600; ++i) {
    rounded.push_back(to_float(Vec3{next(), next(), next()}));
    positions.push_back(to_double(rounded.back()));
    points.push_back(i);
    if (i % 2 == 1) lines.insert(lines.end(), {i - 1, i});
  }
  const TriangleMesh wall = make_box({.size_x = 40, .size_y = 0.1, .size_z = 40});
  const DepthMesh cpu_wall = make_depth_mesh(wall);
  const DepthSettings settings{.width = 128, .height = 112, .max_contacts = 10};
  GpuDepthDetector detector(gpu(), settings, {.raster = GpuRaster::kCompute, .one_pass = false});
  Tally tally;
  for (int run = 0; run < 12; ++run) {
    TwinMesh& shape = *shapes[static_cast<std::size_t>(run % 3)];
    const DepthElement object[] = {make_depth_element(shape.cpu, {}, 0, true)};
    const DepthView view = make_depth_view(to_double(bounds(shape.mesh)), {next(), next(), next()});
    const DepthMap map = draw_depth_map(object, view, settings);
    detector.draw_map(0, {shape.gpu.drawable()}, view);
    const Pose pose = next_pose(random, 0.3), tilt = next_pose(random, 0.6);
    DepthElement dust{.positions = positions, .indices = points, .id = 1};
    dust.primitive = DepthPrimitive::kPoints;
    DepthElement straw = dust;
    straw.indices = lines, straw.id = 2, straw.primitive = DepthPrimitive::kLines;
    MeshElement gpu_dust{.positions = rounded, .indices = points, .id = 1};
    gpu_dust.primitive = DepthPrimitive::kPoints;
    MeshElement gpu_straw = gpu_dust;
    gpu_straw.indices = lines, gpu_straw.id = 2, gpu_straw.primitive = DepthPrimitive::kLines;
    const DepthElement elements[] = {dust, straw, make_depth_element(cpu_wall, tilt, 3, true)};
    const MeshElement parts[] = {gpu_dust, gpu_straw, make_mesh_element(wall, tilt, 3, true)};
    for (std::size_t i = 0; i < 3; ++i) {
      const GpuMeshes meshes({&parts[i], 1});
      const GpuMeshes* const all[] = {&meshes};
      compare_reports(detect_by_depth(map, pose, {&elements[i], 1}, settings),
                      detector.detect(pose, {.meshes = all}),
                      std::to_string(run) + " of " + std::to_string(i), tally);
    }
  }
  EXPECT_GT(tally.colliding, 25U);
  EXPECT_EQ(tally.verdicts, 0U);
  EXPECT_EQ(tally.ids, 0U);
  EXPECT_LT(static_cast<double>(tally.hit_edges), 0.002 * static_cast<double>(tally.hits));
}

}  // namespace
}  // namespace isotact
