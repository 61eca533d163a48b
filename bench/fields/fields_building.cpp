// Building: build_field beside OpenVDB's meshToLevelSet, from a mesh in memory, and how true both
// come out.
#include <algorithm>
#include <cmath>

#include "fields_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kPoints = 20000;
constexpr double kMaxP99 = 0.1;  // cells, within kNear of the surface, at 256 and above
// Where a mesh has details below a cell no trilinear field can reach that. Then ours may be worse
// than exact samples in the same places by little more than half a step of its quantisation, cells.
constexpr double kMaxAboveIdeal = 0.03;
constexpr std::size_t kIdealPoints = 4000;
constexpr double kNear = 4;  // cells
// Nearer than this all eight voxels around a point lie in the peer's band.
constexpr double kPeerNear = 1.25;  // cells, below 3 - sqrt(3)

struct Accuracy {
  FieldErrors ours, peer;  // cells
  FieldErrors ideal;       // of trilinear interpolation of exact samples, cells
  std::size_t wrong_signs = 0, peer_wrong_signs = 0;
  std::size_t judged_signs = 0;  // points further than a cell from the surface
  std::size_t broken_bounds = 0;
};

struct Row {
  std::string mesh;
  int resolution = 0;
  Seconds ours{}, peer{};  // with the number of threads asked for
  Seconds ours_one{}, ours_two{}, peer_two{};
  FieldReport report{};
  std::uint64_t peer_bytes = 0;
  Accuracy accuracy{};
};

bool overlap(const Interval& a, const Interval& b) {
  return a.lower <= b.upper && b.lower <= a.upper;
}

double interpolate_exactly(const ExactField& exact, const Lattice& lattice, const Vec3& point) {
  const CellPoint at = locate(lattice, point);
  const Vec3 w = to_double(at.fraction);
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int x = corner & 1, y = (corner >> 1) & 1, z = corner >> 2;
    const double weight =
        (x != 0 ? w.x : 1 - w.x) * (y != 0 ? w.y : 1 - w.y) * (z != 0 ? w.z : 1 - w.z);
    sum += weight *
           exact.value(node_position(lattice, at.cell[0] + x, at.cell[1] + y, at.cell[2] + z));
  }
  return sum;
}

FieldErrors judge_ideal(const ExactField& exact, const Lattice& lattice,
                        std::span<const Vec3> points) {
  std::vector<double> errors(points.size());
  parallel_for(points.size(), 64, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      errors[i] =
          std::abs(interpolate_exactly(exact, lattice, points[i]) - exact.value(points[i])) /
          lattice.spacing;
  });
  return summarize(errors);
}

// Sees each point with its true distance and judges signs and bounds.
class Judge {
 public:
  Judge(const BrickField& field, const VdbLevelSet& peer, const ExactField& exact)
      : field_(field), peer_(peer), exact_(exact) {}

  void see(const std::vector<Vec3>& points, Accuracy& result) {
    std::vector<double> distances(points.size());
    compute_signed_distances(exact_, points, distances);
    const double cell = field_.voxel_size();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double truth = distances[i], ours = field_.value(points[i]);
      const double theirs = peer_.value(points[i]);
      if (std::abs(truth) <= kNear * cell) errors_.push_back(std::abs(ours - truth) / cell);
      if (std::abs(truth) <= kPeerNear * cell)
        peer_errors_.push_back(std::abs(theirs - truth) / cell);
      if (std::abs(truth) > cell) {
        ++result.judged_signs;
        result.wrong_signs += (ours < 0) != (truth < 0) ? 1U : 0U;
        result.peer_wrong_signs += (theirs < 0) != (truth < 0) ? 1U : 0U;
      }
      see_bounds(points[i], result);
    }
    result.ours = summarize(errors_);
    result.peer = summarize(peer_errors_);
  }
  void see_bounds(const Vec3& point, Accuracy& result) const {
    // The oracle has a doubt of its own, from rounding.
    const bool holds = overlap(field_.distance_bounds(point), exact_.distance_bounds(point));
    result.broken_bounds += holds ? 0U : 1U;
  }

 private:
  const BrickField& field_;
  const VdbLevelSet& peer_;
  const ExactField& exact_;
  std::vector<double> errors_, peer_errors_;
};

