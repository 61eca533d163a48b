// Bodies that bend (MDL06): finding who may touch, and what it costs.
#include <string_view>

#include "broad_peers.h"
#include "deformable_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"broad", bench_broad}, {"narrow", bench_narrow},
                           {"ccd", bench_ccd},     {"table1", bench_table1},
                           {"cost", bench_cost},   {"truth", bench_truth}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("small scenes, few steps");
  reader.only(names_of(kParts));
  reader.folder("--output", options.output, "plots of costs there, as .svg and .csv");
  reader.folder("--scenes", options.scenes, "truth: scenes of this folder");
  reader.text("--scene", "TEXT", options.scene, "truth: scenes whose names contain TEXT");
  reader.number("--steps", options.most_steps, 1, 1'000'000, "truth: at most so many of a scene");
  reader.number("--threads", options.threads, 0, 256, "truth: threads of a run");
  reader.flag("--verbose", options.verbose, "truth: print each bad step");
}

int run(const Options& options) {
  Report report("bench_deformable", options,
                {.peers = {describe_broad_peers()}, .how = "processor time"});
  report.json = {{"flags", report.flags()}};
  if (!options.output.empty()) std::filesystem::create_directories(options.output);
  run_parts(kParts, options, report);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_deformable", argc, argv, name_options, run);
}
