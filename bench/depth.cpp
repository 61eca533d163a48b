// Image-space detection (FAB) beside FCL: the paper's Table 1, what detection costs beside drawing,
// and particles.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "isotact/base/cpu.h"

#include "depth_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, const GpuContext&, Report&);
};
constexpr Part kParts[] = {{"tunnel", bench_tunnel}, {"city", bench_city}, {"fire", bench_fire}};

constexpr const char* kUsage =
    "usage: bench_depth [--json] [--quick] [--pixels N] [--only NAME]...\n"
    "  --quick      few frames\n"
    "  --pixels N   a side of the tunnel's maps (512; on software 256)\n"
    "  --only NAME  a part: tunnel city fire; may be repeated\n";

bool is_part(std::string_view name) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [name](const Part& part) { return part.name == name; });
}

bool read_pixels(std::string_view text, int& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value >= 16 && value <= 4096;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--pixels" && i + 1 < argc && read_pixels(argv[i + 1], options.pixels)) {
      ++i;
    } else if (word == "--only" && i + 1 < argc && is_part(argv[i + 1])) {
      options.only.emplace_back(argv[++i]);
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  Report report("bench_depth", options.json);
  const GpuContext gpu = GpuContext::create();
  const std::string device = describe(gpu.info());
  report.print("ours: {}, SIMD kernels: {}\nGPU: {}\n", ISOTACT_BENCH_FLAGS, name(simd_level()),
               device);
  report.json = {{"flags", ISOTACT_BENCH_FLAGS}, {"gpu", device}};
  for (const Part& part : kParts) {
    if (!is_chosen(options.only, part.name)) continue;
    const double seconds = seconds_of([&] { part.run(options, gpu, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_depth", kUsage, argc, argv, read_options, run);
}
