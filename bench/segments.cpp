// Segments against a field (XB14, Table 2) beside Embree's all hits on the exact triangles and
// OpenVDB's and NanoVDB's first hits. One thread, the same segments for all, medians of runs taken
// in turns. Correctness is part of it: all traversals must agree, and crossings are held against
// Embree's.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"

#include "data_folder.h"
#include "measure.h"
#include "segments_peer.h"

namespace {

using namespace isotact;
using namespace isotact::bench;

constexpr int kResolutions[] = {128, 256, 512, 1024};
// XB14 Table 2, seconds for 10^6 segments.
constexpr double kPaperUniform[] = {12.7, 38.8, 97.2, 274.3};
constexpr double kPaperOctree[] = {12.0, 13.1, 15.4, 21.4};

std::vector<Segment> make_random(const Aabb& box, std::size_t n) {
  Random random(2014);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 from = random.in_box(box.lower, box.upper);
    segments.push_back({to_float(from), to_float(random.in_box(box.lower, box.upper))});
  }
  return segments;
}

// As long as a hundredth of the box, within that of the surface.
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

double nanoseconds(const Seconds& s, std::size_t n) {
  return s.processor / static_cast<double>(n) * 1e9;
}

std::size_t trace_one_by_one(const SegmentTracer& tracer, std::span<const Segment> segments) {
  SegmentInterval intervals[64];
  std::size_t found = 0;
  for (const Segment& s : segments) found += tracer.trace(s, intervals);
  return found;
}

std::size_t count_hits(const EmbreeSegments& embree, std::span<const Segment> segments) {
  std::vector<float> times;
  std::size_t n = 0;
  for (const Segment& s : segments) {
    embree.find_all(s, times);
    n += times.size();
  }
  return n;
}

// Crossings on both sides, within a cell and a half of each other. What has no partner is where the
// field's error hides or adds a graze.
void compare_with_triangles(const SegmentTracer& tracer, const EmbreeSegments& embree,
                            std::span<const Segment> segments, double cell) {
  SegmentResults results;
  tracer.trace(segments, results);
  std::size_t ours = 0, theirs = 0, same = 0;
  std::vector<float> times;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    embree.find_all(segments[i], times);
    theirs += times.size();
    const double size = static_cast<double>(length(segments[i].to - segments[i].from));
    std::size_t next = 0;
    for (std::uint64_t k = results.first[i]; k < results.first[i + 1]; ++k)
      for (const float t : {results.intervals[k].enter, results.intervals[k].exit}) {
        if (t <= 0 || t >= 1) continue;
        ++ours;
        while (next < times.size() &&
               (static_cast<double>(times[next]) - static_cast<double>(t)) * size < -1.5 * cell)
          ++next;
        if (next < times.size() &&
            (static_cast<double>(times[next]) - static_cast<double>(t)) * size <= 1.5 * cell) {
          ++same;
          ++next;
        }
      }
  }
  fmt::print("  crossings: {} ours, {} Embree's on the triangles, {} of them within 1.5 cells\n",
             ours, theirs, same);
  if (static_cast<double>(same) < 0.99 * static_cast<double>(std::min(ours, theirs)))
    throw Error("wrong answer: too many crossings without a partner among the triangles");
}

// In the order of run_peers.
void print_ratios(const std::vector<Seconds>& times) {
  const auto ratio = [&](std::size_t peer, std::size_t ours) {
    return times[peer].processor / times[ours].processor;
  };
  fmt::print(
      "  batch, times faster than: Embree (all hits) {:.2f}, NanoVDB (first hit) {:.2f}, "
      "OpenVDB (first hit) {:.2f}\n",
      ratio(3, 0), ratio(4, 0), ratio(5, 0));
  fmt::print(
      "  one by one, times faster than: Embree {:.2f}, NanoVDB {:.2f}, OpenVDB {:.2f}; "
      "first times only: NanoVDB {:.2f}\n",
      ratio(3, 1), ratio(4, 1), ratio(5, 1), ratio(4, 2));
}

