// Meshes made of others.
#pragma once

#include <cstdint>
#include <utility>

#include "isotact/geometry/mesh/mesh.h"

namespace isotact {

// Both in one mesh, the second moved.
inline TriangleMesh joined(TriangleMesh a, const TriangleMesh& b, const Vec3f& by = {}) {
  const auto first = static_cast<std::uint32_t>(a.positions.size());
  for (const Vec3f& p : b.positions) a.positions.push_back(p + by);
  for (const Triangle& t : b.triangles)
    a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return a;
}

// Inside out.
inline TriangleMesh turned(TriangleMesh mesh) {
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

}  // namespace isotact
