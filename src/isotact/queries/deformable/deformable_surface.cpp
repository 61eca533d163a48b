#include "isotact/queries/deformable/deformable_surface.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "isotact/base/error.h"

namespace isotact {
namespace {

void check_indices(std::span<const Triangle> triangles, std::size_t vertex_count) {
  if (vertex_count >= kNoEdge || triangles.size() >= kNoEdge / 3)
    throw Error("a surface of " + std::to_string(vertex_count) + " vertices and " +
                std::to_string(triangles.size()) + " triangles is larger than indices can name");
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (const std::uint32_t v : triangles[t])
      if (v >= vertex_count)
        throw Error("triangle " + std::to_string(t) + " names vertex " + std::to_string(v) +
                    ", but the surface has " + std::to_string(vertex_count) + " vertices");
}

// A side of a triangle: its edge, then its owner. After sorting, the first of each edge is that of
// the lowest triangle.
struct TriangleSide {
  Edge edge;
  std::uint32_t slot;  // 3 * triangle + side.
};

std::vector<TriangleSide> list_sides(std::span<const Triangle> triangles) {
  std::vector<TriangleSide> sides;
  sides.reserve(3 * triangles.size());
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      if (from != to) sides.push_back({{std::min(from, to), std::max(from, to)}, 3 * t + k});
    }
  std::sort(sides.begin(), sides.end(), [](const TriangleSide& a, const TriangleSide& b) {
    return std::tie(a.edge, a.slot) < std::tie(b.edge, b.slot);
  });
  return sides;
}

}  // namespace

SurfaceTopology make_topology(std::span<const Triangle> triangles, std::size_t vertex_count) {
  check_indices(triangles, vertex_count);
  SurfaceTopology topology{.vertex_count = static_cast<std::uint32_t>(vertex_count),
                           .triangles = {triangles.begin(), triangles.end()}};
  topology.edges_of.assign(triangles.size(), {kNoEdge, kNoEdge, kNoEdge});
  topology.owned.assign(triangles.size(), 0);

  std::vector<bool> has_owner(vertex_count);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      if (has_owner[triangles[t][k]]) continue;
      has_owner[triangles[t][k]] = true;
      topology.owned[t] |= static_cast<std::uint8_t>(1U << k);
    }
  for (const TriangleSide& side : list_sides(triangles)) {
    const std::size_t t = side.slot / 3, k = side.slot % 3;
    if (topology.edges.empty() || topology.edges.back() != side.edge) {
      topology.edges.push_back(side.edge);
      topology.owned[t] |= static_cast<std::uint8_t>(8U << k);
    }
    topology.edges_of[t][k] = static_cast<std::uint32_t>(topology.edges.size() - 1);
  }
  return topology;
}

}  // namespace isotact
