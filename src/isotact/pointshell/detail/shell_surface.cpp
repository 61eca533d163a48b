#include "isotact/pointshell/detail/shell_surface.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/memory_limit.h"
#include "isotact/base/trig.h"
#include "isotact/geometry/repair.h"

namespace isotact::detail {
namespace {

constexpr double kHexagon = 0.86602540378443865;  // sqrt(3) / 2

void check_settings(const ShellSettings& s) {
  if (!(s.sharp_degrees >= 0 && s.sharp_degrees <= 180))
    throw Error(fmt::format("pointshell: sharp edges above {} degrees, expected 0 to 180",
                            s.sharp_degrees));
  if (!(s.covering_tolerance >= 0.001 && s.covering_tolerance <= 1))
    throw Error(fmt::format("pointshell: covering_tolerance {} is not between 0.001 and 1",
                            s.covering_tolerance));
}

bool is_usable(const std::array<Vec3f, 3>& c) {
  constexpr float kFurthest = 1e15F;  // as in tree_layout.h
  for (const Vec3f& p : c)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!(std::abs(p[axis]) <= kFurthest)) return false;
  return true;
}

void add_angles(ShellSurface& surface, std::size_t t, std::vector<Vec3>& sums) {
  const Triangle& triangle = surface.mesh.triangles[t];
  const auto c = corners(surface.mesh, t);
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 at = to_double(c[k]);
    const Vec3 u = to_double(c[(k + 1) % 3]) - at, v = to_double(c[(k + 2) % 3]) - at;
    const double angle = angle_of(length(cross(u, v)), dot(u, v));
    sums[triangle[k]] += to_double(surface.face_normals[t]) * angle;
    surface.is_used[triangle[k]] = true;
  }
}

}  // namespace

ShellSurface prepare_shell_surface(const TriangleMesh& mesh, const ShellSettings& settings) {
  check_settings(settings);
  if (const auto flaw = find_flaw(mesh)) throw Error("pointshell: " + *flaw);
  constexpr double kBytesPerTriangle = 150;  // the welded copy, normals, areas, edges to sort
  check_memory(kBytesPerTriangle * static_cast<double>(mesh.triangles.size()), settings.max_memory,
               "the pointshell's mesh");
  ShellSurface surface;
  WeldResult welded = weld(mesh, {.threads = settings.threads});
  surface.mesh = std::move(welded.mesh);
  surface.map = std::move(welded.map);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < surface.mesh.triangles.size(); ++t) {
    const auto c = corners(surface.mesh, t);
    if (!is_usable(c)) continue;
    const Vec3 a = to_double(c[0]);
    const Vec3 twice = cross(to_double(c[1]) - a, to_double(c[2]) - a);
    const double area = length(twice) / 2;
    if (!(area > 0)) continue;
    surface.mesh.triangles[kept++] = surface.mesh.triangles[t];
    surface.face_normals.push_back(to_float(normalized(twice)));
    surface.triangle_areas.push_back(area);
    surface.area += area;
  }
  surface.mesh.triangles.resize(kept);
  if (kept == 0) throw Error("pointshell: the mesh has no triangle with an area");
  surface.is_used.assign(surface.mesh.positions.size(), false);
  std::vector<Vec3> sums(surface.mesh.positions.size());
  for (std::size_t t = 0; t < kept; ++t) add_angles(surface, t, sums);
  surface.vertex_normals.reserve(sums.size());
  for (const Vec3& sum : sums)
    surface.vertex_normals.push_back(length(sum) > 1e-9 ? to_float(normalized(sum)) : Vec3f{});
  return surface;
}

double spacing_for(double area, double points) { return std::sqrt(area / (points * kHexagon)); }
double points_for(double area, double spacing) { return area / (spacing * spacing * kHexagon); }

void check_point_count(double count, const ShellSettings& settings) {
  if (!(count <= kMaxShellPoints))
    throw Error(
        fmt::format("pointshell: {:.3g} points, at most {} are possible", count, kMaxShellPoints));
  constexpr double kBytesPerPoint = 200;  // points, forces, search tree, areas
  check_memory(kBytesPerPoint * count, settings.max_memory, "the pointshell");
}

}  // namespace isotact::detail
