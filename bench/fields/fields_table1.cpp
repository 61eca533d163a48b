// Table 1 of XB14 with our columns beside it. The paper's times are of another machine, with 8
// threads and a bunny of 777 vertices; they stand there for the reader, no ratio is formed.
#include <optional>

#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/min_max_octree.h"

#include "fields_report.h"
#include "support/measure.h"

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
                 "the octrees' roots span the grid's values");
  }
  return row;
}

}  // namespace

void bench_table1(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "table1",
       .paper = "XB14",
       .place = "Table 1",
       .title = "Time and memory of fields and octrees, bunny",
       .columns = {{"cells", Of::kKey},
                   {"field", Of::kPaper, "s", 1},
                   {"field", Of::kPaper, "MB", 1},
                   {"octree", Of::kPaper, "s", 2},
                   {"octree", Of::kPaper, "MB", 1},
                   {"dense grid, sampled", Of::kOurs, "s"},
                   {"dense grid", Of::kOurs, "MB", 1},
                   {"octree with leaves", Of::kOurs, "s"},
                   {"octree with leaves", Of::kOurs, "MB", 1},
                   {"octree without", Of::kOurs, "s"},
                   {"octree without", Of::kOurs, "MB", 1},
                   {"brick field", Of::kOurs, "s"},
                   {"brick field, tree included", Of::kOurs, "MB", 1}},
       .note = "The paper: 777 vertices, 8 threads. Ours: 34,839 vertices, one thread, processor "
               "time. The dense grid is sampled from the brick field; seconds without building "
               "that. Grids of 512 cells with --full only."});
  Plot plot{.title = "building the field",
            .x_name = "cells",
            .y_name = "s",
            .is_log = true,
            .lines = {{"XB14 published, 8 threads"}, {"brick field, one thread"}},
            .is_log_x = true};
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
    DenseRow dense;
    bool has_dense = false;
    if (n <= 256 || (n == 512 && options.full)) {
      dense = measure_dense(field, lattice, report);
      has_dense = true;
      json["grid_seconds"] = dense.grid_seconds;
      json["octree_seconds"] = dense.octree_seconds;
      json["octree_without_leaves_seconds"] = dense.small_octree_seconds;
    }
    table.row({n, paper.field_seconds, paper.field_mb, paper.octree_seconds, paper.octree_mb,
               cell_if(has_dense, dense.grid_seconds), megabytes(grid_bytes),
               cell_if(has_dense, dense.octree_seconds), megabytes(octree_bytes_stored),
               cell_if(has_dense, dense.small_octree_seconds), megabytes(octree_bytes_small),
               seconds, megabytes(bytes)});
    plot.lines[0].points.push_back({static_cast<double>(n), paper.field_seconds});
    plot.lines[1].points.push_back({static_cast<double>(n), seconds});
    report.json["table1"].push_back(std::move(json));
  }
  report.figure({.id = "table1-plot",
                 .paper = "XB14",
                 .place = "Table 1",
                 .title = "Seconds to build a field"},
                {plot});
}

}  // namespace isotact::bench
