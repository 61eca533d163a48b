// Fields whose distances a GPU finds: where the time goes, and that they are the processor's. Runs
// on software Mesa, too, where times mean nothing.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>

#include "isotact/field/build/build_field.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/field/build/inside_rows.h"
#include "isotact/field/texels/field_texels.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/gpu/build/field_builder.h"
#include "isotact/gpu/core/program.h"

#include "fields/compare_bricks.h"
#include "support/data_folder.h"
#include "support/measure.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

struct Options : RunOptions {
  bool no_check = false;
  int first = 256, bricks = 1024, runs = 5, warm_ups = 0, threads = 0;
  std::string mesh;
};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("few cells and runs, whatever is asked for");
  reader.number("--first", options.first, 0, 1024, "cells of the first-order field (256); 0: none");
  reader.number("--bricks", options.bricks, 0, 4096, "cells of the brick field (1024); 0: none");
  reader.number("--runs", options.runs, 1, 1000, "of which the medians are told (5)");
  reader.number("--warm-ups", options.warm_ups, 0, 1000,
                "runs before those (30, on software 1; a GPU that was idle is slow for a while)");
  reader.number("--threads", options.threads, 0, 1024, "0: all");
  reader.flag("--no-check", options.no_check, "does not build the same on the processor");
  reader.text("--mesh", "FILE", options.mesh, "else the bunny of the data folder");
}

// Medians by name, in the order of their first appearance.
class Columns {
 public:
  void add(const std::string& name, double milliseconds) {
    if (values_.find(name) == values_.end()) names_.push_back(name);
    values_[name].push_back(milliseconds);
  }
  double time(const std::string& name, const std::function<void()>& work) {
    const double milliseconds = 1e3 * seconds_of(work).wall;
    add(name, milliseconds);
    return milliseconds;
  }
  void tell(Report& report, const std::string& part, const std::string& title) const {
    Table table = report.table({.id = part,
                                .title = title,
                                .columns = {{"step", Of::kKey}, {"time", Of::kOurs, "ms", 2}},
                                .note = "Medians, by the clock."});
    for (const std::string& name : names_) {
      const double middle = quantile(values_.at(name), 0.5);
      report.json[part][name] = middle;
      table.row({name, middle});
    }
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::vector<double>> values_;
};

struct Bench {
  const Options& options;
  Report& report;
  const TriangleMesh& mesh;
  GpuFieldBuilder& builder;
  Threads threads;

