// Drops of one dimension, onto a spring and a damper: the largest steps (docs/stability.md).
#include <algorithm>
#include <cmath>

#include "dynamics_drop.h"

namespace isotact::bench {

double compute_largest(double least, double most, const std::function<bool(double)>& holds) {
  constexpr double kRung = 1.19;
  double good = 0, bad = least;
  for (; bad < most && holds(bad); bad *= kRung) good = bad;
  if (good == 0 || bad >= most) return good;
  while (bad / good > 1.02) {
    const double middle = std::sqrt(good * bad);
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

namespace {

// When the damper acts, and whether it may pull.
enum class Damper {
  kPushes,     // Inside, and the force never pulls: ours.
  kInside,     // Inside: DampingRule::kFull.
  kWholeStep,  // All of a step in which there is contact: XB14 (10).
};
constexpr std::pair<Damper, const char*> kDampers[] = {{Damper::kPushes, "inside, no pull"},
                                                       {Damper::kInside, "inside"},
                                                       {Damper::kWholeStep, "whole step"}};

// A mass falls on a spring. Units: m = K = 1.
struct FreeDrop {
  Method method = Method::kContinuous;
  Damper damper = Damper::kPushes;
  double ratio = 0, step = 0, phase = 0;
  bool only_explosion = false;
};
constexpr double kSpeed = 1, kPull = 1e-2;  // of the first touch; gravity
constexpr double kTall = kSpeed * kSpeed / (2 * kPull);

// The force of a step from depth x0 to x1: its mean, or that of its end.
double force_of(const FreeDrop& d, double x0, double x1) {
  const double lift = 2 * d.ratio * (x1 - x0) / d.step;
  const double least = d.damper == Damper::kPushes ? std::max(0.0, -lift) : 0.0;
  if (d.method != Method::kContinuous) return x1 > least ? x1 + lift : 0.0;
  // Where the path is inside and the force acts: from a to b.
  if (x0 < least && x1 < least) return 0;
  const double a = x0 < least ? (least - x0) / (x1 - x0) : 0;
  const double b = x1 < least ? (least - x0) / (x1 - x0) : 1;
  const double spring = (b - a) * (x0 + (x1 - x0) * (a + b) / 2);
  return spring + (d.damper == Damper::kWholeStep ? 1 : b - a) * lift;
}

// Never bounces higher than it fell and comes to rest, or just does not explode.
bool is_stable(const FreeDrop& d) {
  double v = 0, force = 0, before = 0, x = -kTall - d.phase * kSpeed * d.step, late = 0;
  const double top = d.only_explosion ? 20 * kTall : 1.02 * -x + kSpeed * d.step;
  const auto steps = static_cast<int>(60 * std::sqrt(2 * kTall / kPull) / d.step);
  for (int i = 0; i < steps; ++i) {
    v += (kPull - (d.method == Method::kLagged ? before : force)) * d.step;
    const double next = x + v * d.step;
    before = force;
    force = force_of(d, x, next);
    x = next;
    if (-x > top) return false;
    if (i > steps * 9 / 10) late = std::max(late, v * v);
  }
  return d.only_explosion || late < 0.05 * kSpeed * kSpeed;
}

double find_free_limit(FreeDrop drop) {
  return compute_largest(0.05, 8, [&](double w) {
    drop.step = w;
    for (int k = 0; k < 16; ++k) {
      drop.phase = k / 16.0;
      if (!is_stable(drop)) return false;
    }
    return true;
  });
}

}  // namespace

void bench_free(const Options& options, Report& report) {
  Json json;
  Table table = report.table(
      {.id = "free",
       .title = "Drops of one dimension: the largest step",
       .columns = {{"damper", Of::kKey},
                   {"damping", Of::kKey, "", 2},
                   {"continuous", Of::kOurs, "sqrt(m/K)", 2},
                   {"discrete", Of::kOurs, "sqrt(m/K)", 2},
                   {"lagged", Of::kOurs, "sqrt(m/K)", 2},
                   {"continuous over discrete", Of::kOurs, "", 2},
                   {"continuous over lagged", Of::kOurs, "", 2},
                   {"the first, explosions alone", Of::kOurs, "", 2}},
       .note = "A point mass that touches at 100 g sqrt(m/K); 16 phases of the first touch."});
  json["free"] = Json::array();
  double most = 0;
  for (const auto& kind : kDampers)
    for (const double ratio : {0.3, 0.4, 0.5, 0.6, 0.8, 1.0}) {
      if (options.quick && ratio != 0.5) continue;
      const auto limit = [&](Method method, bool only_explosion) {
        return find_free_limit({.method = method,
                                .damper = kind.first,
                                .ratio = ratio,
                                .only_explosion = only_explosion});
      };
      const double c = limit(Method::kContinuous, false), d = limit(Method::kDiscrete, false),
                   l = limit(Method::kLagged, false);
      const double bursts = limit(Method::kContinuous, true) / limit(Method::kDiscrete, true);
      table.row({kind.second, ratio, c, d, l, c / d, c / l, bursts});
      most = std::max({most, c / d, bursts});
      json["free"].push_back({{"damper", kind.second},
                              {"damping_ratio", ratio},
                              {"continuous", c},
                              {"discrete", d},
                              {"lagged", l},
                              {"explosions", bursts}});
    }
  if (!options.quick)
    report.check(most > 1.62, "drops are not bound by what bounds a held contact",
                 fmt::format("{:.2f}", most));
  report.json["free"] = json["free"];
}

}  // namespace isotact::bench
