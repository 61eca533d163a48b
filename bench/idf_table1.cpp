// KGM's Table 1: the scenes of its Figure 3 on Bullet, all pairs of a step in one query, and the
// same pairs on the CPU and by FCL. The steps of a scene are recorded once, then each query sees
// the same ones.
#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <optional>

#include "isotact/adapters/bullet/gpu_batch.h"
#include "isotact/adapters/bullet/scene_engine.h"
#include "isotact/base/error.h"
#include "isotact/field/isosurface.h"
#include "isotact/scene/run.h"

#include "idf_fcl.h"
#include "idf_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct Step {
  std::vector<IdfBody> bodies;
  std::vector<IdfPair> pairs;
};

struct Recording {
  std::vector<IdfShape> shapes;
  std::deque<Step> steps;  // the last ones
  double epsilon = 0;
};

struct PaperRow {
  int n;
  double collisions, pairs, milliseconds;
};
struct TableScene {
  const char* file;
  const char* name;
  PaperRow paper[4];
};
// KGM, Table 1, on a GTX 1070.
constexpr TableScene kScenes[] = {
    {"many",
     "terrain with many objects",
     {{5, 14704.20, 1209.40, 4.10},
      {10, 118520.59, 1325.405, 15.27},
      {15, 354805.26, 1204.096, 37.16},
      {20, 808656.76, 1121.437, 69.97}}},
    {"pipe",
     "pipe with balls and bowl",
     {{5, 2015.98, 408.13, 1.72},
      {10, 65590.03, 505.23, 5.01},
      {15, 288067.48, 565.70, 17.15},
      {20, 705999.38, 576.88, 41.21}}},
    {"statues",
     "armadillo and statue on terrain",
     {{5, 4.57, 3, 0.31}, {10, 9.38, 3, 0.31}, {15, 16.18, 3, 0.38}, {20, 37.99, 3, 0.47}}}};

// Metres: no overlap that holds such a ball is missed by our own search. Bodies are half a metre.
constexpr double kResolution = 0.005;

// On the GPU, or on the CPU where software would be the GPU.
Recording record_scene(const Options& options, const TableScene& scene, const GpuContext& gpu) {
  const bool small = options.quick || gpu.info().software;
  std::filesystem::path file =
      std::filesystem::path("scenes/kgm") / (std::string(scene.file) + ".json");
  const std::filesystem::path small_file =
      std::filesystem::path("scenes/kgm") / (std::string(scene.file) + "_small.json");
  if (small && std::filesystem::exists(small_file)) file = small_file;
  if (!std::filesystem::exists(file))
    throw Error({.file = file.string()}, "no such scene: run this from the folder of the project");
  Recording recording;
  const std::size_t wanted = small ? 20 : 1000;
  std::uint64_t version = 0;
  BatchSettings batch{.query = {.samples = 10, .max_contacts = 8}};
  batch.observer = [&](const BatchStep& step, const IdfResult&) {
    if (version != step.shapes_version)
      recording.shapes.assign(step.shapes.begin(), step.shapes.end());
    version = step.shapes_version;
    recording.epsilon = step.settings.epsilon;
    recording.steps.push_back(
        {{step.bodies.begin(), step.bodies.end()}, {step.pairs.begin(), step.pairs.end()}});
    if (recording.steps.size() > wanted) recording.steps.pop_front();
  };
  if (gpu.info().software)
    batch.backend = cpu_batch_query();
  else
    batch.backend = GpuBatchQuery(gpu);
  const Scene loaded = read_scene(file);
  SceneRun run(loaded, {.keep_frames = false,
                        .keep_log = false,
                        .engines = {{"bullet", bullet_engine_with(batch)}}});
  run.go(small ? 60 : std::max<std::uint64_t>(step_count(loaded), wanted));
  return recording;
}

struct Average {
  double collisions = 0, pairs = 0, milliseconds = 0, colliding = 0;
};

// Over every `stride`-th step.
Average average_on_gpu(const Recording& recording, GpuIntersectionQuery& query,
                       const IdfSettings& settings, std::size_t stride = 1) {
  Average sum;
  // Until the GPU's clock is up.
  for (int i = 0; i < 20; ++i)
    query.count(recording.steps.back().bodies, recording.steps.back().pairs, settings);
  double steps = 0;
  for (std::size_t i = 0; i < recording.steps.size(); i += stride, ++steps) {
    const Step& step = recording.steps[i];
    const GpuIntersectionCount c = query.count(step.bodies, step.pairs, settings);
    sum.collisions += static_cast<double>(c.arrived);
    sum.colliding += static_cast<double>(c.colliding);
    sum.pairs += static_cast<double>(step.pairs.size());
    sum.milliseconds += c.milliseconds;
  }
  return {sum.collisions / steps, sum.pairs / steps, sum.milliseconds / steps,
          sum.colliding / steps};
}

