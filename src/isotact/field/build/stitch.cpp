#include "isotact/field/build/detail/stitch.h"

#include <algorithm>
#include <vector>

#include "isotact/field/build/detail/clean.h"
#include "isotact/geometry/repair.h"

namespace isotact::surface_detail {

StitchResult stitch(const TriangleMesh& mesh, std::span<const NetEdge> net, double tolerance) {
  std::vector<std::uint32_t> vertices;
  for (const NetEdge& e : net) vertices.insert(vertices.end(), {e.from, e.to});
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  TriangleMesh rim;
  for (const std::uint32_t v : vertices) rim.positions.push_back(mesh.positions[v]);
  const WeldResult welded = weld(rim, {.tolerance = tolerance});

  // Vertices take the position of the one they are merged with; cleaning does the rest.
  TriangleMesh moved = mesh;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    moved.positions[vertices[i]] = welded.mesh.positions[welded.map[i]];
  CleanMesh cleaned = clean(moved);
  return {.mesh = std::move(cleaned.mesh),
          .merged = welded.merged,
          .longest_move = welded.longest_move,
          .collapsed = cleaned.collapsed};
}

}  // namespace isotact::surface_detail
