// What a step costs, by phases, against the number of bodies and of their vertices: MDL06's Table 1
// remade so that it means something.
#include <algorithm>
#include <string>
#include <vector>

#include "isotact/queries/broad_phase/box_tree.h"
#include "isotact/queries/broad_phase/scene_octree.h"
#include "isotact/scene/figures.h"

#include "chart.h"
#include "deformable_crowd.h"
#include "deformable_report.h"
#include "measure.h"
#include "plot.h"

namespace isotact::bench {
namespace {

constexpr double kSpace = 0.35;  // m^3 a body: a pair of boxes for each two or three of them

struct Cost {
  std::size_t bodies = 0, vertices = 0;
  double motion = 0, broad = 0, octree = 0, narrow = 0;  // median seconds a step
  double pairs = 0, meeting = 0, node_tests = 0, fitted = 0, triangle_pairs = 0;  // mean
};

Cost measure(const std::vector<std::string>& figures, std::size_t bodies, int steps,
             Report& report) {
  Crowd crowd({.figures = figures, .bodies = bodies, .space = kSpace});
  BoxTree boxes;
  SceneOctree octree(
      {.size = crowd.side(), .max_level = SceneOctree::level_for(crowd.side(), crowd.extent())});
  std::vector<double> motion, broad, slow, narrow;
  Cost cost{.bodies = bodies, .vertices = crowd.vertices()};
  std::vector<TrianglePair> found;
  for (int step = -2; step < steps; ++step) {
    const double moving = seconds_of([&] { crowd.soft().step(); }).processor;
    const double boxing = seconds_of([&] { put_boxes(crowd, boxes), boxes.step(); }).processor;
    const double octants = seconds_of([&] { put_boxes(crowd, octree), octree.step(); }).processor;
    report.check(std::equal(boxes.pairs().begin(), boxes.pairs().end(), octree.pairs().begin(),
                            octree.pairs().end()),
                 "both broad phases give the same pairs");
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
    if (step < 0) continue;  // the first steps sort and allocate
    motion.push_back(moving), broad.push_back(boxing), slow.push_back(octants);
    narrow.push_back(meeting_seconds);
    cost.pairs += static_cast<double>(boxes.pairs().size()) / steps;
    cost.meeting += meeting / steps;
    cost.node_tests += static_cast<double>(work.node_tests) / steps;
    cost.fitted += static_cast<double>(work.nodes_fitted) / steps;
    cost.triangle_pairs += static_cast<double>(work.pairs) / steps;
  }
  report.check(!crowd.soft().find_trouble(), "bodies stay in one piece");
  cost.motion = quantile(motion, 0.5), cost.broad = quantile(broad, 0.5);
  cost.octree = quantile(slow, 0.5), cost.narrow = quantile(narrow, 0.5);
  return cost;
}

Table begin_table(Report& report, const char* id, const char* title) {
  return report.table({.id = id,
                       .title = title,
                       .columns = {{"bodies", Of::kKey},
                                   {"figures", Of::kKey},
                                   {"vertices", Of::kKey},
                                   {"motion", Of::kOurs, "ms"},
                                   {"broad", Of::kOurs, "ms"},
                                   {"MDL06's octree", Of::kOurs, "ms"},
                                   {"narrow", Of::kOurs, "ms"},
                                   {"pairs", Of::kOurs, "", 0},
                                   {"that meet", Of::kOurs, "", 0},
                                   {"tests of nodes", Of::kOurs, "", 0},
                                   {"nodes fitted", Of::kOurs, "", 0},
                                   {"pairs of triangles", Of::kOurs, "", 0}},
                       .note = "One thread, processor time, medians of steps."});
}

void print(const Cost& c, const std::string& name, Table& table, Json& rows) {
  table.row({c.bodies, name, c.vertices, 1e3 * c.motion, 1e3 * c.broad, 1e3 * c.octree,
             1e3 * c.narrow, c.pairs, c.meeting, c.node_tests, c.fitted, c.triangle_pairs});
  rows.push_back({{"bodies", c.bodies},
                  {"figures", name},
                  {"vertices", c.vertices},
                  {"motion_seconds", c.motion},
                  {"broad_seconds", c.broad},
                  {"octree_seconds", c.octree},
                  {"narrow_seconds", c.narrow},
                  {"pairs", c.pairs},
                  {"meeting", c.meeting},
                  {"node_tests", c.node_tests},
                  {"nodes_fitted", c.fitted},
                  {"triangle_pairs", c.triangle_pairs}});
}

// Curves of three phases, and how they grow, by least squares from the `first` point on.
void plot(const Options& options, const std::string& name, const char* x_name,
          const std::vector<Cost>& costs, double (*x)(const Cost&), std::size_t first,
          Report& report) {
  struct Phase {
    const char* name;
    double Cost::*value;
  };
  Plot figure{.title = "Milliseconds a step", .x_name = x_name, .y_name = "ms", .is_log = true};
  figure.is_log_x = true;
  for (const Phase& phase : {Phase{"motion", &Cost::motion}, Phase{"broad", &Cost::broad},
                             Phase{"octree", &Cost::octree}, Phase{"narrow", &Cost::narrow}}) {
    PlotLine line{.name = phase.name};
    std::vector<ChartPoint> points;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const double y = costs[i].*phase.value;
      line.points.push_back({x(costs[i]), 1e3 * y});
      if (i >= first && y > 0) points.push_back({x(costs[i]), y});
    }
    figure.lines.push_back(std::move(line));
    if (points.size() < 2) continue;
    const double exponent = fit_power(points).exponent;
    report.note(fmt::format("{} grows with the power {:.2f} of {}", phase.name, exponent, x_name));
    report.json["cost_exponents"][name][phase.name] = exponent;
  }
  report.figure({.id = "cost_" + name, .title = "Cost of a step against " + std::string(x_name)},
                {figure});
  write_plot(options.output, "deformable_" + name, {figure});
}

}  // namespace

void bench_cost(const Options& options, Report& report) {
  std::vector<std::string> all;
  for (const FigureInfo& info : figure_catalogue()) all.emplace_back(info.name);
  Json rows = Json::array();

  Table of_bodies =
      begin_table(report, "cost_of_bodies", "A step by phases: bodies of five sizes in turn");
  std::vector<Cost> by_bodies;
  for (const std::size_t bodies : {3U, 6U, 9U, 100U, 1000U, 10000U}) {
    if (options.quick && bodies > 1000) continue;
    const int steps = bodies > 1000 ? 8 : bodies > 100 ? 20 : 200;
    by_bodies.push_back(measure(all, bodies, steps, report));
    print(by_bodies.back(), "all five", of_bodies, rows);
  }
  plot(
      options, "bodies", "bodies", by_bodies,
      [](const Cost& c) { return static_cast<double>(c.bodies); }, 2, report);

  Table of_vertices =
      begin_table(report, "cost_of_vertices", "The same for a hundred bodies of one size");
  std::vector<Cost> by_vertices;
  for (const FigureInfo& info : figure_catalogue()) {
    by_vertices.push_back(measure({std::string(info.name)}, 100, 60, report));
    print(by_vertices.back(), std::string(info.name), of_vertices, rows);
  }
  plot(
      options, "vertices", "vertices", by_vertices,
      [](const Cost& c) { return static_cast<double>(c.vertices) / 100; }, 0, report);
  report.json["cost"] = rows;
}

}  // namespace isotact::bench
