// What a step costs, by phases, against the number of bodies and of their vertices: MDL06's Table 1
// remade so that it means something.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "isotact/queries/broad_phase/box_tree.h"

#include "deformable_crowd.h"
#include "deformable_report.h"
#include "scene_octree.h"
#include "support/chart.h"
#include "support/measure.h"
#include "support/plot.h"

namespace isotact::bench {
namespace {

constexpr double kSpace = 0.35;  // m^3 a body: a pair of boxes for each two or three of them

constexpr double kFitFrom = 9;  // fewer bodies say nothing about how costs grow

struct Cost {
  std::string figure{};
  std::size_t bodies = 0, vertices = 0;
  std::uint32_t parts = 1;  // in which Verlet takes a step, for the sake of light vertices
  double motion = 0, broad = 0, octree = 0, narrow = 0;  // median seconds a step
  double motion_part = 0;                                // of that, for a part of a step
  // Means.
  double pairs = 0, meeting = 0, region_tests = 0, node_tests = 0, fitted = 0, triangle_pairs = 0;
};

Cost measure(const std::string& figure, std::size_t bodies, int steps, Report& report) {
  Crowd crowd({.figures = {figure}, .bodies = bodies, .space = kSpace});
  BoxTree boxes;
  SceneOctree octree(
      {.size = crowd.side(), .max_level = SceneOctree::level_for(crowd.side(), crowd.extent())});
  BruteForceBroadPhase all;
  const std::string where = fmt::format("{} {}", bodies, figure);
  std::vector<double> motion, broad, slow, narrow;
  Cost cost{.figure = figure, .bodies = bodies, .vertices = crowd.vertices()};
  std::vector<TrianglePair> found;
  for (int step = -2; step < steps; ++step) {
    const double moving = seconds_of([&] { crowd.soft().step(); }).processor;
    const double boxing = seconds_of([&] { put_boxes(crowd, boxes), boxes.step(); }).processor;
    const double octants = seconds_of([&] { put_boxes(crowd, octree), octree.step(); }).processor;
    // Trees are made once, which is preparation.
    for (const ObjectPair& pair : boxes.pairs()) crowd.tree(pair.a, {}), crowd.tree(pair.b, {});
    TreeWork work{};
    double meeting = 0;
    const double meeting_seconds =
        seconds_of([&] {
          for (const ObjectPair& pair : boxes.pairs()) {
            found.clear();
            const TreeWork w =
                find_triangle_pairs(crowd.tree(pair.a, {}), crowd.tree(pair.b, {}), {}, found);
            work.node_tests += w.node_tests, work.nodes_fitted += w.nodes_fitted,
                work.pairs += w.pairs;
            meeting += found.empty() ? 0 : 1;
          }
        }).processor;
    put_boxes(crowd, all), all.step();
    const auto is_right = [&](const BroadPhase& phase) {
      return std::equal(phase.pairs().begin(), phase.pairs().end(), all.pairs().begin(),
                        all.pairs().end());
    };
    report.check(is_right(boxes) && is_right(octree),
                 "pairs of both broad phases are those of all against all, in every step", where);
    if (step < 0) continue;  // the first steps sort and allocate
    motion.push_back(moving), broad.push_back(boxing), slow.push_back(octants);
    narrow.push_back(meeting_seconds);
    cost.pairs += static_cast<double>(boxes.pairs().size()) / steps;
    cost.meeting += meeting / steps;
    cost.region_tests += static_cast<double>(octree.work().region_tests) / steps;
    cost.node_tests += static_cast<double>(work.node_tests) / steps;
    cost.fitted += static_cast<double>(work.nodes_fitted) / steps;
    cost.triangle_pairs += static_cast<double>(work.pairs) / steps;
  }
  report.check(!crowd.soft().trouble(), "bodies stay in one piece", where);
  cost.parts = crowd.soft().report().substeps;
  cost.motion = quantile(motion, 0.5), cost.motion_part = cost.motion / cost.parts;
  cost.broad = quantile(broad, 0.5);
  cost.octree = quantile(slow, 0.5), cost.narrow = quantile(narrow, 0.5);
  return cost;
}

Table begin_table(Report& report) {
  return report.table({.id = "cost",
                       .paper = "MDL06",
                       .place = "Table 1, remade",
                       .title = "A step by phases: 3 to 10,000 bodies of 154 to 9,543 vertices",
                       .columns = {{"bodies", Of::kKey},
                                   {"figure", Of::kKey},
                                   {"vertices", Of::kKey},
                                   {"parts", Of::kKey},
                                   {"motion", Of::kOurs, "ms"},
                                   {"broad", Of::kOurs, "ms"},
                                   {"MDL06's octree", Of::kOurs, "ms"},
                                   {"narrow", Of::kOurs, "ms"},
                                   {"pairs", Of::kOurs, "", 0},
                                   {"that meet", Of::kOurs, "", 0},
                                   {"tests of regions, octree", Of::kOurs, "", 0},
                                   {"tests of nodes", Of::kOurs, "", 0},
                                   {"nodes fitted", Of::kOurs, "", 0},
                                   {"pairs of triangles", Of::kOurs, "", 0}},
                       .note = "One thread, processor time, medians of steps; a body has 0.35 m^3. "
                               "Verlet takes a step in some parts where "
                               "a figure has light vertices. Pairs of all "
                               "broad phases are compared with all against all in every step."});
}

void print(const Cost& c, Table& table, Json& rows) {
  table.row({c.bodies, c.figure, c.vertices, c.parts, 1e3 * c.motion, 1e3 * c.broad, 1e3 * c.octree,
             1e3 * c.narrow, c.pairs, c.meeting, c.region_tests, c.node_tests, c.fitted,
             c.triangle_pairs});
  rows.push_back({{"bodies", c.bodies},
                  {"figure", c.figure},
                  {"vertices", c.vertices},
                  {"parts", c.parts},
                  {"motion_seconds", c.motion},
                  {"broad_seconds", c.broad},
                  {"octree_seconds", c.octree},
                  {"narrow_seconds", c.narrow},
                  {"pairs", c.pairs},
                  {"meeting", c.meeting},
                  {"region_tests", c.region_tests},
                  {"node_tests", c.node_tests},
                  {"nodes_fitted", c.fitted},
                  {"triangle_pairs", c.triangle_pairs}});
}

struct Phase {
  const char* name;
  double Cost::*value;
};
constexpr Phase kPhases[] = {{"motion, a part of a step", &Cost::motion_part},
                             {"broad phase", &Cost::broad},
                             {"MDL06's octree", &Cost::octree},
                             {"narrow phase", &Cost::narrow}};

// A panel a phase, with a line for each group of costs, and how these grow by least squares.
template <typename Group, typename X>
void plot(const Options& options, const std::string& id, const std::string& x_name,
          const std::vector<Cost>& costs, Group group, X x, Report& report) {
  std::vector<Plot> panels;
  for (const Phase& phase : kPhases) {
    Plot panel{.title = phase.name, .x_name = x_name, .y_name = "ms a step", .is_log = true};
    panel.is_log_x = true;
    std::vector<std::pair<std::string, std::vector<ChartPoint>>> lines;
    for (const Cost& c : costs) {
      const double y = c.*phase.value;
      if (!(y > 0)) continue;
      const std::string name = group(c);
      auto line = std::find_if(lines.begin(), lines.end(),
                               [&](const auto& other) { return other.first == name; });
      if (line == lines.end()) line = lines.insert(lines.end(), {name, {}});
      line->second.push_back({x(c), 1e3 * y});
    }
    std::vector<double> exponents;
    for (const auto& [name, points] : lines) {
      PlotLine line{.name = name};
      std::vector<ChartPoint> many;
      for (const ChartPoint& p : points) line.points.push_back({p.x, p.y});
      for (const ChartPoint& p : points)
        if (p.x >= kFitFrom) many.push_back(p);
      if (many.size() > 1) {
        exponents.push_back(fit_power(many).exponent);
        line.name += fmt::format(": power {:.2f}", exponents.back());
        report.json["cost_exponents"][id][phase.name][name] = exponents.back();
      }
      panel.lines.push_back(std::move(line));
    }
    panels.push_back(std::move(panel));
    if (!exponents.empty())
      report.note(fmt::format("{} grows with the power {:.2f} to {:.2f} of the number of {}",
                              phase.name, *std::min_element(exponents.begin(), exponents.end()),
                              *std::max_element(exponents.begin(), exponents.end()), x_name));
  }
  report.figure({.id = "cost_" + id, .title = "Cost of a step against the number of " + x_name},
                panels);
  write_plot(options.output, "deformable_" + id, panels);
}

// Gibibytes that a crowd takes, about, by what was measured; and that are free.
double gibibytes_of(std::size_t vertices) { return 6.5e-7 * static_cast<double>(vertices); }
double find_free_gibibytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  double kibibytes = 0;
  for (std::string line; std::getline(file, line);)
    if (std::istringstream(line) >> name >> kibibytes && name == "MemAvailable:")
      return kibibytes / (1 << 20);
  return 4;  // a guess, where nobody says
}

}  // namespace

