// bench_gpu_segments [MESH] [--resolution N] [--segments N] [--iso CELLS] [--threads N]
//
// Segments on the GPU beside the CPU's batch: random ends in the field's box, and short ones near
// the surface. Medians; the GPU's own clock for the query with all data there, the wall for all
// with transfers. Answers must be equal to the last bit.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives.h"
#include "isotact/gpu/context.h"
#include "isotact/gpu/program.h"
#include "isotact/gpu/segment_tracer.h"
#include "isotact/gpu/timer.h"

#include "data_folder.h"
#include "gpu_measure.h"
#include "measure.h"

namespace {

using namespace isotact;
using namespace isotact::bench;

constexpr std::size_t kRuns = 7;

struct Options {
  std::string mesh;
  int resolution = 1024;
  std::size_t segments = 1'000'000;
  double iso = 0;  // cells
  int threads = 0;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) {
      if (std::strcmp(argv[i], name) != 0) return false;
      if (i + 1 >= argc) throw Error(fmt::format("{} wants a number", name));
      ++i;
      return true;
    };
    if (is("--resolution"))
      options.resolution = std::stoi(argv[i]);
    else if (is("--segments"))
      options.segments = std::stoul(argv[i]);
    else if (is("--iso"))
      options.iso = std::stod(argv[i]);
    else if (is("--threads"))
      options.threads = std::stoi(argv[i]);
    else if (argv[i][0] == '-')
      throw Error(fmt::format("{}: no such option", argv[i]));
    else
      options.mesh = argv[i];
  }
  return options;
}

// As bench/segments.cpp draws them.
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

// Segments with other answers; throws where there are any.
void check_equal(const SegmentResults& want, const SegmentResults& got) {
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
  if (other_counts == 0 && other_times == 0) return;
  throw Error(fmt::format(
      "wrong answer: {} segments with another number of intervals, {} with other times, off by {}",
      other_counts, other_times, largest));
}

struct Times {
  double query = 0;  // milliseconds
  std::uint32_t intervals = 0, unsure = 0;
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
  std::uint32_t notes[4];
  results.notes.read(std::span<std::uint32_t>(notes));
  return {query, notes[0], notes[1]};
}

void run_case(const char* kind, const BrickField& field, std::span<const Segment> segments,
              SegmentMode mode, const Options& options, bool software) {
  const SegmentSettings settings{
      .iso = options.iso * field.voxel_size(), .mode = mode, .threads = {options.threads}};
  GpuSegmentTracer tracer(field, settings);
  SegmentResults want, got;
  const double cpu =
      1e3 *
      medians_of({{.work = [&] { tracer.cpu().trace(segments, want); }, .max_runs = kRuns}})[0]
          .wall;
  // One after the other: between runs of the CPU the GPU would fall asleep.
  const double wall = steady_milliseconds(
      [&] { return 1e3 * seconds_of([&] { tracer.trace(segments, got); }).wall; }, software);
  check_equal(want, got);
  const Times gpu = time_query(tracer, segments, software);
  std::size_t hits = 0;
  for (std::size_t i = 0; i < segments.size(); ++i)
    hits += want.first[i] < want.first[i + 1] ? 1U : 0U;
  const double n = static_cast<double>(segments.size());
  fmt::print(
      "  {:>7} {:>9} | {:>9.2f} {:>9.2f} {:>9.3f} | {:>8.1f} {:>8.1f} | {:>6.3f} {:>9} {:>7} "
      "{:>6.1f}\n",
      kind, mode == SegmentMode::kIntervals ? "intervals" : "first", cpu, wall, gpu.query,
      cpu / wall, cpu / gpu.query, static_cast<double>(hits) / n, gpu.intervals, gpu.unsure,
      static_cast<double>(tracer.memory_bytes()) * 1e-6);
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = read_options(argc, argv);
  const GpuContext gpu = GpuContext::create();
  const bool software = gpu.info().software;
  const TriangleMesh mesh =
      options.mesh.empty() ? read_mesh(data_folder() / "01_stanford" / "bunny_closed.obj").mesh
      : options.mesh.find('.') == std::string::npos ? make_shape(options.mesh)
                                                    : read_mesh(options.mesh).mesh;
  const BrickField field = build_field(mesh, {.resolution = options.resolution}).field;
  fmt::print("{}\n{} segments, {} cells, iso {} cells, {} threads of the CPU{}\n",
             describe(gpu.info()), options.segments, options.resolution, options.iso,
             resolve(Threads{options.threads}),
             software ? "; the GPU is software: times by the wall" : "");
  fmt::print("  {:>7} {:>9} | {:>9} {:>9} {:>9} | {:>8} {:>8} | {:>6} {:>9} {:>7} {:>6}\n", "kind",
             "mode", "CPU ms", "GPU wall", "query ms", "CPU/wall", "CPU/qry", "hits", "intervals",
             "unsure", "MB");
  const std::vector<Segment> random = make_random(field.bounds(), options.segments),
                             close = make_short(mesh, field.bounds(), options.segments);
  for (const SegmentMode mode : {SegmentMode::kFirst, SegmentMode::kIntervals}) {
    run_case("random", field, random, mode, options, software);
    run_case("short", field, close, mode, options, software);
  }
  fmt::print("All answers were right, to the last bit.\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_gpu_segments: {}\n", error.what());
  return 1;
}
