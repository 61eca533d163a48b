// Segmented traversal: SSL14's Table 2, and how low the frequency may be (4.2.2).
#include <algorithm>
#include <map>

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
  FallTimes times{};
  double manifolds = 0;  // mean of the steps that are timed
};

LevelRow run_level(const Options& options, Stock& stock, const PointSphereTree& tree, int level) {
  const OwnedShape shape = make_segmented(stock, tree, level);
  std::vector<std::vector<FallStep>> falls;
  const FallSettings settings{.repeats = static_cast<std::size_t>(options.quick ? 2 : 5)};
  for (int r = 0; r < (options.quick ? 3 : 10); ++r)
    falls.push_back(run_fall(stock.bunny(), shape, r, settings));
  LevelRow row{.times = times_of(falls)};
  double count = 0;
  for (const auto& fall : falls)
    for (std::size_t i = kFirstStep; i < fall.size(); ++i, ++count)
      row.manifolds += fall[i].manifolds;
  row.manifolds /= count;
  return row;
}

}  // namespace

void bench_levels(const Options& options, Stock& stock, Report& report) {
  report.print("\nlevels: SSL14's Table 2, K = 4, on the plane, dispatch of steps 200 to 600\n");
  report.print("  {:>7} {:>3} {:>10} {:>11} {:>12} {:>18}\n", "points", "L", "mean us", "manifolds",
               "SSL14 us", "us per manifold");
  constexpr double kPaper[2][5] = {{102.2, 102.1, 104.2, 102.3, 102.8},
                                   {1387.9, 1477.5, 1407.4, 1449.6, 1494.3}};
  for (int res = 0; res < 2; ++res) {
    const std::uint32_t points = res == 0 ? kLow : kHigh;
    const PointSphereTree tree = stock.bunny_points(points, kPaperChildren);
    LevelRow first;
    double worst = 0;
    for (int level = 1; level <= 5; ++level) {
      const LevelRow row = run_level(options, stock, tree, level);
      if (level == 1) first = row;
      const double more = row.manifolds - first.manifolds;
      const double each = more > 0.5 ? (row.times.mean - first.times.mean) / more : 0;
      worst = std::max(worst, each);
      report.print("  {:>7} {:>3} {:>10.2f} {:>11.2f} {:>12.1f} {:>18}\n", points, level,
                   row.times.mean, row.manifolds, kPaper[res][level - 1],
                   more > 0.5 ? fmt::format("{:.2f}", each) : "");
      report.json["levels"]["rows"].push_back({{"points", points},
                                               {"level", level},
                                               {"mean_us", row.times.mean},
                                               {"manifolds", row.manifolds}});
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
};

Slow run_slow(const Options& options, Stock& stock, const OwnedShape& shape, double hertz) {
  Slow slow;
  for (int r = 0; r < (options.quick ? 3 : 10); ++r) {
    Stage stage({.step = 1 / hertz});
    btRigidBody& body = stage.add(shape, {.mass = kBunnyMass,
                                          .inertia = stock.bunny().inertia,
                                          .pose = {start_rotation(r), {0, 0.5, 0}}});
    const auto steps = static_cast<int>(4 * hertz);
    for (int i = 0; i < steps; ++i) {
      stage.step();
      const double low = -lowest_vertex(stock.bunny().coarse, pose_of(body));
      slow.sunk = std::max(slow.sunk, low);
      if (i + 1 == steps) slow.end = std::max(slow.end, low);
    }
  }
  return slow;
}

// A bunny that has its middle below ground has fallen through.
constexpr double kThrough = 0.05;

}  // namespace

void bench_slow(const Options& options, Stock& stock, Report& report) {
  report.print(
      "\nslow: the bunny on the plane at low frequencies, one contact a manifold, 4 s; how deep "
      "its\n"
      "lowest vertex was, and is at the end, in mm\n");
  constexpr double kHertz[] = {60, 50, 40, 30, 25, 20, 15, 10};
  constexpr int kLevels[] = {1, 4, 5};
  report.print("  {:>7} {:>3}", "points", "L");
  for (const double hz : kHertz) report.print(" {:>12}", fmt::format("{:g} Hz", hz));
  report.print("\n");
  for (const std::uint32_t points : {kLow, kHigh}) {
    const PointSphereTree tree = stock.bunny_points(points, kPaperChildren);
    for (const int level : kLevels) {
      const OwnedShape shape = make_segmented(stock, tree, level);
      double slowest = 1e9;
      bool held = true;
      report.print("  {:>7} {:>3}", points, level);
      for (const double hz : kHertz) {
        const Slow slow = run_slow(options, stock, shape, hz);
        held = held && slow.sunk < kThrough && slow.end < kThrough;
        if (held) slowest = hz;
        report.print(" {:>12}", fmt::format("{:.1f} {:.1f}", slow.sunk * 1e3, slow.end * 1e3));
        report.json["slow"]["rows"].push_back({{"points", points},
                                               {"level", level},
                                               {"hertz", hz},
                                               {"sunk_mm", slow.sunk * 1e3},
                                               {"end_mm", slow.end * 1e3}});
      }
      report.print("\n");
      const double wanted = level == 1 ? 30 : 10;
      judge(
          report, "slow", slowest <= wanted,
          fmt::format("{} points, L = {}: stays above the plane down to {:g} Hz; SSL14 and wanted "
                      "{:g}",
                      points, level, slowest, wanted));
    }
  }
}

}  // namespace isotact::bench
