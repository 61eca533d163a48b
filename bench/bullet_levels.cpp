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
                   {.segment_level = paper_level - 1, .points_per_manifold = 1});
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
  report.print(
      "\nlevels: SSL14's Table 2, K = 4, on the plane, dispatch of steps 200 to 600. Motions "
      "differ from\n"
      "level to level; on the right the same poses for all, 0.2 mm lower than those of our "
      "default\n");
  report.print("  {:>7} {:>3} {:>10} {:>10} {:>12} {:>10} {:>11} {:>10} {:>16}\n", "points", "L",
               "SSL14 us", "mean us", "manifolds", "end mJ", "same poses", "manifolds",
               "us per manifold");
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
      report.print(
          "  {:>7} {:>3} {:>10.1f} {:>10.2f} {:>12.2f} {:>10.3f} {:>11.2f} {:>10.2f} {:>16}\n",
          points, level, kPaper[res][level - 1], row.times.mean, row.manifolds,
          row.end_energy * 1e3, row.same_times.mean, row.same_manifolds,
          more > 0.2 ? fmt::format("{:.2f}", each) : "");
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

void run_slow_row(const Options& options, Stock& stock, Report& report, std::uint32_t points,
                  const SlowShape& row) {
  constexpr double kHertz[] = {60, 50, 40, 30, 25, 20, 15, 10};
  const int rotations = options.quick ? 3 : 10;
  double slowest = 0;
  bool has_held = true;
  report.print("  {:>7} {:<14}", points, row.shape.name);
  for (const double hz : kHertz) {
    const Slow slow = run_slow(stock.bunny(), row.shape, hz, rotations);
    has_held = has_held && slow.through == 0;
    if (has_held) slowest = hz;
    report.print(" {:>13}",
                 fmt::format("{:.0f} {:.1f} {}", slow.sunk * 1e3, slow.end * 1e3, slow.through));
    report.json["slow"]["rows"].push_back({{"points", points},
                                           {"name", row.shape.name},
                                           {"hertz", hz},
                                           {"sunk_mm", slow.sunk * 1e3},
                                           {"end_mm", slow.end * 1e3},
                                           {"through", slow.through}});
  }
  report.print("\n");
  if (row.wanted == 0) return;
  judge(report, "slow", slowest > 0 && slowest <= row.wanted,
        fmt::format(
            "{} points, {}: above the plane {}; SSL14 and wanted {:g} Hz", points, row.shape.name,
            slowest > 0 ? fmt::format("down to {:g} Hz", slowest) : "at no frequency", row.wanted));
}

}  // namespace

void bench_slow(const Options& options, Stock& stock, Report& report) {
  report.print(
      "\nslow: the bunny on the plane at 60, 50, 40, 30, 25, 20, 15 and 10 Hz, 4 s. How deep its\n"
      "lowest vertex was, and is at the end, mm; and how many had their centre of mass below\n");
  for (const std::uint32_t points : {kLow, kHigh}) {
    const PointSphereTree tree = stock.bunny_points(points, kPaperChildren);
    run_slow_row(options, stock, report, points, {make_segmented(stock, tree, 1), 30});
    run_slow_row(options, stock, report, points, {make_segmented(stock, tree, 4), 10});
    run_slow_row(options, stock, report, points, {make_segmented(stock, tree, 5), 10});
    run_slow_row(options, stock, report, points,
                 {make_ours("our default", tree, stock.bunny_field())});
  }
}

}  // namespace isotact::bench
