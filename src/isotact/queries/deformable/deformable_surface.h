// The surface of a body that bends: triangles and edges that stay, vertices that move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

using Edge = std::array<std::uint32_t, 2>;  // indices of its ends, the lower first

inline constexpr std::uint32_t kNoEdge = 0xffffffff;

// What does not change while a body bends. Every edge and every vertex that a triangle uses belongs
// to one triangle, the lowest that has it: a search that comes from pairs of triangles looks at
// each feature once (representative triangles).
struct SurfaceTopology {
  std::uint32_t vertex_count = 0;
  std::vector<Triangle> triangles{};
  std::vector<Edge> edges{};  // each once, ascending
  // Of a triangle: corner 0-1, 1-2, 2-0; kNoEdge from a vertex to itself.
  std::vector<std::array<std::uint32_t, 3>> edges_of{};
  std::vector<std::uint8_t> owned{};  // of a triangle: bits 0 to 2 its corners, 3 to 5 its edges

  bool owns_corner(std::size_t triangle, std::size_t corner) const {
    return (std::uint32_t{owned[triangle]} >> corner & 1U) != 0;
  }
  bool owns_edge(std::size_t triangle, std::size_t side) const {
    return (std::uint32_t{owned[triangle]} >> (side + 3) & 1U) != 0;
  }
};

// Throws Error for an index beyond the vertices. Triangles that name a vertex twice are welcome:
// their edges from a vertex to itself are left out of `owned`. Cost: sorts three edges a triangle.
SurfaceTopology make_topology(std::span<const Triangle> triangles, std::size_t vertex_count);

// A surface at one time, or on straight ways from t0 to t1. Views: the caller keeps what they show.
struct SurfaceView {
  const SurfaceTopology* topology = nullptr;
  std::span<const Vec3> positions{};     // at t0
  std::span<const Vec3> positions_t1{};  // empty: it rests
};

}  // namespace isotact
