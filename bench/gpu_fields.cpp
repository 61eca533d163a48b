// Fields whose distances a GPU finds: where the time goes, and that they are the processor's. Runs
// on software Mesa, too, where times mean nothing.
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "isotact/field/build/build_field.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/field/build/inside_rows.h"
#include "isotact/field/compare_bricks.h"
#include "isotact/field/texel.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/gpu/field_builder.h"
#include "isotact/gpu/program.h"

#include "data_folder.h"
#include "measure.h"
#include "report.h"

namespace isotact::bench {
namespace {

constexpr const char* kUsage =
    "usage: bench_gpu_fields [--json] [--first N] [--bricks N] [--runs N] [--threads N] [MESH]\n"
    "  --first N    cells of the first-order field (256); 0: none\n"
    "  --bricks N   cells of the brick field (1024); 0: none\n"
    "  --runs N     of which the medians are told (5)\n"
    "  --warm-ups N runs before those (30, on software 1; a GPU that was idle is slow for a "
    "while)\n"
    "  --no-check   does not build the same on the processor\n"
    "  MESH         else the bunny of the data folder\n";

struct Options {
  bool json = false, check = true;
  int first = 256, bricks = 1024, runs = 5, warm_ups = 0, threads = 0;
  std::string mesh;
};

bool read_number(std::string_view text, int& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value >= 0;
}

bool read_options(int argc, char** argv, Options& options) {
  const std::map<std::string_view, int*> numbers{{"--first", &options.first},
                                                 {"--bricks", &options.bricks},
                                                 {"--runs", &options.runs},
                                                 {"--warm-ups", &options.warm_ups},
                                                 {"--threads", &options.threads}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--no-check") {
      options.check = false;
    } else if (const auto found = numbers.find(word); found != numbers.end()) {
      if (i + 1 == argc || !read_number(argv[++i], *found->second)) return false;
    } else if (word.substr(0, 1) != "-" && options.mesh.empty()) {
      options.mesh = word;
    } else {
      return false;
    }
  }
  return options.runs > 0;
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
  void tell(Report& report, const std::string& part) const {
    for (const std::string& name : names_) {
      const double middle = quantile(values_.at(name), 0.5);
      report.json[part][name] = middle;
      report.print("  {:<44} {:9.2f} ms\n", name, middle);
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
               "the same bytes once more");
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
  report.print(
      "  against the processor's: values within {:.5f} cells (promised: {:.5f}), gradients "
      "of {} of {} nodes are others (equally near places)\n",
      most_off, texture.node_error / l.spacing, turned, count(nodes));
  report.check(most_off <= texture.node_error / l.spacing + 1e-4, "values of the texture");
  report.check(turned * 100 < count(nodes), "gradients of the texture");
}

void Bench::run_first_order() const {
  Columns columns;
  const Lattice lattice = plan_lattice(mesh, {.resolution = options.first});
  report.print("\nfirst order, {} x {} x {} cells\n", lattice.cells[0], lattice.cells[1],
               lattice.cells[2]);
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
    if (options.check) check_texture(texture, made.surface);
  }
  columns.tell(report, "first_order");
}

void Bench::check_bricks(const FieldResult& theirs, const FieldSettings& settings) const {
  FieldSettings on_processor = settings;
  on_processor.device = nullptr;
  FieldResult ours;
  const double time = 1e3 * seconds_of([&] { ours = build_field(mesh, on_processor); }).wall;
  report.print("  {:<44} {:9.2f} ms\n", "the processor alone", time);
  report.json["bricks"]["the processor alone"] = time;
  const BrickDifference d = compare_bricks(theirs.field, ours.field, threads);
  const double h = ours.report.lattice.spacing;
  report.print(
      "  against the processor's: {} bricks, {} in one only; {} of {} samples a step off, values "
      "within {:.4f} cells (promised: {:.4f})\n",
      d.bricks, d.other_bricks, d.other_samples, 512 * d.bricks, d.most_off / h,
      2 * static_cast<double>(theirs.field.header().sample_error + theirs.field.header().step / 2) /
          h);
  if (d.other_cubes > 0)
    report.print(
        "  {} cubes are exact in one only, {:.2f} cells away at least (the band: {:.2f})\n",
        d.other_cubes, d.nearest_other / h, static_cast<double>(theirs.field.header().band) / h);
  report.check(is_as_promised(d, theirs.field, ours.field), "samples of bricks");
  report.check(d.other_bricks * 1000 <= d.bricks && d.other_cubes * 1000 <= d.bricks &&
                   d.other_samples <= d.bricks,
               "all but few samples of bricks are the same");
}

void Bench::run_bricks() const {
  Columns columns;
  FieldSettings settings{.resolution = options.bricks, .threads = threads, .device = &builder};
  report.print("\nbricks, {} cells\n", options.bricks);
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
  columns.tell(report, "bricks");
  if (options.check) check_bricks(result, settings);
}

int run(const Options& asked) {
  Options options = asked;
  Report report("bench_gpu_fields", options.json);
  const GpuContext gpu = GpuContext::create();
  if (options.warm_ups == 0) options.warm_ups = gpu.info().software ? 1 : 30;
  GpuFieldBuilder builder(gpu);
  const std::string path = options.mesh.empty()
                               ? (data_folder() / "01_stanford" / "bunny_closed.obj").string()
                               : options.mesh;
  const TriangleMesh mesh = read_mesh(path).mesh;
  const Threads threads{options.threads};
  report.print("{}\n{}: {} triangles; {} threads\n", describe(gpu.info()), path,
               mesh.triangles.size(), resolve(threads));
  report.json["gpu"] = gpu.info().renderer;
  report.json["threads"] = resolve(threads);
  const Bench bench{options, report, mesh, builder, threads};
  if (options.first > 0) bench.run_first_order();
  if (options.bricks > 0) bench.run_bricks();
  return report.finish("Fields of the GPU are the processor's.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  return isotact::bench::run_program("bench_gpu_fields", isotact::bench::kUsage, argc, argv,
                                     isotact::bench::read_options, isotact::bench::run);
}
