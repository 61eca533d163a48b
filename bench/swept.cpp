// Swept shells against fields: XB14's Table 3, other motions, small steps, and FCL on the exact
// triangles. One thread, the same pairs of poses for all, medians of runs taken in turns. The tree
// must give what point by point gives, and times of contact are held against FCL's.
#include <algorithm>
#include <string_view>

#include "isotact/base/cpu.h"

#include "measure.h"
#include "swept_peer.h"
#include "swept_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {{"table3", bench_table3},
                           {"motions", bench_motions},
                           {"steps", bench_steps},
                           {"fcl", bench_fcl}};

constexpr const char* kUsage =
    "usage: bench_swept [--json] [--quick | --full] [--only NAME]...\n"
    "  --quick      fields of 256 cells, fewer pairs\n"
    "  --full       all pairs point by point, more pairs by FCL; many minutes\n"
    "  --only NAME  a part: table3 motions steps fcl; may be repeated\n";

bool is_part(std::string_view name) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [name](const Part& part) { return part.name == name; });
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--full") {
      options.full = true;
    } else if (word == "--only" && i + 1 < argc && is_part(argv[i + 1])) {
      options.only.emplace_back(argv[++i]);
    } else {
      return false;
    }
  }
  return !(options.quick && options.full);
}

int run(const Options& options) {
  Report report("bench_swept", options.json);
  const std::string ours =
      fmt::format("{}, SIMD kernels: {}", ISOTACT_BENCH_FLAGS, name(simd_level()));
  report.print("ours: {}\npeer: {}\nfields of {} cells, one thread, processor time\n", ours,
               describe_fcl(), options.resolution());
  report.json = {{"flags", ours}, {"peer", describe_fcl()}, {"resolution", options.resolution()}};
  Stock stock(options);
  for (const Part& part : kParts) {
    if (!is_chosen(options.only, part.name)) continue;
    const double seconds = seconds_of([&] { part.run(options, stock, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_swept", kUsage, argc, argv, read_options, run);
}
