#include "isotact/pointshell/detail/shell_surface.h"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/base/trig.h"
#include "isotact/geometry/repair/repair.h"

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
  constexpr float kFurthest = 1e15F;  // As in tree_layout.h.
  for (const Vec3f& p : c)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!(std::abs(p[axis]) <= kFurthest)) return false;
  return true;
}

// Returns the angle at a corner of a triangle.
double compute_angle(const std::array<Vec3f, 3>& c, std::size_t k) {
  const Vec3 at = to_double(c[k]);
  const Vec3 u = to_double(c[(k + 1) % 3]) - at, v = to_double(c[(k + 2) % 3]) - at;
  return angle_of(length(cross(u, v)), dot(u, v));
}

void list_triangles_at_vertices(ShellSurface& surface) {
  std::vector<std::uint32_t>& begin = surface.around_begin;
  begin.assign(surface.mesh.positions.size() + 1, 0);
  for (const Triangle& t : surface.mesh.triangles)
    for (const std::uint32_t v : t) ++begin[v + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  surface.around.resize(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t t = 0; t < surface.mesh.triangles.size(); ++t)
    for (const std::uint32_t v : surface.mesh.triangles[t]) surface.around[next[v]++] = t;
}

}  // namespace

ShellSurface prepare_shell_surface(const TriangleMesh& mesh, const ShellSettings& settings) {
  check_settings(settings);
  if (const auto flaw = find_flaw(mesh)) throw Error("pointshell: " + *flaw);
  constexpr double kBytesPerTriangle = 150;  // The welded copy, normals, areas, edges to sort.
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
  list_triangles_at_vertices(surface);
  return surface;
}

Vec3f ShellSurface::compute_vertex_normal(std::uint32_t vertex) const {
  Vec3 sum{};
  for (const std::uint32_t t : triangles_at(vertex))
    for (std::size_t k = 0; k < 3; ++k)
      if (mesh.triangles[t][k] == vertex)
        sum += to_double(face_normals[t]) * compute_angle(corners(mesh, t), k);
  return length(sum) > 1e-9 ? to_float(normalized(sum)) : Vec3f{};
}

Vec3f ShellSurface::compute_edge_normal(std::uint32_t a, std::uint32_t b) const {
  if (triangles_at(b).size() < triangles_at(a).size()) std::swap(a, b);
  Vec3f sum{};
  for (const std::uint32_t t : triangles_at(a)) {
    const Triangle& v = mesh.triangles[t];
    if (v[0] == b || v[1] == b || v[2] == b) sum += face_normals[t];
  }
  return length(sum) > 1e-6F ? normalized(sum) : Vec3f{};
}

double spacing_for(double area, double points) { return std::sqrt(area / (points * kHexagon)); }
double points_for(double area, double spacing) { return area / (spacing * spacing * kHexagon); }

void check_point_count(double count, const ShellSettings& settings) {
  if (!(count <= kMaxShellPoints))
    throw Error(
        fmt::format("pointshell: {:.3g} points, at most {} are possible", count, kMaxShellPoints));
  constexpr double kBytesPerPoint = 200;  // Points, forces, search tree, areas.
  check_memory(kBytesPerPoint * count, settings.max_memory, "the pointshell");
}

}  // namespace isotact::detail
