// What bodies that bend promise, step by step: no two triangles that share no vertex cross at the
// end of a step, by exact tests; no features meet within a step, by conservative ones; no face is
// inside of a rigid body; energy does not grow; and no step fails without a word.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "isotact/queries/deformable/features.h"
#include "isotact/scene/run/run.h"

#include "deformable_report.h"
#include "support/data_folder.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

// A surface as the oracle sees it, now and one step ago.
struct Watched {
  std::string name{};
  SurfaceTopology topology{};
  std::vector<Vec3> before{}, now{};
  std::vector<ObjectTree> tree{};  // None or one: it cannot be copied.
  bool soft = false;

  SurfaceView rest() const { return {&topology, now}; }
  SurfaceView moving() const { return {&topology, before, now}; }
};

Watched watch(std::string name, std::span<const Triangle> triangles, std::vector<Vec3> places,
              bool soft) {
  Watched w{.name = std::move(name), .now = std::move(places), .soft = soft};
  w.topology = make_topology(triangles, w.now.size());
  w.before = w.now;
  w.tree.emplace_back(w.now, w.topology.triangles);
  return w;
}

struct Found {
  std::size_t self = 0, soft = 0, rigid = 0;  // Triangles that cross at the end.
  std::size_t meetings = 0;                   // Features not proved apart within the step.
  double depth = 0;                           // Metres, of faces in formulas.
};

class Oracle {
 public:
  explicit Oracle(const SceneRun& run) : run_(run) {
    const SoftWorld& soft = *run.soft();
    for (SoftId i = 0; i < soft.body_count(); ++i) {
      const auto x = soft.positions(i);
      all_.push_back(watch(soft.body_settings(i).name, soft.body_settings(i).mesh.triangles,
                           {x.begin(), x.end()}, true));
    }
    for (BodyId i = 0; i < run.world().body_count(); ++i) {
      const auto& shape = run.world().body_settings(i).shape;
      if (!shape || shape->solid()) {
        if (shape) formulas_.push_back(i);
        continue;
      }
      rigid_.push_back(i);
      all_.push_back(watch(run.world().body_settings(i).name, shape->surface().triangles,
                           places_of(i), false));
    }
    start_ = look();
  }

  // What crosses now, beyond what did at the start.
  Found step() {
    const SoftWorld& soft = *run_.soft();
    std::size_t k = 0;
    for (; k < soft.body_count(); ++k) {
      const auto x = soft.positions(static_cast<SoftId>(k));
      std::swap(all_[k].before, all_[k].now);
      all_[k].now.assign(x.begin(), x.end());
    }
    for (const BodyId i : rigid_) {
      std::swap(all_[k].before, all_[k].now);
      all_[k++].now = places_of(i);
    }
    Found f = look();
    f.self -= std::min(f.self, start_.self);
    f.soft -= std::min(f.soft, start_.soft);
    f.rigid -= std::min(f.rigid, start_.rigid);
    return f;
  }

 private:
  std::vector<Vec3> places_of(BodyId i) const {
    std::vector<Vec3> places;
    const Pose pose = run_.world().pose(i);
    for (const Vec3f& p : run_.world().body_settings(i).shape->surface().positions)
      places.push_back(transform_point(pose, to_double(p)));
    return places;
  }

  // A face is as deep as its deepest point, to a thousandth of its size: a grid of places.
  double depth_of(const Watched& w, BodyId i) const {
    constexpr int kParts = 6;
    const Pose from_world = inverse(run_.world().pose(i));
    const AnyField& field = run_.world().body_settings(i).shape->any_field();
    double depth = 0;
    for (const Triangle& t : w.topology.triangles) {
      const Vec3 a = transform_point(from_world, w.now[t[0]]);
      const Vec3 b = transform_point(from_world, w.now[t[1]]);
      const Vec3 c = transform_point(from_world, w.now[t[2]]);
      const double size = std::sqrt(std::max(length_sq(b - a), length_sq(c - a)));
      if (field.value(a) > 2 * field.lipschitz() * size) continue;
      for (int u = 0; u <= kParts; ++u)
        for (int v = 0; u + v <= kParts; ++v)
          depth = std::max(depth, -field.value(a + (b - a) * (double(u) / kParts) +
                                               (c - a) * (double(v) / kParts)));
    }
    return depth;
  }

  Found look() {
    Found f;
    std::vector<TrianglePair> near, crossing;
    std::vector<FeatureContact> meetings;
    for (std::size_t a = 0; a < all_.size(); ++a) {
      Watched& first = all_[a];
      if (!first.soft) break;
      const bool is_self = run_.soft()->body_settings(static_cast<SoftId>(a)).self_contact;
      first.tree[0].set_positions(first.before, first.now);
      if (is_self) {
        near.clear(), crossing.clear();
        find_self_pairs(first.tree[0], {}, near);
        find_self_intersections(first.rest(), near, crossing);
        for (const TrianglePair& p : crossing)
          f.self +=
              share_vertex(first.topology.triangles[p.a], first.topology.triangles[p.b]) ? 0U : 1U;
        find_self_crossings(first.moving(), near, 0, meetings, {.tolerance = 1e-15});
      }
      for (std::size_t b = a + 1; b < all_.size(); ++b) {
        Watched& second = all_[b];
        second.tree[0].set_positions(second.before, second.now);
        near.clear(), crossing.clear();
        find_triangle_pairs(first.tree[0], second.tree[0], {}, near);
        find_intersections(first.rest(), second.rest(), near, crossing);
        (second.soft ? f.soft : f.rigid) += crossing.size();
        find_crossings(first.moving(), second.moving(), near, 0, meetings, {.tolerance = 1e-15});
      }
      for (const BodyId i : formulas_) f.depth = std::max(f.depth, depth_of(first, i));
    }
    f.meetings = meetings.size();
    return f;
  }

