// Segments against a field (XB14, Table 2) beside Embree's all hits on the exact triangles and
// OpenVDB's and NanoVDB's first hits. One thread, the same segments for all, medians of runs taken
// in turns. Correctness is part of it: all traversals must agree, and crossings are held against
// Embree's.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <sys/resource.h>
#include <unistd.h>

#include "isotact/base/file.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/queries/segments/segment_index.h"

#include "segments_peer.h"
#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

struct Options : RunOptions {
  std::size_t segment_count() const { return quick ? 100'000 : 1'000'000; }
};

TriangleMesh read_bunny() { return read_data_mesh("01_stanford/bunny_closed.obj"); }

// XB14 Table 2, seconds for 10^6 segments. The paper begins at 128 cells.
struct PaperRow {
  int resolution;
  double uniform, octree;
};
constexpr PaperRow kPaper[] = {
    {64, 0, 0}, {128, 12.7, 12.0}, {256, 38.8, 13.1}, {512, 97.2, 15.4}, {1024, 274.3, 21.4}};

std::vector<Segment> make_random(const Aabb& box, std::size_t n) {
  Random random(2014);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 from = random.in_box(box.lower, box.upper);
    segments.push_back({to_float(from), to_float(random.in_box(box.lower, box.upper))});
  }
  return segments;
}

