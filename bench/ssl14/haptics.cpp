// Force queries in a haptics loop of 1 kHz: recorded hands, virtual coupling, full pointshells,
// with and without a time budget. One thread. Answers are checked in the run: a wrong one is exit
// code 1.
#include <algorithm>
#include <cmath>

#include "isotact/base/file.h"

#include "haptics_report.h"

namespace isotact::bench {
namespace {

constexpr double kLimit = 1000;  // microseconds: a millisecond

void name_options(OptionReader& reader, Options& options) {
  reader.quick("smaller fields and shells");
  reader.flag("--fast", options.fast, "queries one after the other, not one each millisecond");
  reader.number("--budget", options.budget, 1e-3, 1e6,
                "microseconds of a query with a time budget (500)");
  reader.only({"peg", "dragon", "part"});
  reader.folder("--make-paths", options.make_paths,
                "writes the recorded paths (those of scenes/haptics) and ends");
}

template <typename Take>
std::vector<double> column(const std::vector<LoopStep>& steps, Take take) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const LoopStep& step : steps) values.push_back(take(step));
  return values;
}

Json summary(const std::vector<double>& values) {
  return {{"median", quantile(values, 0.5)},
          {"p99", quantile(values, 0.99)},
          {"p99.9", quantile(values, 0.999)},
          {"p99.99", quantile(values, 0.9999)},
          {"max", quantile(values, 1)}};
}

void add_row(Table& table, const std::string& of, const std::string& clock,
             const std::vector<double>& values) {
  const auto under =
      std::count_if(values.begin(), values.end(), [](double v) { return v < kLimit; });
  table.row({of, clock, quantile(values, 0.5), quantile(values, 0.99), quantile(values, 0.999),
             quantile(values, 0.9999), quantile(values, 1),
             100.0 * static_cast<double>(under) / static_cast<double>(values.size())});
}

// Three clocks of the same queries.
void add_rows(Table& table, const std::string& of, const std::vector<double>& wall,
              const std::vector<double>& processor, const std::vector<double>& again) {
  add_row(table, of, "wall", wall);
  add_row(table, of, "processor", processor);
  add_row(table, of, "slowest asked again", again);
}

// Bins that double: below 1 microsecond, 1 to 2, 2 to 4, and so on.
PlotLine make_histogram(const std::string& name, const std::vector<double>& wall, Json& json) {
  constexpr std::size_t kBins = 14;
  std::vector<std::size_t> bins(kBins);
  for (const double v : wall) {
    std::size_t bin = 0;
    for (double edge = 1; v >= edge && bin + 1 < kBins; edge *= 2) ++bin;
    ++bins[bin];
  }
  PlotLine line{.name = name};
  for (std::size_t i = 0; i < kBins; ++i)
    line.points.push_back({std::exp2(static_cast<double>(i)), static_cast<double>(bins[i])});
  json["histogram"] = bins;
  return line;
}

// What is told of all cases.
struct HapticsTables {
  Table all, limited;
  Plot histogram;
};

void run_unlimited(const HapticsCase& c, const Options& options, HapticsTables& tables,
                   Report& report, Json& json) {
  std::vector<LoopStep> steps = run_loop(c, {.paced = !options.fast});
  ask_again(c, {}, steps);
  const auto wall = column(steps, [](const LoopStep& s) { return s.wall; });
  const auto processor = column(steps, [](const LoopStep& s) { return s.processor; });
  const auto again = column(steps, [](const LoopStep& s) { return s.again; });
  const auto touching =
      column(steps, [](const LoopStep& s) { return static_cast<double>(s.touching); });
  const auto force = column(steps, [](const LoopStep& s) { return length(s.force); });
  const auto contacts = static_cast<double>(
      std::count_if(touching.begin(), touching.end(), [](double n) { return n > 0; }));
  report.note(
      fmt::format("{}: {}; points of the tool {}, of the part {}; {} queries, {:.0f} % in contact, "
                  "up to {:.0f} "
                  "points touch (median {:.0f}), force up to {:.3g} N.",
                  c.name, c.what, c.tool.tree()->point_count(), c.part.tree()->point_count(),
                  steps.size(), 100 * contacts / static_cast<double>(steps.size()),
                  quantile(touching, 1), quantile(touching, 0.5), quantile(force, 1)));
  add_rows(tables.all, c.name, wall, processor, again);
  tables.histogram.lines.push_back(make_histogram(c.name, wall, json));
  check_steps(c, steps, report);
  json["queries"] = steps.size();
  json["touching_max"] = quantile(touching, 1);
  std::vector<double> in_contact;
  double time = 0, nodes = 0;
  for (const LoopStep& step : steps) {
    if (step.touching == 0) continue;
    in_contact.push_back(step.processor);
    time += step.again;
    nodes += static_cast<double>(step.nodes);
  }
  constexpr double kLeaf = 8;  // spheres or points
  const double leaf = nodes > 0 ? kLeaf * time / nodes : 0;
  report.note(fmt::format("{}: in contact, median {:.2f} us; one leaf's work {:.3f} us.", c.name,
                          quantile(in_contact, 0.5), leaf));
  json["contact_median"] = quantile(in_contact, 0.5);
  json["leaf"] = leaf;
  json["wall"] = summary(wall);
  json["processor"] = summary(processor);
  json["again"] = summary(again);
  if (c.must_hold)
    report.check(quantile(again, 0.999) < kLimit,
                 "99.9 % of the queries without a budget take less than a millisecond", c.name);
}

