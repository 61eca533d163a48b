// The edges of a mesh that do not balance, the rims of holes that they form, and the plainest
// closures of rims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::surface_detail {

// An edge that triangles run `excess` times more often from `from` to `to` than back.
struct NetEdge {
  std::uint32_t from = 0, to = 0;
  std::uint32_t excess = 0;  // at least 1

  friend bool operator==(const NetEdge&, const NetEdge&) = default;
};

struct EdgeReport {
  std::vector<NetEdge> net;  // by rising lower vertex, then upper; empty: balanced
  std::size_t edges = 0;
  std::size_t not_two = 0;          // edges with another number of triangles than two
  std::size_t same_direction = 0;   // edges that two triangles run in the same direction
  std::vector<std::uint32_t> part;  // of each triangle; triangles of a part are joined by edges
  std::uint32_t parts = 0;
};

// The one pass over topology that every build pays for. Needs triangles with three distinct
// vertices, fewer than 2^31 of them. The same for any number of threads. Cost: about 50 ns per
// triangle on one.
EdgeReport find_edges(const TriangleMesh& mesh, Threads threads);

// A loop of net edges that passes no vertex twice. Whatever the mesh, its net edges can be cut into
// such loops, since they come and go equally often at every vertex.
struct Rim {
  std::vector<NetEdge> edges;  // one after the other, each once
  Vec3 center{};               // mean of the edges' midpoints, by length
  double radius = 0;           // of a ball about the center that holds it
  double perimeter = 0;
  double fan_area = 0;  // of the fan from the center
};
std::vector<Rim> gather_rims(const TriangleMesh& mesh, std::span<const NetEdge> net);

// Adds up edges between the same vertices, by rising lower vertex, then upper; and the same for the
// edges of a few triangles. Cost: O(n log n) in their number, not in that of the vertices.
std::vector<NetEdge> sum_edges(std::vector<NetEdge> edges);
std::vector<NetEdge> compute_net(std::span<const Triangle> triangles);

// Closes a rim by triangles to a new vertex at its center, or by one triangle where it has no more
// edges than that.
void add_fan(TriangleMesh& mesh, const Rim& rim);

// Triangles between the rim's own vertices: its corners are cut off, the one with the shortest new
// edge first. Follows narrow slits, however long and bent.
struct NarrowFill {
  std::vector<Triangle> triangles;
  double area = 0;
  double width = 0;  // area over length: how far apart the sides of the slit are
};
NarrowFill compute_narrow_fill(const TriangleMesh& mesh, const Rim& rim);

}  // namespace isotact::surface_detail
