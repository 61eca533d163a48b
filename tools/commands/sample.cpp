// isotact sample: distances, and gradients if asked, at many points.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "command.h"
#include "input/field_file.h"
#include "input/point_file.h"

namespace isotact::tool {
namespace {

struct SampleOptions {
  CommonOptions common;
  std::string asset, points, output;
  bool gradient = false;
};

void sample_points(const AnyField& field, std::span<const Vec3f> points, std::span<float> values,
                   std::span<Vec3f> gradients, Threads threads) {
  parallel_for(points.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const FieldSample sample = field.sample(to_double(points[i]));
      values[i] = static_cast<float>(sample.distance);
      if (!gradients.empty()) gradients[i] = to_float(sample.gradient);
    }
  });
}

// d gx gy gz, row by row.
std::vector<float> interleave(std::span<const float> values, std::span<const Vec3f> gradients) {
  std::vector<float> rows;
  rows.reserve(values.size() * 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Vec3f& g = gradients[i];
    rows.insert(rows.end(), {values[i], g.x, g.y, g.z});
  }
  return rows;
}

void run_sample(const SampleOptions& options) {
  const bool to_stdout = is_stdout(options.output, options.common);
  refuse_same_file(options.asset, options.output);
  refuse_same_file(options.points, options.output);
  const AssetField field = load_field(options.asset);
  const Table table = read_table(options.points, 3);
  const std::span<const Vec3f> points = as_points(table);
  std::vector<float> values(points.size());
  std::vector<Vec3f> gradients(options.gradient ? points.size() : 0);
  const auto start = std::chrono::steady_clock::now();
  const Threads threads = options.common.thread_setting();
  if (field.brick)
    sample_field(*field.brick, points, values, gradients, threads);
  else
    sample_points(field.field, points, values, gradients, threads);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Aabb box = field.field.bounds();
  const auto outside = static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [&](const Vec3f& p) { return !contains(box, to_double(p)); }));
  if (options.gradient) {
    const std::string names[] = {"d", "gx", "gy", "gz"};
    write_table(options.output, names, interleave(values, gradients));
  } else {
    const std::string names[] = {"d"};
    write_table(options.output, names, values);
  }
  if (to_stdout) return;
  if (options.common.json)
    print_json({{"output", options.output},
                {"queries", points.size()},
                {"outside_box", outside},
                {"gradient", options.gradient},
                {"seconds", seconds}});
  else
    fmt::print("{}: {}{} in {:.3g} s\n", without_control_codes(options.output),
               format_count(points.size(), "point"),
               outside > 0 ? fmt::format(", {} of them outside of the field's box, where values "
                                         "are lower bounds,",
                                         format_count(outside))
                           : "",
               seconds);
}

}  // namespace

void add_sample(CommandLine& line) {
  auto options = std::make_shared<SampleOptions>();
  Command command = line.add_command("sample", "Compute the signed distance at points");
  command.set_examples(
      "Examples:\n"
      "  isotact sample bunny.isotact points.npy -o distances.npy\n"
      "  printf '0 0 0\\n0 1 0\\n' | isotact sample bunny.isotact - -o d.csv --gradient");
  command.add_text({.names = "ASSET",
                    .help = "Asset with a field, or a field: .vdb .nvdb .sdf",
                    .required = true},
                   options->asset);
  command.add_text(
      {.names = "POINTS",
       .help = "Query points, x y z per row in metres: .npy, .csv or raw float32; - for stdin",
       .required = true},
      options->points);
  command.add_text(
      {.names = "-o,--output",
       .help = "Distances to write, one row per point: .npy, .csv, else raw float32; - for stdout",
       .value_name = "FILE",
       .required = true},
      options->output);
  command.add_flag("--gradient", options->gradient,
                   "Write the gradient too: d gx gy gz per row instead of d");
  add_common_options(command, options->common);
  command.on_run([options] { run_sample(*options); });
}

}  // namespace isotact::tool
