// Table 1 of XB14 with our columns beside it. The paper's times are of another machine, with 8
// threads and a bunny of 777 vertices; they stand there for the reader, no ratio is formed.
#include <optional>

#include "isotact/field/dense_grid.h"
#include "isotact/field/min_max_octree.h"

#include "fields_report.h"
#include "measure.h"

namespace isotact::bench {
namespace {

struct PaperRow {
  int resolution;
  double field_seconds, field_mb, octree_seconds, octree_mb;
};
constexpr PaperRow kPaper[] = {{128, 1.9, 8.2, 0.01, 34.2},
                               {256, 6.8, 64.8, 0.09, 273.6},
                               {512, 45.6, 518, 0.65, 2140},
                               {1024, 347, 4100, 4.88, 17100}};

struct DenseRow {
  double grid_seconds = 0, octree_seconds = 0, small_octree_seconds = 0;
};

double megabytes(double bytes) { return 1e-6 * bytes; }

// The paper's grids are cubes.
Lattice cube_lattice(const BrickField& field, int resolution) {
  Lattice lattice = field.lattice();
  lattice.cells = {resolution, resolution, resolution};
  return lattice;
}

DenseRow measure_dense(const BrickField& field, const Lattice& lattice, Report& report) {
  DenseRow row;
  std::optional<DenseGrid> grid;
  row.grid_seconds = seconds_of([&] {
                       grid =
                           sample_on_lattice(field, lattice, {.holds_body = true, .threads = {1}});
                     }).processor;
  {
    std::optional<MinMaxOctree> stored;
    row.octree_seconds =
        seconds_of([&] { stored.emplace(*grid, OctreeSettings{.threads = {1}}); }).processor;
    std::optional<MinMaxOctree> small;
    row.small_octree_seconds =
        seconds_of([&] {
          small.emplace(*grid, OctreeSettings{.store_leaves = false, .threads = {1}});
        }).processor;
    const int top = stored->level_count() - 1;
    report.check(stored->node_range(top, {0, 0, 0}) == small->node_range(top, {0, 0, 0}) &&
                     stored->node_range(top, {0, 0, 0}) == grid->value_range(),
                 "the octrees' roots do not span the grid's values");
  }
  return row;
}

void print_head(Report& report) {
  report.print(
      "\nXB14, Table 1: the bunny. The paper's columns are of another machine (2 x 8 cores, 8 "
      "threads, 777 vertices);\n"
      "ours: 34839 vertices, one thread, processor time. The dense grid is sampled from the brick "
      "field; seconds without\n"
      "building that. Octree: leaf ranges stored as in the paper / read from the grid.\n"
      "{:>5} | {:>7} {:>7} {:>7} {:>8} | {:>7} {:>7} {:>13} {:>17} | {:>7} {:>7}\n"
      "{:>5} | {:>7} {:>7} {:>7} {:>8} | {:>7} {:>7} {:>13} {:>17} | {:>7} {:>7}\n",
      "", "XB14", "", "XB14", "", "our", "", "our", "", "brick", "tree in", "cells", "field s",
      "MB", "tree s", "MB", "grid s", "MB", "octree s", "MB", "field s", "MB");
}

}  // namespace

void bench_table1(const Options& options, Stock& stock, Report& report) {
  print_head(report);
  for (const PaperRow& paper : kPaper) {
    const int n = paper.resolution;
    if (options.quick && n > 256) break;
    const TriangleMesh& mesh = stock.mesh();
    const double seconds =
        medians_of({{[&] { build_field(mesh, {.resolution = n, .threads = {1}}); }, 3}})
            .front()
            .processor;
    const BrickField& field = stock.field(n).field;
    const Lattice lattice = cube_lattice(field, n);
    const double grid_bytes = dense_grid_bytes(lattice);
    const double octree_bytes_stored = octree_bytes(lattice.cells, true);
    const double octree_bytes_small = octree_bytes(lattice.cells, false);
    const auto bytes = static_cast<double>(field.buffer().size());
    Json json{{"resolution", n},
              {"xb14_field_seconds_other_machine", paper.field_seconds},
              {"xb14_field_mb", paper.field_mb},
              {"xb14_octree_seconds_other_machine", paper.octree_seconds},
              {"xb14_octree_mb", paper.octree_mb},
              {"grid_mb", megabytes(grid_bytes)},
              {"octree_mb", megabytes(octree_bytes_stored)},
              {"octree_without_leaves_mb", megabytes(octree_bytes_small)},
              {"brick_field_seconds", seconds},
              {"brick_field_mb", megabytes(bytes)}};
    std::string grid_text = "-", octree_text = "-";
    if (n <= 256 || (n == 512 && options.full)) {
      const DenseRow dense = measure_dense(field, lattice, report);
      grid_text = fmt::format("{:.2f}", dense.grid_seconds);
      octree_text =
          fmt::format("{:.2f} / {:.2f}", dense.octree_seconds, dense.small_octree_seconds);
      json["grid_seconds"] = dense.grid_seconds;
      json["octree_seconds"] = dense.octree_seconds;
      json["octree_without_leaves_seconds"] = dense.small_octree_seconds;
    }
    report.print(
        "{:5} | {:7.1f} {:7.1f} {:7.2f} {:8.1f} | {:>7} {:7.1f} {:>13} {:>17} | {:7.2f} {:7.1f}\n",
        n, paper.field_seconds, paper.field_mb, paper.octree_seconds, paper.octree_mb, grid_text,
        megabytes(grid_bytes), octree_text,
        fmt::format("{:.1f} / {:.1f}", megabytes(octree_bytes_stored),
                    megabytes(octree_bytes_small)),
        seconds, megabytes(bytes));
    report.json["table1"].push_back(std::move(json));
  }
}

}  // namespace isotact::bench