// The body of a shape as a mesh: what FCL gets.
struct TexelField {
  const FieldTexels& texels;

  double value(const Vec3& p) const {
    return static_cast<double>(isotact::sample(texels, to_float(p)).distance);
  }
  FieldSample sample(const Vec3& p) const {
    const TexelSample s = isotact::sample(texels, to_float(p));
    return {static_cast<double>(s.distance), to_double(s.direction)};
  }
  Aabb bounds() const { return isotact::bounds(texels.lattice); }
  double lipschitz() const { return texels.lipschitz; }
  Interval range(const Aabb& box) const {
    const double middle = value(center(box)), reach = 0.5 * length(extent(box)) * texels.lipschitz;
    return {middle - reach, middle + reach};
  }
  Interval distance_bounds(const Vec3& p) const {
    const double v = value(p);
    return {v - texels.far_error, v + texels.far_error};
  }
};

template <Field F>
TriangleMesh mesh_of(const F& field, const Aabb& body, std::size_t least) {
  const Vec3 size = extent(body);
  for (int cells = 48;; cells = cells * 3 / 2) {
    const double spacing = std::max({size.x, size.y, size.z}) / cells;
    Lattice lattice{.origin = body.lower - Vec3{2, 2, 2} * spacing, .spacing = spacing};
    for (std::size_t axis = 0; axis < 3; ++axis)
      lattice.cells[axis] = static_cast<std::int32_t>(std::ceil(size[axis] / spacing)) + 4;
    TriangleMesh mesh = extract_surface(field, lattice);
    if (mesh.triangles.size() >= least || cells > 400) return mesh;
  }
}

// Empty for a plane.
TriangleMesh mesh_of(const IdfShape& shape) {
  constexpr std::size_t kLeast = 20000;
  return std::visit(
      [&](const auto& solid) -> TriangleMesh {
        using Solid = std::decay_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, std::shared_ptr<const FieldTexels>>)
          return mesh_of(TexelField{*solid}, shape.body(), kLeast);
        else if constexpr (std::is_same_v<Solid, std::shared_ptr<const BrickField>>)
          return mesh_of(*solid, shape.body(), kLeast);
        else if constexpr (std::is_same_v<Solid, PlaneField>)
          return {};
        else
          return mesh_of(solid, shape.body(), kLeast);
      },
      shape.solid());
}

void compare_with_fcl(const Recording& recording, const char* scene, Report& report) {
  constexpr int kThreads = 2;
  std::vector<TriangleMesh> meshes;
  for (const IdfShape& shape : recording.shapes) meshes.push_back(mesh_of(shape));
  const FclCrowd fcl(meshes);
  Step step = recording.steps.back();
  std::erase_if(step.pairs, [&](const IdfPair& p) {
    const auto has_mesh = [&](std::uint32_t body) {
      return !meshes[step.bodies[body].shape].triangles.empty() && step.bodies[body].scale == 1;
    };
    return !has_mesh(p.a) || !has_mesh(p.b);
  });
  if (step.pairs.empty()) return;
  const auto collide = [&](std::size_t contacts) {
    parallel_for(step.pairs.size(), 4, Threads{kThreads}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        fcl.collide(step.bodies[step.pairs[i].a], step.bodies[step.pairs[i].b], contacts,
                    contacts > 1);
    });
  };
  IdfState state;
  IdfResult result;
  const auto ours = [&](int n, bool any = false) {
    intersect_fields(recording.shapes, step.bodies, step.pairs,
                     {.samples = n,
                      .epsilon = recording.epsilon,
                      .max_contacts = 8,
                      .any_contact = any,
                      .threads = {kThreads}},
                     state, result);
  };
  const std::vector<Seconds> times = medians_of({{.work = [&] { ours(20); }},
                                                 {.work = [&] { ours(10); }},
                                                 {.work = [&] { ours(20, true); }},
                                                 {.work = [&] { collide(1); }},
                                                 {.work = [&] { collide(8); }},
                                                 {.work = [&] { collide(1000); }, .max_runs = 3}});
  const auto us = [&](std::size_t i) {
    return times[i].wall * 1e6 / static_cast<double>(step.pairs.size());
  };
  report.print(
      "  CPU, {} threads, {} pairs of the last step, us a pair: whether they meet: ours {:.1f} (N "
      "= "
      "20), FCL {:.1f}; ours, 8 deepest: {:.1f} (N = 20), {:.1f} (N = 10); FCL, 8 of them: {:.1f}, "
      "up to 1000: {:.1f}\n",
      kThreads, step.pairs.size(), us(2), us(3), us(0), us(1), us(4), us(5));
  report.json["table1"][scene]["cpu"] = {{"pairs", step.pairs.size()}, {"ours_20_us", us(0)},
                                         {"ours_10_us", us(1)},        {"ours_any_us", us(2)},
                                         {"fcl_1_us", us(3)},          {"fcl_8_us", us(4)},
                                         {"fcl_1000_us", us(5)}};
}

}  // namespace

