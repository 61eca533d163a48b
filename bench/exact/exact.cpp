// Exact answers between triangles: distances, depths and first contacts beside FCL, and all of them
// beside the truth; certificates of motions.
#include <string_view>

#include "exact_fcl.h"
#include "exact_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"distance", bench_distance},
                           {"threshold", bench_threshold},
                           {"depth", bench_depth},
                           {"any", bench_any},
                           {"truth", bench_truth},
                           {"motion", bench_motion},
                           {"motion-queries", bench_motion_queries},
                           {"motion-times", bench_motion_times},
                           {"certify", bench_certify}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("few poses, coarse fields");
  reader.full(
      "20,000 poses in the truth part, 2,000 motions in the motion part, 10,000 in the certify "
      "part");
  reader.only(names_of(kParts));
  reader.number("--poses", options.poses, 1, 1'000'000,
                "poses or motions per group that are timed");
  reader.number("--count", options.count, 1, 1'000'000,
                "poses of the truth part, motions of the motion and certify parts");
  reader.number("--seed", options.seed, 0, 1'000'000'000,
                "of the truth, motion and certify parts (1)");
}

int run(const Options& options) {
  Report report("bench_exact", options,
                {.peers = {describe_fcl_meshes()}, .how = "one thread, by the clock"});
  report.json = {{"flags", report.flags()}};
  run_parts(kParts, options, report);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_exact", argc, argv, name_options, run);
}
