// What the parts of bench_rigid share.
#pragma once

#include "dynamics/rigid/throw_cases.h"
#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int count = 0;  // 0: chosen by --quick and --full
  int seed = 1;
  int first_throw = 0;            // Throws before it are left out.
  std::string scene{}, engine{};  // Of the scenes: a part of the name, and one engine. Empty: all.
  bool check_steps = false;       // Depths at every step, not at every frame.
  double most_seconds = 600;      // Of one run, by the clock.
};

// What Bullet makes of a throw: boxes and convex hulls, fast bodies by its own continuous
// detection, in steps of the same length.
struct BulletOutcome {
  bool behind = false;
  double left = 1, gain = 0;
};
BulletOutcome throw_in_bullet(const throw_cases::Throw& t);

void bench_throws(const Options& options, Report& report);
void bench_balance(const Options& options, Report& report);
void bench_scenes(const Options& options, Report& report);
void bench_references(const Options& options, Report& report);

}  // namespace isotact::bench
