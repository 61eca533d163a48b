// SSL14 section 2.1.2.
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/measure.h"
#include "isotact/pointshell/detail/projection.h"
#include "isotact/pointshell/detail/sharp_edges.h"
#include "isotact/pointshell/detail/thinning.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {
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
