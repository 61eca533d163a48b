// Intersection fields (KGM) on the GPU and on the CPU: variants of the query, the paper's Table 1,
// truth against exact meshes, and the CPU's side beside FCL.
#include <algorithm>
#include <string_view>

#include "isotact/base/cpu.h"

#include "idf_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"table1", bench_table1},
                           {"kernels", bench_kernels},
                           {"cpu", bench_cpu},
                           {"truth", bench_truth}};

constexpr const char* kUsage =
    "usage: bench_idf [--json] [--quick] [--only NAME]...\n"
    "  --quick      small crowds, few steps\n"
    "  --only NAME  a part: table1 kernels cpu truth; may be repeated\n";

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
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  Report report("bench_idf", options.json);
  std::string why;
  const auto gpu = GpuContext::try_create(&why);
  const std::string device = gpu ? describe(gpu->info()) : "none: " + why;
  report.print("ours: {}, SIMD kernels: {}\nGPU: {}\n", ISOTACT_BENCH_FLAGS, name(simd_level()),
               device);
  report.json = {{"flags", ISOTACT_BENCH_FLAGS}, {"gpu", device}};
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
  return run_program("bench_idf", kUsage, argc, argv, read_options, run);
}
