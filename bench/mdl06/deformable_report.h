// What the parts of bench_deformable share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  std::filesystem::path output{};  // folder for plots; empty: none
};

// The parts, each a table.
void bench_broad(const Options& options, Report& report);
void bench_ccd(const Options& options, Report& report);
void bench_narrow(const Options& options, Report& report);
void bench_table1(const Options& options, Report& report);
void bench_cost(const Options& options, Report& report);

}  // namespace isotact::bench
