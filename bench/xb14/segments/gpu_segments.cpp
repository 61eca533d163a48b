// Segments on the GPU beside the CPU's batch: random ends in the field's box, and short ones near
// the surface. Medians; the GPU's own clock for the query with all data there, the wall for all
// with transfers. Answers must be equal to the last bit.
#include <algorithm>
#include <cmath>
#include <string>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/segments/segment_tracer.h"

#include "support/data_folder.h"
#include "support/gpu_measure.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kRuns = 7;

struct Options : RunOptions {
  std::string mesh;
  int resolution = 1024, segments = 1'000'000;
  double margin = 0;  // cells
  int threads = 0;
};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("256 cells and 20,000 segments at most");
  reader.number("--resolution", options.resolution, 16, 4096, "cells (1024)");
  reader.number("--segments", options.segments, 1, 100'000'000, "(1000000)");
  reader.number("--iso", options.margin, -1000.0, 1000.0, "where the surface is, in cells (0)");
  reader.number("--threads", options.threads, 0, 1024, "of the CPU; 0: all");
  reader.text("--mesh", "FILE", options.mesh,
              "a file, or the name of a shape; else the bunny of the data folder");
}

// As segments.cpp draws them.
std::vector<Segment> make_random(const Aabb& box, std::size_t n) {
  Random random(2014);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 from = random.in_box(box.lower, box.upper);
    segments.push_back({to_float(from), to_float(random.in_box(box.lower, box.upper))});
  }
  return segments;
}
std::vector<Segment> make_short(const TriangleMesh& mesh, const Aabb& box, std::size_t n) {
  Random random(2015);
  const double size = 0.01 * length(extent(box)) / std::sqrt(3.0);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const Triangle& t =
        mesh.triangles[random.below(static_cast<std::uint32_t>(mesh.triangles.size()))];
    const Vec3 from = to_double(mesh.positions[t[0]]) + random.in_unit_ball() * size;
    segments.push_back({to_float(from), to_float(from + random.unit_vector() * size)});
  }
  return segments;
}

void check_equal(const SegmentResults& want, const SegmentResults& got, Report& report) {
  std::size_t other_counts = 0, other_times = 0;
  double largest = 0;
  for (std::size_t i = 0; i + 1 < want.first.size(); ++i) {
    const std::size_t n = want.first[i + 1] - want.first[i];
    if (n != got.first[i + 1] - got.first[i]) {
      ++other_counts;
      continue;
    }
    bool same = true;
    for (std::size_t k = 0; k < n; ++k) {
      const SegmentInterval &a = want.intervals[want.first[i] + k],
                            &b = got.intervals[got.first[i] + k];
      same = same && a == b;
      largest = std::max({largest, static_cast<double>(std::abs(a.enter - b.enter)),
                          static_cast<double>(std::abs(a.exit - b.exit))});
    }
    other_times += same ? 0U : 1U;
  }
  report.check(other_counts == 0 && other_times == 0,
               "answers of the GPU are the CPU's to the last bit",
               fmt::format("{} segments with another number of intervals, {} with other times, off "
                           "by {}",
                           other_counts, other_times, largest));
}

struct Times {
  double query = 0;  // milliseconds
  std::uint32_t intervals = 0, undecided = 0;
};

// With everything on the GPU.
Times time_query(GpuSegmentTracer& tracer, std::span<const Segment> segments, bool software) {
  const GpuBuffer buffer(segments);
  const auto n = static_cast<std::uint32_t>(segments.size());
  GpuSegmentResults results;
  GpuTimer timer;
  const double query = steady_milliseconds(
      [&] {
        finish_gpu();
        timer.begin();
        const Seconds wall = seconds_of([&] {
          tracer.trace(buffer, n, 2 * n, results);
          if (software) finish_gpu();
        });
        timer.end();
        return software ? wall.wall * 1e3 : timer.milliseconds();
      },
      software);
  GpuSegmentNotes notes;
  results.notes.read(std::span<GpuSegmentNotes>(&notes, 1));
  return {query, notes.interval_count, notes.undecided_count};
}

void run_case(const char* kind, const BrickField& field, std::span<const Segment> segments,
              Mode mode, const Options& options, bool software, Table& table, Report& report) {
  const SegmentSettings settings{
      .margin = options.margin * field.voxel_size(), .mode = mode, .threads = {options.threads}};
  GpuSegmentTracer tracer(field, settings);
  SegmentResults want, got;
  const double cpu =
      1e3 *
      medians_of({{.work = [&] { tracer.cpu().trace(segments, want); }, .max_runs = kRuns}})[0]
          .wall;
  // One after the other: between runs of the CPU the GPU would fall asleep.
  const double wall = steady_milliseconds(
      [&] { return 1e3 * seconds_of([&] { tracer.trace(segments, got); }).wall; }, software);
  check_equal(want, got, report);
  const Times gpu = time_query(tracer, segments, software);
  std::size_t hits = 0;
  for (std::size_t i = 0; i < segments.size(); ++i)
    hits += want.first[i] < want.first[i + 1] ? 1U : 0U;
  const double n = static_cast<double>(segments.size());
  table.row({kind, mode == Mode::kAll ? "intervals" : "first", cpu, wall, gpu.query, cpu / wall,
             cpu / gpu.query, static_cast<double>(hits) / n, gpu.intervals, gpu.undecided,
             static_cast<double>(tracer.memory_bytes()) * 1e-6});
}

int run(const Options& asked) {
  Options options = asked;
  if (options.quick) {
    options.resolution = std::min(options.resolution, 256);
    options.segments = std::min(options.segments, 20'000);
  }
  const GpuContext gpu = GpuContext::create();
  const bool software = gpu.info().software;
  const TriangleMesh mesh = options.mesh.empty() ? read_data_mesh("01_stanford/bunny_closed.obj")
                            : options.mesh.find('.') == std::string::npos
                                ? make_shape(options.mesh)
                                : read_mesh(options.mesh).mesh;
  const BrickField field = build_field(mesh, {.resolution = options.resolution}).field;
  Report report("bench_gpu_segments", options,
                {.gpu = describe(gpu.info()),
                 .how = fmt::format("{} threads of the CPU{}", resolve(Threads{options.threads}),
                                    software ? "; the GPU is software: times by the clock" : "")});
  report.begin_part("");
  Table table =
      report.table({.id = "segments",
                    .title = fmt::format("{} segments at {} cells, surface at {} cells",
                                         options.segments, options.resolution, options.margin),
                    .columns = {{"segments", Of::kKey},
                                {"mode", Of::kKey},
                                {"CPU's batch", Of::kOurs, "ms", 2},
                                {"GPU with transfers", Of::kOurs, "ms", 2},
                                {"GPU, the query", Of::kOurs, "ms", 3},
                                {"CPU over GPU with transfers", Of::kOurs, "times", 1},
                                {"CPU over query", Of::kOurs, "times", 1},
                                {"part that hits", Of::kOurs, "", 3},
                                {"intervals", Of::kOurs},
                                {"undecided", Of::kOurs},
                                {"memory", Of::kOurs, "MB", 1}}});
  const auto count = static_cast<std::size_t>(options.segments);
  const std::vector<Segment> random = make_random(field.bounds(), count),
                             close = make_short(mesh, field.bounds(), count);
  for (const Mode mode : {Mode::kFirst, Mode::kAll}) {
    run_case("random", field, random, mode, options, software, table, report);
    run_case("short", field, close, mode, options, software, table, report);
  }
  return report.finish("All answers were right, to the last bit.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_gpu_segments", argc, argv, name_options, run);
}
