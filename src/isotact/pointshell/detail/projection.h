// Projection of points to the surface, with its normals.
#pragma once

#include <span>
#include <vector>

#include "isotact/geometry/bvh/bvh.h"
#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

// Returns the normal at the result of a closest-point search.
inline Vec3f normal_at(const ShellSurface& surface, const ClosestPoint& found) {
  const Triangle& t = surface.mesh.triangles[found.triangle];
  switch (found.feature) {
    case TriangleFeature::kFace:
      return surface.face_normals[found.triangle];
    case TriangleFeature::kEdge0:
      return surface.find_edge_normal(t[0], t[1]);
    case TriangleFeature::kEdge1:
      return surface.find_edge_normal(t[1], t[2]);
    case TriangleFeature::kEdge2:
      return surface.find_edge_normal(t[2], t[0]);
    case TriangleFeature::kVertex0:
      return surface.find_vertex_normal(t[0]);
    case TriangleFeature::kVertex1:
      return surface.find_vertex_normal(t[1]);
    case TriangleFeature::kVertex2:
      return surface.find_vertex_normal(t[2]);
  }
  return {};
}

}  // namespace isotact::detail
