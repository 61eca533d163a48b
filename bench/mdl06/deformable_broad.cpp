// Broad phases beside Bullet's and FCL's on the same moving boxes: the same pairs, and how long.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/queries/broad_phase/box_tree.h"

#include "broad_peers.h"
#include "deformable_report.h"
#include "scene_octree.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

enum class Sizes { kAlike, kMixed, kClusters };

struct SceneKind {
  const char* name;
  Sizes sizes;
  double pairs;       // an object, about
  double speed;       // metres a step, of the fastest; boxes are about a metre wide
  double moving = 1;  // part of the objects
};

constexpr std::array<SceneKind, 9> kScenes{{
    {"alike, sparse, slow", Sizes::kAlike, 0.25, 0.005},
    {"alike, sparse", Sizes::kAlike, 0.25, 0.05},
    {"alike, sparse, fast", Sizes::kAlike, 0.25, 0.5},
    {"alike, dense, slow", Sizes::kAlike, 2, 0.005},
    {"alike, dense", Sizes::kAlike, 2, 0.05},
    {"alike, dense, fast", Sizes::kAlike, 2, 0.5},
    {"sizes 1 to 64", Sizes::kMixed, 2, 0.05},
    {"clusters", Sizes::kClusters, 1, 0.05},
    {"one in fifty moves", Sizes::kAlike, 2, 0.05, 0.02},
}};

// Boxes that wander in a cube and bend, in numbers that floats hold exactly, for Bullet's sake.
class Wanderers {
 public:
  Wanderers(const SceneKind& kind, std::size_t count, std::uint64_t seed) : random_(seed) {
    side_ = std::cbrt(static_cast<double>(count) * 4 / kind.pairs);
    std::vector<Vec3> middles;
    for (int i = 0; i < 20; ++i)
      middles.push_back(random_.in_box({0.2, 0.2, 0.2}, {0.8, 0.8, 0.8}) * side_);
    for (std::size_t i = 0; i < count; ++i) {
      double size = random_.uniform(0.6, 1.4);
      if (kind.sizes == Sizes::kMixed) size = std::exp2(random_.uniform(-4, 2));
      Vec3 center = random_.in_box({0, 0, 0}, {side_, side_, side_});
      if (kind.sizes == Sizes::kClusters)
        center =
            middles[i % middles.size()] + random_.in_unit_ball() * random_.uniform() * 0.2 * side_;
      const bool moves = random_.uniform() < kind.moving;
      bodies_.push_back({center, random_.in_box({0.35, 0.35, 0.35}, {0.65, 0.65, 0.65}) * size,
                         random_.in_unit_ball() * (moves ? kind.speed : 0.0), moves});
    }
    boxes.resize(count);
    step();
  }

  void step() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      Body& body = bodies_[i];
      body.center += body.velocity;
      for (std::size_t k = 0; k < 3; ++k)
        if ((body.center[k] < 0) == (body.velocity[k] < 0) &&
            (body.center[k] < 0 || body.center[k] > side_))
          body.velocity[k] = -body.velocity[k];
      // Within a hundredth of its size.
      const Vec3 half = body.half * (body.moves ? 1 + 0.01 * random_.uniform() : 1.0);
      boxes[i] = {rounded(body.center - half), rounded(body.center + half)};
    }
  }

  std::vector<Aabb> boxes;
  double side() const { return side_; }

 private:
  struct Body {
    Vec3 center, half, velocity;
    bool moves;
  };

  static Vec3 rounded(const Vec3& v) {
    return {static_cast<double>(static_cast<float>(v.x)),
            static_cast<double>(static_cast<float>(v.y)),
            static_cast<double>(static_cast<float>(v.z))};
  }

  Random random_;
  double side_ = 0;
  std::vector<Body> bodies_;
};

// One of our broad phases, its boxes inserted.
struct Ours {
  BroadPhase& scene;
  Threads threads{1};

  Ours(BroadPhase& its_scene, std::span<const Aabb> boxes, int count)
      : scene(its_scene), threads{count} {
    for (const Aabb& box : boxes) scene.insert(box);
  }
  void step(std::span<const Aabb> boxes) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      scene.update(static_cast<ObjectHandle>(i), boxes[i]);
    scene.step(threads);
  }
};

// Counts events as a user of them would, so that they are known to add up.
void check_events(const BroadPhase& scene, std::size_t pairs_before, Report& report,
                  const std::string& where) {
  report.check(pairs_before + scene.begun().size() - scene.ended().size() == scene.pairs().size(),
               "pairs that begin and end add up", where);
}

// Median, mean and worst, in milliseconds.
struct StepTimes {
  double median = 0, mean = 0, worst = 0;

  StepTimes(const std::vector<Seconds>& steps, double Seconds::*which) {
    std::vector<double> times;
    for (const Seconds& step : steps) times.push_back(1e3 * (step.*which));
    for (const double time : times) mean += time / static_cast<double>(times.size());
    median = quantile(times, 0.5);
    worst = quantile(times, 1);
  }
};

