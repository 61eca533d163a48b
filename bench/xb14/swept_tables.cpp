// XB14's Table 3, the other motion models, and small steps.
#include <algorithm>

#include "support/measure.h"
#include "swept_report.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kAtOnce = 16;
constexpr double kPaperPairs = 1000;

double as_double(std::size_t n) { return static_cast<double>(n); }

template <typename Visit>
void trace_in_parts(const SweptTracer& tracer, const PointSphereTree& tree,
                    std::span<const ShellMotion> motions, SweptResults& results, Visit&& visit) {
  for (std::size_t first = 0; first < motions.size(); first += kAtOnce) {
    const auto part = motions.subspan(first, std::min(kAtOnce, motions.size() - first));
    tracer.trace(tree, part, results);
    visit(part);
  }
}

bool are_equal(const SweptResults& a, const SweptResults& b) {
  if (a.motions.size() != b.motions.size() || a.hits.size() != b.hits.size()) return false;
  for (std::size_t i = 0; i < a.motions.size(); ++i)
    if (a.motions[i].time != b.motions[i].time || a.motions[i].point != b.motions[i].point ||
        a.motions[i].hit_count != b.motions[i].hit_count)
      return false;
  for (std::size_t i = 0; i < a.hits.size(); ++i)
    if (a.hits[i].point != b.hits[i].point || a.hits[i].interval_count != b.hits[i].interval_count)
      return false;
  return a.intervals == b.intervals;
}

struct Row {
  double linear = 0, tree = 0, first = 0, any = 0;  // seconds a pair
  std::size_t linear_pairs = 0;
  Traced traced{}, traced_first{};
};

// A tenth of the pairs is held against each other where all would take too long.
Row measure(const Shell& shell, std::span<const ShellMotion> motions, std::size_t linear_pairs,
            Report& report) {
  const Tracers tracers(shell.body->field);
  Row row;
  row.linear_pairs = std::min(linear_pairs, motions.size());
  const std::size_t checked =
      row.linear_pairs < motions.size() ? motions.size() / 10 : motions.size();
  check_answers(tracers, shell, motions.first(std::max(checked, row.linear_pairs)),
                row.linear_pairs, report);
  const std::vector<Seconds> times = medians_of(
      {{.work = [&] { trace_all(tracers.linear, shell.tree, motions.first(row.linear_pairs)); },
        .max_runs = 3},
       {.work = [&] { row.traced = trace_all(tracers.tree, shell.tree, motions); }},
       {.work = [&] { row.traced_first = trace_all(tracers.first, shell.tree, motions); }},
       {.work = [&] { trace_all(tracers.any, shell.tree, motions); }}});
  row.linear = times[0].processor / as_double(row.linear_pairs);
  row.tree = times[1].processor / as_double(motions.size());
  row.first = times[2].processor / as_double(motions.size());
  row.any = times[3].processor / as_double(motions.size());
  return row;
}

Json to_json(const Shell& shell, const Row& row, std::size_t pairs) {
  const double n = as_double(pairs);
  return {{"model", shell.name},
          {"how", shell.how},
          {"points", shell.tree.point_count()},
          {"pairs", pairs},
          {"linear_pairs", row.linear_pairs},
          {"linear_seconds_a_pair", row.linear},
          {"tree_seconds_a_pair", row.tree},
          {"first_seconds_a_pair", row.first},
          {"any_seconds_a_pair", row.any},
          {"ratio", row.linear / row.tree},
          {"spheres_a_pair", as_double(row.traced.work.spheres) / n},
          {"points_a_pair", as_double(row.traced.work.points) / n},
          {"segments_a_pair", as_double(row.traced.work.segments) / n},
          {"hit_points_a_pair", as_double(row.traced.hit_points) / n},
          {"hit_pairs", as_double(row.traced.hit_motions) / n},
          {"first_spheres_a_pair", as_double(row.traced_first.work.spheres) / n},
          {"first_segments_a_pair", as_double(row.traced_first.work.segments) / n}};
}

// Behind the times of a table: what was looked at, a pair or step.
std::vector<Column> with_looked_at(std::vector<Column> columns) {
  columns.insert(columns.end(), {{"spheres", Of::kOurs, "", 0},
                                 {"points", Of::kOurs, "", 0},
                                 {"segments", Of::kOurs, "", 0},
                                 {"points that hit", Of::kOurs, "", 0},
                                 {"pairs that hit", Of::kOurs, "%", 1},
                                 {"first: looked at", Of::kOurs, "", 0},
                                 {"first: traced", Of::kOurs, "", 1}});
  return columns;
}

void add_looked_at(const Row& row, std::size_t pairs, std::vector<Cell>& cells) {
  const double n = as_double(pairs);
  const auto& c = row.traced.work;
  const auto& first = row.traced_first.work;
  cells.insert(cells.end(),
               {as_double(c.spheres) / n, as_double(c.points) / n, as_double(c.segments) / n,
                as_double(row.traced.hit_points) / n, 100 * as_double(row.traced.hit_motions) / n,
                as_double(first.spheres + first.points) / n, as_double(first.segments) / n});
}

}  // namespace

