// Rims of holes, and the plainest way to close them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isotact/field/build/detail/edges.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

// Net edges that hang together. They come and go equally often at every vertex, since they are the
// boundary of a surface.
struct Rim {
  std::vector<NetEdge> edges;
  Vec3 center{};        // mean of the edges' midpoints, by length
  double radius = 0;    // of a ball about the center that holds it
  double fan_area = 0;  // of the fan from the center
};

// In the order of their first edges.
std::vector<Rim> gather_rims(const TriangleMesh& mesh, std::span<const NetEdge> net);

// Adds up edges between the same vertices, by rising lower vertex, then upper; and the same for the
// edges of a few triangles. Cost: O(n log n) in their number, not in that of the vertices.
std::vector<NetEdge> sum_edges(std::vector<NetEdge> edges);
std::vector<NetEdge> find_net(std::span<const Triangle> triangles);

// Closes a rim by triangles to a new vertex at its center, or by one triangle where it has no more
// than that. Balanced whatever the rim looks like.
void add_fan(TriangleMesh& mesh, const Rim& rim);

}  // namespace isotact::surface_detail
