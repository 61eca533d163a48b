// Closed triangle meshes out of fields: the surface on which a field has one value.
//
// This is marching cubes on the nodes of a lattice, with cases made by rule (detail/cube_table.h).
// The mesh is watertight, manifold and oriented, and faces the greater values. Its vertices lie on
// lattice edges, along which a trilinear field is linear: there the field has the requested value.
// The exception is vertices that would come nearer to a node than 1/128 of an edge: they are kept
// at that distance. (Vertices on nodes would make triangles without area.)
//
// Only blocks of 8^3 cells whose range contains the value are visited, found by descent through
// field.range(). Cost and memory are proportional to the surface (some 60 bytes per triangle while
// it is made).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

struct IsosurfaceSettings {
  double level = 0;  // In metres: the value of the field on the surface.
  // Takes only every n-th node, for coarser meshes (of brick fields).
  int stride = 1;
  std::size_t max_triangles = std::size_t{1} << 28U;  // More are refused before they are made.
  Threads threads{};
  Monitor monitor{};
};

namespace detail {

inline constexpr int kMarchCells = 8;  // Cells of a block along each axis.
inline constexpr int kMarchNodes = kMarchCells + 1;
inline constexpr std::size_t kMarchSamples = std::size_t{kMarchNodes} * kMarchNodes * kMarchNodes;

// The interface of a field to marching. Blocks may have negative numbers; block b spans the nodes 8
// b to 8 b + 8 of each axis. Nodes outside of [first, last] count as infinite, which closes
// surfaces that reach so far.
struct MarchSource {
  const void* field;
  Vec3 origin;  // Position of node 0.
  double spacing;
  Index3 first_node, last_node;
  // Writes the values at the 9^3 nodes of a block, x fastest: the same for every block that has the
  // node.
  void (*fill)(const MarchSource& source, const Index3& block, std::span<float> samples);
  // Returns an interval that contains all values of the nodes of all blocks from first to last.
  Interval (*range)(const MarchSource& source, const Index3& first, const Index3& last);
};

TriangleMesh march(const MarchSource& source, const IsosurfaceSettings& settings);

// Everyone computes it by this function, so all blocks agree to the bit.
inline Vec3 march_node(const MarchSource& source, const Index3& node) {
  return source.origin + Vec3{double(node[0]), double(node[1]), double(node[2])} * source.spacing;
}
inline Aabb march_box(const MarchSource& s, const Index3& first, const Index3& last) {
  constexpr int n = kMarchCells;
  return {march_node(s, {first[0] * n, first[1] * n, first[2] * n}),
          march_node(s, {last[0] * n + n, last[1] * n + n, last[2] * n + n})};
}

// Fills a block with value(node).
template <typename Value>
void fill_march_nodes(const Index3& block, std::span<float> samples, const Value& value) {
  std::size_t n = 0;
  for (std::int32_t k = 0; k < kMarchNodes; ++k)
    for (std::int32_t j = 0; j < kMarchNodes; ++j)
      for (std::int32_t i = 0; i < kMarchNodes; ++i)
        samples[n++] = value(Index3{block[0] * kMarchCells + i, block[1] * kMarchCells + j,
                                    block[2] * kMarchCells + k});
}

template <Field F>
void fill_block(const MarchSource& source, const Index3& block, std::span<float> samples) {
  fill_march_nodes(block, samples, [&](const Index3& node) {
    return static_cast<float>(static_cast<const F*>(source.field)->value(march_node(source, node)));
  });
}

template <Field F>
Interval blocks_range(const MarchSource& source, const Index3& first, const Index3& last) {
  return static_cast<const F*>(source.field)->range(march_box(source, first, last));
}

}  // namespace detail

// Uses the field's own resolution and the stored values. If the surface leaves the field's box (a
// value larger than the padding), the lattice continues outside. The surface there is that of the
// field's extension (extend_outside), so it is closed. Returns an empty mesh if the field does not
// have the value. Throws Error for a value that is not finite, a stride outside of 1 to 1024 and
// more triangles than allowed. Throws Cancelled if the monitor's token was set. The mesh is the
// same for any number of threads.
TriangleMesh extract_surface(const BrickField& field, const IsosurfaceSettings& settings = {});

// Estimates the number of triangles of a surface that leaves the field's box, before any work:
// those of the grown box. Returns 0 if it stays inside, so that the field's own resolution bounds
// them. extract_surface refuses an estimate of twice max_triangles or more. Needs a finite value
// and a stride of 1 or more.
double estimate_triangles(const BrickField& field, double level, int stride);

// The same for any field, on the lattice of the caller's choice. Parts beyond it are cut off and
// closed by a cap along the lattice's sides. The stride is ignored.
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
