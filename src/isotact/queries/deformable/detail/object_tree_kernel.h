// Volumes of an ObjectTree, eight per block: fitting to vertices, and joint descent of two trees.
// Positions are doubles, volumes are floats rounded outwards. Fitting only compares and rounds, and
// searching only compares, so that every width of lanes gives the same bits, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/detail/box_lanes.h"
#include "isotact/base/machine.h"

namespace isotact::detail {

inline constexpr unsigned kTreeLanes = kBoxLanes;
inline constexpr int kMostTreeLevels = 32;

// A child is a node, or the end of a descent. In the nodes above parts, parts are the ends; in
// those of parts, leaves.
inline constexpr std::uint32_t kTreeEnd = std::uint32_t{1} << 31U;

// A box, or a sphere: its centre in `lower`, its radius in upper[0]. The fourth lanes are unused.
struct alignas(32) TreeVolume {
  float lower[4], upper[4];
};

// Eight of these. Lanes without a child never overlap anything; their number is stored as well.
using TreeBlock = BoxBlock;

struct TreeNode {
  std::uint32_t children[kTreeLanes];
  std::uint32_t count;
};

// Triangles of a leaf fill lanes of blocks, one after the other.
struct TreeLeaf {
  std::uint32_t first_block, count;
};

struct TreePart {
  std::uint32_t root;  // A node, or kTreeEnd | leaf.
  std::uint32_t first_vertex, vertex_count;
  std::uint32_t first_node, node_count;
  std::uint32_t first_leaf, leaf_count;
};

// Positions of vertices. t1 is null if they rest.
struct TreePlaces {
  const double *t0, *t1;
  std::uint32_t last_vertex;
};

struct TreeView {
  TreePlaces places;
  bool has_spheres;
  const TreeNode* nodes;
  TreeBlock* node_blocks;    // The children's volumes.
  TreeVolume* node_volumes;  // Their own.
  const TreeLeaf* leaves;
  TreeBlock* leaf_blocks;          // Boxes of triangles.
  TreeVolume* leaf_boxes;          // Boxes of whole leaves.
  TreeVolume* leaf_volumes;        // The same, or spheres.
  const std::uint32_t* corners;    // Three per lane of leaf_blocks.
  const std::uint32_t* triangles;  // One per lane.
  const TreePart* parts;
  TreeVolume* part_volumes;
  const std::uint32_t* part_vertices;  // Each once per part, ascending.
};

struct TreePairKey {
  std::uint32_t a, b;
};

// `flush` empties full ones.
struct TreeSink {
  TreePairKey* pairs;
  std::size_t count, capacity;
  std::uint64_t tests;  // Volumes against volumes.
  void (*flush)(TreeSink& sink);
};

struct TreeTask {
  const TreeView *a, *b;
  double margin;
  float reach;   // The margin, rounded up.
  bool is_self;  // a is b, and each pair is reported once.
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

// Relative tolerance of a comparison in floats. Bounds are rounded by at most 2 units in the last
// place (2^-22), sums by half of one, doubles by far less.
inline constexpr float kTreeEase = 0x1p-21F;
// With this relative overlap, the doubles overlap as well.
inline constexpr float kTreeSure = 0x1p-18F;
inline constexpr float kTreeSlack = 0x1p-100F;  // More than rounding of denormal numbers.
// For larger margins, floats decide nothing with certainty.
inline constexpr float kTreeHuge = 0x1p100F;
inline constexpr float kTreeLargest = 3.4028234663852886e38F;

}  // namespace isotact::detail