  static bool share_vertex(const Triangle& a, const Triangle& b) {
    return std::any_of(a.begin(), a.end(), [&](std::uint32_t i) {
      return std::find(b.begin(), b.end(), i) != b.end();
    });
  }

  const SceneRun& run_;
  std::vector<Watched> all_{};
  std::vector<BodyId> rigid_{}, formulas_{};
  Found start_{};
};

struct Account {
  std::uint64_t steps = 0, bad = 0, first_bad = 0, halved = 0;
  Found worst{};
  double milliseconds = 0, rounds = 0, products = 0, pairs = 0, growth = 0, largest = 0;
  std::string trouble{};
};

Account follow(const std::filesystem::path& path, const Options& options) {
  const Scene scene = read_scene(path);
  SceneRun run(scene, {.threads = {options.threads}, .keep_frames = false, .keep_log = false});
  Oracle oracle(run);
  Account a;
  double least = std::numeric_limits<double>::infinity();
  const std::uint64_t count =
      std::min(step_count(scene), static_cast<std::uint64_t>(options.most_steps));
  for (std::uint64_t k = 0; k < count; ++k) {
    bool goes_on = true;
    a.milliseconds += 1e3 * seconds_of([&] { goes_on = run.step(); }).processor;
    if (!goes_on) {
      a.trouble = run.trouble() ? run.trouble()->message : "stopped";
      break;
    }
    ++a.steps;
    const SoftReport& r = run.soft()->report();
    a.rounds += r.rounds, a.products += r.products, a.pairs += r.pairs, a.halved += r.halved;
    if (options.verbose)
      std::fflush(stdout), fmt::print(
                               "{}: rounds {} products {} searches {} pairs {} contacts {} held {} "
                               "halved {} energy {:.6g}\n",
                               r.number, r.rounds, r.products, r.searches, r.pairs, r.contacts,
                               r.held, r.halved, run.report().energies.total());
    const Found f = oracle.step();
    if (f.self + f.soft + f.rigid + f.meetings > 0 || f.depth > 1e-6) {
      if (a.bad++ == 0) a.first_bad = k + 1;
      if (options.verbose)
        fmt::print("  step {}: self {} soft {} rigid {} meetings {} depth {:.3g}\n", k + 1, f.self,
                   f.soft, f.rigid, f.meetings, f.depth);
    }
    a.worst = {std::max(a.worst.self, f.self), std::max(a.worst.soft, f.soft),
               std::max(a.worst.rigid, f.rigid), std::max(a.worst.meetings, f.meetings),
               std::max(a.worst.depth, f.depth)};
    const Energies& e = run.report().energies;
    a.largest = std::max(a.largest, e.kinetic + e.springs + std::abs(e.potential));
    least = std::min(least, e.total());
    a.growth = std::max(a.growth, e.total() - least);
  }
  const auto steps = static_cast<double>(std::max<std::uint64_t>(a.steps, 1));
  a.milliseconds /= steps, a.rounds /= steps, a.products /= steps, a.pairs /= steps;
  return a;
}

}  // namespace

void bench_truth(const Options& options, Report& report) {
  std::vector<std::filesystem::path> paths;
  std::filesystem::path folder = options.scenes;
  if (folder.empty()) folder = data_folder() / "11_soft";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Table table = report.table(
      {.id = "truth",
       .title = "Scenes of bodies that bend, each step tested exactly",
       .columns = {{"scene", Of::kKey},
                   {"steps"},
                   {"ms a step", Of::kOurs, "ms"},
                   {"rounds"},
                   {"products"},
                   {"pairs"},
                   {"halved"},
                   {"bad steps"},
                   {"first"},
                   {"self"},
                   {"soft"},
                   {"rigid"},
                   {"meetings"},
                   {"deepest", Of::kOurs, "mm"},
                   {"energy grows", Of::kOurs, "%"},
                   {"end"}},
       .note = "Crossing triangles are those of the worst step, by exact arithmetic. Meetings are "
               "features that conservative tests do not prove apart within a step. Energy grows "
               "above its least value so far, relative to the largest."});
  for (const auto& path : paths) {
    if (!options.scene.empty() && path.stem().string().find(options.scene) == std::string::npos)
      continue;
    const Account a = follow(path, options);
    const double grows = 100 * a.growth / std::max(a.largest, 1e-300);
    table.row({path.stem().string(), a.steps, a.milliseconds, a.rounds, a.products, a.pairs,
               a.halved, a.bad, a.first_bad, a.worst.self, a.worst.soft, a.worst.rigid,
               a.worst.meetings, 1e3 * a.worst.depth, grows,
               a.trouble.empty() ? "done" : a.trouble.substr(0, 60)});
    report.check(a.bad == 0, "no features cross in any step", path.stem().string());
    report.check(grows <= 1, "energy does not grow by more than 1 per cent", path.stem().string());
  }
}

}  // namespace isotact::bench
