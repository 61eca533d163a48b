// Worlds of bodies: XB14's Table 4 and its stability experiment, a nut on its bolt, and a pile that
// grows. One thread. Motions are checked in the run: a wrong one is exit code 1.
#include <algorithm>
#include <string_view>

#include "isotact/base/cpu.h"

#include "dynamics_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"table4", bench_table4},
                           {"stability", bench_stability},
                           {"nut", bench_nut},
                           {"pile", bench_pile}};

constexpr const char* kUsage =
    "usage: bench_dynamics [--json] [--quick] [--only NAME]... [--output FOLDER]\n"
    "  --quick          smaller fields, fewer frames, steps and bodies\n"
    "  --only NAME      a part: table4 stability nut pile; may be repeated\n"
    "  --output FOLDER  draws figure6.png and pile_cost.png there\n";

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
    } else if (word == "--output" && i + 1 < argc) {
      options.output = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  Report report("bench_dynamics", options.json);
  const std::string ours =
      fmt::format("{}, SIMD kernels: {}", ISOTACT_BENCH_FLAGS, name(simd_level()));
  report.print("ours: {}\none thread, processor time{}\n", ours,
               options.has_data() ? "" : "; no folder with data: procedural stand-ins");
  report.json = {{"flags", ours}, {"data", options.has_data()}};
  if (!options.output.empty()) std::filesystem::create_directories(options.output);
  for (const Part& part : kParts) {
    if (!is_chosen(options.only, part.name)) continue;
    const double seconds = seconds_of([&] { part.run(options, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All motions were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_dynamics", kUsage, argc, argv, read_options, run);
}
