// The bunny on a box and on a plane: SSL14's 4.2.1, against GImpact and a convex decomposition.
#include <algorithm>
#include <chrono>

#include "isotact/queries/points/shell_query.h"

#include "bullet_fall.h"

namespace isotact::bench {
namespace {

using Falls = std::vector<std::vector<FallStep>>;

constexpr std::size_t kReplays = 3;
constexpr double kMostSunk = 0.002;  // metres: of a resting bunny, ours

struct Contest {
  Ground ground;
  const char* name;
  Falls ours{}, hulls{};
  FallTimes ours_times{}, hulls_times{}, gimpact_times{}, thin_times{};
};

Falls run_falls(const Bunny& bunny, const OwnedShape& shape, int rotations,
                const FallSettings& settings) {
  Falls falls;
  for (int r = 0; r < rotations; ++r) falls.push_back(run_fall(bunny, shape, r, settings));
  return falls;
}

// The query alone, as the plug-in asks it.
FallTimes time_query(const PointSphereTree& tree, const OwnedShape& shape, Ground ground,
                     const std::vector<Pose>& poses, bool is_coherent) {
  const ShellTarget target = ground == Ground::kPlane
                                 ? ShellTarget(PlaneField{})
                                 : ShellTarget(BoxField{{0, -0.25, 0}, {2, 0.25, 2}});
  const auto& ours = static_cast<const IsotactShape&>(*shape.shape);
  ShellScratch state;
  state.set_coherent(is_coherent);
  return time_on_poses(poses, kReplays, [&](const Pose& pose) {
    const auto start = std::chrono::steady_clock::now();
    find_hits(tree, target, {.field_from_shell = pose}, {.margin = ours.settings().contact_margin},
              state);
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(end - start).count();
  });
}

void check_motion(const Falls& falls, const char* ground, Report& report) {
  for (std::size_t r = 0; r < falls.size(); ++r) {
    const FallStep& last = falls[r].back();
    const std::string where = fmt::format("on the {}, rotation {}", ground, r);
    report.check(std::abs(last.lowest) < kMostSunk, "in the end the lowest vertex is on the ground",
                 fmt::format("{}: at {:.2f} mm", where, last.lowest * 1e3));
    double deepest = 0;
    for (const FallStep& s : falls[r]) deepest = std::min(deepest, s.lowest);
    report.check(deepest > -2 * kMostSunk, "no bunny sinks deep on its way",
                 fmt::format("{}: {:.2f} mm", where, -deepest * 1e3));
    report.check(last.kinetic_energy < 1e-2, "in the end the bunny rests",
                 fmt::format("{}: still {:.4f} J", where, last.kinetic_energy));
  }
}

double longest_side(const TriangleMesh& mesh) {
  const Vec3f e = extent(bounds(mesh));
  return static_cast<double>(std::max({e.x, e.y, e.z}));
}

double lowest_of(const Falls& falls) {
  double lowest = 0;
  for (const auto& fall : falls)
    for (const FallStep& s : fall) lowest = std::min(lowest, s.lowest);
  return lowest * 1e3;
}

// Whose the row is.
Of owner_of(const std::string& name) {
  const bool is_peer = name.starts_with("HACD") || name.starts_with("GImpact") ||
                       name.find("margin") != std::string::npos;
  return is_peer ? Of::kPeer : Of::kOurs;
}

void print_row(Table& table, Report& report, const char* ground, const std::string& name,
               const FallTimes& t, double ratio, const Cell& lowest) {
  table.row({ground, name, t.mean, t.median, t.p99, ratio, lowest}, owner_of(name));
  report.json["drop"]["rows"].push_back({{"ground", ground},
                                         {"name", name},
                                         {"mean_us", t.mean},
                                         {"median_us", t.median},
                                         {"p99_us", t.p99}});
}

void run_ground(const Options& options, Stock& stock, Table& table, Report& report,
                const OwnedShape& ours, const OwnedShape& with_mesh, Contest& c) {
  const Bunny& bunny = stock.bunny();
  const int rotations = options.quick ? 3 : 10;
  const FallSettings settings{.ground = c.ground,
                              .repeats = static_cast<std::size_t>(options.quick ? 2 : 5)};
  const OwnedShape& hulls = stock.hulls_12();
  c.ours = run_falls(bunny, ours, rotations, settings);
  c.hulls = run_falls(bunny, hulls, rotations, settings);
  c.ours_times = times_of(c.ours);
  c.hulls_times = times_of(c.hulls);
  check_motion(c.ours, c.name, report);
  // On the box GImpact takes tens of milliseconds a step: some of our poses stand for all.
  const auto few = poses_of(c.ours, c.ground == Ground::kBox ? 80 : 8);
  c.gimpact_times = time_dispatch(bunny, stock.gimpact(kGImpactMargin), c.ground, few, true, 2);
  c.thin_times = time_dispatch(bunny, stock.gimpact(kThinMargin), c.ground, few, true, 2);
  const auto ratio = [&](const FallTimes& t) { return t.mean / c.ours_times.mean; };
  print_row(table, report, c.name, ours.name, c.ours_times, 1, lowest_of(c.ours));
  const FallTimes mesh_times = times_of(run_falls(bunny, with_mesh, rotations, settings));
  print_row(table, report, c.name, with_mesh.name, mesh_times, ratio(mesh_times), {});
  print_row(table, report, c.name, hulls.name, c.hulls_times, ratio(c.hulls_times),
            lowest_of(c.hulls));
  print_row(table, report, c.name, "GImpact, our poses", c.gimpact_times, ratio(c.gimpact_times),
            {});
  print_row(table, report, c.name, "  with a margin of 1 mm", c.thin_times, ratio(c.thin_times),
            {});

  const auto all = poses_of(c.ours, 1);
  const FallTimes query = time_query(stock.bunny_vertices(), ours, c.ground, all, false);
  const FallTimes coherent = time_query(stock.bunny_vertices(), ours, c.ground, all, true);
  const FallTimes bullet = time_dispatch(bunny, ours, c.ground, all, false, kReplays);
  print_row(table, report, c.name, "  of ours: the query", query, ratio(query), {});
  print_row(table, report, c.name, "  (the query, coherent)", coherent, ratio(coherent), {});
  print_row(table, report, c.name, "  of ours: Bullet", bullet, ratio(bullet), {});
  const double rest = c.ours_times.mean - query.mean - bullet.mean;
  table.row({c.name, "  of ours: the rest", rest, {}, {}, rest / c.ours_times.mean, {}}, Of::kOurs);
}

}  // namespace

void bench_drop(const Options& options, Stock& stock, Report& report) {
  const OwnedShape ours =
      make_ours(fmt::format("ours, {} points", stock.bunny_vertices().point_count()),
                stock.bunny_vertices(), stock.bunny_field());
  // Its contacts are moved to the curved surface of the mesh.
  const OwnedShape with_mesh = own(
      "ours, with its mesh", cook_bullet_shape(Shape::from_parts(
                                 {.field = stock.bunny_field(),
                                  .tree = stock.bunny_vertices(),
                                  .mesh = std::make_shared<TriangleMesh>(stock.bunny().closed)})));
  Table table =
      report.table({.id = "drop",
                    .paper = "SSL14",
                    .place = "Section 4.2.1",
                    .title = "A bunny dropped from 0.5 m: microseconds of dispatch a step",
                    .columns = {{"ground", Of::kKey},
                                {"way", Of::kKey},
                                {"mean", Of::kOurs, "us", 2},
                                {"median", Of::kOurs, "us", 2},
                                {"p99", Of::kOurs, "us", 2},
                                {"over ours", Of::kOurs, "times"},
                                {"lowest vertex", Of::kOurs, "mm", 2}},
                    .note = fmt::format(
                        "{}, {:.0f} mm long, 200 Hz, steps 200 to 600. SSL14: 710 us with 34,892 "
                        "points, 137 times faster than GImpact.",
                        stock.bunny().name, longest_side(stock.bunny().closed) * 1e3)});
  Contest box{.ground = Ground::kBox, .name = "box"},
      plane{.ground = Ground::kPlane, .name = "plane"};
  run_ground(options, stock, table, report, ours, with_mesh, box);
  run_ground(options, stock, table, report, ours, with_mesh, plane);
  const auto faster = [&](const Contest& c, const FallTimes& peer, const char* name, double times) {
    const double is = peer.mean / c.ours_times.mean;
    judge(
        report, "drop", is >= times,
        fmt::format("on the {} {:.4g} times as fast as {}; wanted {:g}", c.name, is, name, times));
  };
  faster(box, box.hulls_times, "HACD", 1);
  faster(box, box.gimpact_times, "GImpact (SSL14: 137)", 5000);
  faster(box, box.thin_times, "GImpact with a margin of 1 mm", 5000);
  faster(plane, plane.hulls_times, "HACD", 1);
  faster(plane, plane.gimpact_times, "GImpact", 1);
  faster(plane, plane.thin_times, "GImpact with a margin of 1 mm", 1);
  for (const Contest* c : {&box, &plane})
    judge(report, "drop", c->ours_times.mean <= 3,
          fmt::format("the goal of 3 us a step on the {}: {:.2f} (SSL14: 710)", c->name,
                      c->ours_times.mean));
}

}  // namespace isotact::bench
