// Bodies thrown at walls, by the thousand, beside Bullet.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rigid_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

using namespace throw_cases;

struct Counts {
  int throws = 0, met = 0, behind = 0, dead = 0, faint = 0, gained = 0, waited = 0;
  double most_gain = 0;
};

void count(const Outcome& o, const Throw& t, Counts& c) {
  ++c.throws;
  c.met += o.met ? 1 : 0;
  c.behind += o.behind ? 1 : 0;
  c.dead += o.dead ? 1 : 0;
  c.faint += t.restitution > 0 && o.left < 0.01 ? 1 : 0;
  c.gained += o.gain > 1e-3 ? 1 : 0;
  c.waited += o.waited ? 1 : 0;
  c.most_gain = std::max(c.most_gain, o.gain);
}

}  // namespace

void bench_throws(const Options& options, Report& report) {
  const int number = options.count > 0 ? options.count
                     : options.quick   ? 100
                     : options.full    ? 10000
                                       : 1000;
  std::map<std::string, Counts> ours;
  std::map<std::string, std::array<int, 3>> peer;  // throws, behind, gained
  double drift = 0, seconds = 0, bullet_seconds = 0;
  std::int64_t steps = 0;
  for (int i = options.first_throw; i < options.first_throw + number; ++i) {
    // Each throw has a stream of its own, so that one can be repeated alone.
    Random random(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(i));
    const Throw t = make_throw(random);
    Outcome o;
    seconds += seconds_of([&] { o = play(t); }).processor;
    steps += o.steps;
    count(o, t, ours[t.thrown->name]);
    drift = std::max(drift, o.drift);
    const std::string which =
        fmt::format("seed {}, throw {}: {}, step {:.4g} s, wall {:.4g} m, restitution {:.3g}",
                    options.seed, i, t.thrown->name, t.step, t.thickness, t.restitution);
    report.check(!o.behind, "no body ends behind a wall of the stated thickness", which);
    report.check(!o.dead, "no body stops dead", fmt::format("{}: {:.3g} left", which, o.left));
    report.check(o.gain <= 1e-3, "no throw gains more than a thousandth of its energy",
                 fmt::format("{}: {:.3g}", which, o.gain));
    report.check(!o.trouble, "no throw diverges", which);
    report.check(o.drift <= 1e-12, "throws keep their momentum",
                 fmt::format("{}: {:.3g}", which, o.drift));
    // Sampled walls are triangle meshes there, and walls that move boxes.
    BulletOutcome b;
    bullet_seconds += seconds_of([&] { b = throw_in_bullet(t); }).processor;
    auto& [throws, behind, gained] = peer[t.thrown->name];
    ++throws;
    behind += b.behind ? 1 : 0;
    gained += b.gain > 1e-3 ? 1 : 0;
  }
  Table table = report.table(
      {.id = "rigid-throws",
       .title = "Bodies thrown at walls",
       .columns = {{"body", Of::kKey},
                   {"throws", Of::kKey},
                   {"met the wall", Of::kOurs},
                   {"behind", Of::kOurs},
                   {"dead", Of::kOurs},
                   {"under 1 per cent", Of::kOurs},
                   {"gained", Of::kOurs},
                   {"most gained", Of::kOurs},
                   {"waited", Of::kOurs},
                   {"Bullet behind", Of::kPeer},
                   {"Bullet gained", Of::kPeer}},
       .note = "Dead: two steps after the first impact less than a hundredth of what as many "
               "central impacts leave is left of the energy. Under 1 per cent: small restitutions, "
               "and friction, leave no more."});
  for (const auto& [name, c] : ours) {
    const auto& [throws, behind, gained] = peer[name];
    table.row({name, c.throws, c.met, c.behind, c.dead, c.faint, c.gained, c.most_gain, c.waited,
               behind, gained});
  }
  report.note(
      fmt::format("{} throws, {} steps: {:.3g} us a step, Bullet's {:.3g} ms a throw. "
                  "Momentum of free pairs drifts by {:.2g}.",
                  number, steps, 1e6 * seconds / static_cast<double>(steps),
                  1e3 * bullet_seconds / number, drift));
}

}  // namespace isotact::bench
