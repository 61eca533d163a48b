// isotact sample: distances, and gradients if asked, at many points.
#include <algorithm>
#include <chrono>
#include <cmath>

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
  bool gradient = false, bounds = false;
};

// Floats that enclose a bound.
float round_down(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) <= x ? f : std::nextafter(f, -HUGE_VALF);
}
float round_up(double x) { return -round_down(-x); }

std::vector<Interval> compute_bounds(const AssetField& field, std::span<const Vec3f> points,
                                     Threads threads) {
  std::vector<Vec3> places(points.size());
  std::transform(points.begin(), points.end(), places.begin(),
                 [](const Vec3f& p) { return to_double(p); });
  std::vector<Interval> bounds(points.size());
  if (field.brick) {
    sample_bounds(*field.brick, places, bounds, threads);
    return bounds;
  }
  parallel_for(points.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) bounds[i] = field.field.distance_bounds(places[i]);
  });
  return bounds;
}

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

struct SampledPoints {
  std::vector<float> values;
  std::vector<Vec3f> gradients;  // or none
  std::vector<Interval> bounds;  // or none
};

void write_samples(const std::string& file, const SampledPoints& s) {
  std::vector<std::string> names = {"d"};
  if (!s.gradients.empty()) names.insert(names.end(), {"gx", "gy", "gz"});
  if (!s.bounds.empty()) names.insert(names.end(), {"lower", "upper"});
  std::vector<float> rows;
  rows.reserve(s.values.size() * names.size());
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    rows.push_back(s.values[i]);
    if (!s.gradients.empty()) {
      const Vec3f& g = s.gradients[i];
      rows.insert(rows.end(), {g.x, g.y, g.z});
    }
    if (!s.bounds.empty())
      rows.insert(rows.end(), {round_down(s.bounds[i].lower), round_up(s.bounds[i].upper)});
  }
  write_table(file, names, rows);
}

// A level set from elsewhere promises nothing.
void refuse_unknown_errors(const std::string& file, const AssetField& field) {
  const Interval at = field.field.distance_bounds(field.lattice.origin);
  if (field.kind != "level set" && std::isfinite(at.lower) && std::isfinite(at.upper)) return;
  throw Error({.file = file},
              "its errors are not known, so there are no bounds of the distance; build an asset "
              "from the mesh");
}

void run_sample(const SampleOptions& options) {
  const bool to_stdout = is_stdout(options.output, options.common);
  refuse_same_file(options.asset, options.output);
  refuse_same_file(options.points, options.output);
  const AssetField field = load_field(options.asset);
  const Table table = read_table(options.points, 3);
  const std::span<const Vec3f> points = as_points(table);
  if (options.bounds) refuse_unknown_errors(options.asset, field);
  SampledPoints samples;
  std::vector<float>& values = samples.values;
  std::vector<Vec3f>& gradients = samples.gradients;
  values.resize(points.size());
  gradients.resize(options.gradient ? points.size() : 0);
  const auto start = std::chrono::steady_clock::now();
  const Threads threads = options.common.thread_setting();
  if (field.brick)
    sample_field(*field.brick, points, values, gradients, threads);
  else
    sample_points(field.field, points, values, gradients, threads);
  if (options.bounds) samples.bounds = compute_bounds(field, points, threads);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Aabb box = field.field.bounds();
  const auto outside = static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [&](const Vec3f& p) { return !contains(box, to_double(p)); }));
  write_samples(options.output, samples);
  if (to_stdout) return;
  if (options.common.json)
    print_json({{"output", options.output},
                {"queries", points.size()},
                {"outside_box", outside},
                {"gradient", options.gradient},
                {"with_bounds", options.bounds},
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
  command.add_flag("--bounds", options->bounds,
                   "Write bounds of the true distance too, as the last columns: lower upper");
  add_common_options(command, options->common);
  command.on_run([options] { run_sample(*options); });
}

}  // namespace isotact::tool
