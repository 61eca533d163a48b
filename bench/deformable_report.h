// What the parts of bench_deformable share.
#pragma once

#include <string>
#include <vector>

#include "report.h"

namespace isotact::bench {

struct Options : RunOptions {};

// The parts, each a table.
void bench_broad(const Options& options, Report& report);

}  // namespace isotact::bench
