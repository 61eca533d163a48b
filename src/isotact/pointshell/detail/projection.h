// Points brought onto the surface, with its normals.
#pragma once

#include <span>
#include <vector>

#include "isotact/geometry/bvh.h"
#include "isotact/pointshell/detail/sharp_edges.h"

namespace isotact::detail {

// The normal where a search of the surface ended.
inline Vec3f normal_at(const ShellSurface& surface, const EdgeNormals& edges,
                       const ClosestPoint& found) {
  const Triangle& t = surface.mesh.triangles[found.triangle];
  switch (found.feature) {
    case TriangleFeature::kFace:
      return surface.face_normals[found.triangle];
    case TriangleFeature::kEdge0:
      return edges.find(found.triangle, 0);
    case TriangleFeature::kEdge1:
      return edges.find(found.triangle, 1);
    case TriangleFeature::kEdge2:
      return edges.find(found.triangle, 2);
    case TriangleFeature::kVertex0:
      return surface.vertex_normals[t[0]];
    case TriangleFeature::kVertex1:
      return surface.vertex_normals[t[1]];
    case TriangleFeature::kVertex2:
      return surface.vertex_normals[t[2]];
  }
  return {};
}

}  // namespace isotact::detail
