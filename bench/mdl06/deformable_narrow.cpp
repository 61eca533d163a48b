// Narrow phase: two bodies that bend, their trees fitted and searched in every step, triangles that
// meet found exactly. Beside FCL's hierarchies, refitted and searched for the same pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/self_intersection.h"
#include "isotact/queries/deformable/object_tree.h"

#include "deformable_report.h"
#include "narrow_fcl.h"
#include "support/data_folder.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

// A body and its way: waves run through it. Positions are doubles that floats hold exactly, so that
// the exact test of floats applies.
class WavingBody {
 public:
  WavingBody(const TriangleMesh& mesh, const Vec3& at, double wave, double phase)
      : triangles(mesh.triangles), at_(at), wave_(wave), phase_(phase) {
    for (const Vec3f& p : mesh.positions) rest_.push_back(to_double(p));
    Aabb box;
    for (const Vec3& p : rest_) extend(box, p);
    size_ = length(extent(box));
    middle_ = center(box);
    move(0);
    rest = positions;
  }

  void move(double time) {
    positions.clear();
    for (const Vec3& p : rest_) {
      const Vec3 q = (p - middle_) / size_;
      const Vec3 offset{std::sin(9 * q.y + phase_ + 5 * time),
                        std::sin(8 * q.z + phase_ + 4 * time),
                        std::sin(7 * q.x + phase_ + 6 * time)};
      positions.push_back(to_double(to_float(p - middle_ + at_ + offset * (wave_ * size_))));
    }
  }

  double size() const { return size_; }

  std::vector<Vec3> positions, rest;
  std::vector<Triangle> triangles;

 private:
  std::vector<Vec3> rest_;
  Vec3 at_{}, middle_{};
  double wave_ = 0, phase_ = 0, size_ = 0;
};

struct NarrowScene {
  std::string name;
  WavingBody a, b;

  // b beside a, `way` of a's size away.
  NarrowScene(std::string its_name, const TriangleMesh& mesh, const Vec3& offset, double wave)
      : name(std::move(its_name)), a(mesh, {}, wave, 0), b(mesh, offset * a.size(), wave, 1) {}
};

std::vector<NarrowScene> make_scenes(const Options& options) {
  const int few = options.quick ? 3 : 1;
  const TriangleMesh ball = make_sphere({.frequency = 59 / few});
  const TriangleMesh knot = make_knot({.segments = 1100 / few, .tube_segments = 32});
  std::vector<NarrowScene> scenes;
  scenes.emplace_back("balls, touching", ball, Vec3{0.55, 0.1, 0.05}, 0.01);
  scenes.emplace_back("balls, deep in each other", ball, Vec3{0.25, 0.1, 0.05}, 0.01);
  scenes.emplace_back("knots, touching", knot, Vec3{0.03, 0.24, 0.05}, 0.01);
  scenes.emplace_back("knots, tangled", knot, Vec3{0.2, 0.05, 0.05}, 0.01);
  const TriangleMesh bunny = read_data_mesh("01_stanford/bunny_full_35947.ply");
  scenes.emplace_back("bunnies, touching", bunny, Vec3{0.4, 0.1, 0.05}, 0.01);
  scenes.emplace_back("bunnies, apart", bunny, Vec3{1, 0, 0}, 0.01);
  return scenes;
}

// Our whole narrow phase of a step.
struct OurNarrow {
  ObjectTree a, b;
  std::vector<TrianglePair> candidates{}, meeting{};
  TreeWork work{};

  OurNarrow(const NarrowScene& scene, const ObjectTreeSettings& settings)
      : a(scene.a.rest, scene.a.triangles, settings),
        b(scene.b.rest, scene.b.triangles, settings) {}