void run_scene(const SceneKind& kind, std::size_t count, const Options& options, Table& table,
               Report& report) {
  Wanderers scene(kind, count, 7);
  BoxTree tree, tree2;
  const double side = scene.side() + 4;
  SceneOctree octree({.center = Vec3{1, 1, 1} * (scene.side() / 2),
                      .size = side,
                      .max_level = SceneOctree::level_for(side, 1)});
  Ours ours(tree, scene.boxes, 1), ours2(tree2, scene.boxes, 2), paper(octree, scene.boxes, 1);
  BulletBroadPhase bullet(scene.boxes);
  FclBroadPhase fcl(scene.boxes);
  const std::string where = fmt::format("{} x {}", kind.name, count);

  const std::size_t most_steps = options.quick ? 6 : 24, warm_up = 3;
  const double most_seconds = options.quick ? 2 : 15;
  std::vector<Seconds> tree_times, tree2_times, paper_times, bullet_times, fcl_times;
  std::size_t pairs = 0, kept = 0, looked_up = 0, candidates = 0, events = 0;
  double used = 0;
  bool bullet_runs = true, paper_runs = true;
  for (std::size_t i = 0; i < warm_up + most_steps && (i < warm_up + 4 || used < most_seconds);
       ++i) {
    scene.step();
    const std::size_t before = tree.pairs().size();
    const auto measure = [&](std::vector<Seconds>& times, auto&& work) {
      const Seconds time = seconds_of(work);
      used += time.wall;
      if (i >= warm_up) times.push_back(time);
    };
    measure(tree_times, [&] { ours.step(scene.boxes); });
    measure(tree2_times, [&] { ours2.step(scene.boxes); });
    measure(fcl_times, [&] { fcl.step(scene.boxes); });
    if (bullet_runs) measure(bullet_times, [&] { bullet.step(scene.boxes); });
    if (paper_runs) measure(paper_times, [&] { paper.step(scene.boxes); });

    const std::vector<ObjectPair> want(tree.pairs().begin(), tree.pairs().end());
    const auto is_wanted = [&](std::span<const ObjectPair> got) {
      return std::equal(want.begin(), want.end(), got.begin(), got.end());
    };
    std::vector<ObjectPair> others = fcl.pairs();
    std::sort(others.begin(), others.end());
    report.check(is_wanted(others), "FCL has the same pairs", where);
    report.check(is_wanted(tree2.pairs()), "two threads find the same pairs", where);
    if (paper_runs)
      report.check(is_wanted(octree.pairs()), "MDL06's octree has the same pairs", where);
    if (bullet_runs)
      report.check(is_wanted(bullet.pairs(scene.boxes)), "Bullet has the same pairs", where);
    if (i > 0) check_events(tree, before, report, where);
    kept = bullet.kept();
    // A few slow steps say enough.
    if (i >= warm_up + 3 && median(bullet_times).wall > 0.3) bullet_runs = false;
    if (i >= warm_up + 3 && median(paper_times).wall > 0.3) paper_runs = false;
    if (i < warm_up) continue;
    pairs = want.size();
    looked_up += tree.work().looked_up;
    candidates = tree.work().candidates;
    events += tree.begun().size() + tree.ended().size();
  }
  const auto steps = static_cast<double>(tree_times.size());
  const StepTimes own(tree_times, &Seconds::processor), own_wall(tree_times, &Seconds::wall);
  const StepTimes own2(tree2_times, &Seconds::wall), oct(paper_times, &Seconds::processor);
  const StepTimes fc(fcl_times, &Seconds::processor), bt(bullet_times, &Seconds::processor);
  const double times_faster = std::min(fc.median, bt.median) / own.median;
  const double by_mean = std::min(fc.mean, bt.mean) / own.mean;
  const double left = static_cast<double>(looked_up) / steps / static_cast<double>(count);
  table.row({kind.name, count, pairs, static_cast<double>(events) / steps, left, own.median,
             own.worst, own2.median, oct.median, fc.median, bt.median, times_faster, by_mean,
             own_wall.median / own2.median});
  report.json["broad"].push_back({{"scene", kind.name},
                                  {"boxes", count},
                                  {"pairs", pairs},
                                  {"events_a_step", static_cast<double>(events) / steps},
                                  {"candidates", candidates},
                                  {"left_wider_box", left},
                                  {"bullet_keeps", kept},
                                  {"tree_ms", own.median},
                                  {"tree_mean_ms", own.mean},
                                  {"tree_worst_ms", own.worst},
                                  {"tree_wall_ms", own_wall.median},
                                  {"tree_2_threads_wall_ms", own2.median},
                                  {"fcl_ms", fc.median},
                                  {"bullet_ms", bt.median},
                                  {"octree_ms", oct.median},
                                  {"times_faster", times_faster},
                                  {"times_faster_by_mean", by_mean}});
}

}  // namespace

void bench_broad(const Options& options, Report& report) {
  Table table =
      report.table({.id = "broad",
                    .title = "Broad phases on moving boxes: milliseconds a step",
                    .columns = {{"scene", Of::kKey},
                                {"boxes", Of::kKey},
                                {"pairs", Of::kKey},
                                {"pairs that begin or end", Of::kKey, "", 0},
                                {"left their wider box", Of::kOurs, "part", 2},
                                {"tree", Of::kOurs, "ms"},
                                {"tree, worst step", Of::kOurs, "ms"},
                                {"tree, 2 threads", Of::kOurs, "ms"},
                                {"MDL06's octree", Of::kOurs, "ms"},
                                {"FCL", Of::kPeer, "ms"},
                                {"Bullet", Of::kPeer, "ms"},
                                {"tree faster than the better peer", Of::kOurs, "times", 1},
                                {"by means", Of::kOurs, "times", 1},
                                {"2 threads over one", Of::kOurs, "times", 2}},
                    .note = "Medians of steps, processor time; with 2 threads by the clock."});
  for (const std::size_t count : {std::size_t{10'000}, std::size_t{100'000}}) {
    if (options.quick && count > 10'000) continue;
    for (const SceneKind& kind : kScenes) run_scene(kind, count, options, table, report);
  }
}

}  // namespace isotact::bench
