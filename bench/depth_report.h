// What the parts of bench_depth share.
#pragma once

#include <string>
#include <vector>

#include "isotact/gpu/context.h"

#include "report.h"

namespace isotact::bench {

struct Options {
  bool json = false, quick = false;
  int pixels = 0;                 // a side, of the tunnel's maps; 0: 512, on software 256
  std::vector<std::string> only;  // parts; empty: all
};

// The parts, each a table.
void bench_tunnel(const Options& options, const GpuContext& gpu, Report& report);
void bench_city(const Options& options, const GpuContext& gpu, Report& report);
void bench_fire(const Options& options, const GpuContext& gpu, Report& report);

}  // namespace isotact::bench
