// Answers against exact ones: FCL on the triangles, and the CPU's side against the GPU's.
#include <algorithm>
#include <cmath>
#include <optional>

#include "isotact/base/random.h"
#include "isotact/field/build/build_nodes.h"

#include "idf_fcl.h"
#include "idf_report.h"

namespace isotact::bench {
namespace {

constexpr int kCells = 64;

// Pairs side by side, far from all others: any two shapes, turned at random, near enough that their
// boxes meet.
Crowd make_pairs(std::size_t count) {
  Crowd crowd{.meshes = make_stock(2000), .margin = 0.002};
  for (const TriangleMesh& mesh : crowd.meshes)
    crowd.shapes.emplace_back(build_texels(mesh, {.cells = kCells - 4}));
  Random random(2021);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 place{10.0 * static_cast<double>(i % 100), 10.0 * static_cast<double>(i / 100), 0};
    const auto shapes = static_cast<std::uint32_t>(crowd.shapes.size());
    const Vec3 apart = random.unit_vector() * random.uniform(0.3, 2.4);
    const auto first = static_cast<std::uint32_t>(crowd.bodies.size());
    crowd.bodies.push_back({random.below(shapes), {random.rotation(), place}});
    crowd.bodies.push_back({random.below(shapes), {random.rotation(), place + apart}});
    crowd.pairs.push_back({first, first + 1});
  }
  return crowd;
}

// The largest ball in what two bodies have in common, by their fields at 64^3 places: its radius,
// or less than zero where there is none.
double find_ball(const Crowd& crowd, const IdfPair& pair) {
  const IdfBody &a = crowd.bodies[pair.a], &b = crowd.bodies[pair.b];
  const auto texels = [&](const IdfBody& body) -> const FieldTexels& {
    return *std::get<std::shared_ptr<const FieldTexels>>(crowd.shapes[body.shape].solid());
  };
  const Pose a_from_world = inverse(a.world_from_body), b_from_world = inverse(b.world_from_body);
  const Vec3 middle = (a.world_from_body.translation + b.world_from_body.translation) * 0.5;
  constexpr int kSteps = 96;
  constexpr double kReach = 2.2;
  double best = -1e9;
  for (int i = 0; i < kSteps * kSteps * kSteps; ++i) {
    const auto place = [](int k) { return kReach * (2 * (k + 0.5) / kSteps - 1); };
    const Vec3 p =
        middle + Vec3{place(i % kSteps), place(i / kSteps % kSteps), place(i / (kSteps * kSteps))};
    const float fa = sample(texels(a), to_float(transform_point(a_from_world, p))).distance;
    if (static_cast<double>(-fa) <= best) continue;
    const float fb = sample(texels(b), to_float(transform_point(b_from_world, p))).distance;
    best = std::max(best, static_cast<double>(-std::max(fa, fb)));
  }
  return best;
}

struct Tally {
  std::size_t both = 0, neither = 0, missed = 0, more = 0, within_margin = 0, inside = 0;
  double largest_missed = -1e9, farthest = 0;
};

Tally hold_against_fcl(const Crowd& crowd, const FclCrowd& fcl, const std::vector<bool>& meets,
                       const IdfResult& ours) {
  Tally t;
  for (std::size_t i = 0; i < crowd.pairs.size(); ++i) {
    const bool found = ours.arrived[i] > 0;
    if (found == meets[i]) {
      ++(found ? t.both : t.neither);
    } else if (meets[i]) {
      ++t.missed;
      t.largest_missed = std::max(t.largest_missed, find_ball(crowd, crowd.pairs[i]));
    } else {
      ++t.more;
      const double gap =
          fcl.distance(crowd.bodies[crowd.pairs[i].a], crowd.bodies[crowd.pairs[i].b]);
      const bool deep = ours.contacts[ours.first_contact[i]].depth > 0.1;
      ++(deep ? t.inside : t.within_margin);  // one body within the other: no triangles meet
      if (!deep) t.farthest = std::max(t.farthest, gap);
    }
  }
  return t;
}

// Contacts of the same particle, and the deepest ones, as far as they are apart.
void hold_against_gpu(const Crowd& crowd, const IdfResult& cpu, const IdfResult& gpu, double cell,
                      const std::string& of, std::vector<std::vector<Cell>>& rows, Report& report) {
  std::size_t other_pairs = 0, counts = 0, compared = 0, far = 0;
  double deepest = 0;
  std::uint64_t all = 0, differing = 0;
  for (std::size_t i = 0; i < crowd.pairs.size(); ++i) {
    other_pairs += (cpu.arrived[i] > 0) != (gpu.arrived[i] > 0) ? 1U : 0U;
    const std::uint32_t most = std::max(cpu.arrived[i], gpu.arrived[i]);
    const std::uint32_t least = std::min(cpu.arrived[i], gpu.arrived[i]);
    all += most;
    differing += most - least;
    counts += most - least > 2 + most / 50 ? 1U : 0U;
    if (least == 0) continue;
    deepest = std::max(deepest, std::abs(cpu.contacts[cpu.first_contact[i]].depth -
                                         gpu.contacts[gpu.first_contact[i]].depth));
    for (std::uint32_t g = gpu.first_contact[i]; g < gpu.first_contact[i + 1]; ++g)
      for (std::uint32_t c = cpu.first_contact[i]; c < cpu.first_contact[i + 1]; ++c) {
        const Contact &x = gpu.contacts[g], &y = cpu.contacts[c];
        if (x.point != y.point) continue;
        ++compared;
        far +=
            length(x.position - y.position) > 0.5 * cell || std::abs(x.depth - y.depth) > 0.1 * cell
                ? 1U
                : 0U;
      }
  }
  const double differing_part =
      static_cast<double>(differing) / static_cast<double>(std::max<std::uint64_t>(all, 1));
  rows.push_back({of, other_pairs, counts, 100 * differing_part, compared, far, deepest / cell});
  report.check(other_pairs <= crowd.pairs.size() / 2000,
               "CPU and GPU find the same pairs, but for one in 2,000", of);
  report.check(counts <= crowd.pairs.size() / 500,
               "CPU and GPU count alike, but for one pair in 500", of);
  report.check(far <= compared / 500, "CPU and GPU find the same contacts, but for one in 500", of);
  report.json["truth"]["gpu"] = {{"other_pairs", other_pairs},
                                 {"other_counts", counts},
                                 {"compared", compared},
                                 {"far", far},
                                 {"deepest_difference_cells", deepest / cell}};
}

}  // namespace

