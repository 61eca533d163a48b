// Shapes: Shape::from_mesh beside the build of its field alone, in turns, and whether points cover
// the surface as they state.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/shape.h"

#include "fields_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kPlaces = 2000;  // Of the surface, each compared with all points.

// The largest distance of random places of the surface to the nearest point, by brute force.
double sample_covering(const TriangleMesh& mesh, const PointSphereTree& tree) {
  double most = 0;
  for (const Vec3& place : points_near(mesh, 0, kPlaces, 5)) {
    double nearest_sq = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < tree.point_count(); ++i)
      nearest_sq = std::min(nearest_sq, length_sq(to_double(tree.point(i)) - place));
    most = std::max(most, std::sqrt(nearest_sq));
  }
  return most;
}

}  // namespace

void bench_shapes(const Options& options, Stock& stock, Report& report) {
  Table table = report.table({.id = "shapes",
                              .title = "Shape::from_mesh beside the build of its field",
                              .columns = {{"cells", Of::kKey},
                                          {"shape", Of::kOurs, "s"},
                                          {"field", Of::kOurs, "s"},
                                          {"shape over field", Of::kOurs, "times", 2},
                                          {"points", Of::kOurs},
                                          {"covering radius", Of::kOurs, "cells", 3},
                                          {"of 2,000 random places", Of::kOurs, "cells", 3}},
                              .note = "The bunny with its holes closed."});
  for (const int resolution : {128, 256}) {
    const ShapeSettings settings{.field = {.resolution = resolution, .threads = {options.threads}}};
    std::optional<Shape> shape;
    FieldResult field;
    const ThreadLimit limit(options.threads);
    const std::vector<Seconds> medians =
        medians_of({{[&] { shape = Shape::from_mesh(stock.mesh(), settings); }, 7, 4},
                    {[&] { field = build_field(stock.mesh(), settings.field); }, 7, 4}});
    const auto seconds = [&](const Seconds& s) {
      return options.threads == 1 ? s.processor : s.wall;
    };
    const double ratio = seconds(medians[0]) / seconds(medians[1]);
    const PointSphereTree& tree = *shape->tree();
    const double cell = field.field.voxel_size(), radius = tree.header().covering_radius;
    const double seen = sample_covering(field.surface->mesh, tree);
    // Places are rounded to float.
    report.check(
        seen <= radius * (1 + 1e-5), "points cover the surface as they state",
        fmt::format("at {}: {:.4f} cells, stated {:.4f}", resolution, seen / cell, radius / cell));
    table.row({resolution, seconds(medians[0]), seconds(medians[1]), ratio, tree.point_count(),
               radius / cell, seen / cell});
    report.json["shapes"].push_back({{"resolution", resolution},
                                     {"seconds", seconds(medians[0])},
                                     {"field_seconds", seconds(medians[1])},
                                     {"shape_over_field", ratio},
                                     {"points", tree.point_count()},
                                     {"covering_radius_cells", radius / cell},
                                     {"seen_covering_cells", seen / cell}});
  }
}

}  // namespace isotact::bench
