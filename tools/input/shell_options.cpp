#include "shell_options.h"

#include <charconv>

#include <fmt/format.h>

namespace isotact::tool {
namespace {

// 0 where the text is no number of points.
std::uint32_t parse_count(const std::string& text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && stop == end && count <= kMaxShellPoints ? count : 0;
}

}  // namespace

void add_shell_options(Command& command, ShellOptions& o) {
  command.add_text({.names = "--points",
                    .help = "Points to store: a number, the mesh's vertices, or none (default: "
                            "points two cells apart)",
                    .value_name = "N|vertices|none"},
                   o.points);
  command.add_length({.names = "--spacing",
                      .help = "Distance between points in metres (default: two cells); with "
                              "--points vertices, of points on sharp edges only",
                      .value_name = "S"},
                     o.spacing, {1e-12, 1e12});
  command.add_text({.names = "--points-by",
                    .help = "Method that spreads the points; voxels needs --spacing and takes "
                            "projected centres of surface voxels (default: repulsion)",
                    .value_name = "repulsion|voxels",
                    .choices = {"repulsion", "voxels"}},
                   o.method);
  command.add_text({.names = "--point-normals",
                    .help = "Source of the points' normals (default: mesh)",
                    .value_name = "mesh|field",
                    .choices = {"mesh", "field"}},
                   o.normals);
  command.add_text({.names = "--spheres",
                    .help = "Content of each sphere of the points' tree: the points below, or the "
                            "spheres below (default: points)",
                    .value_name = "points|nested",
                    .choices = {"points", "nested"}},
                   o.spheres);
  command.add_whole({.names = "--cluster",
                     .help = "Children of a node of the points' tree, 2 to 16 (default: 8)",
                     .value_name = "K"},
                    o.cluster_size, {2, kMaxChildren});
  command.add_number({.names = "--sharp",
                      .help = "Place points on edges that turn by more than this angle (default: "
                              "30)",
                      .value_name = "DEGREES"},
                     o.sharp_degrees, {0, 180});
}

PointSettings point_settings(const ShellOptions& o) {
  PointSettings settings{.spacing = o.spacing,
                         .normals_from_field = o.normals == "field",
                         .sharp_degrees = o.sharp_degrees,
                         .cluster_size = o.cluster_size};
  if (o.spheres == "nested") settings.spheres = SphereKind::kNested;
  if (o.method == "voxels") {
    if (o.spacing <= 0 || !o.points.empty())
      throw UsageError("--points-by voxels goes with --spacing alone");
    settings.method = PointMethod::kVoxels;
  } else if (o.points == "vertices") {
    settings.method = PointMethod::kVertices;
  } else if (!o.points.empty()) {
    if (o.spacing > 0)
      throw UsageError(fmt::format("--points {} and --spacing exclude each other", o.points));
    if (o.points == "none") {
      settings.method = PointMethod::kNone;
      return settings;
    }
    settings.count = parse_count(o.points);
    if (settings.count == 0)
      throw UsageError(fmt::format("--points {}: expected a number from 1 to {}, vertices or none",
                                   o.points, kMaxShellPoints));
  }
  return settings;
}

Json describe_tree(const PointSphereTree& tree) {
  const PointSphereTreeHeader& h = tree.header();
  Json levels = Json::array();
  for (int l = 0; l < tree.level_count(); ++l)
    levels.push_back({{"nodes", h.levels[l].node_count},
                      {"mean_radius", h.levels[l].mean_radius},
                      {"max_radius", h.levels[l].max_radius},
                      {"covering_radius", tree.covering_radius(l)}});
  return {{"placement", tree.how()},
          {"edge_points", h.edge_points},
          {"covering_radius", h.covering_radius},
          {"spacing", h.spacing},
          {"area", h.surface_area},
          {"cluster_size", h.cluster_size},
          {"spheres", h.sphere_kind == 1 ? "nested" : "points"},
          {"bytes", h.total_bytes},
          {"levels", std::move(levels)}};
}

std::string format_points(const Json& report) {
  const Json& tree = report["point_tree"];
  return fmt::format("{} ({}), covering radius {:.4g} m, {} levels",
                     format_count(report["points"].get<std::uint64_t>()),
                     tree["placement"].get<std::string>(), tree["covering_radius"].get<double>(),
                     tree["levels"].size());
}

void add_point_facts(Facts& facts, const Json& report) {
  facts.emplace_back("points", format_points(report));
  std::size_t number = 0;
  for (const Json& level : report["point_tree"]["levels"])
    facts.emplace_back(
        fmt::format("level {}", number++),
        fmt::format("{} nodes, radius {:.4g} m, at most {:.4g} m; covers within {:.4g} m",
                    format_count(level["nodes"].get<std::uint64_t>()),
                    level["mean_radius"].get<double>(), level["max_radius"].get<double>(),
                    level["covering_radius"].get<double>()));
}

}  // namespace isotact::tool