void bench_cost(const Options& options, Report& report) {
  Json rows = Json::array();
  Table table = begin_table(report);
  std::vector<Cost> costs;
  constexpr std::pair<const char*, std::size_t> kFigures[] = {
      {"pawn", 154}, {"fish", 216}, {"rabbit", 453}, {"human", 1250}, {"bike", 9543}};
  for (const auto& [figure, figure_vertices] : kFigures)
    for (const std::size_t bodies : {3U, 6U, 9U, 100U, 1000U, 10000U}) {
      const std::size_t vertices = bodies * figure_vertices;
      if (options.quick && vertices > 200'000) continue;
      const double needed = gibibytes_of(vertices), there = find_free_gibibytes();
      if (needed > 0.7 * there) {
        report.note(fmt::format(
            "left out: {} bodies of {} vertices would take about {:.0f} GiB, and {:.0f} are free",
            bodies, figure_vertices, needed, there));
        rows.push_back({{"bodies", bodies}, {"figure", figure}, {"needs_gibibytes", needed}});
        continue;
      }
      const int steps = vertices > 1'000'000 ? 6 : vertices > 100'000 ? 20 : 200;
      costs.push_back(measure(figure, bodies, steps, report));
      print(costs.back(), table, rows);
    }
  plot(
      options, "bodies", "bodies", costs, [](const Cost& c) { return c.figure; },
      [](const Cost& c) { return static_cast<double>(c.bodies); }, report);
  plot(
      options, "vertices", "vertices a body", costs,
      [](const Cost& c) { return fmt::format("{} bodies", c.bodies); },
      [](const Cost& c) { return static_cast<double>(c.vertices / c.bodies); }, report);
  report.json["cost"] = rows;
}

}  // namespace isotact::bench
