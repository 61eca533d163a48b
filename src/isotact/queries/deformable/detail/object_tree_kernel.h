// Volumes of an ObjectTree, eight to a block: how they are fitted to vertices, and how two trees
// are descended together. Positions are doubles, volumes floats that are rounded outwards. Fitting
// only compares and rounds, searching only compares, so that every width of lanes gives the same
// bits, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/cpu.h"
#include "isotact/base/lanes.h"

namespace isotact::detail {

inline constexpr unsigned kTreeLanes = 8;
inline constexpr int kMostTreeLevels = 32;

// What a child is: a node, or the end of a descent. In the nodes above parts, parts are the ends;
// in those of parts, leaves.
inline constexpr std::uint32_t kTreeEnd = std::uint32_t{1} << 31U;

// A box, or a sphere: its middle in `lower`, its radius in upper[0]. The fourth lanes are nothing.
struct alignas(32) TreeVolume {
  float lower[4], upper[4];
};

// Eight of these. Lanes without a child never overlap anything: their count is kept, too.
struct alignas(64) TreeBlock {
  float lower[3][kTreeLanes];
  float upper[3][kTreeLanes];
};

struct TreeNode {
  std::uint32_t children[kTreeLanes];
  std::uint32_t count;
};

// Triangles of a leaf fill lanes of blocks, one after the other.
struct TreeLeaf {
  std::uint32_t first_block, count;
};

struct TreePart {
  std::uint32_t root;  // a node, or kTreeEnd | leaf
  std::uint32_t first_vertex, vertex_count;
  std::uint32_t first_node, node_count;
  std::uint32_t first_leaf, leaf_count;
};

// Where vertices are. t1: null where they rest.
struct TreePlaces {
  const double *t0, *t1;
  std::uint32_t last_vertex;
};

struct TreeView {
  TreePlaces places;
  bool has_spheres;
  const TreeNode* nodes;
  TreeBlock* node_blocks;    // the children's volumes
  TreeVolume* node_volumes;  // their own
  const TreeLeaf* leaves;
  TreeBlock* leaf_blocks;          // boxes of triangles
  TreeVolume* leaf_boxes;          // of all of them
  TreeVolume* leaf_volumes;        // the same, or spheres
  const std::uint32_t* corners;    // three a lane of leaf_blocks
  const std::uint32_t* triangles;  // one a lane
  const TreePart* parts;
  TreeVolume* part_volumes;
  const std::uint32_t* part_vertices;  // each once in a part, ascending
};

struct TreePairKey {
  std::uint32_t a, b;
};

// Full ones are emptied by `flush`.
struct TreeSink {
  TreePairKey* pairs;
  std::size_t count, capacity;
  std::uint64_t tests;  // volumes against volumes
  void (*flush)(TreeSink& sink);
};

struct TreeTask {
  const TreeView *a, *b;
  double margin;
  float reach;   // the margin, rounded up
  bool is_self;  // a is b, and each pair is wanted once
};

struct TreeKernels {
  // Boxes of parts [begin, end), from their vertices.
  void (*fit_part_boxes)(const TreeView& tree, std::uint32_t begin, std::uint32_t end);
  // Boxes of all triangles, leaves and nodes of a part.
  void (*fit_part)(const TreeView& tree, const TreePart& part);
  // Volumes of nodes above parts, each listed before its children, from those of their children.
  void (*fit_top)(const TreeView& tree, const std::uint32_t* nodes, std::uint32_t count);
  // Pairs of parts that are no further apart than the margin, below two nodes or parts.
  void (*find_parts)(const TreeTask& task, TreePairKey roots, TreeSink& sink);
  // Pairs of leaves below roots of parts.
  void (*find_leaves)(const TreeTask& task, TreePairKey roots, TreeSink& sink);
  // Pairs of triangles below roots of parts.
  void (*find_triangles)(const TreeTask& task, TreePairKey roots, TreeSink& sink);
};

extern const TreeKernels kBaselineTreeKernels;
extern const TreeKernels kAvx2TreeKernels;
const TreeKernels& choose_tree_kernels(SimdLevel level);

// How much a comparison in floats is eased, relative to the numbers compared. Bounds are rounded by
// at most 2 units in the last place (2^-22), sums by half of one, doubles by far less.
inline constexpr float kTreeEase = 0x1p-21F;
// With so much overlap, relative to the numbers compared, the doubles overlap, too.
inline constexpr float kTreeSure = 0x1p-18F;
inline constexpr float kTreeSlack = 0x1p-100F;  // more than rounding of denormal numbers
inline constexpr float kTreeHuge = 0x1p100F;    // margins for which floats are not asked twice
inline constexpr float kTreeLargest = 3.4028234663852886e38F;

}  // namespace isotact::detail