Tracers::Tracers(const BrickField& field, double margin)
    : tree(field, {.margin = margin, .threads = {1}}),
      linear(field, {.margin = margin, .traversal = ShellTraversal::kLinear, .threads = {1}}),
      first(field, {.margin = margin, .mode = Mode::kFirst, .threads = {1}}),
      any(field, {.margin = margin, .mode = Mode::kAny, .threads = {1}}) {}

Traced trace_all(const SweptTracer& tracer, const PointSphereTree& tree,
                 std::span<const ShellMotion> motions) {
  Traced traced;
  SweptResults results;
  trace_in_parts(tracer, tree, motions, results, [&](std::span<const ShellMotion>) {
    traced.hit_points += results.hits.size();
    for (const SweptMotionResult& summary : results.motions) {
      traced.work += summary.work;
      traced.hit_motions += summary.point != kNoPoint ? 1U : 0U;
    }
  });
  return traced;
}

void check_answers(const Tracers& tracers, const Shell& shell, std::span<const ShellMotion> motions,
                   std::size_t compared, Report& report) {
  SweptResults tree, other, any;
  std::size_t different = 0, different_first = 0, different_any = 0;
  trace_in_parts(tracers.linear, shell.tree, motions.first(compared), other,
                 [&](std::span<const ShellMotion> part) {
                   tracers.tree.trace(shell.tree, part, tree);
                   different += are_equal(tree, other) ? 0U : 1U;
                 });
  trace_in_parts(tracers.first, shell.tree, motions, other, [&](std::span<const ShellMotion> part) {
    tracers.tree.trace(shell.tree, part, tree);
    tracers.any.trace(shell.tree, part, any);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const SweptMotionResult &all = tree.motions[i], &first = other.motions[i];
      if (all.time != first.time || all.point != first.point) ++different_first;
      if ((all.point == kNoPoint) != (any.motions[i].point == kNoPoint)) ++different_any;
    }
  });
  const std::string what = fmt::format("{}, {} points", shell.name, shell.tree.point_count());
  report.check(different == 0, "the tree's hits and intervals are those of point by point", what);
  report.check(different_first == 0, "the first contact is the first of all", what);
  report.check(different_any == 0, "any contact is found where there is one, and only there", what);
}

void bench_table3(const Options& options, Stock& stock, Report& report) {
  const std::size_t pairs = options.quick ? 200 : 1000;
  Table table = report.table(
      {.id = "table3",
       .paper = "XB14",
       .place = "Table 3",
       .title = "1,000 pairs of random poses in the threefold box: seconds",
       .columns = with_looked_at({{"model", Of::kKey},
                                  {"points", Of::kKey},
                                  {"linear", Of::kPaper, "s", 1},
                                  {"hierarchy", Of::kPaper, "s", 1},
                                  {"ratio", Of::kPaper, "", 1},
                                  {"linear", Of::kOurs, "s"},
                                  {"tree", Of::kOurs, "s"},
                                  {"ratio", Of::kOurs, "", 1},
                                  {"first contact", Of::kOurs, "s"},
                                  {"ratio", Of::kOurs, "", 1},
                                  {"any contact", Of::kOurs, "s"}}),
       .note = fmt::format("From {} pairs; linear of the dragon from fewer unless --full is given. "
                           "The last columns: what the tree looks at, a pair.",
                           pairs)});
  Json rows = Json::array();
  for (const Shell* shell :
       {&stock.bunny_777(), &stock.bunny_35947(), &stock.bowl(), &stock.dragon()}) {
    const std::vector<ShellMotion> motions = make_random_pairs(*shell, pairs);
    const bool is_large = shell->tree.point_count() > 100'000;
    const std::size_t linear_pairs = is_large && !options.full ? (options.quick ? 10 : 40) : pairs;
    const Row row = measure(*shell, motions, linear_pairs, report);
    const bool in_paper = shell->paper_tree > 0;
    std::vector<Cell> cells{shell->name,
                            shell->tree.point_count(),
                            cell_if(in_paper, shell->paper_linear),
                            cell_if(in_paper, shell->paper_tree),
                            cell_if(in_paper, shell->paper_linear / shell->paper_tree),
                            row.linear * kPaperPairs,
                            row.tree * kPaperPairs,
                            row.linear / row.tree,
                            row.first * kPaperPairs,
                            row.linear / row.first,
                            row.any * kPaperPairs};
    add_looked_at(row, pairs, cells);
    table.row(cells);
    rows.push_back(to_json(*shell, row, pairs));
  }
  report.json["table3"] = rows;
  std::string shells = "Shells:";
  for (const Shell* shell :
       {&stock.bunny_777(), &stock.bunny_35947(), &stock.bowl(), &stock.dragon()})
    shells += fmt::format(" {} {}: {}, covering radius {:.1f} cells;", shell->name,
                          shell->tree.point_count(), shell->how,
                          shell->tree.covering_radius() / shell->body->field.voxel_size());
  shells.back() = '.';
  report.note(shells);
}

