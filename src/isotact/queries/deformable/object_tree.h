// Octrees of bodies that bend: MDL06, section 6. Made once from the rest shape; when vertices move,
// bounds of nodes are stale and are fitted again only where a search comes by.
//
//   ObjectTree a(mesh_a_positions, mesh_a.triangles), b(...);
//   for (;;) {
//     a.set_positions(moved_a), b.set_positions(moved_b);
//     find_triangle_pairs(a, b, {.margin = 0}, pairs);
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

enum class NodeVolume : std::uint8_t { kBox, kSphere };

// How nodes are cut.
enum class TreeCut : std::uint8_t {
  kRegular,   // at the middle of their cube, as the paper does
  kBalanced,  // into equal halves, quarters, eighths
};

struct ObjectTreeSettings {
  int arity = 8;  // children of a node: 2, 4 or 8
  NodeVolume volume = NodeVolume::kBox;
  TreeCut cut = TreeCut::kBalanced;
  int leaf_triangles = 4;  // a node with so many or fewer is a leaf
  int max_level = 16;      // the paper's level-allowed: nodes there are leaves, whatever they hold
};

class ObjectTree {
 public:
  ObjectTree(std::span<const Vec3> positions, std::span<const Triangle> triangles,
             const ObjectTreeSettings& settings = {});

  // The vertices are here now, or go straight from here to there. The spans must live until the
  // next call, or the last search. Costs nothing: bounds are fitted by searches.
  void set_positions(std::span<const Vec3> positions);
  void set_positions(std::span<const Vec3> at_t0, std::span<const Vec3> at_t1);
};

struct TrianglePair {
  std::uint32_t a = 0, b = 0;
  friend constexpr bool operator==(const TrianglePair&, const TrianglePair&) = default;
  friend constexpr auto operator<=>(const TrianglePair&, const TrianglePair&) = default;
};

struct TreeSearch {
  double margin = 0;  // metres: boxes that are no further apart are pairs
};

struct TreeWork {
  std::uint64_t node_tests = 0, nodes_fitted = 0, vertices_read = 0, pairs = 0;
};

// All pairs of triangles whose own boxes (over their whole ways) are no further apart than the
// margin on any axis, in no particular order, appended. Fits what it visits: not for two threads at
// once on one tree.
TreeWork find_triangle_pairs(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                             std::vector<TrianglePair>& pairs);
// Within one body, a < b, neighbours included.
TreeWork find_self_pairs(ObjectTree& tree, const TreeSearch& search,
                         std::vector<TrianglePair>& pairs);

}  // namespace isotact
