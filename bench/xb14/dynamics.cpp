// Worlds of bodies: XB14's Table 4, its stability experiment and its choices, a nut on its bolt, and a pile that
// grows. One thread. Motions are checked in the run: a wrong one is exit code 1.
#include <string_view>

#include "dynamics_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"table4", bench_table4},
                           {"stability", bench_stability},
                           {"choices", bench_choices},
                           {"nut", bench_nut},
                           {"patches", bench_patches},
                           {"pile", bench_pile}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("smaller fields, fewer frames, steps and bodies");
  reader.folder("--output", options.output, "draws figure6.png and pile_cost.png there");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  Report report("bench_dynamics", options, {.how = "one thread, processor time"});
  report.json = {{"flags", report.flags()}, {"data", has_data()}};
  if (!options.output.empty()) std::filesystem::create_directories(options.output);
  run_parts(kParts, options, report);
  return report.finish("All motions were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_dynamics", argc, argv, name_options, run);
}