void run_peers(const TriangleMesh& mesh, std::size_t n) {
  const BrickField field = build_field(mesh, {.resolution = 1024, .threads = {1}}).field;
  const double cell = field.voxel_size();
  const EmbreeSegments embree(mesh);
  const VdbSegments vdb(mesh, cell);
  fmt::print(
      "\nBeside peers at 1024, one thread, {} segments, nanoseconds each (processor time).\n", n);
  fmt::print("Ours: all intervals in a batch and one by one, first times one by one.\n");
  fmt::print("  {:>8} {:>5} | {:>9} {:>9} {:>8} | {:>9} {:>9} {:>9} | {:>9} {:>9}\n", "segments",
             "iso", "batch", "one", "first", "Embree", "NanoVDB", "OpenVDB", "index MB", "built s");
  const std::vector<Segment> random = make_random(field.bounds(), n),
                             close = make_short(mesh, field.bounds(), n);
  for (const bool is_short : {false, true}) {
    const std::vector<Segment>& segments = is_short ? close : random;
    for (const double iso : {0.0, 1.0, 4.0, 16.0, 64.0}) {
      std::optional<SegmentTracer> made;
      const double built =
          seconds_of([&] {
            made.emplace(field, SegmentSettings{.iso = iso * cell, .threads = {1}});
          }).processor;
      const SegmentTracer& tracer = *made;
      const SegmentTracer first(field,
                                {.iso = iso * cell, .mode = SegmentMode::kFirst, .threads = {1}});
      SegmentResults results;
      std::size_t sum = 0;
      std::vector<Contender> contenders{
          {.work = [&] { tracer.trace(segments, results); }},
          {.work = [&] { sum += trace_one_by_one(tracer, segments); }},
          {.work = [&] { sum += trace_one_by_one(first, segments); }}};
      if (iso == 0) {
        contenders.push_back({.work = [&] { sum += count_hits(embree, segments); }});
        contenders.push_back({.work = [&] { sum += vdb.count_by_nanovdb(segments); }});
        contenders.push_back(
            {.work = [&] { sum += vdb.count_by_openvdb(segments); }, .max_runs = 2});
      }
      const std::vector<Seconds> times = medians_of(contenders);
      fmt::print("  {:>8} {:>5.0f} | {:>9.1f} {:>9.1f} {:>8.1f} |", is_short ? "short" : "random",
                 iso, nanoseconds(times[0], n), nanoseconds(times[1], n), nanoseconds(times[2], n));
      for (std::size_t k = 3; k < 6; ++k)
        fmt::print(" {:>9}",
                   k < times.size() ? fmt::format("{:.1f}", nanoseconds(times[k], n)) : "");
      fmt::print(" | {:>9.2f} {:>9.3f}\n", static_cast<double>(tracer.memory_bytes()) * 1e-6,
                 built);
      if (iso == 0) print_ratios(times);
      if (iso == 0) compare_with_triangles(tracer, embree, segments, cell);
    }
  }
}

// The paper's own traversals on its own structure, and ours, in nodes and cells.
void run_table2(const TriangleMesh& mesh, std::size_t n, bool full) {
  fmt::print("\nXB14, Table 2: seconds for 10^6 segments (ours: from {} of them)\n", n);
  fmt::print("  {:>5} | {:>8} {:>8} {:>6} | {:>9} {:>9} {:>6} {:>9} | {:>22} {:>22} {:>22}\n",
             "cells", "paper u", "paper o", "u / o", "uniform", "octree", "u / o", "fast",
             "uniform nodes/cells", "octree nodes/cells", "fast nodes/cells");
  for (std::size_t r = 0; r < std::size(kResolutions); ++r) {
    const int resolution = kResolutions[r];
    if (resolution == 1024 && !full) continue;
    const BrickField field = build_field(mesh, {.resolution = resolution}).field;
    const std::vector<Segment> segments = make_random(field.bounds(), n);
    const DenseGrid grid = sample_on_lattice(field, field.lattice(), {.holds_body = true});
    const MinMaxOctree octree(grid, {.store_leaves = resolution < 1024});
    const SegmentTracer tracers[] = {
        SegmentTracer(grid, {.traversal = Traversal::kUniform, .threads = {1}}),
        SegmentTracer(octree, {.traversal = Traversal::kOctree, .threads = {1}}),
        SegmentTracer(field, {.threads = {1}})};
    double seconds[3];
    SegmentCounts counts[3];
    SegmentResults results[3];
    for (std::size_t k = 0; k < 3; ++k) {
      seconds[k] =
          seconds_of([&] { tracers[k].trace(segments, results[k], &counts[k]); }).processor;
    }
    if (results[0].intervals != results[1].intervals)
      throw Error("wrong answer: the traversals of the grid differ");
    const double scale = 1e6 / static_cast<double>(n);
    const auto looked = [&](const SegmentCounts& c) {
      return fmt::format("{:.1f} / {:.1f}", static_cast<double>(c.nodes) / static_cast<double>(n),
                         static_cast<double>(c.cells) / static_cast<double>(n));
    };
    fmt::print(
        "  {:>5} | {:>8.1f} {:>8.1f} {:>6.1f} | {:>9.2f} {:>9.2f} {:>6.1f} {:>9.3f} | {:>22} "
        "{:>22} "
        "{:>22}\n",
        resolution, kPaperUniform[r], kPaperOctree[r], kPaperUniform[r] / kPaperOctree[r],
        seconds[0] * scale, seconds[1] * scale, seconds[0] / seconds[1], seconds[2] * scale,
        looked(counts[0]), looked(counts[1]), looked(counts[2]));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  bool quick = false, full = false, table2 = true, peers = true;
  for (int i = 1; i < argc; ++i) {
    quick = quick || std::strcmp(argv[i], "--quick") == 0;
    full = full || std::strcmp(argv[i], "--full") == 0;
    if (std::strcmp(argv[i], "--peers") == 0) table2 = false;
    if (std::strcmp(argv[i], "--table2") == 0) peers = false;
  }
  const TriangleMesh mesh = read_mesh(data_folder() / "01_stanford" / "bunny_closed.obj").mesh;
  const std::size_t n = quick ? 100'000 : 1'000'000;
  if (peers) run_peers(mesh, n);
  if (table2) run_table2(mesh, n / 20, full);
  fmt::print("\nAll answers were right.\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_segments: {}\n", error.what());
  return 1;
}
