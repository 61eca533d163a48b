// The cost of a step as a pile grows: concave bodies of four kinds in a heap on the ground.
#include <algorithm>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics_report.h"
#include "support/chart.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr double kStep = 1e-3;
// Bodies that lie flat fit into boxes of these sizes, turned about y in any way.
constexpr double kSpacing = 0.11, kLayer = 0.065;
constexpr double kLayers = 4;
constexpr std::size_t kSettle = 600;  // steps until all layers lie on each other
constexpr std::size_t kMeasured = 40;

struct PileBody {
  Shape shape;
  BodyMass mass;
  Quat flat;  // lies on the ground with this rotation
};

// Those of scenes/pile.json.
std::vector<PileBody> make_bodies() {
  struct Kind {
    TriangleMesh mesh;
    std::uint32_t points;
    Quat flat;
  };
  const Kind kinds[] = {
      {make_link({.straight = 0.04,
                  .bend_radius = 0.022,
                  .wire_radius = 0.01,
                  .segments = 48,
                  .wire_segments = 16}),
       800, rotation_about({1, 0, 0}, kPi / 2)},
      {make_bowl({.radius = 0.038, .thickness = 0.01, .foot_radius = 0.01, .segments = 48}),
       800,
       {}},
      {make_knot({.ring_radius = 0.032,
                  .winding_radius = 0.014,
                  .tube_radius = 0.008,
                  .segments = 144,
                  .tube_segments = 12}),
       800,
       {}},
      {make_blob({.height = 0.06, .triangles = 4000}), 600, {}}};
  std::vector<PileBody> bodies;
  for (const Kind& k : kinds)
    bodies.push_back({Shape::from_mesh(k.mesh, {.field = {.resolution = 40, .threads = {1}},
                                                .points = k.points}),
                      make_body_mass(compute_mass_properties(k.mesh), 1000), k.flat});
  return bodies;
}

// A block of four layers, each body turned about y at random.
World make_pile(const std::vector<PileBody>& kinds, std::size_t count, ForceSolve solve) {
  const SurfaceMaterial clay{.stiffness = 5e8, .damping_ratio = 0.5, .friction = 0.4};
  World world({.step = kStep, .solve = solve, .threads = {1}});
  world.add_body({.name = "ground",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_analytic(PlaneField{}),
                  .material = clay});
  const auto side =
      static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count) / kLayers)));
  Random random(1000);
  for (std::size_t i = 0; i < count; ++i) {
    const PileBody& kind = kinds[i % kinds.size()];
    const auto at = [](std::size_t k, double size) {
      return (static_cast<double>(k) + 0.5) * size;
    };
    const std::size_t layer = i / (side * side);
    // Layers are shifted, so that they do not lie in columns.
    const double shift = layer % 2 == 0 ? 0 : kSpacing / 2;
    const Vec3 place{at(i % side, kSpacing) + shift, at(layer, kLayer),
                     at(i / side % side, kSpacing) + shift};
    const Quat turn = normalized(rotation_about({0, 1, 0}, random.uniform(0, 2 * kPi)) * kind.flat);
    world.add_body({.name = fmt::format("body {}", i + 1),
                    .shape = kind.shape,
                    .mass = kind.mass,
                    .pose = {turn, place - rotate(turn, kind.mass.center)},
                    .material = clay});
  }
  return world;
}

struct Cost {
  std::size_t bodies = 0;
  double seconds = 0;                          // a step, median
  double pairs = 0, contacts = 0, points = 0;  // a step
  double rounds = 0, evaluations = 0;          // a step, of own forces
  double residual = 0, deepest = 0, kinetic = 0;
  PhaseTimes phases{};  // a step
};

Cost measure(const std::vector<PileBody>& kinds, std::size_t count, Report& report,
             ForceSolve solve = ForceSolve::kImplicit) {
  World world = make_pile(kinds, count, solve);
  double deepest = 0;
  const double energy = world.energies().total();
  for (std::size_t i = 0; i < kSettle; ++i) deepest = std::max(deepest, world.step().depth);
  Cost cost{.bodies = count};
  std::vector<double> seconds;
  for (std::size_t i = 0; i < kMeasured; ++i) {
    seconds.push_back(seconds_of([&] { world.step(); }).processor);
    const StepReport& r = world.report();
    deepest = std::max(deepest, r.depth);
    cost.rounds += r.force_rounds / static_cast<double>(kMeasured);
    cost.evaluations += r.evaluations / static_cast<double>(kMeasured);
    cost.residual = std::max(cost.residual, r.residual);
    cost.pairs += r.pairs / static_cast<double>(kMeasured);
    cost.contacts += r.contacts / static_cast<double>(kMeasured);
    cost.points += r.points / static_cast<double>(kMeasured);
    cost.phases.broad += r.seconds.broad / static_cast<double>(kMeasured);
    cost.phases.detection += r.seconds.detection / static_cast<double>(kMeasured);
    cost.phases.forces += r.seconds.forces / static_cast<double>(kMeasured);
    cost.phases.motion += r.seconds.motion / static_cast<double>(kMeasured);
  }
  cost.seconds = quantile(seconds, 0.5);
  cost.deepest = deepest;
  cost.kinetic = world.energies().kinetic;
  const std::string pile = fmt::format("pile of {}", count);
  report.check(!world.trouble(), "no world is in trouble", pile);
  report.check(world.energies().total() < energy, "no energy is gained", pile);
  report.check(deepest < 0.008, "no contact is deeper than 8 mm",
               fmt::format("{}: {:.1f} mm", pile, deepest * 1e3));
  report.check(cost.contacts > 0.9 * static_cast<double>(count), "bodies lie on each other", pile);
  return cost;
}

