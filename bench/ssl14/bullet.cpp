// The plug-in for Bullet against what Bullet has for concave bodies, and against FCL: SSL14's
// tables and figures. One thread, peers in the same run. Answers and motions are checked in the
// run: a wrong one is exit code 1; a time that misses its bound is said, no more.
#include <string_view>

#include <LinearMath/btScalar.h>

#include "bullet_report.h"
#include "xb14/swept_peer.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {
    {"drop", bench_drop},       {"pair", bench_pair},     {"truth", bench_truth},
    {"ball", bench_ball},       {"levels", bench_levels}, {"slow", bench_slow},
    {"figures", bench_figures}, {"roll", bench_roll},     {"stack", bench_stack},
    {"memory", bench_memory},   {"throws", bench_throws}, {"budget", bench_budget}};

std::string describe_peers() {
  return fmt::format("Bullet {} (single precision), packaged; {}", btGetVersion(), describe_fcl());
}

void name_options(OptionReader& reader, Options& options) {
  reader.quick("fewer rotations, repeats, poses, steps and throws");
  reader.folder("--plots", options.plots, "writes figures there, as .svg and .csv");
  reader.only(names_of(kParts));
  reader.number("--count", options.count, 1, 1'000'000, "throws (2000)");
  reader.number("--seed", options.seed, 0, 1'000'000'000, "of throws (1)");
}

int run(const Options& options) {
  const std::string peers = describe_peers();
  Report report("bench_bullet", options,
                {.peers = {peers}, .how = "one thread, times by the clock"});
  report.json = {{"flags", report.flags()}, {"peer", peers}, {"data", has_data()}};
  if (!options.plots.empty()) std::filesystem::create_directories(options.plots);
  Stock stock;
  run_parts(kParts, options, report, stock);
  return report.finish("All answers and motions were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_bullet", argc, argv, name_options, run);
}
