// Segmented traversal: SSL14's Table 2, and how low the frequency may be (4.2.2).
#include <algorithm>

#include "bullet_fall.h"

namespace isotact::bench {
namespace {

constexpr int kPaperChildren = 4;  // K
constexpr std::uint32_t kLow = 799, kHigh = 35596;
constexpr double kMostPerManifold = 0.3;  // microseconds

// SSL14's L counts from 1, our levels from 0.
OwnedShape make_segmented(Stock& stock, const PointSphereTree& tree, int paper_level) {
  return make_ours(fmt::format("L = {}", paper_level), tree, stock.bunny_field(),
                   {.patch_level = paper_level - 1, .points_per_manifold = 1});
}

struct LevelRow {
  FallTimes times{};          // of its own motion
  double manifolds = 0;       // mean of the steps that are timed
  double end_energy = 0;      // J: mean of the rotations, after the last step
  FallTimes same_times{};     // on poses that are the same for all levels
  double same_manifolds = 0;  // the mean there
};

using Falls = std::vector<std::vector<FallStep>>;

Falls run_falls(const Options& options, Stock& stock, const OwnedShape& shape) {
  Falls falls;
  const FallSettings settings{.repeats = static_cast<std::size_t>(options.quick ? 2 : 5)};
  for (int r = 0; r < (options.quick ? 3 : 10); ++r)
    falls.push_back(run_fall(stock.bunny(), shape, r, settings));
  return falls;
}

double mean_manifolds(const Falls& falls) {
  double sum = 0, count = 0;
  for (const auto& fall : falls)
    for (std::size_t i = kFirstStep; i < fall.size(); ++i, ++count) sum += fall[i].manifolds;
  return sum / count;
}

double mean_end_energy(const Falls& falls) {
  double sum = 0;
  for (const auto& fall : falls) sum += fall.back().kinetic_energy;
  return sum / static_cast<double>(falls.size());
}

double mean_manifolds(const Bunny& bunny, const OwnedShape& shape, const std::vector<Pose>& poses) {
  Stage stage({.ground = Ground::kPlane});
  btRigidBody& body = stage.add(shape, {.inertia = bunny.inertia});
  double sum = 0;
  for (const Pose& pose : poses) {
    stage.detect(body, pose);
    sum += stage.manifold_count();
  }
  return sum / static_cast<double>(poses.size());
}

LevelRow run_level(const Options& options, Stock& stock, const PointSphereTree& tree, int level,
                   const std::vector<Pose>& poses) {
  const OwnedShape shape = make_segmented(stock, tree, level);
  const Falls falls = run_falls(options, stock, shape);
  return {.times = times_of(falls),
          .manifolds = mean_manifolds(falls),
          .end_energy = mean_end_energy(falls),
          .same_times = time_dispatch(stock.bunny(), shape, Ground::kPlane, poses, true, 5),
          .same_manifolds = mean_manifolds(stock.bunny(), shape, poses)};
}

}  // namespace

void bench_levels(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "levels",
       .paper = "SSL14",
       .place = "Table 2",
       .title = "Dispatch with one contact for each cluster of a level, K = 4",
       .columns = {{"points", Of::kKey},
                   {"L", Of::kKey},
                   {"time", Of::kPaper, "us", 1},
                   {"time", Of::kOurs, "us", 2},
                   {"manifolds", Of::kOurs, "", 2},
                   {"energy in the end", Of::kOurs, "mJ", 3},
                   {"time, same poses", Of::kOurs, "us", 2},
                   {"manifolds, same poses", Of::kOurs, "", 2},
                   {"each further manifold", Of::kOurs, "us", 2}},
       .note =
           "On the plane, steps 200 to 600. Motions differ from level to level; same poses: those "
           "of our default, 0.2 mm lower."});
  constexpr double kPaper[2][5] = {{102.2, 102.1, 104.2, 102.3, 102.8},
                                   {1387.9, 1477.5, 1407.4, 1449.6, 1494.3}};
  for (int res = 0; res < 2; ++res) {
    const std::uint32_t points = res == 0 ? kLow : kHigh;
    const PointSphereTree tree = stock.bunny_points(points, kPaperChildren);
    const OwnedShape plain = make_ours("", tree, stock.bunny_field());
    auto poses = poses_of(run_falls(options, stock, plain), 4);
    for (Pose& pose : poses) pose.translation.y -= 2e-4;
    LevelRow first;
    double worst = -1e9;
    for (int level = 1; level <= 5; ++level) {
      const LevelRow row = run_level(options, stock, tree, level, poses);
      if (level == 1) first = row;
      const double more = row.same_manifolds - first.same_manifolds;
      const double each = (row.same_times.mean - first.same_times.mean) / more;
      if (more > 0.2) worst = std::max(worst, each);
      table.row({points, level, kPaper[res][level - 1], row.times.mean, row.manifolds,
                 row.end_energy * 1e3, row.same_times.mean, row.same_manifolds,
                 cell_if(more > 0.2, each)});
      report.json["levels"]["rows"].push_back({{"points", points},
                                               {"level", level},
                                               {"mean_us", row.times.mean},
                                               {"manifolds", row.manifolds},
                                               {"same_poses_us", row.same_times.mean},
                                               {"same_poses_manifolds", row.same_manifolds}});
    }
    judge(report, "levels", worst <= kMostPerManifold,
          fmt::format("{} points: {:.2f} us for each further manifold; wanted {}", points, worst,
                      kMostPerManifold));
  }
}