void bench_table1(const Options& options, Report& report) {
  const GpuContext gpu = GpuContext::create();
  const bool small = options.quick || gpu.info().software;
  report.print(
      "\nTable 1{}: averages over the steps of a scene. Two passes and one are KGM's search with "
      "all\n"
      "contacts; ours is by cells, with the 8 deepest; sure misses nothing that holds a ball of {} "
      "m.\n"
      "Last: how many pairs collide\n",
      small ? " (small scenes, few steps)" : "", kResolution);
  for (const TableScene& scene : kScenes) {
    const Recording recording = record_scene(options, scene, gpu);
    report.print("  {}: {} shapes, {} bodies, {} steps\n", scene.name, recording.shapes.size(),
                 recording.steps.back().bodies.size(), recording.steps.size());
    report.print(
        "  {:>3} | {:>10} {:>8} {:>8} | {:>10} {:>9} | {:>10} {:>8} | {:>8} {:>8} | {:>6} {:>6} "
        "{:>6}\n",
        "N", "collisions", "pairs", "KGM ms", "collisions", "pairs", "two passes", "one pass",
        "ours ms", "sure ms", "KGM's", "ours", "sure");
    GpuIntersectionQuery one(gpu, recording.shapes);
    GpuIntersectionQuery two(gpu, recording.shapes, {.two_passes = true});
    for (const PaperRow& row : scene.paper) {
      if (small && row.n > 10) continue;
      IdfSettings settings{
          .samples = row.n, .epsilon = recording.epsilon, .search = IdfSearch::kPaper};
      const Average twice = average_on_gpu(recording, two, settings);
      const Average once = average_on_gpu(recording, one, settings);
      settings.search = IdfSearch::kCells;
      settings.max_contacts = 8;
      const Average ours = average_on_gpu(recording, one, settings);
      settings.resolution = kResolution;
      // Of every tenth step, and held against the same ones.
      const Average sure = average_on_gpu(recording, one, settings, 10);
      const Average known = average_on_gpu(
          recording, one,
          {.samples = row.n, .epsilon = recording.epsilon, .search = IdfSearch::kPaper}, 10);
      // What KGM's search finds and cells without cutting do not is no wider than a cell.
      report.check(
          sure.colliding >= known.colliding,
          fmt::format("{}, N = {}: fewer pairs collide than by KGM's search", scene.name, row.n));
      report.print(
          "  {:>3} | {:>10.0f} {:>8.1f} {:>8.2f} | {:>10.0f} {:>9.1f} | {:>10.4f} {:>8.4f} | "
          "{:>8.4f} {:>8.4f} | {:>6.1f} {:>6.1f} {:>6.1f}\n",
          row.n, row.collisions, row.pairs, row.milliseconds, once.collisions, once.pairs,
          twice.milliseconds, once.milliseconds, ours.milliseconds, sure.milliseconds,
          once.colliding, ours.colliding, sure.colliding);
      report.json["table1"][scene.name]["rows"].push_back({{"n", row.n},
                                                           {"paper_ms", row.milliseconds},
                                                           {"collisions", once.collisions},
                                                           {"pairs", once.pairs},
                                                           {"two_passes_ms", twice.milliseconds},
                                                           {"one_pass_ms", once.milliseconds},
                                                           {"ours_ms", ours.milliseconds},
                                                           {"sure_ms", sure.milliseconds},
                                                           {"sure_colliding", sure.colliding},
                                                           {"colliding", once.colliding},
                                                           {"ours_colliding", ours.colliding}});
    }
    compare_with_fcl(recording, scene.name, report);
  }
}

}  // namespace isotact::bench
