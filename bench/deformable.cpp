// Bodies that bend (MDL06): finding who may touch, and what it costs.
#include <algorithm>
#include <string_view>

#include "isotact/base/cpu.h"

#include "deformable_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"broad", bench_broad},
                           {"narrow", bench_narrow},
                           {"ccd", bench_ccd},
                           {"table1", bench_table1},
                           {"cost", bench_cost}};

constexpr const char* kUsage =
    "usage: bench_deformable [--json] [--quick] [--only NAME]... [--output FOLDER]\n"
    "  --quick      small scenes, few steps\n"
    "  --only NAME  a part: broad narrow ccd table1 cost; may be repeated\n"
    "  --output FOLDER  plots of costs there, as .svg and .csv\n";

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
  Report report("bench_deformable", options.json);
  report.print("ours: {}, SIMD kernels: {}\n", ISOTACT_BENCH_FLAGS, name(simd_level()));
  report.json = {{"flags", ISOTACT_BENCH_FLAGS}};
  if (!options.output.empty()) std::filesystem::create_directories(options.output);
  for (const Part& part : kParts) {
    if (!is_chosen(options.only, part.name)) continue;
    const double seconds = seconds_of([&] { part.run(options, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_deformable", kUsage, argc, argv, read_options, run);
}
