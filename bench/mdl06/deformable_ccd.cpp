// Continuous tests of features beside FCL's: on queries whose truth was found with rational numbers
// (08_ccd in the data folder), where no "no" may be wrong, and on cloth.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/random.h"
#include "isotact/queries/deformable/features.h"

#include "ccd_peer.h"
#include "ccd_vertex_face.h"
#include "deformable_report.h"
#include "support/data_folder.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr double kTolerance = 1e-6;
constexpr const char* kKinds[] = {"vertex-face", "edge-edge"};

struct Method {
  const char* name;
  bool (*meets)(const FeatureMotion& motion, bool is_edges);
};

Meeting by_planes(const FeatureMotion& m, bool is_edges) {
  const MeetingSettings settings{.tolerance = kTolerance};
  return is_edges ? find_meeting_edge_edge(m, settings) : find_meeting_vertex_face(m, settings);
}
Meeting by_inclusion(const FeatureMotion& m, bool is_edges) {
  const MeetingSettings settings{.tolerance = kTolerance, .max_steps = 100'000};
  return is_edges ? find_meeting_edge_edge_by_inclusion(m, settings)
                  : find_meeting_vertex_face_by_inclusion(m, settings);
}

constexpr Method kMethods[] = {{"planes",
                                [](const FeatureMotion& m, bool is_edges) {
                                  return by_planes(m, is_edges).status != MeetingStatus::kApart;
                                }},
                               {"inclusion",
                                [](const FeatureMotion& m, bool is_edges) {
                                  return by_inclusion(m, is_edges).status != MeetingStatus::kApart;
                                }},
                               {"FCL", [](const FeatureMotion& m, bool is_edges) {
                                  return is_edges ? fcl_meets_edge_edge(m)
                                                  : fcl_meets_vertex_face(m);
                                }}};

// Nanoseconds a query, of each method in turns.
std::vector<double> time_methods(const std::vector<FeatureMotion>& motions, bool is_edges,
                                 double seconds) {
  std::vector<Contender> contenders;
  std::size_t kept = 0;  // so that answers are of use to someone
  for (const Method& method : kMethods)
    contenders.push_back({[&motions, &method, &kept, is_edges] {
                            for (const FeatureMotion& m : motions)
                              kept += method.meets(m, is_edges) ? 1U : 0U;
                          },
                          200, seconds});
  std::vector<double> times;
  for (const Seconds& s : medians_of(contenders))
    times.push_back(1e9 * s.processor / static_cast<double>(motions.size()));
  return times;
}

// How far features are apart at the time of a meeting that was told.
double distance_at(const FeatureMotion& m, bool is_edges, double time) {
  std::array<Vec3, 4> points{};
  for (std::size_t i = 0; i < 4; ++i) points[i] = lerp(m.at_t0[i], m.at_t1[i], time);
  return (is_edges ? compute_distance_edge_edge(points) : compute_distance_vertex_face(points))
      .distance;
}

struct Score {
  std::size_t false_no = 0, false_yes = 0;
};

void run_set(const char* set, bool is_edges, const Options& options, Table& table, Report& report) {
  std::vector<FeatureMotion> motions;
  std::vector<bool> truth;
  std::size_t rounded = 0, meets = 0;
  for (const char* name : {"data_0_0.csv", "data_0_1.csv"}) {
    // Files of both kinds have the same rows.
    const VertexFaceFile file = has_data() ? read_vertex_face(data_folder() / "08_ccd" / "queries" /
                                                              set / kKinds[is_edges ? 1 : 0] / name)
                                           : make_stand_in(400, is_edges);
    rounded += file.rounded;
    for (const VertexFaceQuery& q : file.queries) {
      motions.push_back({q.at_t0, q.at_t1});
      truth.push_back(q.meets);
      meets += q.meets ? 1U : 0U;
    }
  }
  const std::string where = fmt::format("{} {}", set, kKinds[is_edges ? 1 : 0]);
  report.check(rounded == 0, "all coordinates of the exact queries fit doubles", where);

  Score scores[3];
  std::size_t gave_up = 0, steps = 0;
  double farthest = 0;  // of what was told to meet without need
  for (std::size_t i = 0; i < motions.size(); ++i) {
    for (std::size_t k = 0; k < std::size(kMethods); ++k) {
      const bool found = kMethods[k].meets(motions[i], is_edges);
      scores[k].false_no += truth[i] && !found ? 1U : 0U;
      scores[k].false_yes += !truth[i] && found ? 1U : 0U;
    }
    const Meeting m = by_planes(motions[i], is_edges);
    steps += static_cast<std::size_t>(m.steps);
    gave_up += m.status == MeetingStatus::kGaveUp ? 1U : 0U;
    if (m.status != MeetingStatus::kApart && !truth[i])
      farthest = std::max(farthest, distance_at(motions[i], is_edges, m.time));
  }
  for (std::size_t k = 0; k < 2; ++k)
    report.check(scores[k].false_no == 0, "no meeting of the exact queries is missed",
                 fmt::format("{}: {} missed {}", where, kMethods[k].name, scores[k].false_no));
  report.check(farthest <= 1.01 * kTolerance,
               "where a yes is wrong, features are within the tolerance", where);
  const std::vector<double> ns = time_methods(motions, is_edges, options.quick ? 0.1 : 1);
  const double mean_steps = static_cast<double>(steps) / static_cast<double>(motions.size());
  table.row({set, kKinds[is_edges ? 1 : 0], motions.size(), meets, scores[0].false_no,
             scores[0].false_yes, farthest, mean_steps, ns[0], scores[1].false_no,
             scores[1].false_yes, ns[1], scores[2].false_no, scores[2].false_yes, ns[2]});
  Json row{{"set", set},
           {"kind", kKinds[is_edges ? 1 : 0]},
           {"queries", motions.size()},
           {"meet", meets},
           {"gave_up", gave_up},
           {"steps", mean_steps},
           {"farthest", farthest}};
  for (std::size_t k = 0; k < 3; ++k)
    row[kMethods[k].name] = {
        {"false_no", scores[k].false_no}, {"false_yes", scores[k].false_yes}, {"ns", ns[k]}};
  report.json["ccd"].push_back(row);
}

// --- cloth

struct Sheet {
  SurfaceTopology topology;
  std::vector<Vec3> t0, t1;

  SurfaceView view() const { return {&topology, t0, t1}; }
};

// n * n squares a metre wide, for the sake of FCL's tolerances, which are absolute; rough, and
// every vertex goes its own way beside the common one.
Sheet make_sheet(std::uint32_t n, const Vec3& at, const Vec3& move, Random& random) {
  std::vector<Triangle> triangles;
  Sheet sheet;
  for (std::uint32_t y = 0; y <= n; ++y)
    for (std::uint32_t x = 0; x <= n; ++x) {
      const Vec3 p = at + Vec3{1.0 * x, 1.0 * y, 0} + random.in_unit_ball() * 0.3;
      sheet.t0.push_back(p);
      sheet.t1.push_back(p + move + random.in_unit_ball() * 0.3);
      if (x == n || y == n) continue;
      const std::uint32_t v = y * (n + 1) + x;
      triangles.push_back({v, v + 1, v + n + 2});
      triangles.push_back({v, v + n + 2, v + n + 1});
    }
  sheet.topology = make_topology(triangles, sheet.t0.size());
  return sheet;
}

Aabb swept_box(const Sheet& s, std::uint32_t triangle) {
  Aabb box;
  for (const std::uint32_t v : s.topology.triangles[triangle]) {
    extend(box, s.t0[v]);
    extend(box, s.t1[v]);
  }
  return box;
}

std::vector<TrianglePair> find_candidates(const Sheet& a, const Sheet& b) {
  std::vector<Aabb> boxes;
  for (std::uint32_t k = 0; k < b.topology.triangles.size(); ++k) boxes.push_back(swept_box(b, k));
  std::vector<TrianglePair> pairs;
  for (std::uint32_t i = 0; i < a.topology.triangles.size(); ++i) {
    const Aabb box = swept_box(a, i);
    for (std::uint32_t k = 0; k < boxes.size(); ++k)
      if (overlaps(box, boxes[k])) pairs.push_back({i, k});
  }
  return pairs;
}

// The queries that a search over the candidates asks: vertices of A with faces of B, and edges.
std::vector<FeatureMotion> list_motions(const Sheet& a, const Sheet& b,
                                        const std::vector<TrianglePair>& candidates,
                                        bool is_edges) {
  std::vector<FeatureMotion> motions;
  const auto add = [&](std::array<std::uint32_t, 4> v, std::size_t split) {
    FeatureMotion m;
    for (std::size_t i = 0; i < 4; ++i) {
      const Sheet& s = i < split ? a : b;
      m.at_t0[i] = s.t0[v[i]];
      m.at_t1[i] = s.t1[v[i]];
    }
    motions.push_back(m);
  };
  for (const TrianglePair& c : candidates) {
    const Triangle &ta = a.topology.triangles[c.a], &tb = b.topology.triangles[c.b];
    for (std::size_t i = 0; i < 3; ++i) {
      if (!is_edges && a.topology.owns_corner(c.a, i)) add({ta[i], tb[0], tb[1], tb[2]}, 1);
      for (std::size_t k = 0; k < 3 && is_edges; ++k)
        if (a.topology.owns_edge(c.a, i) && b.topology.owns_edge(c.b, k))
          add({ta[i], ta[(i + 1) % 3], tb[k], tb[(k + 1) % 3]}, 2);
    }
  }
  return motions;
}

void print_cloth_row(const char* scene, const std::vector<FeatureMotion>& motions, bool is_edges,
                     const Options& options, Report& report) {
  std::size_t yes[3] = {}, steps = 0, only_fcl = 0;
  for (const FeatureMotion& m : motions) {
    const Meeting planes = by_planes(m, is_edges);
    steps += static_cast<std::size_t>(planes.steps);
    bool found[3];
    for (std::size_t k = 0; k < 3; ++k) {
      found[k] = kMethods[k].meets(m, is_edges);
      yes[k] += found[k] ? 1U : 0U;
    }
    only_fcl += found[2] && !found[0] ? 1U : 0U;
  }
  const std::vector<double> ns = time_methods(motions, is_edges, options.quick ? 0.2 : 2);
  const auto count = static_cast<double>(motions.size());
  report.print("{:<10} {:<11} {:>8} | {:>7} {:>5.2f} {:>6.1f} | {:>7} {:>8.0f} | {:>7} {:>7.1f}\n",
               scene, kKinds[is_edges ? 1 : 0], motions.size(), yes[0],
               static_cast<double>(steps) / count, ns[0], yes[1], ns[1], yes[2], ns[2]);
  report.json["ccd_cloth"].push_back({{"scene", scene},
                                      {"kind", kKinds[is_edges ? 1 : 0]},
                                      {"queries", motions.size()},
                                      {"steps", static_cast<double>(steps) / count},
                                      {"planes_yes", yes[0]},
                                      {"planes_ns", ns[0]},
                                      {"inclusion_yes", yes[1]},
                                      {"inclusion_ns", ns[1]},
                                      {"fcl_yes", yes[2]},
                                      {"fcl_ns", ns[2]},
                                      {"only_fcl", only_fcl}});
}

struct ClothScene {
  const char* name;
  double gap, fall;  // metres
};
constexpr ClothScene kCloths[] = {{"near", 0.7, 0}, {"touching", 1, 1}, {"through", 1.5, 3}};
constexpr double kNear = 0.25;  // metres: the margin of proximities

void run_cloth(const ClothScene& scene, const Options& options, Report& report) {
  const std::uint32_t n = options.quick ? 16 : 48;
  Random random(2006);
  const Sheet a = make_sheet(n, {0, 0, scene.gap}, {0, 0, -scene.fall}, random);
  const Sheet b = make_sheet(n, {}, {}, random);
  const std::vector<TrianglePair> candidates = find_candidates(a, b);
  for (const bool is_edges : {false, true})
    print_cloth_row(scene.name, list_motions(a, b, candidates, is_edges), is_edges, options,
                    report);

  std::vector<FeatureContact> crossings, near;
  std::vector<TrianglePair> meeting;
  const auto times = medians_of({{[&] {
                                   crossings.clear();
                                   find_crossings(a.view(), b.view(), candidates, 0, crossings);
                                 }},
                                 {[&] {
                                   near.clear();
                                   find_proximities(a.view(), b.view(), candidates, kNear, near);
                                 }},
                                 {[&] {
                                   meeting.clear();
                                   find_intersections(a.view(), b.view(), candidates, meeting);
                                 }}});
  double ns[3];
  for (std::size_t i = 0; i < 3; ++i)
    ns[i] = 1e9 * times[i].processor / static_cast<double>(candidates.size());
  report.print(
      "{:<10} whole searches, ns a pair of triangles ({}): crossings {:.0f} ({}), proximities "
      "{:.0f} "
      "({}), intersections {:.0f} ({})\n",
      "", candidates.size(), ns[0], crossings.size(), ns[1], near.size(), ns[2], meeting.size());
  report.json["ccd_search"].push_back({{"scene", scene.name},
                                       {"candidates", candidates.size()},
                                       {"crossings", crossings.size()},
                                       {"crossings_ns", ns[0]},
                                       {"proximities", near.size()},
                                       {"proximities_ns", ns[1]},
                                       {"intersections", meeting.size()},
                                       {"intersections_ns", ns[2]}});
}

}  // namespace

