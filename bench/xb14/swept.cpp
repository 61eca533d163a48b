// Swept shells against fields: XB14's Table 3, other motions, small steps, and FCL on the exact
// triangles. One thread, the same pairs of poses for all, medians of runs taken in turns. The tree
// must give what point by point gives, and times of contact are held against FCL's.
#include <string_view>

#include "swept_peer.h"
#include "swept_report.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {{"table3", bench_table3},
                           {"motions", bench_motions},
                           {"steps", bench_steps},
                           {"fcl", bench_fcl}};

void name_options(OptionReader& reader, Options&) {
  reader.quick("fields of 256 cells, fewer pairs");
  reader.full("all pairs point by point, more pairs by FCL; many minutes");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  Report report(
      "bench_swept", options,
      {.peers = {describe_fcl()},
       .how = fmt::format("fields of {} cells, one thread, processor time", options.resolution())});
  report.json = {
      {"flags", report.flags()}, {"peer", describe_fcl()}, {"resolution", options.resolution()}};
  Stock stock(options);
  run_parts(kParts, options, report, stock);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_swept", argc, argv, name_options, run);
}