// The same pile with forces of the same step.
void bench_own_pile(const std::vector<PileBody>& kinds, const Options& options, Report& report) {
  Table table = report.table({.id = "pile-own",
                              .title = "The pile with forces of the same step",
                              .columns = {{"forces", Of::kKey},
                                          {"bodies", Of::kKey},
                                          {"a body", Of::kOurs, "us", 1},
                                          {"rounds", Of::kOurs, "", 2},
                                          {"evaluations", Of::kOurs, "", 0},
                                          {"pairs", Of::kOurs, "", 0},
                                          {"residual", Of::kOurs, "", 4},
                                          {"deepest", Of::kOurs, "mm", 2},
                                          {"kinetic", Of::kOurs, "mJ", 3}}});
  const std::size_t count = options.quick ? 30 : 100;
  for (const bool own : {false, true}) {
    const Cost c = measure(kinds, count, report, own ? ForceSolve::kStep : ForceSolve::kImplicit);
    table.row({own ? "own" : "implicit", count, c.seconds * 1e6 / static_cast<double>(count),
               c.rounds, c.evaluations, c.pairs, c.residual, c.deepest * 1e3, c.kinetic * 1e3});
    report.json["pile_own"].push_back({{"own", own},
                                       {"seconds_a_step", c.seconds},
                                       {"rounds", c.rounds},
                                       {"evaluations", c.evaluations},
                                       {"residual", c.residual},
                                       {"deepest", c.deepest}});
  }
}

}  // namespace

void bench_pile(const Options& options, Report& report) {
  Table table =
      report.table({.id = "pile",
                    .title = "A pile of concave bodies that grows: a step",
                    .columns = {{"bodies", Of::kKey},
                                {"a step", Of::kOurs, "ms", 2},
                                {"a body", Of::kOurs, "us", 1},
                                {"pairs", Of::kOurs, "", 0},
                                {"contacts", Of::kOurs, "", 0},
                                {"points", Of::kOurs, "", 0},
                                {"broad", Of::kOurs, "ms", 2},
                                {"detection", Of::kOurs, "ms", 2},
                                {"forces", Of::kOurs, "ms", 2},
                                {"motion", Of::kOurs, "ms", 2}},
                    .note = fmt::format("Steps of {} ms, after {} steps of falling together.",
                                        kStep * 1e3, kSettle)});
  const std::vector<PileBody> kinds = make_bodies();
  bench_own_pile(kinds, options, report);
  std::vector<ChartPoint> points;
  Json rows = Json::array();
  for (const std::size_t count : {10U, 30U, 100U, 300U, 1000U}) {
    if (options.quick && count > 100) break;
    const Cost c = measure(kinds, count, report);
    const auto n = static_cast<double>(count);
    points.push_back({n, c.seconds * 1e3});
    table.row({count, c.seconds * 1e3, c.seconds * 1e6 / n, c.pairs, c.contacts, c.points,
               c.phases.broad * 1e3, c.phases.detection * 1e3, c.phases.forces * 1e3,
               c.phases.motion * 1e3});
    rows.push_back({{"bodies", count},
                    {"seconds_a_step", c.seconds},
                    {"pairs", c.pairs},
                    {"contacts", c.contacts},
                    {"points", c.points},
                    {"broad", c.phases.broad},
                    {"detection", c.phases.detection},
                    {"forces", c.phases.forces},
                    {"motion", c.phases.motion}});
  }
  // Small piles have few inner bodies, so that neighbours a body grow, too.
  const PowerFit fit = fit_power(points);
  report.note(
      fmt::format("The cost grows as the number of bodies to the power of {:.2f}.", fit.exponent));
  report.json["pile"] = {{"rows", rows}, {"exponent", fit.exponent}};
  if (!options.quick) {
    const PowerFit large = fit_power({points.end() - 3, points.end()});
    report.note(fmt::format("From 100 bodies on: to the power of {:.2f}.", large.exponent));
    report.check(large.exponent < 1.25, "the cost of a large pile grows with a power below 1.25",
                 fmt::format("{:.2f}", large.exponent));
    report.json["pile"]["exponent_from_100"] = large.exponent;
  }
  Plot plot{.title = "a step of a pile, one core",
            .x_name = "bodies",
            .y_name = "ms",
            .is_log = true,
            .lines = {{"measured"}, {fmt::format("to the power of {:.2f}", fit.exponent)}},
            .is_log_x = true};
  for (const ChartPoint& p : points) {
    plot.lines[0].points.push_back({p.x, p.y});
    plot.lines[1].points.push_back({p.x, fit.factor * std::pow(p.x, fit.exponent)});
  }
  report.figure({.id = "pile-plot", .title = "The cost of a step as the pile grows"}, {plot});
  if (options.output.empty()) return;
  LogChart chart{.title = fmt::format(
                     "a step of a pile, one core: as bodies to the power of {:.2f}", fit.exponent),
                 .x_name = "bodies",
                 .y_name = "ms a step",
                 .points = points};
  for (const ChartPoint& p : points)
    chart.fit.push_back({p.x, fit.factor * std::pow(p.x, fit.exponent)});
  tool::write_png(options.output / "pile_cost.png", draw_log_chart(chart));
}

}  // namespace isotact::bench