Accuracy judge(const TriangleMesh& mesh, const BrickField& field, const VdbLevelSet& peer) {
  const Surface surface = prepare_surface(mesh, {.voxel_size = field.voxel_size()});
  const ExactField exact(surface);
  Accuracy result;
  Judge judge(field, peer, exact);
  const std::vector<Vec3> near = points_near(surface.mesh, kNear * field.voxel_size(), kPoints, 1);
  judge.see(near, result);
  result.ideal = judge_ideal(exact, field.lattice(), std::span(near).first(kIdealPoints));
  judge.see(points_in(field.bounds(), kPoints, 2), result);
  const Vec3 pad = extent(field.bounds()) * 0.5;
  const Aabb wide{field.bounds().lower - pad, field.bounds().upper + pad};
  for (const Vec3& point : points_in(wide, kPoints / 4, 3)) judge.see_bounds(point, result);
  return result;
}

void check(const Row& row, Report& report) {
  const std::string where = fmt::format("{} at {}", row.mesh, row.resolution);
  const Accuracy& a = row.accuracy;
  if (row.resolution >= 256)
    report.check(
        a.ours.p99 < std::max(kMaxP99, a.ideal.p99 + kMaxAboveIdeal),
        "p99 of the error is below 0.1 cell, or near that of exact samples",
        fmt::format("{}: {:.3f} cells, of exact samples {:.3f}", where, a.ours.p99, a.ideal.p99));
  report.check(a.wrong_signs == 0, "signs are right further than a cell from the surface",
               fmt::format("{}: {} of {} are not", where, a.wrong_signs, a.judged_signs));
  report.check(a.broken_bounds == 0, "distance_bounds hold",
               fmt::format("{}: not at {} points", where, a.broken_bounds));
}

FieldSettings settings_of(int resolution, int threads) {
  return {.resolution = resolution, .threads = {threads}};
}

Row measure(const NamedMesh& named, const VdbMesh& vdb_mesh, int resolution, const Options& options,
            Stock& stock) {
  Row row{.mesh = named.name, .resolution = resolution};
  FieldResult ours = build_field(named.mesh, settings_of(resolution, 2));
  VdbLevelSet peer;
  const double voxel_size = ours.field.voxel_size();
  const auto build = [&](int threads) {
    ours = {};
    const ThreadLimit limit(threads);
    ours = build_field(named.mesh, settings_of(resolution, threads));
  };
  const auto build_peer = [&](int threads) {
    peer = {};
    const ThreadLimit limit(threads);
    peer = VdbLevelSet(vdb_mesh, voxel_size);
  };
  constexpr std::size_t kRuns = 5;
  const double patience = options.quick ? 0.6 : 2;  // seconds a contender
  std::vector<Contender> contenders{{[&] { build(options.threads); }, kRuns, patience},
                                    {[&] { build_peer(options.threads); }, kRuns, patience},
                                    {[&] { build(2); }, kRuns, patience},
                                    {[&] { build_peer(2); }, options.quick ? 1U : 2U, patience}};
  if (options.threads != 1) contenders.push_back({[&] { build(1); }, kRuns, patience});
  const std::vector<Seconds> medians = medians_of(contenders);
  row.ours = medians[0];
  row.peer = medians[1];
  row.ours_two = medians[2];
  row.peer_two = medians[3];
  row.ours_one = options.threads == 1 ? medians[0] : medians[4];
  row.report = ours.report;
  row.peer_bytes = peer.memory_bytes();
  row.accuracy = judge(named.mesh, ours.field, peer);
  if (named.name == "bunny") stock.keep(resolution, std::move(ours), std::move(peer));
  return row;
}

// One thread: processor time, which neighbours on the machine disturb less. Else the clock.
double relevant(const Seconds& seconds, int threads) {
  return threads == 1 ? seconds.processor : seconds.wall;
}

double megabytes(std::uint64_t bytes) { return 1e-6 * static_cast<double>(bytes); }

