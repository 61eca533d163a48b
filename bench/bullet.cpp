// The plug-in for Bullet against what Bullet has for concave bodies, and against FCL: SSL14's
// tables and figures. One thread, peers in the same run. Answers and motions are checked in the
// run: a wrong one is exit code 1; a time that misses its bound is said, no more.
#include <algorithm>
#include <string_view>

#include <LinearMath/btScalar.h>

#include "isotact/base/cpu.h"

#include "bullet_report.h"
#include "measure.h"
#include "swept_peer.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {
    {"drop", bench_drop},       {"pair", bench_pair},     {"truth", bench_truth},
    {"ball", bench_ball},       {"levels", bench_levels}, {"slow", bench_slow},
    {"figures", bench_figures}, {"roll", bench_roll},     {"stack", bench_stack}};

std::string describe_peers() {
  return fmt::format("Bullet {} (single precision), packaged; {}", btGetVersion(), describe_fcl());
}

constexpr const char* kUsage =
    "usage: bench_bullet [--json] [--quick] [--only NAME]... [--plots FOLDER]\n"
    "  --quick         fewer rotations, repeats, poses and steps\n"
    "  --only NAME     a part: drop pair truth ball levels slow figures roll stack; may be "
    "repeated\n"
    "  --plots FOLDER  writes figures there, as .svg and .csv\n";

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
    } else if (word == "--only" && i + 1 < argc && is_part(argv[i + 1])) {
      options.only.emplace_back(argv[++i]);
    } else if (word == "--plots" && i + 1 < argc) {
      options.plots = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  Report report("bench_bullet", options.json);
  const std::string ours =
      fmt::format("{}, SIMD kernels: {}", ISOTACT_BENCH_FLAGS, name(simd_level()));
  const std::string peers = describe_peers();
  report.print("ours: {}\npeer: {}\none thread, times by the clock{}\n", ours, peers,
               options.has_data() ? "" : "; no folder with data: procedural stand-ins");
  report.json = {{"flags", ours}, {"peer", peers}, {"data", options.has_data()}};
  if (!options.plots.empty()) std::filesystem::create_directories(options.plots);
  Stock stock(options);
  for (const Part& part : kParts) {
    if (!is_chosen(options.only, part.name)) continue;
    const double seconds = seconds_of([&] { part.run(options, stock, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All answers and motions were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_bullet", kUsage, argc, argv, read_options, run);
}