  void find_candidates(const NarrowScene& scene) {
    a.set_positions(scene.a.positions);
    b.set_positions(scene.b.positions);
    candidates.clear();
    work = find_triangle_pairs(a, b, {}, candidates);
  }
  void test(const NarrowScene& scene) {
    const auto corners = [](const WavingBody& body, std::uint32_t triangle) {
      const Triangle& t = body.triangles[triangle];
      return TriangleCorners{to_float(body.positions[t[0]]), to_float(body.positions[t[1]]),
                             to_float(body.positions[t[2]])};
    };
    meeting.clear();
    for (const TrianglePair& pair : candidates)
      if (find_contact_triangle_triangle(corners(scene.a, pair.a), corners(scene.b, pair.b)) !=
          TriangleContact::kNone)
        meeting.push_back(pair);
  }
};

// Where the two answers differ although FCL's own test of the two triangles agrees with its answer,
// the triangles touch so nearly that doubles round the answer away: ours is decided exactly.
struct Differences {
  std::size_t by_rounding = 0, unexplained = 0;

  void add(const NarrowScene& scene, const std::vector<TrianglePair>& ours,
           const std::vector<TrianglePair>& theirs) {
    std::vector<TrianglePair> only_one;
    std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                  std::back_inserter(only_one));
    for (const TrianglePair& pair : only_one) {
      const bool is_ours = std::binary_search(ours.begin(), ours.end(), pair);
      const Triangle &t = scene.a.triangles[pair.a], &u = scene.b.triangles[pair.b];
      const std::vector<Vec3>&p = scene.a.positions, &q = scene.b.positions;
      const bool theirs_alone =
          fcl_says_they_meet({p[t[0]], p[t[1]], p[t[2]]}, {q[u[0]], q[u[1]], q[u[2]]});
      ++(theirs_alone != is_ours ? by_rounding : unexplained);
    }
  }
};

void move(NarrowScene& scene, int step) {
  scene.a.move(0.05 * step);
  scene.b.move(0.05 * step);
}

void run_beside_fcl(NarrowScene& scene, const Options& options, Table& table, Report& report) {
  OurNarrow ours(scene, {});
  std::vector<FclKind> fcl =
      make_fcl_benders({scene.a.rest, scene.a.triangles}, {scene.b.rest, scene.b.triangles});
  std::vector<double> search, exact, all;
  std::vector<std::vector<double>> theirs(fcl.size());
  Differences differences;
  const int steps = options.quick ? 3 : 15;
  constexpr int kStepsOfSlowOnes = 3;
  for (int step = 0; step < steps; ++step) {
    move(scene, step);
    search.push_back(1e3 * seconds_of([&] { ours.find_candidates(scene); }).processor);
    exact.push_back(1e3 * seconds_of([&] { ours.test(scene); }).processor);
    all.push_back(search.back() + exact.back());
    std::vector<TrianglePair> meeting = ours.meeting;
    std::sort(meeting.begin(), meeting.end());
    for (std::size_t k = 0; k < fcl.size(); ++k) {
      if (step >= kStepsOfSlowOnes && quantile(theirs[k], 0.5) > 3 * quantile(theirs[0], 0.5))
        continue;
      fcl[k].benders->take(scene.a.positions, scene.b.positions);
      theirs[k].push_back(1e3 * seconds_of([&] { fcl[k].benders->step(); }).processor);
      differences.add(scene, meeting, fcl[k].benders->pairs());
    }
  }
  report.check(differences.unexplained == 0, "triangles that meet are FCL's, but for its rounding",
               fmt::format("{}: {} pairs", scene.name, differences.unexplained));
  std::vector<Cell> row{scene.name,          scene.a.triangles.size(), ours.candidates.size(),
                        ours.meeting.size(), differences.by_rounding,  quantile(search, 0.5),
                        quantile(exact, 0.5)};
  Json json{{"scene", scene.name},
            {"triangles", scene.a.triangles.size()},
            {"candidates", ours.candidates.size()},
            {"meeting", ours.meeting.size()},
            {"differing_by_rounding", differences.by_rounding},
            {"search_ms", quantile(search, 0.5)},
            {"exact_ms", quantile(exact, 0.5)}};
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < fcl.size(); ++k) {
    const double time = quantile(theirs[k], 0.5);
    best = std::min(best, time);
    row.emplace_back(time);
    json["fcl_ms"][fcl[k].name] = time;
  }
  const double times = best / quantile(all, 0.5);
  json["times_faster"] = times;
  row.emplace_back(times);
  table.row(row);
  report.json["narrow"]["beside_fcl"].push_back(json);
}