Json to_json(const Row& row, int threads) {
  const auto errors = [](const FieldErrors& e) {
    return Json{{"p50", e.p50}, {"p99", e.p99}, {"max", e.max}};
  };
  const double ours = relevant(row.ours, threads), peer = relevant(row.peer, threads);
  const Accuracy& a = row.accuracy;
  return {{"mesh", row.mesh},
          {"resolution", row.resolution},
          {"faster_than_openvdb", peer / ours},
          {"two_threads_over_one", row.ours_one.wall / row.ours_two.wall},
          {"two_threads_faster_than_openvdb", row.peer_two.wall / row.ours_two.wall},
          {"seconds", ours},
          {"openvdb_seconds", peer},
          {"bytes", row.report.bytes},
          {"openvdb_bytes", row.peer_bytes},
          {"bricks", row.report.bricks},
          {"voxel_size", row.report.lattice.spacing},
          {"near_error_bound_cells", row.report.near_error / row.report.lattice.spacing},
          {"error_cells", errors(a.ours)},
          {"exact_samples_error_cells", errors(a.ideal)},
          {"openvdb_error_cells", errors(a.peer)},
          {"wrong_signs", a.wrong_signs},
          {"openvdb_wrong_signs", a.peer_wrong_signs},
          {"judged_signs", a.judged_signs}};
}

void print(const Row& row, const Options& options, Table& table) {
  const double ours = relevant(row.ours, options.threads);
  const double peer = relevant(row.peer, options.threads);
  const Accuracy& a = row.accuracy;
  table.row({row.mesh, row.resolution, ours, peer, peer / ours,
             row.ours_one.wall / row.ours_two.wall, row.peer_two.wall / row.ours_two.wall,
             megabytes(row.report.bytes), megabytes(row.peer_bytes), row.report.bricks, a.ours.p50,
             a.ours.p99, a.ours.max, a.ideal.p99, a.peer.p99, a.wrong_signs, a.peer_wrong_signs,
             a.judged_signs});
}

TableHead make_head(const Options& options) {
  return {
      .id = "building",
      .title = "Building a field of the whole box, beside OpenVDB's meshToLevelSet",
      .columns = {{"mesh", Of::kKey},
                  {"cells", Of::kKey},
                  {"time", Of::kOurs, "s"},
                  {"OpenVDB", Of::kPeer, "s"},
                  {"faster than OpenVDB", Of::kOurs, "times", 2},
                  {"two threads over one", Of::kOurs, "times", 2},
                  {"faster with two", Of::kOurs, "times", 2},
                  {"memory", Of::kOurs, "MB", 1},
                  {"OpenVDB", Of::kPeer, "MB", 1},
                  {"bricks", Of::kOurs},
                  {"error p50", Of::kOurs, "cells", 3},
                  {"error p99", Of::kOurs, "cells", 3},
                  {"error max", Of::kOurs, "cells", 2},
                  {"p99 of exact samples, trilinear", Of::kOurs, "cells", 3},
                  {"OpenVDB, error p99", Of::kPeer, "cells", 3},
                  {"wrong signs", Of::kOurs},
                  {"OpenVDB, wrong signs", Of::kPeer},
                  {"of", Of::kOurs}},
      .note = fmt::format(
          "OpenVDB: a band of {} voxels. {} thread{}; two threads over one by the clock. Errors "
          "against exact distance: ours within {} cells, OpenVDB's within {}. Signs: further "
          "than a cell from the surface.",
          kVdbHalfWidth, options.threads,
          options.threads == 1 ? ", processor time" : "s, by the clock", kNear, kPeerNear)};
}

}  // namespace

void bench_building(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(make_head(options));
  const std::vector<int> resolutions =
      options.quick ? std::vector<int>{128, 256} : std::vector<int>{128, 256, 512, 1024};
  const std::vector<std::string> names{"bunny", "bunny_raw", "dragon"};
  const auto is_chosen = [&](const std::string& name) {
    return std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  const bool some = std::any_of(names.begin(), names.end(), is_chosen);
  for (const std::string& name : names) {
    if (some && !is_chosen(name)) continue;
    if (options.quick && !some && name == "dragon") continue;
    const NamedMesh named = read_named(name);
    const VdbMesh vdb_mesh(named.mesh);
    for (const int resolution : resolutions) {
      const Row row = measure(named, vdb_mesh, resolution, options, stock);
      print(row, options, table);
      report.json["building"].push_back(to_json(row, options.threads));
      check(row, report);
    }
  }
}

}  // namespace isotact::bench