void bench_motions(const Options& options, Stock& stock, Report& report) {
  const Shell& shell = stock.bunny_35947();
  const std::size_t pairs = options.full ? 1000 : options.quick ? 50 : 200;
  const std::vector<ShellMotion> straight = make_random_pairs(shell, pairs);
  const Tracers tracers(shell.body->field);
  constexpr MotionModel kModels[] = {MotionModel::kStraight, MotionModel::kConstantRates,
                                     MotionModel::kScrew, MotionModel::kPolynomial};
  std::vector<std::vector<ShellMotion>> motions;
  std::vector<Traced> traced(std::size(kModels));
  std::vector<Contender> contenders;
  for (const MotionModel model : kModels) motions.push_back(with_model(straight, model));
  for (std::size_t i = 0; i < motions.size(); ++i) {
    check_answers(tracers, shell, std::span(motions[i]).first(pairs / 5), options.full ? 16 : 4,
                  report);
    contenders.push_back(
        {.work = [&, i] { traced[i] = trace_all(tracers.tree, shell.tree, motions[i]); }});
    contenders.push_back({.work = [&, i] { trace_all(tracers.first, shell.tree, motions[i]); }});
  }
  const std::vector<Seconds> times = medians_of(contenders);
  Table table = report.table(
      {.id = "motions",
       .title = fmt::format("Motions between the same {} pairs of poses, bunny of {} points", pairs,
                            shell.tree.point_count()),
       .columns = {{"motion", Of::kKey},
                   {"all points", Of::kOurs, "us", 1},
                   {"first contact", Of::kOurs, "us", 1},
                   {"all points over straight", Of::kOurs, "times", 2},
                   {"first contact over straight", Of::kOurs, "times", 2},
                   {"spheres", Of::kOurs, "", 0},
                   {"segments", Of::kOurs, "", 0},
                   {"points that hit", Of::kOurs, "", 0},
                   {"pairs that hit", Of::kOurs, "%", 1}},
       .note = "Microseconds a pair."});
  Json rows = Json::array();
  for (std::size_t i = 0; i < motions.size(); ++i) {
    const double n = as_double(pairs);
    const double all = times[2 * i].processor / n, first = times[2 * i + 1].processor / n;
    table.row({std::string(name(kModels[i])), all * 1e6, first * 1e6,
               times[2 * i].processor / times[0].processor,
               times[2 * i + 1].processor / times[1].processor,
               as_double(traced[i].work.spheres) / n, as_double(traced[i].work.segments) / n,
               as_double(traced[i].hit_points) / n, 100 * as_double(traced[i].hit_motions) / n});
    rows.push_back({{"motion", name(kModels[i])},
                    {"all_seconds_a_pair", all},
                    {"first_seconds_a_pair", first},
                    {"spheres_a_pair", as_double(traced[i].work.spheres) / n},
                    {"segments_a_pair", as_double(traced[i].work.segments) / n}});
  }
  report.json["motions"] = rows;
}

void bench_steps(const Options& options, Stock& stock, Report& report) {
  Table table =
      report.table({.id = "steps",
                    .title = "Small steps near contact, as in a simulation: microseconds a step",
                    .columns = with_looked_at({{"model", Of::kKey},
                                               {"points", Of::kKey},
                                               {"motion", Of::kKey},
                                               {"linear", Of::kOurs, "us"},
                                               {"tree", Of::kOurs, "us"},
                                               {"ratio", Of::kOurs, "", 1},
                                               {"first contact", Of::kOurs, "us"},
                                               {"ratio", Of::kOurs, "", 1},
                                               {"any contact", Of::kOurs, "us"}})});
  Json rows = Json::array();
  const std::size_t steps = options.quick ? 100 : 500;
  for (const Shell* shell : {&stock.bunny_777(), &stock.bunny_35947(), &stock.dragon()}) {
    const std::vector<ShellMotion> straight = make_small_steps(*shell, steps);
    for (const MotionModel model : {MotionModel::kStraight, MotionModel::kConstantRates}) {
      const std::vector<ShellMotion> motions = with_model(straight, model);
      const bool is_large = shell->tree.point_count() > 100'000;
      const Row row = measure(*shell, motions, is_large && !options.full ? 20 : steps, report);
      std::vector<Cell> cells{shell->name,
                              shell->tree.point_count(),
                              std::string(name(model)),
                              row.linear * 1e6,
                              row.tree * 1e6,
                              row.linear / row.tree,
                              row.first * 1e6,
                              row.linear / row.first,
                              row.any * 1e6};
      add_looked_at(row, steps, cells);
      table.row(cells);
      Json entry = to_json(*shell, row, steps);
      entry["motion"] = name(model);
      rows.push_back(entry);
    }
  }
  report.json["steps"] = rows;
}

}  // namespace isotact::bench
