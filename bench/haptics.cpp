// Force queries in a haptics loop of 1 kHz: recorded hands, virtual coupling, full pointshells,
// with and without a time budget. One thread. Answers are checked in the run: a wrong one is exit
// code 1.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "isotact/base/cpu.h"
#include "isotact/base/file.h"

#include "haptics_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

constexpr double kLimit = 1000;  // microseconds: a millisecond

constexpr const char* kUsage =
    "usage: bench_haptics [--json] [--quick] [--fast] [--budget MICROSECONDS] [--only NAME]...\n"
    "                     [--make-paths FOLDER]\n"
    "  --quick              smaller fields and shells\n"
    "  --fast               queries one after the other, not one each millisecond\n"
    "  --budget N           of a query with a time budget (500)\n"
    "  --only NAME          cases: peg dragon part; may be repeated\n"
    "  --make-paths FOLDER  writes the recorded paths (those of scenes/haptics) and ends\n";

bool is_case(std::string_view name) { return name == "peg" || name == "dragon" || name == "part"; }

bool read_number(std::string_view text, double& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value > 0 && value <= 1e6;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--fast") {
      options.fast = true;
    } else if (word == "--budget" && i + 1 < argc && read_number(argv[i + 1], options.budget)) {
      ++i;
    } else if (word == "--only" && i + 1 < argc && is_case(argv[i + 1])) {
      options.only.emplace_back(argv[++i]);
    } else if (word == "--make-paths" && i + 1 < argc) {
      options.make_paths = argv[++i];
    } else {
      return false;
    }
  }
  return true;
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

void print_row(Report& report, const char* name, const std::vector<double>& values) {
  const auto under =
      std::count_if(values.begin(), values.end(), [](double v) { return v < kLimit; });
  report.print("    {:<22} {:9.2f} {:9.2f} {:9.2f} {:9.2f} {:9.2f} {:9.3f} %\n", name,
               quantile(values, 0.5), quantile(values, 0.99), quantile(values, 0.999),
               quantile(values, 0.9999), quantile(values, 1),
               100.0 * static_cast<double>(under) / static_cast<double>(values.size()));
}

// Bins that double: below 1 microsecond, 1 to 2, 2 to 4, and so on.
void print_histogram(Report& report, const std::vector<double>& wall, Json& json) {
  constexpr std::size_t kBins = 14, kWidth = 50;
  std::vector<std::size_t> bins(kBins);
  for (const double v : wall) {
    std::size_t bin = 0;
    for (double edge = 1; v >= edge && bin + 1 < kBins; edge *= 2) ++bin;
    ++bins[bin];
  }
  const std::size_t most = *std::max_element(bins.begin(), bins.end());
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0) continue;
    const std::size_t bar = (bins[i] * kWidth + most - 1) / most;
    report.print("    {:>5} us {:6} {}\n", i + 1 < kBins ? fmt::format("<{}", 1U << i) : "more",
                 bins[i], std::string(bar, '#'));
  }
  json["histogram"] = bins;
}

void run_unlimited(const HapticsCase& c, const Options& options, Report& report, Json& json) {
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
  report.print(
      "    {} queries, {:.0f} % in contact, up to {:.0f} points touch (median {:.0f}), force up to "
      "{:.3g} N\n",
      steps.size(), 100 * contacts / static_cast<double>(steps.size()), quantile(touching, 1),
      quantile(touching, 0.5), quantile(force, 1));
  print_row(report, "wall", wall);
  print_row(report, "processor", processor);
  print_row(report, "slowest asked again", again);
  print_histogram(report, wall, json);
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
  report.print("    in contact: median {:.2f} us; one leaf's work: {:.3f} us\n",
               quantile(in_contact, 0.5), leaf);
  json["contact_median"] = quantile(in_contact, 0.5);
  json["leaf"] = leaf;
  json["wall"] = summary(wall);
  json["processor"] = summary(processor);
  json["again"] = summary(again);
  if (c.must_hold)
    report.check(quantile(again, 0.999) < kLimit,
                 c.name + ": fewer than 99.9 % of the queries took less than a millisecond");
}

void run_limited(const HapticsCase& c, double budget, const Options& options, Report& report,
                 Json& json) {
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
  report.print(
      "    budget {:.1f} us: {} queries cut short. Past the deadline (negative: before):\n", budget,
      wall.size());
  if (!wall.empty()) {
    print_row(report, "wall", wall);
    print_row(report, "processor", processor);
    print_row(report, "slowest asked again", again);
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

int run(const Options& options) {
  if (!options.make_paths.empty()) {
    std::filesystem::create_directories(options.make_paths);
    write_file(options.make_paths / "peg_in_hole.csv", format_tool_path(make_peg_path()));
    write_file(options.make_paths / "glide.csv", format_tool_path(make_glide_path()));
    return 0;
  }
  Report report("bench_haptics", options.json);
  const std::string ours =
      fmt::format("{}, SIMD kernels: {}", ISOTACT_BENCH_FLAGS, name(simd_level()));
  report.print("ours: {}\none thread, {}; microseconds of a query with force and contacts\n", ours,
               options.fast ? "not paced" : "one query each millisecond");
  report.json = {{"flags", ours}, {"paced", !options.fast}, {"cases", Json::array()}};
  for (const HapticsCase& c : make_cases(options, report)) {
    report.print(
        "\n{}: {}; points of the tool {}, of the part {}\n    {:<22} {:>9} {:>9} {:>9} {:>9} {:>9} "
        "{:>11}\n",
        c.name, c.what, c.tool.tree()->point_count(), c.part.tree()->point_count(), "", "median",
        "99 %", "99.9 %", "99.99 %", "max", "under 1 ms");
    Json json{{"name", c.name},
              {"points_of_tool", c.tool.tree()->point_count()},
              {"points_of_part", c.part.tree()->point_count()}};
    run_unlimited(c, options, report, json);
    json["limited"] = Json::array();
    // Half of what a contact takes, but no less than is needed for any answer.
    const double tight = std::max(30.0, 0.5 * json["contact_median"].get<double>());
    run_limited(c, options.budget, options, report, json["limited"]);
    run_limited(c, tight, options, report, json["limited"]);
    const double ratio = stoppable_ratio(c);
    report.print("    a search that may be stopped, and is not: {:.2f} times as long\n", ratio);
    json["stoppable_ratio"] = ratio;
    report.json["cases"].push_back(json);
  }
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_haptics", kUsage, argc, argv, read_options, run);
}
