#include "isotact/pointshell/point_shell.h"

#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/shell_passes.h"
#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact {
namespace {

void take_normal(Vec3f& normal, const Vec3& gradient) {
  if (length(gradient) > 0.5) normal = to_float(normalized(gradient));
}

}  // namespace

void take_normals(PointShell& shell, const BrickField& field, Threads threads) {
  std::vector<Vec3f> gradients(shell.points.size());
  sample_field(field, shell.points, {}, gradients, threads);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    take_normal(shell.normals[i], to_double(gradients[i]));
}

void take_normals(PointShell& shell, const AnyField& field, Threads threads) {
  parallel_for(shell.points.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      take_normal(shell.normals[i], field.sample(to_double(shell.points[i])).gradient);
  });
}

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
    shell.normals.push_back(surface.compute_vertex_normal(v));
  }
  // Triangles are about as small as cells here, so thirds suffice.
  constexpr double kPieceSize = 1;
  detail::measure_shell(surface, shell, common, kPieceSize);
  return shell;
}

// SSL14 section 2.1.2.

namespace {

std::vector<Vec3f> list_surface_voxels(const Voxmap& map) {
  std::vector<Vec3f> centers;
  centers.reserve(map.header().surface_voxels);
  const Index3& n = map.lattice().cells;
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i)
        if (map.layer_value({i, j, k}) == 0)
          centers.push_back(to_float(map.voxel_center({i, j, k})));
  return centers;
}

}  // namespace

PointShell sample_surface_voxels(const TriangleMesh& mesh, const Voxmap& voxmap,
                                 const ProjectionShellSettings& settings) {
  if (!(settings.alpha >= 0.1 && settings.alpha <= 10))
    throw Error(fmt::format("pointshell: alpha {} is not between 0.1 and 10", settings.alpha));
  if (voxmap.encoding() == VoxmapEncoding::kScaled)
    throw Error(
        "pointshell: a scaled voxelmap does not say which voxels are on the surface; "
        "layers and support do");
  const ShellSettings& common = settings.common;
  const detail::ShellSurface surface = detail::prepare_shell_surface(mesh, common);
  detail::check_point_count(static_cast<double>(voxmap.header().surface_voxels), common);
  PointShell shell;
  shell.spacing = settings.alpha * voxmap.voxel_size();
  shell.how =
      fmt::format("centres of surface voxels, projected, {:.4g} voxels apart", settings.alpha);
  if (common.sample_edges) {
    detail::EdgeSamples edges = detail::sample_edges_for_shell(
        surface, common.sharp_degrees, shell.spacing, kMaxShellPoints / 2, common.threads);
    shell.edge_points = edges.points.size();
    shell.points = std::move(edges.points);
    shell.normals = std::move(edges.normals);
  }
  const std::vector<Vec3f> centers = list_surface_voxels(voxmap);
  std::vector<ClosestPoint> found(centers.size());
  const Bvh bvh(surface.mesh, {.threads = common.threads, .monitor = common.monitor});
  // A surface voxel contains a surface point, at most half a diagonal away.
  const auto half_diagonal = static_cast<float>(0.8661 * voxmap.voxel_size());
  find_closest_points(bvh, centers, found, common.threads, half_diagonal);
  std::size_t projected = 0;
  for (const ClosestPoint& f : found) {
    if (f.triangle == kNoTriangle) continue;
    ++projected;
    shell.points.push_back(f.point);
    shell.normals.push_back(detail::normal_at(surface, f));
  }
  if (projected == 0)
    throw Error("pointshell: no surface voxel is near the mesh: the voxelmap is of another one");
  const auto stay = detail::thin(shell.points, shell.spacing, shell.edge_points);
  for (std::size_t i = 0; i < stay.size(); ++i) {
    shell.points[i] = shell.points[stay[i]];
    shell.normals[i] = shell.normals[stay[i]];
  }
  shell.points.resize(stay.size());
  shell.normals.resize(stay.size());
  detail::measure_shell(surface, shell, common);
  return shell;
}

}  // namespace isotact
