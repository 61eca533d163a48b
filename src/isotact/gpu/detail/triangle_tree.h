// Triangles and a hierarchy over them as shaders walk it (shaders/nearest.glsl): complete, so that
// it needs no pointers and no stack worth the name, and built in a few milliseconds.
//
// Four triangles are a block, eight blocks (or nodes) a node, and all but the last of a level are
// full. Each has a box of its own, turned to lie along the surface: from afar, a search looks into
// every box that reaches out of the surface towards it, and a turned one hardly does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/build/triangle_frame.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/mesh.h"

namespace isotact::detail {

inline constexpr std::size_t kTreeBlock = 4;     // triangles
inline constexpr std::size_t kTreeWidth = 8;     // children of a node
inline constexpr std::size_t kTreeMaxLevel = 8;  // levels at most: shaders keep one number a level
inline constexpr std::size_t kTreeMaxTriangles = kTreeBlock << 24U;

// Cells. Its sides are `half` away from the centre along three unit vectors. Empty ones are
// infinitely far away from everything: their halves are negative.
struct TurnedBox {
  float center[3], half_u;
  float u[3], half_v;
  float v[3], half_w;
  float w[3], unused;
};
static_assert(sizeof(TurnedBox) == 64);

struct TriangleTree {
  std::vector<TriangleFrame> frames;  // four a block; the last block repeats its last triangle
  // Level 0 are the blocks. Levels are filled up with empty boxes to multiples of eight.
  std::vector<TurnedBox> boxes;
  std::vector<std::uint32_t> level_begin;  // places in boxes; the last level has at most eight
};

// Keeps its memory for the next tree: new pages are what costs most.
class TreeBuilder {
 public:
  // Needs finite corners, at least one triangle and at most kTreeMaxTriangles. The same bytes for
  // any number of threads. The tree stays until the next. Cost on one thread: half a microsecond a
  // triangle.
  const TriangleTree& build(const TriangleMesh& mesh, const Lattice& lattice, Threads threads);

  struct Place {
    float center[3];  // of a triangle, thrice: the sum of its corners, cells
    std::uint32_t triangle;
  };

 private:
  TriangleTree tree_;
  std::vector<Place> places_, sorted_;
  std::vector<std::uint32_t> keys_;
};

}  // namespace isotact::detail
