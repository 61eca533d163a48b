// Shells of as many points as a mesh has vertices, as XB14 has them.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/pointshell/point_shell.h"

namespace isotact::bench {

// Vertices as they are: no samples on edges, and equal ones stay.
inline PointShell take_vertices(const TriangleMesh& mesh) {
  return sample_vertices(mesh, {.common = {.sample_edges = false}, .keep_equal = true});
}

// Vertices that no triangle uses, for shells of as many points as the paper's. They have no normal
// and stand for no area.
inline void add_unused_vertices(const TriangleMesh& mesh, PointShell& shell) {
  std::vector<bool> used(mesh.positions.size());
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t corner : t) used[corner] = true;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    shell.points.push_back(mesh.positions[i]);
    shell.normals.emplace_back();
    shell.areas.push_back(0);
  }
}

}  // namespace isotact::bench