namespace {

struct Slow {
  double sunk = 0;  // metres: deepest of the lowest vertices, of all rotations and steps
  double end = 0;   // at the end
  int through = 0;  // rotations whose centre of mass came below the plane
};

Slow run_slow(const Bunny& bunny, const OwnedShape& shape, double hertz, int rotations) {
  Slow slow;
  for (int r = 0; r < rotations; ++r) {
    Stage stage({.step = 1 / hertz});
    btRigidBody& body = stage.add(
        shape,
        {.mass = kBunnyMass, .inertia = bunny.inertia, .pose = {start_rotation(r), {0, 0.5, 0}}});
    bool is_above = true;
    double low = 0;
    for (int i = 0; i < static_cast<int>(4 * hertz); ++i) {
      stage.step();
      low = -lowest_vertex(bunny.coarse, pose_of(body));
      slow.sunk = std::max(slow.sunk, low);
      is_above = is_above && pose_of(body).translation.y > 0;
    }
    slow.end = std::max(slow.end, low);
    if (!is_above) ++slow.through;
  }
  return slow;
}

// One contact a manifold, as SSL14 has it; or as ours is by default.
struct SlowShape {
  OwnedShape shape{};
  double wanted = 0;  // Hz; 0: nothing
};

void run_slow_row(const Options& options, Stock& stock, Table& table, Report& report,
                  std::uint32_t points, const SlowShape& row) {
  constexpr double kHertz[] = {60, 50, 40, 30, 25, 20, 15, 10};
  const int rotations = options.quick ? 3 : 10;
  double slowest = 0;
  bool has_held = true;
  for (const double hz : kHertz) {
    const Slow slow = run_slow(stock.bunny(), row.shape, hz, rotations);
    has_held = has_held && slow.through == 0;
    if (has_held) slowest = hz;
    table.row({points, row.shape.name, hz, cell_if(row.wanted > 0, row.wanted), slow.sunk * 1e3,
               slow.end * 1e3, slow.through});
    report.json["slow"]["rows"].push_back({{"points", points},
                                           {"name", row.shape.name},
                                           {"hertz", hz},
                                           {"sunk_mm", slow.sunk * 1e3},
                                           {"end_mm", slow.end * 1e3},
                                           {"through", slow.through}});
  }
  if (row.wanted == 0) return;
  judge(report, "slow", slowest > 0 && slowest <= row.wanted,
        fmt::format(
            "{} points, {}: above the plane {}; SSL14 and wanted {:g} Hz", points, row.shape.name,
            slowest > 0 ? fmt::format("down to {:g} Hz", slowest) : "at no frequency", row.wanted));
}

}  // namespace

void bench_slow(const Options& options, Stock& stock, Report& report) {
  Table table = report.table({.id = "slow",
                              .paper = "SSL14",
                              .place = "Section 4.2.2",
                              .title = "The bunny on the plane with few steps a second",
                              .columns = {{"points", Of::kKey},
                                          {"contacts", Of::kKey},
                                          {"rate", Of::kKey, "Hz", 0},
                                          {"held down to, about", Of::kPaper, "Hz", 0},
                                          {"deepest of its lowest vertex", Of::kOurs, "mm", 0},
                                          {"in the end", Of::kOurs, "mm", 1},
                                          {"centres of mass below the plane", Of::kOurs}},
                              .note = fmt::format("4 s, {} rotations.", options.quick ? 3 : 10)});
  for (const std::uint32_t points : {kLow, kHigh}) {
    const PointSphereTree tree = stock.bunny_points(points, kPaperChildren);
    run_slow_row(options, stock, table, report, points, {make_segmented(stock, tree, 1), 30});
    run_slow_row(options, stock, table, report, points, {make_segmented(stock, tree, 4), 10});
    run_slow_row(options, stock, table, report, points, {make_segmented(stock, tree, 5), 10});
    run_slow_row(options, stock, table, report, points,
                 {make_ours("our default", tree, stock.bunny_field())});
  }
}

}  // namespace isotact::bench
