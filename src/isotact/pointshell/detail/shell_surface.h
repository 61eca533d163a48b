// The mesh as makers of shells see it: welded, finite, and without triangles of zero area.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact::detail {

struct ShellSurface {
  TriangleMesh mesh;                   // May have vertices that no triangle uses.
  std::vector<Vec3f> face_normals;     // Unit vectors.
  std::vector<double> triangle_areas;  // m^2, positive.
  std::vector<std::uint32_t> map;      // The vertex that each vertex of the given mesh became.
  double area = 0;                     // m^2

  // Returns the triangles that use a vertex, ascending.
  std::span<const std::uint32_t> triangles_at(std::uint32_t vertex) const {
    return std::span(around).subspan(around_begin[vertex],
                                     around_begin[vertex + 1] - around_begin[vertex]);
  }
  bool is_used(std::uint32_t vertex) const { return !triangles_at(vertex).empty(); }

  // Returns the mean normal of the faces at the vertex or edge, weighted by angle at vertices. It
  // is a unit vector, or zero if faces cancel. It is computed anew for each call; cost: about 0.1
  // microseconds per triangle at the vertex.
  Vec3f compute_vertex_normal(std::uint32_t vertex) const;
  Vec3f compute_edge_normal(std::uint32_t a, std::uint32_t b) const;

  std::vector<std::uint32_t> around_begin, around;
};

// Throws Error for settings out of range and for a mesh without area.
ShellSurface prepare_shell_surface(const TriangleMesh& mesh, const ShellSettings& settings);

// Distance of points in a hexagonal pattern of this density, in which each has an area of sqrt(3)/2
// s^2.
double spacing_for(double area, double points);
double points_for(double area, double spacing);

// Throws Error for more points than the maximum, or more memory than allowed.
void check_point_count(double count, const ShellSettings& settings);

// Returns the normal at the result of a closest-point search.
inline Vec3f normal_at(const ShellSurface& surface, const ClosestPoint& found) {
  const Triangle& t = surface.mesh.triangles[found.triangle];
  switch (found.feature) {
    case TriangleFeature::kFace:
      return surface.face_normals[found.triangle];
    case TriangleFeature::kEdge0:
      return surface.compute_edge_normal(t[0], t[1]);
    case TriangleFeature::kEdge1:
      return surface.compute_edge_normal(t[1], t[2]);
    case TriangleFeature::kEdge2:
      return surface.compute_edge_normal(t[2], t[0]);
    case TriangleFeature::kVertex0:
      return surface.compute_vertex_normal(t[0]);
    case TriangleFeature::kVertex1:
      return surface.compute_vertex_normal(t[1]);
    case TriangleFeature::kVertex2:
      return surface.compute_vertex_normal(t[2]);
  }
  return {};
}

}  // namespace isotact::detail
