// Image-space detection (FAB) beside FCL: the paper's Table 1, what detection costs beside drawing,
// and particles.
#include <string_view>

#include "depth_report.h"
#include "kgm/idf_fcl.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, const GpuContext&, Report&);
};
constexpr Part kParts[] = {{"tunnel", bench_tunnel}, {"city", bench_city}, {"fire", bench_fire}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("few frames");
  reader.number("--pixels", options.pixels, 16, 4096,
                "a side of the tunnel's maps (512; on software 256)");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  const GpuContext gpu = GpuContext::create();
  const std::string device = describe(gpu.info());
  Report report("bench_depth", options,
                {.peers = {describe_fcl_crowd() + ", one thread"}, .gpu = device});
  report.json = {{"flags", report.flags()}, {"gpu", device}};
  run_parts(kParts, options, report, gpu);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_depth", argc, argv, name_options, run);
}
