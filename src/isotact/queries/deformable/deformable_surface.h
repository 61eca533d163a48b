// The surface of a soft body: constant triangles and edges, moving vertices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

using Edge = std::array<std::uint32_t, 2>;  // Indices of its ends, the lower first.

inline constexpr std::uint32_t kNoEdge = 0xffffffff;

// The part that does not change while a body deforms. Every edge and every vertex that a triangle
// uses belongs to one triangle, the lowest that has it. A search over pairs of triangles therefore
// visits each feature once (representative triangles).
struct SurfaceTopology {
  std::uint32_t vertex_count = 0;
  std::vector<Triangle> triangles{};
  std::vector<Edge> edges{};  // Each once, ascending.
  // Edges of a triangle: corners 0-1, 1-2, 2-0. kNoEdge from a vertex to itself.
  std::vector<std::array<std::uint32_t, 3>> edges_of{};
  // Per triangle: bits 0 to 2 are its corners, 3 to 5 its edges.
  std::vector<std::uint8_t> owned{};

  bool owns_corner(std::size_t triangle, std::size_t corner) const {
    return (std::uint32_t{owned[triangle]} >> corner & 1U) != 0;
  }
  bool owns_edge(std::size_t triangle, std::size_t side) const {
    return (std::uint32_t{owned[triangle]} >> (side + 3) & 1U) != 0;
  }
};

// Throws Error for an index beyond the vertices. Triangles may name a vertex twice: their edges
// from a vertex to itself are left out of `owned`. Cost: sorting three edges per triangle.
SurfaceTopology make_topology(std::span<const Triangle> triangles, std::size_t vertex_count);

// A surface at one time, or moving straight from t0 to t1. It only views data that the caller owns.
struct SurfaceView {
  const SurfaceTopology* topology = nullptr;
  std::span<const Vec3> positions{};     // At t0.
  std::span<const Vec3> positions_t1{};  // Empty: it rests.
};

}  // namespace isotact
