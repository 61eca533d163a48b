// What the parts of bench_deformable share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  std::filesystem::path output{};  // folder for plots; empty: none
  // For the part "truth": a folder of scenes (empty: the data folder's), those with this text in
  // their names, at most so many steps of each, and every bad step printed.
  std::filesystem::path scenes{};
  std::string scene{};
  int most_steps = 1'000'000, threads = 1;
  bool verbose = false;
};

// The parts, each a table.
void bench_broad(const Options& options, Report& report);
void bench_ccd(const Options& options, Report& report);
void bench_narrow(const Options& options, Report& report);
void bench_truth(const Options& options, Report& report);
void bench_table1(const Options& options, Report& report);
void bench_cost(const Options& options, Report& report);

}  // namespace isotact::bench