void bench_ccd(const Options& options, Report& report) {
  Table table =
      report.table({.id = "ccd",
                    .title = "Continuous tests of features on exact-rational queries",
                    .columns = {{"set", Of::kKey},
                                {"kind", Of::kKey},
                                {"queries", Of::kKey},
                                {"meet", Of::kKey},
                                {"planes: wrong no", Of::kOurs},
                                {"wrong yes", Of::kOurs},
                                {"farthest", Of::kOurs, "m"},
                                {"steps", Of::kOurs, "", 1},
                                {"time", Of::kOurs, "ns", 0},
                                {"inclusion: wrong no", Of::kOurs},
                                {"wrong yes", Of::kOurs},
                                {"time", Of::kOurs, "ns", 0},
                                {"FCL: wrong no", Of::kPeer},
                                {"wrong yes", Of::kPeer},
                                {"time", Of::kPeer, "ns", 0}},
                    .note = fmt::format(
                        "Processor time, medians. Farthest: how far features are apart, at most, "
                        "where a yes was wrong (tolerance {} m).",
                        kTolerance)});
  for (const char* set :
       {"erleben-cube-cliff-edges", "erleben-spikes", "erleben-wedges", "unit-tests"})
    for (const bool is_edges : {false, true}) run_set(set, is_edges, options, table, report);
  report.print(
      "\ntwo sheets of cloth, queries of one step: how many meet, ns a query\n"
      "{:<10} {:<11} {:>8} | {:>7} {:>5} {:>6} | {:>7} {:>8} | {:>7} {:>7}\n",
      "", "", "queries", "meet", "steps", "planes", "meet", "inclusion", "meet", "FCL");
  for (const ClothScene& scene : kCloths) run_cloth(scene, options, report);
}

}  // namespace isotact::bench
