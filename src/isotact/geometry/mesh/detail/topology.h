// Which triangles share edges and vertices: the tables that flaws, repair and mass properties are
// read from. Vertices are named by the lowest index among those at the same position, or by their
// own index where positions are not merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// A side of a triangle, from corner `half_edge % 3` of triangle `half_edge / 3` to the next corner.
using HalfEdge = std::uint32_t;

struct EdgeUse {
  std::uint32_t high = 0;  // its higher vertex; the lower one is the bucket
  HalfEdge half_edge = 0;
};

struct Topology {
  std::vector<Triangle> triangles;       // the mesh's, with merged vertex names
  std::vector<std::uint8_t> collapsed;   // a triangle with fewer than three distinct vertices has
                                         // no edges here
  std::vector<std::uint32_t> first_use;  // of lower vertex v: uses[first_use[v], first_use[v + 1])
  std::vector<EdgeUse> uses;             // within a vertex by higher vertex, then by half-edge
  std::size_t merged_vertices = 0;       // that were renamed
};

// The lowest index at the same position, for each position: -0 equals +0, and non-finite positions
// equal nothing, themselves included. Cost: O(n log n) for any input, linear for usual ones.
std::vector<std::uint32_t> merge_equal_positions(std::span<const Vec3f> positions, Threads threads);

// Vertices are renamed by `names`, one for each, or keep their own where it is empty. Throws an
// Error for meshes with more than 2^32 / 3 triangles. Cost: O(n log n), linear for usual meshes.
Topology build_topology(const TriangleMesh& mesh, std::span<const std::uint32_t> names,
                        Threads threads);

inline std::uint32_t from_vertex(const Topology& t, HalfEdge h) {
  return t.triangles[h / 3][h % 3];
}
inline std::uint32_t to_vertex(const Topology& t, HalfEdge h) {
  return t.triangles[h / 3][(h + 1) % 3];
}

// The corner of the same triangle where a half-edge ends; corners are numbered like half-edges.
inline std::uint32_t next_in_triangle(HalfEdge h) { return h % 3 == 2 ? h - 2 : h + 1; }

// Calls visit(lower vertex, higher vertex, uses) for every edge, in the order of its vertices.
template <typename Visit>
void for_each_edge(const Topology& t, Visit&& visit) {
  for (std::uint32_t v = 0; v + 1 < t.first_use.size(); ++v) {
    const std::size_t end = t.first_use[v + 1];
    for (std::size_t i = t.first_use[v]; i < end;) {
      std::size_t j = i + 1;
      while (j < end && t.uses[j].high == t.uses[i].high) ++j;
      visit(v, t.uses[i].high, std::span(t.uses).subspan(i, j - i));
      i = j;
    }
  }
}

// How many of the uses run from the lower to the higher vertex.
std::size_t count_forward(const Topology& t, std::uint32_t low, std::span<const EdgeUse> uses);

}  // namespace isotact::detail