// Most of them hit: they end at vertices, moved inwards by up to a hundredth of the box.
std::vector<Segment> make_hitting(const TriangleMesh& mesh, const Aabb& box, std::size_t n) {
  Random random(2016);
  const double size = 0.01 * length(extent(box)) / std::sqrt(3.0);
  const auto below = static_cast<std::uint32_t>(mesh.triangles.size());
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const Triangle& t = mesh.triangles[random.below(below)];
    const Vec3 through = to_double(mesh.positions[t[0]]) + random.in_unit_ball() * size;
    const Vec3 from = random.in_box(box.lower, box.upper);
    segments.push_back({to_float(from), to_float(from + (through - from) * 1.5)});
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

std::size_t count_first_hits(const EmbreeSegments& embree, std::span<const Segment> segments) {
  std::size_t n = 0;
  float time = 0;
  for (const Segment& s : segments) n += embree.find_first(s, time) ? 1U : 0U;
  return n;
}

// Crossings on both sides, within a cell and a half of each other. What has no partner is where the
// field's error hides or adds a graze.
void compare_with_triangles(const SegmentTracer& tracer, const EmbreeSegments& embree,
                            std::span<const Segment> segments, double cell, Report& report) {
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
  report.note(fmt::format(
      "Crossings of {} segments: {} ours, {} Embree's on the triangles, {} of them within "
      "1.5 cells of each other.",
      segments.size(), ours, theirs, same));
  report.check(static_cast<double>(same) >= 0.99 * static_cast<double>(std::min(ours, theirs)),
               "99 of 100 crossings have a partner among the triangles");
}

void run_peers(const Options& options, Report& report) {
  const TriangleMesh mesh = read_bunny();
  const std::size_t n = options.segment_count();
  const BrickField field = build_field(mesh, {.resolution = 1024, .threads = {1}}).field;
  const double cell = field.voxel_size();
  const EmbreeSegments embree(mesh, true), plain_embree(mesh, false);
  const VdbSegments vdb(mesh, cell);
  Table table = report.table(
      {.id = "peers",
       .title = fmt::format("{} segments at 1024 cells, one thread: nanoseconds a segment", n),
       .columns = {{"segments", Of::kKey},
                   {"surface at", Of::kKey, "cells", 0},
                   {"all, in a batch", Of::kOurs, "ns", 1},
                   {"first, in a batch", Of::kOurs, "ns", 1},
                   {"any, in a batch", Of::kOurs, "ns", 1},
                   {"all, one by one", Of::kOurs, "ns", 1},
                   {"first, one by one", Of::kOurs, "ns", 1},
                   {"hits", Of::kOurs, "of 1", 2},
                   {"Embree, all hits", Of::kPeer, "ns", 1},
                   {"Embree, not robust", Of::kPeer, "ns", 1},
                   {"Embree, first hit", Of::kPeer, "ns", 1},
                   {"Embree, first hit, not robust", Of::kPeer, "ns", 1},
                   {"NanoVDB, first hit", Of::kPeer, "ns", 1},
                   {"OpenVDB, first hit", Of::kPeer, "ns", 1},
                   {"batch faster than Embree", Of::kOurs, "times", 2},
                   {"than Embree, not robust", Of::kOurs, "times", 2},
                   {"than NanoVDB", Of::kOurs, "times", 2},
                   {"one by one over Embree: all", Of::kOurs, "times", 2},
                   {"first", Of::kOurs, "times", 2},
                   {"index", Of::kOurs, "MB", 2},
                   {"index built", Of::kOurs, "s"}},
       .note = "Bunny with holes closed, processor time. Hitting: through the surface. Short: a "
               "hundredth of the box, near the surface. Peers know the surface itself only. Rows "
               "near zero and all modes share one index, built once."});
  const std::vector<Segment> random = make_random(field.bounds(), n),
                             hitting = make_hitting(mesh, field.bounds(), n),
                             close = make_short(mesh, field.bounds(), n);
  std::optional<SegmentTracer> shared;
  const std::pair<const char*, const std::vector<Segment>*> kinds[] = {
      {"random", &random}, {"hitting", &hitting}, {"short", &close}};
  for (const auto& [kind, listed] : kinds) {
    const std::vector<Segment>& segments = *listed;
    for (const double margin : {0.0, 1.0, 4.0, 16.0, 64.0}) {
      std::optional<SegmentTracer> made;
      const SegmentSettings settings{.margin = margin * cell, .threads = {1}};
      const double built = seconds_of([&] {
                             if (shared)
                               made.emplace(shared->with(settings));
                             else
                               made.emplace(field, settings);
                           }).processor;
      if (!shared) shared.emplace(made->with(settings));
      const SegmentTracer& tracer = *made;
      const SegmentTracer first =
          tracer.with({.margin = margin * cell, .mode = Mode::kFirst, .threads = {1}});
      const SegmentTracer any =
          tracer.with({.margin = margin * cell, .mode = Mode::kAny, .threads = {1}});
      SegmentResults results, of_first, of_any;
      std::size_t sum = 0;
      std::vector<Contender> contenders{
          {.work = [&] { tracer.trace(segments, results); }},
          {.work = [&] { first.trace(segments, of_first); }},
          {.work = [&] { any.trace(segments, of_any); }},
          {.work = [&] { sum += trace_one_by_one(tracer, segments); }},
          {.work = [&] { sum += trace_one_by_one(first, segments); }}};
      if (margin == 0) {
        contenders.push_back({.work = [&] { sum += count_hits(embree, segments); }});
        contenders.push_back({.work = [&] { sum += count_hits(plain_embree, segments); }});
        contenders.push_back({.work = [&] { sum += count_first_hits(embree, segments); }});
        contenders.push_back({.work = [&] { sum += count_first_hits(plain_embree, segments); }});
        contenders.push_back({.work = [&] { sum += vdb.count_by_nanovdb(segments); }});
        contenders.push_back(
            {.work = [&] { sum += vdb.count_by_openvdb(segments); }, .max_runs = 2});
      }
      const std::vector<Seconds> times = medians_of(contenders);
      const bool has_peers = margin == 0;
      const auto at = [&](std::size_t k) {
        return cell_if(k < times.size(), k < times.size() ? nanoseconds(times[k], n) : 0);
      };
      const auto faster = [&](std::size_t k) {
        return cell_if(has_peers, has_peers ? times[k].processor / times[0].processor : 0);
      };
      const auto over = [&](std::size_t ours, std::size_t theirs) {
        return cell_if(has_peers, has_peers ? times[ours].processor / times[theirs].processor : 0);
      };
      std::size_t hits = 0;
      bool same_first = true;
      for (std::size_t i = 0; i < n; ++i) {
        const bool hit = results.first[i] < results.first[i + 1];
        hits += hit ? 1 : 0;
        same_first = same_first && hit == (of_first.first[i] < of_first.first[i + 1]) &&
                     (!hit || results.intervals[results.first[i]].enter ==
                                  of_first.intervals[of_first.first[i]].enter);
      }
      report.check(same_first && of_first.first == of_any.first,
                   "the modes find the same first times",
                   fmt::format("{}, {} cells", kind, margin));
      table.row(
          {kind,      margin,     at(0),      at(1),
           at(2),     at(3),      at(4),      static_cast<double>(hits) / static_cast<double>(n),
           at(5),     at(6),      at(7),      at(8),
           at(9),     at(10),     faster(5),  faster(6),
           faster(9), over(3, 5), over(4, 7), static_cast<double>(tracer.memory_bytes()) * 1e-6,
           built});
      if (margin == 0) compare_with_triangles(tracer, embree, segments, cell, report);
    }
  }
}

// The paper's own traversals on its own structure, and ours, in nodes and cells.
void run_table2(const Options& options, Report& report) {
  const TriangleMesh mesh = read_bunny();
  const std::size_t n = options.segment_count() / 20;
  Table table =
      report.table({.id = "table2",
                    .paper = "XB14",
                    .place = "Table 2",
                    .title = "A million random segments, bunny: seconds",
                    .columns = {{"cells", Of::kKey},
                                {"uniform", Of::kPaper, "s", 1},
                                {"octree", Of::kPaper, "s", 1},
                                {"uniform over octree", Of::kPaper, "times", 1},
                                {"uniform", Of::kOurs, "s"},
                                {"octree", Of::kOurs, "s"},
                                {"uniform over octree", Of::kOurs, "times", 1},
                                {"octree over that at 128", Of::kPaper, "times", 2},
                                {"octree over that at 128", Of::kOurs, "times", 2},
                                {"fast, dense", Of::kOurs, "s"},
                                {"fast", Of::kOurs, "s"},
                                {"octree on bricks", Of::kOurs, "s"},
                                {"uniform: cells", Of::kOurs, "", 1},
                                {"octree: nodes", Of::kOurs, "", 1},
                                {"octree: cells", Of::kOurs, "", 1},
                                {"octree on bricks: cells", Of::kOurs, "", 1},
                                {"fast: nodes", Of::kOurs, "", 1},
                                {"fast: cells", Of::kOurs, "", 1}},
                    .note = fmt::format(
                        "From {} segments, one thread, processor time, medians of three runs in "
                        "turns. Uniform and octree are the "
                        "paper's traversals of its dense grid. Fast is ours, of the dense grid and "
                        "of the brick field. "
                        "Nodes and cells: looked at, a segment. 1024 cells with --full only.",
                        n)});
  Plot plot{.title = "a million segments",
            .x_name = "cells",
            .y_name = "s",
            .is_log = true,
            .lines = {{"XB14, uniform"},
                      {"XB14, octree"},
                      {"ours, uniform"},
                      {"ours, octree"},
                      {"ours, fast"}},
            .is_log_x = true};
  double octree_at_128 = 0;
  for (const PaperRow& paper : kPaper) {
    const int resolution = paper.resolution;
    if (resolution == 1024 && !options.full) continue;
    const BrickField field = build_field(mesh, {.resolution = resolution}).field;
    const std::vector<Segment> segments = make_random(field.bounds(), n);
    const DenseGrid grid = sample_on_lattice(field, field.lattice(), {.holds_body = true});
    const MinMaxOctree octree(grid, {.store_leaves = resolution < 1024});
    const SegmentTracer tracers[] = {
        SegmentTracer(grid, {.traversal = Traversal::kUniform, .threads = {1}}),
        SegmentTracer(octree, {.traversal = Traversal::kOctree, .threads = {1}}),
        SegmentTracer(field, {.threads = {1}}), SegmentTracer(grid, {.threads = {1}}),
        SegmentTracer(field, {.traversal = Traversal::kOctree, .threads = {1}})};
    constexpr std::size_t kTracers = std::size(tracers);
    SegmentResults results[kTracers];
    std::vector<Contender> contenders;
    for (std::size_t k = 0; k < kTracers; ++k)
      contenders.push_back(
          {.work = [&, k] { tracers[k].trace(segments, results[k]); }, .max_runs = 3});
    const std::vector<Seconds> times = medians_of(contenders);
    const auto where = fmt::format("{} cells", resolution);
    report.check(results[0].intervals == results[1].intervals,
                 "the uniform and the octree traversal find the same intervals", where);
    report.check(results[0].intervals == results[3].intervals,
                 "the uniform and the fast traversal of a dense grid find the same intervals",
                 where);
    report.check(results[2].intervals == results[4].intervals,
                 "the octree and the fast traversal of bricks find the same intervals", where);
    report.check(times[3].processor <= times[1].processor,
                 "fast is no slower than the octree on a dense grid", where);
    const double scale = 1e6 / static_cast<double>(n);
    const auto seconds = [&](std::size_t k) { return times[k].processor * scale; };
    const auto a_segment = [&](std::uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(n);
    };
    // Its lowest nodes are 2^3 cells: it reads the corners of all cells in them, as the paper's
    // reads the ranges of all. It searches roots in the same cells.
    report.check(static_cast<double>(results[4].work.cubics) <=
                         1.2 * static_cast<double>(results[1].work.cubics) &&
                     results[4].work.cells <= 3 * results[1].work.cells,
                 "the octree on bricks descends to the cells", where);
    if (resolution == 128) octree_at_128 = seconds(1);
    const bool has_paper = paper.octree > 0;
    table.row(
        {resolution, cell_if(has_paper, paper.uniform), cell_if(has_paper, paper.octree),
         cell_if(has_paper, has_paper ? paper.uniform / paper.octree : 0), seconds(0), seconds(1),
         seconds(0) / seconds(1), cell_if(has_paper, paper.octree / kPaper[1].octree),
         cell_if(has_paper, has_paper ? seconds(1) / octree_at_128 : 0), seconds(3), seconds(2),
         seconds(4), a_segment(results[0].work.cells), a_segment(results[1].work.nodes),
         a_segment(results[1].work.cells), a_segment(results[4].work.cells),
         a_segment(results[2].work.nodes), a_segment(results[2].work.cells)});
    const double drawn[] = {paper.uniform, paper.octree, seconds(0), seconds(1), seconds(2)};
    for (std::size_t k = has_paper ? 0 : 2; k < std::size(drawn); ++k)
      plot.lines[k].points.push_back({static_cast<double>(resolution), drawn[k]});
  }
  report.figure({.id = "table2-plot",
                 .paper = "XB14",
                 .place = "Table 2",
                 .title = "Seconds for a million segments"},
                {plot});
}

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
// Processor time of a program, user and system.
double seconds_of_program(const std::string& command) {
  const auto children = [] {
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  };
  const double before = children();
  // A path with a quote is not expected. NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe)
  if (std::system(command.c_str()) != 0) throw Error(command + ": it failed");
  return children() - before;
}

// Reads an asset with its index and a file of segments, traces, and writes the intervals, as
// `isotact segments` does.
void trace_files(const std::filesystem::path& asset_file, const std::filesystem::path& segment_file,
                 const std::filesystem::path& output) {
  const Asset asset = read_asset(asset_file);
  const auto index = std::make_shared<const SegmentIndex>(find_segment_index(asset).value());
  const std::vector<std::byte> bytes = read_file(segment_file);
  std::vector<Segment> segments(bytes.size() / sizeof(Segment));
  std::memcpy(segments.data(), bytes.data(), segments.size() * sizeof(Segment));
  SegmentResults results;
  SegmentTracer(*asset.field, index, {.threads = {1}}).trace(segments, results);
  std::vector<float> rows;
  rows.reserve(3 * results.intervals.size());
  for (std::size_t i = 0; i + 1 < results.first.size(); ++i)
    for (std::uint64_t k = results.first[i]; k < results.first[i + 1]; ++k)
      rows.insert(rows.end(),
                  {static_cast<float>(i), results.intervals[k].enter, results.intervals[k].exit});
  write_file(output, std::as_bytes(std::span(rows)));
}

// The tool beside the library for the same files.
void run_tool(const Options& options, Report& report) {
  namespace fs = std::filesystem;
  const fs::path tool = fs::read_symlink("/proc/self/exe").parent_path() / "isotact";
  if (!fs::is_regular_file(tool)) {
    report.give_up("the tool isotact is not beside this program: build it too");
    return;
  }
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("isotact-bench-segments-{}", ::getpid());
  fs::create_directory(folder);
  const fs::path asset_file = folder / "bunny.isotact", segment_file = folder / "segments.f32",
                 ours = folder / "library.f32", theirs = folder / "tool.f32";
  const std::size_t n = options.segment_count();
  {
    const BrickField field = build_field(read_bunny(), {.resolution = 1024, .threads = {1}}).field;
    Asset asset;
    asset.field = field;
    set_segment_index(asset, build_segment_index(field, {.threads = {1}}));
    write_asset(asset_file, asset);
    const std::vector<Segment> segments = make_random(field.bounds(), n);
    write_file(segment_file, std::as_bytes(std::span(segments)));
  }
  const std::string command =
      fmt::format("'{}' segments '{}' '{}' -o '{}' --threads 1 --json > /dev/null", tool.string(),
                  asset_file.string(), segment_file.string(), theirs.string());
  std::vector<double> by_library, by_tool;
  for (int run = 0; run < 5; ++run) {
    by_library.push_back(
        seconds_of([&] { trace_files(asset_file, segment_file, ours); }).processor);
    by_tool.push_back(seconds_of_program(command));
  }
  report.check(read_file(ours) == read_file(theirs), "the tool writes what the library finds");
  fs::remove_all(folder);
  const double library = quantile(by_library, 0.5), with_tool = quantile(by_tool, 0.5);
  Table table = report.table(
      {.id = "tool",
       .title = fmt::format("{} segments at 1024 cells from file to file: seconds", n),
       .columns = {{"segments", Of::kKey},
                   {"library", Of::kOurs, "s"},
                   {"isotact segments", Of::kOurs, "s"},
                   {"tool over library", Of::kOurs, "times", 2}},
       .note =
           "Processor time, user and system. Both read and check the asset with its index, read "
           "the segments as float32, trace with one thread, and write the intervals. The "
           "tool's time includes its start."});
  table.row({n, library, with_tool, with_tool / library});
}

constexpr Part kParts[] = {{"peers", run_peers}, {"table2", run_table2}, {"tool", run_tool}};

void name_options(OptionReader& reader, Options&) {
  reader.quick("a tenth of the segments");
  reader.full("Table 2 at 1024 cells too, whose dense grid takes 4.3 GB");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  Report report(
      "bench_segments", options,
      {.peers = {describe_embree(), describe_segment_vdb()}, .how = "one thread, processor time"});
  run_parts(kParts, options, report);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_segments", argc, argv, name_options, run);
}
