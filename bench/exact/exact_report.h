#pragma once

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int poses = 0;  // Per group that is timed; 0: chosen by --quick and --full.
  int count = 0;  // Poses or motions of the parts about truth; 0: chosen.
  int seed = 1;
};

void bench_distance(const Options& options, Report& report);
void bench_threshold(const Options& options, Report& report);
void bench_depth(const Options& options, Report& report);
void bench_any(const Options& options, Report& report);
void bench_truth(const Options& options, Report& report);
void bench_motion(const Options& options, Report& report);
void bench_motion_queries(const Options& options, Report& report);
void bench_motion_times(const Options& options, Report& report);
void bench_certify(const Options& options, Report& report);

}  // namespace isotact::bench