void bench_truth(const Options& options, Report& report) {
  const std::size_t count = options.quick ? 500 : 10000;
  const Crowd crowd = make_pairs(count);
  const double cell = 2.4 / (kCells - 4);
  Table table =
      report.table({.id = "truth",
                    .title = fmt::format("{} random pairs against their exact triangles", count),
                    .columns = {{"search", Of::kKey},
                                {"both collide", Of::kOurs},
                                {"neither", Of::kOurs},
                                {"FCL alone", Of::kPeer},
                                {"largest ball in common that was missed", Of::kOurs, "cells", 2},
                                {"ours alone", Of::kOurs},
                                {"of them inside another", Of::kOurs},
                                {"of them with a gap", Of::kOurs},
                                {"widest gap", Of::kOurs, "cells", 2}},
                    .note = fmt::format("Fields of {} cells ({:.3f} m), margin {} m.", kCells, cell,
                                        crowd.margin)});
  std::vector<std::vector<Cell>> of_gpu;
  const FclCrowd fcl(crowd.meshes);
  std::vector<bool> meets(count);
  for (std::size_t i = 0; i < count; ++i)
    meets[i] = fcl.collide(crowd.bodies[2 * i], crowd.bodies[2 * i + 1], 1, false) > 0;
  std::string why;
  const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
  std::optional<GpuIntersectionQuery> query;
  if (gpu) query.emplace(*gpu, crowd.shapes);
  struct Case {
    std::string name;
    IdfSettings settings;
  };
  for (const Case& c :
       {Case{"N = 10, KGM", {.samples = 10, .search = IdfSearch::kPaper}},
        Case{"N = 20, KGM", {.samples = 20, .search = IdfSearch::kPaper}},
        Case{"N = 10, cells", {.samples = 10}}, Case{"N = 20, cells", {.samples = 20}},
        Case{"N = 10, down to one cell", {.samples = 10, .resolution = cell}},
        Case{"N = 10, to a quarter", {.samples = 10, .resolution = cell / 4}}}) {
    const bool slow = c.settings.search == IdfSearch::kPaper && (!gpu || gpu->info().software);
    if (slow && count > 500) continue;  // minutes in software
    IdfSettings settings = c.settings;
    settings.margin = crowd.margin;
    settings.max_contacts = 8;
    IdfScratch scratch, gpu_state;
    IdfResult ours, theirs;
    if (!slow || count <= 500)
      intersect_fields(crowd.shapes, crowd.bodies, crowd.pairs, settings, ours, scratch);
    const Tally t = hold_against_fcl(crowd, fcl, meets, ours);
    table.row({c.name, t.both, t.neither, t.missed, std::max(0.0, t.largest_missed) / cell, t.more,
               t.inside, t.within_margin, t.farthest / cell});
    const bool is_promised = settings.resolution > 0;
    if (is_promised)
      report.check(t.largest_missed <= std::max(settings.resolution, cell),
                   "no overlap larger than the resolution is missed", c.name);
    report.check(t.farthest < crowd.margin + cell,
                 "nothing is in contact that is further apart than margin and a cell", c.name);
    report.json["truth"][c.name] = {{"both", t.both},
                                    {"neither", t.neither},
                                    {"missed", t.missed},
                                    {"largest_missed_cells", t.largest_missed / cell},
                                    {"more", t.more}};
    if (!query || c.settings.search == IdfSearch::kPaper) continue;
    query->run(crowd.bodies, crowd.pairs, settings, theirs, gpu_state);
    hold_against_gpu(crowd, ours, theirs, cell, c.name, of_gpu, report);
  }
  Table twins =
      report.table({.id = "truth-gpu",
                    .title = "The CPU against the GPU on the same pairs",
                    .columns = {{"search", Of::kKey},
                                {"pairs with another answer", Of::kOurs},
                                {"counts further apart than 2 + 2 %", Of::kOurs},
                                {"counts differ in all", Of::kOurs, "%", 3},
                                {"contacts of the same particle", Of::kOurs},
                                {"of them half a cell or a tenth in depth apart", Of::kOurs},
                                {"deepest contacts differ at most", Of::kOurs, "cells", 4}}});
  for (const auto& row : of_gpu) twins.row(row);
  if (!gpu) report.note("No GPU: " + why);
}

}  // namespace isotact::bench