struct Variant {
  const char* name;
  ObjectTreeSettings settings;
};
constexpr NodeVolume kBall = NodeVolume::kSphere;
const std::array<Variant, 19> kVariants{{
    {"8-ary, balanced (default)", {}},
    {"4-ary, balanced", {.arity = 4}},
    {"2-ary, balanced", {.arity = 2}},
    {"8-ary, regular (the paper's)", {.cut = TreeCut::kRegular}},
    {"4-ary, regular", {.arity = 4, .cut = TreeCut::kRegular}},
    {"2-ary, regular", {.arity = 2, .cut = TreeCut::kRegular, .max_level = 32}},
    {"8-ary, Hilbert curve", {.cut = TreeCut::kCurve}},
    {"4-ary, Hilbert curve", {.arity = 4, .cut = TreeCut::kCurve}},
    {"2-ary, Hilbert curve", {.arity = 2, .cut = TreeCut::kCurve}},
    {"spheres, 8-ary", {.volume = kBall}},
    {"spheres, 4-ary", {.arity = 4, .volume = kBall}},
    {"spheres, 2-ary", {.arity = 2, .volume = kBall}},
    {"spheres, 8-ary, regular", {.volume = kBall, .cut = TreeCut::kRegular}},
    {"leaves of 2", {.leaf_triangles = 2}},
    {"leaves of 4", {.leaf_triangles = 4}},
    {"leaves of 16", {.leaf_triangles = 16}},
    {"parts are leaves", {.part_triangles = 1}},
    {"parts of 512", {.part_triangles = 512}},
    {"one part: all is fitted", {.part_triangles = 1 << 30}},
}};

// Search alone, in turns.
void run_variants(NarrowScene& scene, const Options& options, Report& report) {
  Table table = report.table({.id = "variants, " + scene.name,
                              .title = "Search alone, by kinds of trees: " + scene.name,
                              .columns = {{"tree", Of::kKey},
                                          {"time", Of::kOurs, "ms"},
                                          {"tests of nodes", Of::kOurs},
                                          {"nodes fitted", Of::kOurs},
                                          {"vertices read", Of::kOurs},
                                          {"memory a triangle", Of::kOurs, "bytes", 0}}});
  std::vector<OurNarrow> trees;
  for (const Variant& variant : kVariants) trees.emplace_back(scene, variant.settings);
  std::vector<std::vector<double>> times(trees.size());
  for (std::size_t step = 0; step < (options.quick ? 3 : 2 * trees.size()); ++step) {
    move(scene, static_cast<int>(step));
    // Whoever is first finds vertices in other caches than the rest: each in turn is.
    for (std::size_t k = 0; k < trees.size(); ++k) {
      const std::size_t i = (step + k) % trees.size();
      times[i].push_back(1e3 * seconds_of([&] { trees[i].find_candidates(scene); }).processor);
    }
    for (const OurNarrow& tree : trees)
      report.check(tree.a.settings().volume == kBall
                       ? tree.candidates.size() <= trees[0].candidates.size()
                       : tree.candidates.size() == trees[0].candidates.size(),
                   "all kinds of trees find the same pairs", scene.name);
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const TreeWork& work = trees[i].work;
    const double bytes =
        static_cast<double>(trees[i].a.bytes()) / static_cast<double>(scene.a.triangles.size());
    table.row({kVariants[i].name, quantile(times[i], 0.5), work.node_tests, work.nodes_fitted,
               work.vertices_read, bytes});
    report.json["narrow"]["variants"][scene.name].push_back({{"variant", kVariants[i].name},
                                                             {"ms", quantile(times[i], 0.5)},
                                                             {"node_tests", work.node_tests},
                                                             {"nodes_fitted", work.nodes_fitted},
                                                             {"vertices_read", work.vertices_read},
                                                             {"bytes_a_triangle", bytes}});
  }
}

