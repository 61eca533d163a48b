// The CPU's side of intersection fields beside FCL's collide, on the same pairs and threads.
#include <atomic>

#include "idf_fcl.h"
#include "idf_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

std::size_t collide_all(const FclCrowd& fcl, const Crowd& crowd, std::size_t contacts,
                        int threads) {
  std::atomic<std::size_t> colliding = 0;
  parallel_for(crowd.pairs.size(), 4, Threads{threads}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      colliding += fcl.collide(crowd.bodies[crowd.pairs[i].a], crowd.bodies[crowd.pairs[i].b],
                               contacts, contacts > 1) > 0
                       ? 1U
                       : 0U;
  });
  return colliding;
}

}  // namespace

void bench_cpu(const Options& options, Report& report) {
  constexpr int kThreads = 2;
  Table out = report.table(
      {.id = "cpu",
       .title = fmt::format("Intersection fields on the CPU beside FCL, {} threads", kThreads),
       .columns = {{"crowd", Of::kKey},
                   {"bodies", Of::kKey},
                   {"pairs", Of::kKey},
                   {"way", Of::kKey},
                   {"all pairs", Of::kOurs, "ms"},
                   {"a pair", Of::kOurs, "us"},
                   {"over ours, N = 20", Of::kOurs, "times", 2},
                   {"pairs that collide", Of::kOurs}},
       .note = "Pairs with common boxes, meshes of 20,000 triangles and more, by the clock. FCL's "
               "8 contacts are the first it comes across; ours are the deepest."});
  Json rows = Json::array();
  for (const std::uint64_t seed : {1U, 2U}) {
    const std::size_t pairs = options.quick ? 100 : 1120;
    const Crowd crowd = make_crowd(make_stock(20000), 64, pairs / 3, pairs, seed);
    const FclCrowd fcl(crowd.meshes);
    IdfScratch scratch;
    IdfResult ours;
    std::size_t colliding = 0;
    const auto run = [&](int samples, double resolution, bool any = false) {
      intersect_fields(crowd.shapes, crowd.bodies, crowd.pairs,
                       {.samples = samples,
                        .margin = crowd.margin,
                        .resolution = resolution,
                        .max_contacts = 8,
                        .any_contact = any,
                        .threads = {kThreads}},
                       ours, scratch);
    };
    struct Row {
      std::string name;
      std::function<void()> work;
      bool is_fcl;
    };
    const std::vector<Row> table = {
        {"ours, N = 20, 8 deepest", [&] { run(20, 0); }, false},
        {"ours, N = 10, 8 deepest", [&] { run(10, 0); }, false},
        {"ours, N = 20, down to 0.01 m", [&] { run(20, 0.01); }, false},
        {"ours, N = 20, whether they meet", [&] { run(20, 0, true); }, false},
        {"FCL, whether they meet", [&] { colliding = collide_all(fcl, crowd, 1, kThreads); }, true},
        {"FCL, 8 contacts", [&] { colliding = collide_all(fcl, crowd, 8, kThreads); }, true},
        {"FCL, 1000 contacts", [&] { colliding = collide_all(fcl, crowd, 1000, kThreads); }, true}};
    std::vector<Contender> contenders;
    for (const Row& row : table) contenders.push_back({.work = row.work, .max_runs = 5});
    const std::vector<Seconds> times = medians_of(contenders);
    const double best = times[0].wall;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i].work();
      const std::size_t found = table[i].is_fcl ? colliding : count_colliding(ours);
      out.row({static_cast<int>(seed), crowd.bodies.size(), crowd.pairs.size(), table[i].name,
               times[i].wall * 1e3, times[i].wall * 1e6 / static_cast<double>(crowd.pairs.size()),
               times[i].wall / best, found},
              table[i].is_fcl ? Of::kPeer : Of::kOurs);
      rows.push_back({{"crowd", seed},
                      {"row", table[i].name},
                      {"ms", times[i].wall * 1e3},
                      {"colliding", found}});
    }
    report.aim(
        times[1].wall < times[5].wall,
        fmt::format("crowd {}: 8 deepest contacts with N = 10 in less time than FCL's 8", seed));
  }
  report.json["cpu"] = rows;
}

}  // namespace isotact::bench