void run_limited(const HapticsCase& c, double budget, const Options& options, HapticsTables& tables,
                 Report& report, Json& json) {
  const LoopSettings settings{.paced = !options.fast, .budget = budget};
  std::vector<LoopStep> steps = run_loop(c, settings);
  ask_again(c, settings, steps);
  std::vector<double> wall, processor, again;
  for (const LoopStep& s : steps) {
    if (s.complete) continue;
    wall.push_back(s.wall - budget);
    processor.push_back(s.processor - budget);
    again.push_back(s.again - budget);
  }
  const auto row = [&](const char* clock, const std::vector<double>& values) {
    tables.limited.row({c.name, budget, wall.size(), steps.size(), clock, quantile(values, 0.5),
                        quantile(values, 0.99), quantile(values, 0.999), quantile(values, 1)});
  };
  if (!wall.empty()) {
    row("wall", wall);
    row("processor", processor);
    row("slowest asked again", again);
  }
  check_steps(c, steps, report);
  json.push_back({{"budget", budget},
                  {"cut_short", wall.size()},
                  {"past_wall", summary(wall)},
                  {"past_processor", summary(processor)},
                  {"past_again", summary(again)}});
}

// What it costs to be able to stop: the time of all queries in contact with a budget that is never
// spent, over that of those without. Medians of steps, so that other work counts little.
double stoppable_ratio(const HapticsCase& c) {
  const std::vector<LoopStep> plain = run_loop(c, {.paced = false});
  const std::vector<LoopStep> stoppable = run_loop(c, {.paced = false, .budget = 1e6});
  std::vector<double> ratios;
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (plain[i].touching > 0) ratios.push_back(stoppable[i].processor / plain[i].processor);
  return quantile(ratios, 0.5);
}

HapticsTables make_tables(Report& report) {
  return {
      report.table({.id = "queries",
                    .title = "Queries with force and contacts, without a budget",
                    .columns = {{"case", Of::kKey},
                                {"clock", Of::kKey},
                                {"median", Of::kOurs, "us", 2},
                                {"99 %", Of::kOurs, "us", 2},
                                {"99.9 %", Of::kOurs, "us", 2},
                                {"99.99 %", Of::kOurs, "us", 2},
                                {"max", Of::kOurs, "us", 2},
                                {"under 1 ms", Of::kOurs, "%", 3}},
                    .note = "Slowest asked again: the slowest two per cent, five times each with "
                            "cold caches, of which the least counts."}),
      report.table({.id = "budget",
                    .title = "Queries that a time budget cut short: past the deadline",
                    .columns = {{"case", Of::kKey},
                                {"budget", Of::kKey, "us", 1},
                                {"cut short", Of::kOurs},
                                {"of", Of::kOurs},
                                {"clock", Of::kKey},
                                {"median", Of::kOurs, "us", 2},
                                {"99 %", Of::kOurs, "us", 2},
                                {"99.9 %", Of::kOurs, "us", 2},
                                {"max", Of::kOurs, "us", 2}},
                    .note = "Negative: before it."}),
      {.title = "queries by the time they take",
       .x_name = "less than, us",
       .y_name = "queries",
       .is_log = true,
       .is_log_x = true}};
}

int run(const Options& options) {
  if (!options.make_paths.empty()) {
    std::filesystem::create_directories(options.make_paths);
    write_file(options.make_paths / "peg_in_hole.csv", format_tool_path(make_peg_path()));
    write_file(options.make_paths / "glide.csv", format_tool_path(make_glide_path()));
    return 0;
  }
  Report report("bench_haptics", options,
                {.how = std::string("one thread, ") +
                        (options.fast ? "not paced" : "one query each millisecond")});
  report.json = {{"flags", report.flags()}, {"paced", !options.fast}, {"cases", Json::array()}};
  report.begin_part("");
  const std::vector<HapticsCase> cases = make_cases(options, report);
  HapticsTables tables = make_tables(report);
  for (const HapticsCase& c : cases) {
    Json json{{"name", c.name},
              {"points_of_tool", c.tool.tree()->point_count()},
              {"points_of_part", c.part.tree()->point_count()}};
    run_unlimited(c, options, tables, report, json);
    json["limited"] = Json::array();
    // Half of what a contact takes, but no less than is needed for any answer.
    const double tight = std::max(30.0, 0.5 * json["contact_median"].get<double>());
    run_limited(c, options.budget, options, tables, report, json["limited"]);
    run_limited(c, tight, options, tables, report, json["limited"]);
    const double ratio = stoppable_ratio(c);
    report.note(
        fmt::format("{}: a search that may be stopped, and is not, takes {:.2f} times as long.",
                    c.name, ratio));
    json["stoppable_ratio"] = ratio;
    report.json["cases"].push_back(json);
  }
  report.figure({.id = "histogram", .title = "How long queries take by the clock"},
                {tables.histogram});
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_haptics", argc, argv, name_options, run);
}
