// XB14's fourth experiment: how large a time step may be, with continuous and with discrete
// contact. docs/stability.md says what is meant by stable, and why the figures are what they are.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "isotact/geometry/primitives/primitives.h"

#include "dynamics_drop.h"

namespace isotact::bench {
namespace {

constexpr Method kMethods[] = {Method::kContinuous, Method::kDiscrete, Method::kLagged};

// ---- a contact that is held
// -----------------------------------------------------------------------

// The depth of a body on a spring, step by step: s = K h^2 / m, b = C h / m. Whether it grows.
bool grows(Method method, double s, double b) {
  double x0 = 0, x1 = 0.3, x2 = 1;
  for (int i = 0; i < 4000; ++i) {
    double next = x2 + (1 - b) * (x2 - x1);
    if (method == Method::kContinuous) next -= s * (x2 + x1) / 2;
    if (method == Method::kDiscrete) next -= s * x2;
    if (method == Method::kLagged) next = 2 * x2 - x1 - b * (x1 - x0) - s * x1;
    x0 = x1;
    x1 = x2;
    x2 = next;
    if (std::abs(x2) > 1e3) return true;
  }
  return std::abs(x2) > 0.5;
}

// In units of sqrt(m / K).
double held_limit_in_theory(Method method, double ratio) {
  return compute_largest(0.02, 4, [&](double w) { return !grows(method, w * w, 2 * ratio * w); });
}

// A box that lies flat on the ground, nudged a little: the same in the world.
struct Slab {
  DropBody body{};
  double area = 0;  // of its lower face's points
};

Slab make_slab() {
  Slab slab;
  slab.body = make_box_body();
  for (std::size_t i = 0; i < slab.body.point_count(); ++i)
    if (slab.body.tree().point(static_cast<std::uint32_t>(i)).y < 1e-6F)
      slab.area += static_cast<double>(slab.body.tree().areas()[i]);
  return slab;
}

constexpr double kSlabStiffness = 1e7;

double held_limit(const Slab& slab, Method method, double ratio, double expected) {
  const double mass = slab.body.mass.mass;
  const double period = std::sqrt(mass / (kSlabStiffness * slab.area));
  const Spring spring = make_spring(kSlabStiffness, ratio, mass, slab.area);
  const double depth = mass * 9.81 / (kSlabStiffness * slab.area);
  const auto stays = [&](double w) {
    const double h = w * period;
    // The first steps are without the ground's force: an upward speed makes up for them.
    const double missing = method == Method::kLagged ? 2 : 1;
    const double lift = method == Method::kLagged ? 9.81 * h * h : 0;
    Stage stage(slab.body, {.method = method,
                            .law = ForceLaw::kOurs,
                            .spring = spring,
                            .step = h,
                            .pose = {{}, {0, -depth * 1.001 - lift, 0}},
                            .velocity = {0, missing * 9.81 * h, 0}});
    // At rest it does not move, whatever the depth: speeds tell, down to what rounding leaves.
    double early = 0, late = 0;
    for (int i = 0; i < 1500; ++i) {
      stage.step();
      const double speed = std::abs(velocity(stage.world().body(stage.body())).y);
      if (i >= 2 && i < 8) early = std::max(early, speed);
      if (i >= 1400) late = std::max(late, speed);
      if (!(speed * h < depth)) return false;
    }
    return late < std::max(0.7 * early, 1e-5 * 9.81 * h);
  };
  return compute_largest(0.6 * expected, 4, stays);
}

void bench_held(const Options& options, Report& report, Json& json) {
  Table table = report.table({.id = "held",
                              .title = "A contact that is held: the largest step",
                              .columns = {{"damping", Of::kKey, "", 2},
                                          {"continuous, theory", Of::kOurs, "sqrt(m/K)", 2},
                                          {"continuous", Of::kOurs, "sqrt(m/K)", 2},
                                          {"discrete, theory", Of::kOurs, "sqrt(m/K)", 2},
                                          {"discrete", Of::kOurs, "sqrt(m/K)", 2},
                                          {"lagged, theory", Of::kOurs, "sqrt(m/K)", 2},
                                          {"lagged", Of::kOurs, "sqrt(m/K)", 2},
                                          {"continuous over discrete", Of::kOurs, "", 2},
                                          {"continuous over lagged", Of::kOurs, "", 2}},
                              .note = "A box at rest in the world, beside theory."});
  const Slab slab = make_slab();
  json["held"] = Json::array();
  for (const double ratio : {0.1, 0.2, 0.3, 0.5, 0.7, 1.0}) {
    if (options.quick && ratio != 0.5) continue;
    double theory[3], measured[3];
    for (std::size_t k = 0; k < 3; ++k) {
      theory[k] = held_limit_in_theory(kMethods[k], ratio);
      measured[k] = held_limit(slab, kMethods[k], ratio, theory[k]);
      report.check(std::abs(measured[k] / theory[k] - 1) < 0.05,
                   "a held contact bears the step that theory says, within 5 per cent",
                   fmt::format("{}, damping {}: {:.3f} and not {:.3f}", name(kMethods[k]), ratio,
                               measured[k], theory[k]));
    }
    table.row({ratio, theory[0], measured[0], theory[1], measured[1], theory[2], measured[2],
               measured[0] / measured[1], measured[0] / measured[2]});
    json["held"].push_back({{"damping_ratio", ratio},
                            {"continuous", measured[0]},
                            {"discrete", measured[1]},
                            {"lagged", measured[2]},
                            {"theory", {theory[0], theory[1], theory[2]}}});
  }
}

// ---- drops
// ------------------------------------------------------------------------------------------

constexpr double kStiffness = 5e8;
constexpr double kLeastStep = 2.5e-4, kMostStep = 2e-2;
constexpr double kDamping = 0.6;  // of the paper's three figures: near the best for all methods

struct AllDrops {
  bool stable = true;
  double deepest = 0;
};
// Of a body in some orientations.
struct Falls {
  DropBody body{};
  int orientations = 1;
};
AllDrops run_all(const Falls& falls, Drop drop, bool stop_early) {
  AllDrops all;
  for (int k = 1; k <= falls.orientations; ++k) {
    drop.orientation = k;
    const DropOutcome out = run_drop(falls.body, drop);
    all.stable = all.stable && out.stable;
    all.deepest = std::max(all.deepest, out.deepest);
    if (stop_early && !all.stable) break;
  }
  return all;
}

Drop with_method(Drop drop, Method method) {
  drop.method = method;
  return drop;
}

struct Limit {
  double step = 0, deepest = 0;
};
// The largest step at which all drops are stable, and no deeper than allowed.
Limit find_limit(const Falls& falls, Drop drop, double least = kLeastStep,
                 double deepest = std::numeric_limits<double>::infinity()) {
  Limit limit;
  limit.step = compute_largest(least, kMostStep, [&](double step) {
    drop.step = step;
    const AllDrops all = run_all(falls, drop, true);
    return all.stable && all.deepest <= deepest;
  });
  drop.step = limit.step;
  if (limit.step > 0) limit.deepest = run_all(falls, drop, false).deepest;
  return limit;
}

double ratio_of(double a, double b) { return b > 0 ? a / b : 0; }

// Those of kMethods, in this order.
using Limits = std::array<Limit, 3>;

// Returns the limits at kDamping.
Limits bench_drops(const Options& options, const Falls& falls, bool has_twin, ForceLaw law,
                   Report& report, Json& json) {
  const std::string ground = has_twin ? "a fixed twin and the ground" : "the ground";
  const bool is_paper = law == ForceLaw::kPaper;
  Table table = report.table(
      {.id = fmt::format("drops{}{}", has_twin ? "-twin" : "", is_paper ? "" : "-ours"),
       .title = fmt::format("Drops onto {}, forces as {}: the largest stable step", ground,
                            is_paper ? "the paper's" : "ours"),
       .columns = {{"damping", Of::kKey, "", 2},
                   {"continuous", Of::kOurs, "ms", 2},
                   {"deepest", Of::kOurs, "mm", 1},
                   {"discrete", Of::kOurs, "ms", 2},
                   {"deepest", Of::kOurs, "mm", 1},
                   {"lagged", Of::kOurs, "ms", 2},
                   {"deepest", Of::kOurs, "mm", 1},
                   {"continuous over discrete", Of::kOurs, "", 2},
                   {"continuous over lagged", Of::kOurs, "", 2}}});
  Limits at_kept{};
  for (const double ratio : {0.4, kDamping, 1.0}) {
    const bool is_short = options.quick || has_twin || law == ForceLaw::kOurs;
    if (is_short && ratio != kDamping) continue;
    Limits limits;
    for (std::size_t k = 0; k < 3; ++k)
      limits[k] = find_limit(falls, {.method = kMethods[k],
                                     .law = law,
                                     .stiffness = kStiffness,
                                     .damping_ratio = ratio,
                                     .has_twin = has_twin});
    std::vector<Cell> cells{ratio};
    for (const Limit& l : limits) cells.insert(cells.end(), {l.step * 1e3, l.deepest * 1e3});
    cells.insert(cells.end(), {ratio_of(limits[0].step, limits[1].step),
                               ratio_of(limits[0].step, limits[2].step)});
    table.row(cells);
    Json row{{"twin", has_twin},
             {"law", law == ForceLaw::kPaper ? "paper" : "ours"},
             {"damping_ratio", ratio}};
    for (std::size_t k = 0; k < 3; ++k)
      row[name(kMethods[k])] = {{"step", limits[k].step}, {"deepest", limits[k].deepest}};
    json["drops"].push_back(row);
    if (ratio == kDamping) at_kept = limits;
  }
  return at_kept;
}

// What the paper compares: the continuous method against another. Equal stiffness: largest steps.
// Equal penetration: the same, with the continuous one no deeper than a tenth more than the other.
// Softened: the deepest of the other at the step of the continuous one, softened until it is
// stable.
struct PaperFigures {
  double steps = 0, equal_steps = 0, deeper = 0;  // ratios; 0: there is none
  double softened = 0;                            // N/m^3
};

struct Rival {
  Method method = Method::kContinuous;
  ForceLaw law = ForceLaw::kPaper;
  Limit limit{};
};
PaperFigures find_paper_figures(const Falls& falls, const Rival& ours, const Rival& other) {
  Drop drop{
      .method = ours.method, .law = ours.law, .stiffness = kStiffness, .damping_ratio = kDamping};
  PaperFigures f;
  f.steps = ratio_of(ours.limit.step, other.limit.step);
  const double allowed = 1.1 * other.limit.deepest;
  f.equal_steps =
      ours.limit.deepest <= allowed
          ? f.steps
          : ratio_of(find_limit(falls, drop, kLeastStep, allowed).step, other.limit.step);
  drop.method = other.method;
  drop.law = other.law;
  drop.step = ours.limit.step;
  // Softer by this: the ladder goes up from 1, and what fails is what is stable.
  const double softer = compute_largest(1, 1000, [&](double factor) {
    drop.stiffness = kStiffness / factor;
    return !run_all(falls, drop, true).stable;
  });
  f.softened = kStiffness / (1.02 * std::max(softer, 1 / 1.02));
  drop.stiffness = f.softened;
  f.deeper = ratio_of(run_all(falls, drop, false).deepest, ours.limit.deepest);
  return f;
}

void bench_figures(const Options& options, const Falls& falls, const Limits& limits, Report& report,
                   Json& json) {
  Table table =
      report.table({.id = "stability",
                    .paper = "XB14",
                    .place = "Section 5",
                    .title = "Continuous contact against discrete contact",
                    .columns = {{"ratio", Of::kKey},
                                {"continuous over discrete", Of::kPaper, "times", 2},
                                {"continuous over discrete", Of::kOurs, "times", 2},
                                {"continuous over lagged", Of::kOurs, "times", 2},
                                {"implicit over discrete", Of::kOurs, "times", 2},
                                {"own over discrete", Of::kOurs, "times", 2},
                                {"own over lagged", Of::kOurs, "times", 2}},
                    .note = fmt::format(
                        "Drops onto the ground at a damping of {}. The paper does not say whether "
                        "its discrete forces are of this step or of the last (lagged).",
                        kDamping)});
  const Drop implicit{.method = Method::kImplicit,
                      .law = ForceLaw::kOurs,
                      .stiffness = kStiffness,
                      .damping_ratio = kDamping};
  const Rival continuous{.limit = limits[0]},
      discrete{.method = Method::kDiscrete, .limit = limits[1]},
      lagged{.method = Method::kLagged, .limit = limits[2]},
      default_one{Method::kImplicit, ForceLaw::kOurs, find_limit(falls, implicit)},
      own{Method::kOwn, ForceLaw::kOurs, find_limit(falls, with_method(implicit, Method::kOwn))};
  const std::pair<Rival, Rival> matches[] = {{continuous, discrete},
                                             {continuous, lagged},
                                             {default_one, discrete},
                                             {own, discrete},
                                             {own, lagged}};
  PaperFigures of[5];
  for (std::size_t k = 0; k < 5; ++k) {
    const auto& [ours, other] = matches[k];
    const PaperFigures& f = of[k] = find_paper_figures(falls, ours, other);
    json["figures"].push_back({{"of", name(ours.method)},
                               {"against", name(other.method)},
                               {"step_ratio", f.steps},
                               {"equal_penetration_step_ratio", f.equal_steps},
                               {"softened_stiffness", f.softened},
                               {"softened_penetration_ratio", f.deeper}});
  }
  const auto row = [&](const char* what, double paper, double PaperFigures::*part) {
    table.row({what, paper, of[0].*part, of[1].*part, of[2].*part, of[3].*part, of[4].*part});
  };
  row("larger step, equal stiffness", 3, &PaperFigures::steps);
  row("larger step, equal stiffness and depth", 2.6, &PaperFigures::equal_steps);
  row("deeper, softened to bear the step", 2.75, &PaperFigures::deeper);
  if (!options.output.empty())
    draw_figure6(falls.body, {.stiffness = kStiffness, .damping_ratio = kDamping}, limits[0].step,
                 limits[1].step, options.output / "figure6.png");
  report.check(of[0].steps > 1.2,
               "continuous contact bears a step 1.2 times that of discrete contact");
  report.check(of[1].steps > 2.2,
               "continuous contact bears a step 2.2 times that of lagged contact");
  report.check(of[2].steps > 3, "implicit steps are three times as large as discrete ones");
}

// What worlds do by default, beyond the paper: for springs that are ever stiffer.
void bench_implicit(const Options& options, const Falls& falls, Report& report, Json& json) {
  Table table =
      report.table({.id = "implicit",
                    .title = "Implicit steps, drops onto the ground: the largest stable step",
                    .columns = {{"stiffness", Of::kKey, "N/m^3"},
                                {"implicit", Of::kOurs, "ms", 2},
                                {"deepest", Of::kOurs, "mm", 1},
                                {"own", Of::kOurs, "ms", 2},
                                {"deepest", Of::kOurs, "mm", 1},
                                {"continuous", Of::kOurs, "ms", 2},
                                {"discrete", Of::kOurs, "ms", 2}},
                    .note = fmt::format("Of steps up to {:.0f} ms.", kMostStep * 1e3)});
  json["implicit"] = Json::array();
  for (const double factor : {1.0, 10.0}) {
    if (options.quick && factor != 1) continue;
    Drop drop{.method = Method::kImplicit,
              .law = ForceLaw::kOurs,
              .stiffness = factor * kStiffness,
              .damping_ratio = kDamping};
    const Limit implicit = find_limit(falls, drop);
    const Limit own = find_limit(falls, with_method(drop, Method::kOwn));
    drop.method = Method::kContinuous;
    const double root = std::sqrt(factor);
    const Limit continuous = find_limit(falls, drop, kLeastStep / root);
    drop.method = Method::kDiscrete;
    const Limit discrete = find_limit(falls, drop, kLeastStep / root);
    table.row({drop.stiffness, implicit.step * 1e3, implicit.deepest * 1e3, own.step * 1e3,
               own.deepest * 1e3, continuous.step * 1e3, discrete.step * 1e3});
    json["implicit"].push_back({{"stiffness", drop.stiffness},
                                {"step", implicit.step},
                                {"deepest", implicit.deepest},
                                {"own_step", own.step},
                                {"own_deepest", own.deepest},
                                {"continuous_step", continuous.step},
                                {"discrete_step", discrete.step}});
    report.check(implicit.step > 3 * std::max(continuous.step, discrete.step),
                 "implicit steps are three times as large as all others",
                 fmt::format("{:.2f} ms at {:.0e} N/m^3", implicit.step * 1e3, drop.stiffness));
  }
}

// The paper's own models: the bunny and the bowl on their twins.
void bench_models(const Options& options, Report& report, Json& json) {
  Table table =
      report.table({.id = "models",
                    .title = "Drops onto a fixed twin and the ground, by model",
                    .columns = {{"model", Of::kKey},
                                {"points", Of::kKey, "", 0},
                                {"continuous", Of::kOurs, "ms", 2},
                                {"discrete", Of::kOurs, "ms", 2},
                                {"lagged", Of::kOurs, "ms", 2},
                                {"implicit", Of::kOurs, "ms", 2},
                                {"own", Of::kOurs, "ms", 2},
                                {"continuous over discrete", Of::kOurs, "", 2},
                                {"continuous over lagged", Of::kOurs, "", 2},
                                {"own over discrete", Of::kOurs, "", 2}},
                    .note = fmt::format("A damping of {}, two orientations, a second.", kDamping)});
  for (const DropModel model : {DropModel::kBunnySmall, DropModel::kBowl}) {
    const Falls falls{make_small_drop_body(model), options.quick ? 1 : 2};
    double steps[5];
    for (std::size_t k = 0; k < 5; ++k) {
      const Method method = k < 3 ? kMethods[k] : (k == 3 ? Method::kImplicit : Method::kOwn);
      steps[k] = find_limit(falls, {.method = method,
                                    .law = k < 3 ? ForceLaw::kPaper : ForceLaw::kOurs,
                                    .stiffness = kStiffness,
                                    .damping_ratio = kDamping,
                                    .has_twin = true,
                                    .seconds = 1})
                     .step *
                 1e3;
    }
    table.row({falls.body.name, static_cast<double>(falls.body.point_count()), steps[0], steps[1],
               steps[2], steps[3], steps[4], ratio_of(steps[0], steps[1]),
               ratio_of(steps[0], steps[2]), ratio_of(steps[4], steps[1])});
    json["models"].push_back({{"model", falls.body.name}, {"steps_ms", steps}});
  }
}

}  // namespace

void bench_stability(const Options& options, Report& report) {
  report.note("XB14's fourth experiment; docs/stability.md says how it is done.");
  Json json;
  bench_held(options, report, json);
  bench_free_drops(options, report, json);
  json["drops"] = Json::array();
  const Falls falls{make_blob_body(777), options.quick ? 1 : 5};
  const Limits limits = bench_drops(options, falls, false, ForceLaw::kPaper, report, json);
  if (!options.quick) {
    bench_drops(options, falls, false, ForceLaw::kOurs, report, json);
    bench_drops(options, falls, true, ForceLaw::kPaper, report, json);
    bench_figures(options, falls, limits, report, json);
  }
  bench_implicit(options, falls, report, json);
  bench_models(options, report, json);
  report.json["stability"] = json;
}

}  // namespace isotact::bench
