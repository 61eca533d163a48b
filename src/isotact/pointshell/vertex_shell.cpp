#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/measure.h"
#include "isotact/pointshell/detail/sharp_edges.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {

PointShell sample_vertices(const TriangleMesh& mesh, const VertexShellSettings& settings) {
  if (!(settings.edge_spacing >= 0 && std::isfinite(settings.edge_spacing)))
    throw Error("pointshell: edge_spacing must be positive, or 0 for its default");
  const ShellSettings& common = settings.common;
  const detail::ShellSurface surface = detail::prepare_shell_surface(mesh, common);
  std::vector<std::uint32_t> vertices;  // Vertices of the welded mesh.
  if (settings.keep_equal) {
    for (const std::uint32_t v : surface.map)
      if (surface.is_used(v)) vertices.push_back(v);
  } else {
    for (std::uint32_t v = 0; v < surface.mesh.positions.size(); ++v)
      if (surface.is_used(v)) vertices.push_back(v);
  }
  const auto used = static_cast<double>(vertices.size());
  detail::check_point_count(used, common);
  PointShell shell;
  shell.spacing = detail::spacing_for(surface.area, used);
  shell.how = "vertices";
  if (common.sample_edges) {
    const double spacing = settings.edge_spacing > 0 ? settings.edge_spacing : shell.spacing * 2;
    detail::EdgeSamples edges =
        detail::sample_long_edges(surface, common.sharp_degrees, spacing, common.threads);
    detail::check_point_count(used + static_cast<double>(edges.points.size()), common);
    shell.edge_points = edges.points.size();
    shell.points = std::move(edges.points);
    shell.normals = std::move(edges.normals);
    if (shell.edge_points > 0)
      shell.how += fmt::format(", and {} points on long sharp edges", shell.edge_points);
  }
  for (const std::uint32_t v : vertices) {
    shell.points.push_back(surface.mesh.positions[v]);
    shell.normals.push_back(surface.find_vertex_normal(v));
  }
  // Triangles are about as small as cells here, so thirds suffice.
  constexpr double kPieceSize = 1;
  detail::measure_shell(surface, shell, common, kPieceSize);
  return shell;
}

}  // namespace isotact
