// Triangles and a hierarchy over them for shaders (shaders/nearest.glsl). It is complete, so that
// it needs no pointers and almost no stack, and is built in a few milliseconds.
//
// Four triangles are a block, eight blocks (or nodes) a node, and all but the last of a level are
// full. Each has its own box, oriented along the surface. From afar, a search visits every box that
// extends from the surface towards it, and an oriented box hardly does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/lattice.h"
#include "isotact/field/surface/triangle_frame.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/gpu/build/detail/search_layout.h"

namespace isotact::detail {

inline constexpr std::size_t kTreeBlock = glsl::kTreeBlock;
inline constexpr std::size_t kTreeWidth = glsl::kTreeWidth;
inline constexpr std::size_t kTreeMaxLevel = glsl::kTreeMaxLevel;
inline constexpr std::size_t kTreeMaxTriangles = kTreeBlock << 24U;

using glsl::TurnedBox;
static_assert(sizeof(TriangleFrame) == 16 * glsl::kFrameParts);

struct TriangleTree {
  std::vector<TriangleFrame> frames;  // Four per block; the last block repeats its last triangle.
  // Level 0 has the blocks. Levels are filled with empty boxes to multiples of eight.
  std::vector<TurnedBox> boxes;
  std::vector<std::uint32_t> level_begin;  // Indices into boxes; the last level has at most eight.
};

// Keeps its memory for the next tree: new pages are the largest cost.
class TreeBuilder {
 public:
  // Needs finite corners, at least one triangle and at most kTreeMaxTriangles. Returns the same
  // bytes for any number of threads. The tree stays valid until the next call. Cost on one thread:
  // half a microsecond per triangle.
  const TriangleTree& build(const TriangleMesh& mesh, const Lattice& lattice, Threads threads);

  struct Place {
    float center[3];  // Three times the centre of a triangle: the sum of its corners, cells.
    std::uint32_t triangle;
  };

 private:
  TriangleTree tree_;
  std::vector<Place> places_, sorted_;
  std::vector<std::uint32_t> keys_;
};

}  // namespace isotact::detail
