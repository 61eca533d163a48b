// What the parts of bench_depth share.
#pragma once

#include <string>
#include <vector>

#include "isotact/gpu/core/context.h"

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int pixels = 0;  // a side, of the tunnel's maps; 0: 512, on software 256
};

// The parts, each a table.
void bench_tunnel(const Options& options, const GpuContext& gpu, Report& report);
void bench_city(const Options& options, const GpuContext& gpu, Report& report);
void bench_fire(const Options& options, const GpuContext& gpu, Report& report);

}  // namespace isotact::bench