// Other searches; and threads, by the clock.
void run_others(NarrowScene& scene, Report& report) {
  OurNarrow ours(scene, {});
  std::vector<TrianglePair> pairs;
  ContactSets sets;
  move(scene, 1);
  const std::vector<Vec3> before_a = scene.a.positions, before_b = scene.b.positions;
  move(scene, 2);
  const auto search = [&](const TreeSearch& how, bool is_swept) {
    return [&, how, is_swept] {
      if (is_swept) {
        ours.a.set_positions(before_a, scene.a.positions);
        ours.b.set_positions(before_b, scene.b.positions);
      } else {
        ours.a.set_positions(scene.a.positions);
        ours.b.set_positions(scene.b.positions);
      }
      pairs.clear();
      find_triangle_pairs(ours.a, ours.b, how, pairs);
    };
  };
  const std::vector<Seconds> times = medians_of({
      {search({}, false)},
      {search({.threads = {2}}, false)},
      {search({}, true)},
      {[&] {
        ours.a.set_positions(scene.a.positions);
        ours.b.set_positions(scene.b.positions);
        find_contact_sets(ours.a, ours.b, {}, sets);
      }},
      {[&] {
        ours.a.set_positions(scene.a.positions);
        pairs.clear();
        find_self_pairs(ours.a, {}, pairs);
      }},
  });
  report.print(
      "\n  {}, ms: search {:.2f} ({:.2f} by the clock, {:.2f} with two threads), swept {:.2f}, "
      "contact sets {:.2f} ({} and {} triangles); self pairs of one {:.2f} ({})\n",
      scene.name, 1e3 * times[0].processor, 1e3 * times[0].wall, 1e3 * times[1].wall,
      1e3 * times[2].processor, 1e3 * times[3].processor, sets.triangles_a.size(),
      sets.triangles_b.size(), 1e3 * times[4].processor, pairs.size());
  report.json["narrow"]["others"][scene.name] = {
      {"seconds", times[0].processor},      {"wall_one_thread", times[0].wall},
      {"wall_two_threads", times[1].wall},  {"swept", times[2].processor},
      {"contact_sets", times[3].processor}, {"self_pairs", times[4].processor}};
}

}  // namespace

void bench_narrow(const Options& options, Report& report) {
  std::vector<NarrowScene> scenes = make_scenes(options);
  Table table = report.table(
      {.id = "narrow",
       .title =
           "Two bodies that bend: bounds fitted and searched, triangles that meet found exactly",
       .columns = {{"scene", Of::kKey},
                   {"triangles each", Of::kKey},
                   {"candidates", Of::kOurs},
                   {"meeting", Of::kOurs},
                   {"differing by rounding", Of::kPeer},
                   {"search", Of::kOurs, "ms"},
                   {"exact test", Of::kOurs, "ms"},
                   {"FCL, AABB", Of::kPeer, "ms"},
                   {"OBB", Of::kPeer, "ms"},
                   {"OBBRSS", Of::kPeer, "ms"},
                   {"kDOP16", Of::kPeer, "ms"},
                   {"kDOP18", Of::kPeer, "ms"},
                   {"kDOP24", Of::kPeer, "ms"},
                   {"times faster than the best", Of::kOurs, "", 1}},
       .note = "One thread, processor time, medians. FCL: refit and collide, all contacts."});
  for (NarrowScene& scene : scenes) run_beside_fcl(scene, options, table, report);
  for (NarrowScene& scene : scenes) {
    if (scene.name.find("touching") == std::string::npos) continue;
    run_variants(scene, options, report);
    run_others(scene, report);
  }
}

}  // namespace isotact::bench
