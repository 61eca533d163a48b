// Promises of rigid worlds: nothing passes, momentum stays, and bodies bounce, slide, roll and spin
// as they should. A broken promise is exit code 1.
#include <string_view>

#include "rigid_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {
    {"throws", bench_throws}, {"balance", bench_balance}, {"references", bench_references}};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("few throws and systems");
  reader.full("10,000 throws");
  reader.only(names_of(kParts));
  reader.number("--count", options.count, 1, 1'000'000, "throws");
  reader.number("--seed", options.seed, 0, 1'000'000'000, "of throws and systems (1)");
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
