// Intersection fields (KGM) on the GPU and on the CPU: variants of the query, the paper's Table 1,
// truth against exact meshes, and the CPU's side beside FCL.
#include <string_view>

#include "idf_fcl.h"
#include "idf_report.h"

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

void name_options(OptionReader& reader, Options&) {
  reader.quick("small crowds, few steps");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  std::string why;
  const auto gpu = GpuContext::try_create(&why);
  const std::string device = gpu ? describe(gpu->info()) : "none: " + why;
  Report report("bench_idf", options, {.peers = {describe_fcl_crowd()}, .gpu = device});
  report.json = {{"flags", report.flags()}, {"gpu", device}};
  run_parts(kParts, options, report);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_idf", argc, argv, name_options, run);
}
