#include "dynamics_report.h"
namespace isotact::bench {
void bench_stability(const Options&, Report& report) { report.print("\nstability\n"); }
}  // namespace isotact::bench