  void check_texture(const FirstOrderTexture& texture, const Surface& surface) const;
  void check_bricks(const FieldResult& theirs, const FieldSettings& settings) const;
  void run_first_order() const;
  void run_bricks() const;
};

std::vector<std::int16_t> read_texels(const FirstOrderTexture& texture) {
  std::vector<std::int16_t> texels(4 * count(node_counts(texture.lattice)));
  texture.texture.read(std::as_writable_bytes(std::span(texels)));
  return texels;
}

// Every node: the value that its texel stands for.
void Bench::check_texture(const FirstOrderTexture& texture, const Surface& surface) const {
  const Lattice& l = texture.lattice;
  const Index3 nodes = node_counts(l);
  const std::vector<std::int16_t> texels = read_texels(texture);
  report.check(texels == read_texels(builder.build_first_order_texture(surface, l)),
               "a texture built once more has the same bytes");
  const FirstOrderField field = build_first_order_field(
      surface, l, {.storage = FirstOrderStorage::kFloat32, .threads = threads});
  double most_off = 0;
  std::size_t turned = 0;
  const double b_step = static_cast<double>(texture.b_scale) / kTexelSteps;
  for (std::int32_t k = 0; k < nodes[2]; ++k)
    for (std::int32_t j = 0; j < nodes[1]; ++j)
      for (std::int32_t i = 0; i < nodes[0]; ++i) {
        const std::int16_t* const t = &texels[4 * flat_index(nodes, i, j, k)];
        const Vec3 g = Vec3{1.0 * t[0], 1.0 * t[1], 1.0 * t[2]} / kTexelSteps;
        const Vec3 middle{i - 0.5 * l.cells[0], j - 0.5 * l.cells[1], k - 0.5 * l.cells[2]};
        const double value = b_step * t[3] + 0.5 * dot(g, middle);
        const std::array<float, 4> expected = field.texel(i, j, k);
        most_off = std::max(most_off, std::abs(value - static_cast<double>(expected[3])));
        const Vec3 e{2.0 * static_cast<double>(expected[0]), 2.0 * static_cast<double>(expected[1]),
                     2.0 * static_cast<double>(expected[2])};
        if (length(g - e) > 0.01) ++turned;
      }
  report.note(
      fmt::format("Against the processor's: values within {:.5f} cells (promised: {:.5f}), "
                  "gradients of {} of {} "
                  "nodes are others (equally near places).",
                  most_off, texture.node_error / l.spacing, turned, count(nodes)));
  report.check(most_off <= texture.node_error / l.spacing + 1e-4,
               "values of the texture are the processor's, within what is promised");
  report.check(turned * 100 < count(nodes),
               "99 of 100 gradients of the texture are the processor's");
}

void Bench::run_first_order() const {
  Columns columns;
  const Lattice lattice = plan_lattice(mesh, {.resolution = options.first});
  const SurfaceSettings surface_settings{.voxel_size = lattice.spacing, .threads = threads};
  const TextureSettings texture_settings{.threads = threads};
  for (int run = -options.warm_ups; run < options.runs; ++run) {
    Columns warm_up;
    Columns& c = run < 0 ? warm_up : columns;
    MeshTexture made;
    c.time("texture: from the mesh, in all", [&] {
      made = builder.build_first_order_texture(mesh, lattice, surface_settings, texture_settings);
    });
    const FirstOrderTexture::Times& times = made.texture.times;
    c.add("  surface", times.surface);
    c.add("  signs", times.signs);
    c.add("  beside these: tree over the triangles", times.tree);
    c.add("  beside these: upload", times.upload);
    c.add("  search (GPU)", times.search);
    c.add("  texels (GPU)", times.texels);
    made.texture = {};
    FirstOrderTexture texture;
    c.time("texture: from the surface, in all", [&] {
      texture = builder.build_first_order_texture(made.surface, lattice, texture_settings);
    });
    if (run + 1 < options.runs) continue;  // the rest leaves the GPU idle, and then slow
    c.time("read back", [&] { read_texels(texture); });
    if (!options.no_check) check_texture(texture, made.surface);
  }
  columns.tell(report, "first_order",
               fmt::format("A first-order texture of {} x {} x {} cells", lattice.cells[0],
                           lattice.cells[1], lattice.cells[2]));
}

void Bench::check_bricks(const FieldResult& theirs, const FieldSettings& settings) const {
  FieldSettings on_processor = settings;
  on_processor.device = nullptr;
  FieldResult ours;
  const double time = 1e3 * seconds_of([&] { ours = build_field(mesh, on_processor); }).wall;
  report.note(fmt::format("The processor alone: {:.2f} ms.", time));
  report.json["bricks"]["the processor alone"] = time;
  const BrickDifference d = compare_bricks(theirs.field, ours.field, threads);
  const double h = ours.report.lattice.spacing;
  report.note(fmt::format(
      "Against the processor's: {} bricks, {} in one only; {} of {} samples a step off, values "
      "within "
      "{:.4f} cells (promised: {:.4f}).",
      d.bricks, d.other_bricks, d.other_samples, 512 * d.bricks, d.most_off / h,
      2 * static_cast<double>(theirs.field.header().sample_error + theirs.field.header().step / 2) /
          h));
  if (d.other_cubes > 0)
    report.note(fmt::format(
        "{} cubes are exact in one only, {:.2f} cells away at least (the band: {:.2f}).",
        d.other_cubes, d.nearest_other / h, static_cast<double>(theirs.field.header().band) / h));
  report.check(is_as_promised(d, theirs.field, ours.field),
               "samples of bricks are the processor's, within what is promised");
  report.check(d.other_bricks * 1000 <= d.bricks && d.other_cubes * 1000 <= d.bricks &&
                   d.other_samples <= d.bricks,
               "all but few samples of bricks are the processor's to the bit");
}

void Bench::run_bricks() const {
  Columns columns;
  FieldSettings settings{.resolution = options.bricks, .threads = threads, .device = &builder};
  FieldResult result;
  for (int run = -options.warm_ups; run < options.runs; ++run) {
    Columns warm_up;
    Columns& c = run < 0 ? warm_up : columns;
    const auto start = std::chrono::steady_clock::now();
    auto last = start;
    std::string task = "  surface";
    const auto lap = [&](std::string next) {
      const auto now = std::chrono::steady_clock::now();
      if (!task.empty()) c.add(task, std::chrono::duration<double, std::milli>(now - last).count());
      task = std::move(next);
      last = now;
    };
    settings.monitor.on_progress = [&](const ProgressReport& r) {
      if (r.total == 5) lap("  " + std::string(r.task));
    };
    result = build_field(mesh, settings);
    lap("");
    c.add("from the mesh, in all", std::chrono::duration<double, std::milli>(last - start).count());
    settings.keep_thin = KeepThin::kIgnore;
    settings.monitor = {};
    c.time("the same without a look at thin walls", [&] { build_field(mesh, settings); });
    settings.keep_thin = KeepThin::kReport;
  }
  columns.tell(report, "bricks", fmt::format("A brick field of {} cells", options.bricks));
  if (!options.no_check) check_bricks(result, settings);
}

int run(const Options& asked) {
  Options options = asked;
  const GpuContext gpu = GpuContext::create();
  if (options.warm_ups == 0) options.warm_ups = gpu.info().software || options.quick ? 1 : 30;
  if (options.quick) {
    options.first = std::min(options.first, 64);
    options.bricks = std::min(options.bricks, 128);
    options.runs = 1;
  }
  GpuFieldBuilder builder(gpu);
  const TriangleMesh mesh = options.mesh.empty() ? read_data_mesh("01_stanford/bunny_closed.obj")
                                                 : read_mesh(options.mesh).mesh;
  const Threads threads{options.threads};
  Report report("bench_gpu_fields", options,
                {.gpu = describe(gpu.info()),
                 .how = fmt::format("{} triangles; {} threads of the processor",
                                    mesh.triangles.size(), resolve(threads))});
  report.json["gpu"] = gpu.info().renderer;
  report.json["threads"] = resolve(threads);
  report.begin_part("");
  const Bench bench{options, report, mesh, builder, threads};
  if (options.first > 0) bench.run_first_order();
  if (options.bricks > 0) bench.run_bricks();
  return report.finish("Fields of the GPU are the processor's.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_gpu_fields", argc, argv, name_options, run);
}
