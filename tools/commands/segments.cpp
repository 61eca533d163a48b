// isotact segments: when points that move along line segments are inside.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/segments/segment.h"
#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/segments/segment_tracer.h"
#endif

#include "command.h"
#include "input/field_file.h"
#include "input/point_file.h"
#include "picture/colours.h"
#include "picture/picture_output.h"
#include "picture/slice_picture.h"

namespace isotact::tool {
namespace {

struct SegmentOptions {
  CommonOptions common;
  std::string asset, segments, output, mode = "intervals", traversal;
  std::string picture, axis = "z";
  double iso = 0, at = 0.5;
  bool gpu = false;
};

struct Traced {
  SegmentResults results;
  std::optional<SegmentWork> work;  // the GPU counts nothing
  std::string device = "cpu";
  double prepare_seconds = 0, seconds = 0;
  std::vector<std::string> warnings{};
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

SegmentSettings settings_of(const SegmentOptions& options) {
  SegmentSettings settings{.margin = options.iso, .threads = options.common.thread_setting()};
  if (options.mode == "first") settings.mode = Mode::kFirst;
  if (options.mode == "any") settings.mode = Mode::kAny;
  for (const Traversal traversal : {Traversal::kUniform, Traversal::kOctree, Traversal::kFast})
    if (options.traversal == name(traversal)) settings.traversal = traversal;
  return settings;
}

SegmentTracer make_tracer(const AssetField& field, const SegmentSettings& settings) {
  const bool has_index =
      field.index && field.index->serves(settings.margin) && settings.traversal == Traversal::kFast;
  if (has_index) return {*field.brick, field.index, settings};
  if (field.brick) return {*field.brick, settings};
  return {sample_on_lattice(field.field, field.lattice, {.threads = settings.threads}), settings};
}

Traced trace_on_cpu(const AssetField& field, const SegmentSettings& settings,
                    std::span<const Segment> segments) {
  Traced traced;
  const auto start = std::chrono::steady_clock::now();
  const SegmentTracer tracer = make_tracer(field, settings);
  traced.prepare_seconds = seconds_since(start);
  const auto ready = std::chrono::steady_clock::now();
  tracer.trace(segments, traced.results);
  traced.work = traced.results.work;
  traced.seconds = seconds_since(ready);
  return traced;
}

// None, with the reason in `why`, where the GPU cannot do it.
std::optional<Traced> trace_on_gpu([[maybe_unused]] const AssetField& field,
                                   [[maybe_unused]] const SegmentSettings& settings,
                                   [[maybe_unused]] std::span<const Segment> segments,
                                   std::string& why) {
#if defined(ISOTACT_HAS_GPU)
  if (!field.brick) {
    why = "the GPU takes brick fields only";
    return std::nullopt;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
  if (!gpu) return std::nullopt;
  try {
    Traced traced;
    traced.device = gpu->info().renderer;
    GpuSegmentTracer tracer(*field.brick, settings);
    traced.prepare_seconds = seconds_since(start);
    const auto ready = std::chrono::steady_clock::now();
    tracer.trace(segments, traced.results);
    traced.seconds = seconds_since(ready);
    return traced;
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
#else
  why = "this program was built without a GPU's side";
  return std::nullopt;
#endif
}

Traced trace_segments(const SegmentOptions& options, const AssetField& field,
                      std::span<const Segment> segments) {
  const SegmentSettings settings = settings_of(options);
  if (!options.gpu) return trace_on_cpu(field, settings, segments);
  std::string why;
  if (std::optional<Traced> traced = trace_on_gpu(field, settings, segments, why))
    return std::move(*traced);
  Traced traced = trace_on_cpu(field, settings, segments);
  traced.warnings.push_back("traced on the CPU: " + why);
  print_warnings(options.asset, traced.warnings);
  return traced;
}

void write_intervals(const SegmentOptions& options, const SegmentResults& results) {
  std::vector<float> rows;
  rows.reserve(results.intervals.size() * 3);
  for (std::size_t i = 0; i + 1 < results.first.size(); ++i)
    for (std::uint64_t k = results.first[i]; k < results.first[i + 1]; ++k)
      rows.insert(rows.end(),
                  {static_cast<float>(i), results.intervals[k].enter, results.intervals[k].exit});
  const std::string names[] = {"segment", "t_enter", "t_exit"};
  write_table(options.output, names, rows);
}

// Over a cut through the field: the segments nearest to it, and where they are inside.
Picture draw_segments(const SegmentOptions& options, const AssetField& field,
                      std::span<const Segment> segments, const SegmentResults& results) {
  constexpr std::size_t kMost = 400;
  const auto axis = static_cast<std::size_t>(options.axis[0] - 'x');
  const Aabb box = field.field.bounds();
  const double at = box.lower[axis] + (box.upper[axis] - box.lower[axis]) * options.at;
  const auto off = [&](std::size_t i) {
    return std::max(std::abs(static_cast<double>(segments[i].from[axis]) - at),
                    std::abs(static_cast<double>(segments[i].to[axis]) - at));
  };
  std::vector<std::size_t> order(segments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return off(a) < off(b); });
  order.resize(std::min(order.size(), kMost));
  SliceSettings settings{
      .axis = axis, .at = at, .box = box, .threads = options.common.thread_setting()};
  for (const bool inside : {false, true})
    for (const std::size_t i : order) {
      const Vec3 from = to_double(segments[i].from), to = to_double(segments[i].to);
      if (!inside) {
        settings.strokes.push_back({from, to, 0.6, kPath});
        continue;
      }
      for (std::uint64_t k = results.first[i]; k < results.first[i + 1]; ++k) {
        const SegmentInterval& in = results.intervals[k];
        settings.strokes.push_back({lerp(from, to, static_cast<double>(in.enter)),
                                    lerp(from, to, static_cast<double>(in.exit)), 2, kContact});
      }
    }
  const auto value = [&](const Vec3& p) { return field.field.value(p) - options.iso; };
  return draw_slice(value, settings).picture;
}

void run_segments(const SegmentOptions& options) {
  // Numbers of segments are written as float32.
  constexpr std::size_t kMost = std::size_t{1} << 24U;
  const bool to_stdout = is_stdout(options.output, options.common);
  refuse_same_file(options.asset, options.output);
  refuse_same_file(options.segments, options.output);
  if (options.gpu) refuse_given({"--traversal"}, "the GPU has a traversal of its own");
  if (options.picture.empty())
    refuse_given({"--axis", "--at"}, "they place the cut of --picture");
  else
    check_picture_name(options.picture, options.common);
  const AssetField field = load_field(options.asset);
  const Table table = read_table(options.segments, 6);
  if (table.rows() > kMost)
    throw Error(fmt::format("{}: {} segments are more than {} at once", options.segments,
                            table.rows(), kMost));
  std::vector<Segment> segments(table.rows());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const float* row = table.values.data() + 6 * i;
    segments[i] = {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}};
    if (!is_finite(segments[i].from) || !is_finite(segments[i].to))
      throw Error(fmt::format("{}: segment {} is not finite", options.segments, i));
  }
  const Traced traced = trace_segments(options, field, segments);
  const SegmentResults& results = traced.results;
  write_intervals(options, results);
  if (!options.picture.empty())
    write_picture(options.picture, draw_segments(options, field, segments, results));
  if (to_stdout) return;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < segments.size(); ++i)
    hits += results.first[i] < results.first[i + 1] ? 1U : 0U;
  if (options.common.json)
    print_json({{"output", options.output},
                {"segments", segments.size()},
                {"intervals", results.intervals.size()},
                {"hits", hits},
                {"margin", options.iso},
                {"mode", options.mode},
                {"traversal", traced.work ? Json(name(settings_of(options).traversal)) : Json()},
                {"device", traced.device},
                {"tested_nodes", traced.work ? Json(traced.work->nodes) : Json()},
                {"tested_cells", traced.work ? Json(traced.work->cells) : Json()},
                {"prepare_seconds", traced.prepare_seconds},
                {"seconds", traced.seconds},
                {"warnings", traced.warnings}});
  else
    fmt::print("{}: {} of {} segments come inside, {} intervals, in {:.3g} s\n",
               without_control_codes(options.output), format_count(hits),
               format_count(segments.size()), format_count(results.intervals.size()),
               traced.seconds);
}

}  // namespace

