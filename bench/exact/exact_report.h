#pragma once

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int poses = 0;  // Per group; 0: chosen by --quick and --full.
  int count = 0;  // Poses of the truth part; 0: chosen.
  int seed = 1;
};

void bench_distance(const Options& options, Report& report);
void bench_threshold(const Options& options, Report& report);
void bench_depth(const Options& options, Report& report);
void bench_any(const Options& options, Report& report);
void bench_truth(const Options& options, Report& report);
void bench_certify(const Options& options, Report& report);

}  // namespace isotact::bench
