// Bodies thrown at walls by the thousand, in worlds of Bullet's with the guard and without.
#include "adapters/bullet/bullet_throws.h"

#include <map>
#include <string>

#include "bullet_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

using namespace bullet_throws;

struct Counts {
  int throws = 0, met = 0, behind = 0, guarded = 0;
  std::uint64_t steps = 0, tests = 0, held = 0;
  double seconds = 0, guarded_seconds = 0;
};

}  // namespace

void bench_throws(const Options& options, Stock&, Report& report) {
  const int number = options.count > 0 ? options.count : options.quick ? 100 : 2000;
  std::map<std::pair<bool, std::string>, Counts> all;
  int rigid = 0, rigid_behind = 0;
  for (int i = 0; i < number; ++i) {
    // Each throw has a stream of its own, so that one can be repeated alone.
    Random random(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(i));
    const Throw t = make_throw(random);
    wall_of(t.wall, t.thickness);  // Cooked before the clock starts.
    const char* wall = kWallNames[static_cast<std::size_t>(t.wall)];
    Counts& c = all[{t.is_multibody, wall}];
    Outcome without, with;
    c.seconds += seconds_of([&] {
                   without = play<btDiscreteDynamicsWorld, btMultiBodyDynamicsWorld>(t, true);
                 }).processor;
    c.guarded_seconds +=
        seconds_of([&] {
          with =
              play<GuardedWorld<btDiscreteDynamicsWorld>, GuardedWorld<btMultiBodyDynamicsWorld>>(
                  t);
        }).processor;
    ++c.throws;
    c.met += with.met ? 1 : 0;
    c.behind += without.behind ? 1 : 0;
    c.guarded += with.behind ? 1 : 0;
    c.steps += static_cast<std::uint64_t>(with.steps);
    c.tests += with.tests;
    c.held += with.held;
    if (!t.is_multibody) ++rigid, rigid_behind += without.behind ? 1 : 0;
    report.check(
        !with.behind, "no body ends behind a wall in a guarded world",
        fmt::format("seed {}, throw {}: {} at {:.1f} m/s and {:.0f} Hz, {} of {:g} m", options.seed,
                    i, t.thrown->name, t.speed, t.rate, wall, kThickness[t.thickness]));
  }
  Table table = report.table(
      {.id = "bullet-throws",
       .title = "Bodies of 0.2 m thrown at walls of 5 mm to 0.1 m, 5 to 60 m/s, 60 and 240 Hz",
       .columns = {{"wall", Of::kKey},
                   {"body", Of::kKey},
                   {"throws", Of::kKey},
                   {"met the wall", Of::kOurs},
                   {"behind, guarded", Of::kOurs},
                   {"behind, not guarded", Of::kOurs},
                   {"a step", Of::kOurs, "us"},
                   {"a step, guarded", Of::kOurs, "us"},
                   {"tests a step", Of::kOurs},
                   {"stopped a step", Of::kOurs}},
       .note = "Shapes are cooked with default settings. Worlds without a guard have a "
               "SweptBroadphase: Bullet's own does not sweep the boxes of multibodies."});
  for (const auto& [key, c] : all) {
    const auto steps = static_cast<double>(c.steps);
    table.row({key.second, key.first ? "multibody" : "rigid", c.throws, c.met, c.guarded, c.behind,
               1e6 * c.seconds / steps, 1e6 * c.guarded_seconds / steps,
               static_cast<double>(c.tests) / steps, static_cast<double>(c.held) / steps});
    report.json["throws"]["rows"].push_back({{"wall", key.second},
                                             {"multibody", key.first},
                                             {"throws", c.throws},
                                             {"behind_guarded", c.guarded},
                                             {"behind", c.behind}});
  }
  judge(report, "throws", rigid_behind * 50 < rigid,
        fmt::format("rigid bodies behind without the guard: {} of {}; wanted fewer than 2 per cent",
                    rigid_behind, rigid));
}

}  // namespace isotact::bench