void add_segments(CommandLine& line) {
  auto options = std::make_shared<SegmentOptions>();
  Command command =
      line.add_command("segments", "Find when points that move along segments are inside");
  command.set_examples(
      "Examples:\n"
      "  isotact segments bunny.isotact paths.npy -o times.csv\n"
      "  printf '0 2 0 0 -2 0\\n' | isotact segments bunny.isotact - -o times.csv --iso 0.01");
  command.add_text({.names = "ASSET",
                    .help = "Asset with a field, or a field: .vdb .nvdb .sdf",
                    .required = true},
                   options->asset);
  command.add_text(
      {.names = "SEGMENTS",
       .help =
           "Both ends of a segment per row, x y z x y z in metres: .npy, .csv or raw float32; - "
           "for stdin",
       .required = true},
      options->segments);
  command.add_text({.names = "-o,--output",
                    .help = "One row per interval, segment t_enter t_exit, with times from 0 to 1: "
                            ".npy, .csv, else raw float32; - for stdout",
                    .value_name = "FILE",
                    .required = true},
                   options->output);
  command.add_length(
      {.names = "--iso",
       .help = "Margin: a point is inside if its distance is at most S metres (default: 0)",
       .value_name = "S"},
      options->iso, {.lowest = -1e30, .highest = 1e30});
  command.add_text(
      {.names = "--mode",
       .help = "Find all intervals, the first time inside, or any time inside (default: intervals)",
       .value_name = "intervals|first|any",
       .choices = {"intervals", "first", "any"}},
      options->mode);
  command.add_text(
      {.names = "--traversal",
       .help = "Visit cells one by one, blocks from the root, or by the fastest traversal; all "
               "return the same intervals (default: fast)",
       .value_name = "uniform|octree|fast",
       .choices = {"uniform", "octree", "fast"}},
      options->traversal);
  command.add_flag(
      "--gpu", options->gpu,
      "Trace on the GPU, for brick fields; if that is impossible, on the CPU with a warning");
  command.add_text(
      {.names = "--picture",
       .help = "Draw up to 400 segments, those nearest to the cut, over a cut through the field",
       .value_name = "PNG"},
      options->picture);
  command.add_text(
      {.names = "--axis",
       .help = "With --picture: the axis that the cut is perpendicular to (default: z)",
       .value_name = "x|y|z",
       .choices = {"x", "y", "z"}},
      options->axis);
  command.add_number(
      {.names = "--at",
       .help = "With --picture: position of the cut, as a share of the box, 0 to 1 (default: 0.5)",
       .value_name = "SHARE"},
      options->at, {0, 1});
  add_common_options(command, options->common);
  command.on_run([options] { run_segments(*options); });
}

}  // namespace isotact::tool
