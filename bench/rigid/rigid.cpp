// Promises of rigid worlds: nothing passes, momentum stays, and bodies bounce, slide, roll and spin
// as they should; scenes end as they should, and bodies are not deep in each other. A broken
// promise is exit code 1.
#include <string_view>

#include "rigid_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"throws", bench_throws},
                           {"balance", bench_balance},
                           {"references", bench_references},
                           {"scenes", bench_scenes}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("few throws, systems and scenes");
  reader.full("10,000 throws; scenes also in steps of 1 ms");
  reader.only(names_of(kParts));
  reader.number("--count", options.count, 1, 1'000'000, "throws");
  reader.number("--seed", options.seed, 0, 1'000'000'000, "of throws and systems (1)");
  reader.number("--first", options.first_throw, 0, 1'000'000, "throws begin with this one (0)");
  reader.text("--scene", "NAME", options.scene, "scenes whose name has this part, in all steps");
  reader.text("--engine", "isotact|bullet|hulls10|hulls50", options.engine,
              "scenes with this engine only");
  reader.flag("--check-steps", options.check_steps, "depths of scenes at every step");
  reader.number("--most-seconds", options.most_seconds, 1, 1e6,
                "a run of a scene that takes longer is stopped, and has failed (600)");
}

int run(const Options& options) {
  Report report("bench_rigid", options,
                {.peers = {"Bullet, as packaged"}, .how = "one thread, processor time"});
  report.json = {{"flags", report.flags()}, {"seed", options.seed}};
  run_parts(kParts, options, report);
  return report.finish("All promises were kept.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_rigid", argc, argv, name_options, run);
}
