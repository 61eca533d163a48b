// Closed triangle meshes out of fields: the surface where a field has one value.
//
// Marching cubes on the nodes of a lattice, with cases made by rule (detail/cube_table.h). The mesh
// is watertight, manifold and oriented, faces the greater values, and its vertices lie on lattice
// edges, where a trilinear field is linear: there the field has the wished value, but for vertices
// that would come nearer to a node than 1/128 of an edge, and are held off it. (Vertices on nodes
// would make triangles without area.)
//
// Only blocks of 8^3 cells whose range holds the value are looked at, found by descent through
// field.range(): cost and memory go with the surface (some 60 bytes a triangle while it is made).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

struct IsosurfaceSettings {
  double iso = 0;  // metres: the surface is where the field has this value
  int stride = 1;  // takes every n-th node only, for coarser meshes (of brick fields)
  std::size_t max_triangles = std::size_t{1} << 28U;  // more are refused before they are made
  Threads threads{};
  Monitor monitor{};
};

namespace detail {

inline constexpr int kMarchCells = 8;  // of a block, an axis
inline constexpr int kMarchNodes = kMarchCells + 1;
inline constexpr std::size_t kMarchSamples = std::size_t{kMarchNodes} * kMarchNodes * kMarchNodes;

// What marching needs to know of a field. Blocks may have negative numbers; block b spans the nodes
// 8 b to 8 b + 8 of each axis. Nodes outside of [first, last] count as infinite, which closes what
// reaches so far.
struct MarchSource {
  const void* field;
  Vec3 origin;  // of node 0
  double spacing;
  Index3 first_node, last_node;
  // The values at the 9^3 nodes of a block, x fastest: the same for every block that has the node.
  void (*fill)(const MarchSource& source, const Index3& block, std::span<float> samples);
  // Holds all values of the nodes of all blocks from first to last.
  Interval (*range)(const MarchSource& source, const Index3& first, const Index3& last);
};

TriangleMesh march(const MarchSource& source, const IsosurfaceSettings& settings);

// The one way to compute it, so that all blocks agree to the bit.
inline Vec3 march_node(const MarchSource& source, const Index3& node) {
  return source.origin + Vec3{double(node[0]), double(node[1]), double(node[2])} * source.spacing;
}
inline Aabb march_box(const MarchSource& s, const Index3& first, const Index3& last) {
  constexpr int n = kMarchCells;
  return {march_node(s, {first[0] * n, first[1] * n, first[2] * n}),
          march_node(s, {last[0] * n + n, last[1] * n + n, last[2] * n + n})};
}

template <Field F>
void fill_block(const MarchSource& source, const Index3& block, std::span<float> samples) {
  std::size_t n = 0;
  for (std::int32_t k = 0; k < kMarchNodes; ++k)
    for (std::int32_t j = 0; j < kMarchNodes; ++j)
      for (std::int32_t i = 0; i < kMarchNodes; ++i) {
        const Index3 node{block[0] * kMarchCells + i, block[1] * kMarchCells + j,
                          block[2] * kMarchCells + k};
        samples[n++] = static_cast<float>(
            static_cast<const F*>(source.field)->value(march_node(source, node)));
      }
}

template <Field F>
Interval blocks_range(const MarchSource& source, const Index3& first, const Index3& last) {
  return static_cast<const F*>(source.field)->range(march_box(source, first, last));
}

}  // namespace detail

// At the field's own resolution, from the stored values. Where the surface leaves the field's box
// (a value larger than the padding) the lattice goes on outside, and the surface is that of the
// field's extension (extend_outside), so that it is closed. An empty mesh where the field does not
// have the value. Throws Error for a value that is not finite, a stride outside of 1 to 1024 and
// more triangles than allowed; Cancelled. The same mesh for any number of threads.
TriangleMesh extract_surface(const BrickField& field, const IsosurfaceSettings& settings = {});

// About how many triangles a surface that leaves the field's box would have, before any work: those
// of the grown box. 0 where it stays inside, so that the field's own resolution bounds them.
// extract_surface refuses what is estimated at twice max_triangles or more. Needs a finite value
// and a stride of 1 or more.
double estimate_triangles(const BrickField& field, double iso, int stride);

// Of any field, on the lattice of the caller's choice: what lies beyond it is cut off and closed
// by a cap along the lattice's sides. The stride does not count.
template <Field F>
TriangleMesh extract_surface(const F& field, const Lattice& lattice,
                             const IsosurfaceSettings& settings = {}) {
  const detail::MarchSource source{.field = &field,
                                   .origin = lattice.origin,
                                   .spacing = lattice.spacing,
                                   .first_node = {0, 0, 0},
                                   .last_node = lattice.cells,
                                   .fill = &detail::fill_block<F>,
                                   .range = &detail::blocks_range<F>};
  return detail::march(source, settings);
}

}  // namespace isotact
