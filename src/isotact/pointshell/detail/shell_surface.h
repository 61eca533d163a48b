// The mesh as makers of shells see it: welded, finite, each triangle with an area.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact::detail {

struct ShellSurface {
  TriangleMesh mesh;                   // vertices that no triangle uses may be there
  std::vector<Vec3f> face_normals;     // unit
  std::vector<Vec3f> vertex_normals;   // unit, weighted by angle; zero where they cancel
  std::vector<double> triangle_areas;  // m^2, positive
  std::vector<bool> is_used;           // of the vertices: by a triangle
  std::vector<std::uint32_t> map;      // which vertex each of the given mesh's became
  double area = 0;                     // m^2
};

// Throws Error for settings out of range and for a mesh without area.
ShellSurface prepare_shell_surface(const TriangleMesh& mesh, const ShellSettings& settings);

// How far apart points lie in a hexagonal pattern of this density: each has sqrt(3)/2 s^2.
double spacing_for(double area, double points);
double points_for(double area, double spacing);

// Throws Error for more points than may be, or more memory than allowed.
void check_point_count(double count, const ShellSettings& settings);

}  // namespace isotact::detail
