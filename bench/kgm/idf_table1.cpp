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
#include "isotact/field/extract/isosurface.h"
#include "isotact/scene/run/run.h"

#include "idf_fcl.h"
#include "idf_report.h"
#include "support/data_folder.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

struct Step {
  std::vector<IdfBody> bodies;
  std::vector<IdfPair> pairs;
};

struct Recording {
  std::vector<IdfShape> shapes;
  std::deque<Step> steps;  // the last ones
  double margin = 0;
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

// Small scenes where there are some and they suffice.
std::optional<std::filesystem::path> find_scene_of(const TableScene& scene, bool small) {
  const std::string file = std::string("kgm/") + scene.file;
  if (small)
    if (auto found = find_scene(file + "_small.json")) return found;
  return find_scene(file + ".json");
}

// On the GPU, or on the CPU where software would be the GPU.
Recording record_scene(const std::filesystem::path& file, bool small, const GpuContext& gpu) {
  Recording recording;
  const std::size_t wanted = small ? 20 : 1000;
  std::uint64_t version = 0;
  BatchSettings batch{.query = {.samples = 10, .max_contacts = 8}};
  batch.observer = [&](const BatchStep& step, const IdfResult&) {
    if (version != step.shapes_version)
      recording.shapes.assign(step.shapes.begin(), step.shapes.end());
    version = step.shapes_version;
    recording.margin = step.settings.margin;
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

void compare_with_fcl(const Recording& recording, const char* scene,
                      std::vector<std::vector<Cell>>& rows, Report& report) {
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
  IdfScratch scratch;
  IdfResult result;
  const auto ours = [&](int n, bool any = false) {
    intersect_fields(recording.shapes, step.bodies, step.pairs,
                     {.samples = n,
                      .margin = recording.margin,
                      .max_contacts = 8,
                      .any_contact = any,
                      .threads = {kThreads}},
                     result, scratch);
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
  rows.push_back({scene, step.pairs.size(), us(2), us(3), us(1), us(0), us(4), us(5)});
  report.json["table1"][scene]["cpu"] = {{"pairs", step.pairs.size()}, {"ours_20_us", us(0)},
                                         {"ours_10_us", us(1)},        {"ours_any_us", us(2)},
                                         {"fcl_1_us", us(3)},          {"fcl_8_us", us(4)},
                                         {"fcl_1000_us", us(5)}};
}

}  // namespace

void bench_table1(const Options& options, Report& report) {
  const GpuContext gpu = GpuContext::create();
  const bool small = options.quick || gpu.info().software;
  Table table = report.table(
      {.id = "table1",
       .paper = "KGM",
       .place = "Table 1",
       .title = "Averages over the steps of three scenes",
       .columns = {{"scene", Of::kKey},
                   {"N", Of::kKey},
                   {"contacts", Of::kPaper, "", 0},
                   {"pairs", Of::kPaper, "", 1},
                   {"time", Of::kPaper, "ms", 2},
                   {"contacts", Of::kOurs, "", 0},
                   {"pairs", Of::kOurs, "", 1},
                   {"KGM's two passes here", Of::kOurs, "ms"},
                   {"the same in one pass", Of::kOurs, "ms"},
                   {"8 deepest", Of::kOurs, "ms"},
                   {"8 deepest, nothing missed", Of::kOurs, "ms"},
                   {"pairs that collide: KGM's search", Of::kOurs, "", 1},
                   {"8 deepest", Of::kOurs, "", 1},
                   {"nothing missed", Of::kOurs, "", 1}},
       .note = fmt::format(
           "{}Milliseconds by the GPU's clock. Two passes and one are KGM's search with all "
           "contacts; ours is by cells. Nothing missed: nothing that holds a ball of {} m. "
           "Bullet's "
           "boxes are grown, so that there are more pairs than KGM had.",
           small ? "Small scenes, few steps. " : "", kResolution)});
  std::vector<std::vector<Cell>> of_fcl;
  std::vector<Plot> plots;
  for (const TableScene& scene : kScenes) {
    const auto file = find_scene_of(scene, small);
    if (!file) {
      report.note(
          fmt::format("{} is left out: scenes/kgm/{}.json is neither in this folder, nor "
                      "beside the program or above it, nor among the sources",
                      scene.name, scene.file));
      continue;
    }
    const Recording recording = record_scene(*file, small, gpu);
    Plot plot{.title = scene.name,
              .x_name = "N",
              .y_name = "ms",
              .is_log = true,
              .lines = {{"KGM published"}, {"two passes here"}, {"8 deepest"}}};
    GpuIntersectionQuery one(gpu, recording.shapes);
    GpuIntersectionQuery two(gpu, recording.shapes, {.two_passes = true});
    for (const PaperRow& row : scene.paper) {
      if (small && row.n > 10) continue;
      IdfSettings settings{
          .samples = row.n, .margin = recording.margin, .search = IdfSearch::kPaper};
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
          {.samples = row.n, .margin = recording.margin, .search = IdfSearch::kPaper}, 10);
      // What KGM's search finds and cells without cutting do not is no wider than a cell.
      report.check(sure.colliding >= known.colliding,
                   "cut cells find as many pairs as KGM's search, or more",
                   fmt::format("{}, N = {}", scene.name, row.n));
      table.row({scene.name, row.n, row.collisions, row.pairs, row.milliseconds, once.collisions,
                 once.pairs, twice.milliseconds, once.milliseconds, ours.milliseconds,
                 sure.milliseconds, once.colliding, ours.colliding, sure.colliding});
      const double ms[] = {row.milliseconds, twice.milliseconds, ours.milliseconds};
      for (std::size_t k = 0; k < std::size(ms); ++k)
        plot.lines[k].points.push_back({static_cast<double>(row.n), ms[k]});
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
    plots.push_back(plot);
    compare_with_fcl(recording, scene.name, of_fcl, report);
  }
  Table beside_fcl =
      report.table({.id = "table1-fcl",
                    .title = "The same scenes' last steps on the CPU beside FCL, two threads",
                    .columns = {{"scene", Of::kKey},
                                {"pairs", Of::kKey},
                                {"whether they meet, N = 20", Of::kOurs, "us"},
                                {"FCL, whether they meet", Of::kPeer, "us"},
                                {"8 deepest, N = 10", Of::kOurs, "us"},
                                {"8 deepest, N = 20", Of::kOurs, "us"},
                                {"FCL, any 8", Of::kPeer, "us"},
                                {"FCL, up to 1000", Of::kPeer, "us"}},
                    .note = "Microseconds a pair, by the clock."});
  for (const auto& row : of_fcl) beside_fcl.row(row);
  report.figure({.id = "table1-plot",
                 .paper = "KGM",
                 .place = "Table 1",
                 .title = "Milliseconds a step by N"},
                plots);
}

}  // namespace isotact::bench
