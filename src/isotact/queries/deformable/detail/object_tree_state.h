// The parts of an ObjectTree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/queries/deformable/detail/object_tree_kernel.h"
#include "isotact/queries/deformable/object_tree.h"

namespace isotact {

// The nodes above have parts as ends, and the nodes of each part have leaves as ends. A node comes
// before its children. All nodes, leaves, and lanes of leaves of a part are contiguous.
struct ObjectTree::State {
  ObjectTreeSettings settings;
  std::uint32_t vertex_count = 0, triangle_count = 0;
  std::uint32_t root = 0;  // A node, or kTreeEnd | part; unused if there are no parts.

  std::vector<detail::TreeNode> nodes;
  std::vector<detail::TreeBlock> node_blocks;
  std::vector<detail::TreeVolume> node_volumes;
  std::vector<std::uint32_t> top;  // Nodes above parts, each before its children.

  std::vector<detail::TreeLeaf> leaves;
  std::vector<detail::TreeVolume> leaf_boxes;
  std::vector<detail::TreeBlock> leaf_blocks;
  std::vector<std::uint32_t> corners, triangles;  // By lane of leaf_blocks.

  // With spheres, parts are leaves, with the same index, and these are their spheres.
  std::vector<detail::TreePart> parts;
  std::vector<detail::TreeVolume> part_volumes;
  std::vector<std::uint32_t> part_vertices;

  std::span<const Vec3> at_t0, at_t1;
  bool is_top_fitted = false;
  std::vector<std::uint8_t> is_part_fitted;
  const detail::TreeKernels* kernels = nullptr;

  bool has_spheres() const { return settings.volume == NodeVolume::kSphere; }
  detail::TreeView view();
};

namespace detail {

// Subdivides triangles. `state` has its settings and vertex_count; the rest is made.
void build_tree(ObjectTree::State& state, std::span<const Vec3> positions,
                std::span<const Triangle> triangles);

// Fits bounds of all parts, and of the nodes above them, if vertices have moved.
void fit_top(ObjectTree::State& state, Threads threads, TreeWork& work);
// Fits the content of these parts, unless it is fitted already. Parts may be repeated.
void fit_parts(ObjectTree::State& state, std::span<const std::uint32_t> parts, Threads threads,
               TreeWork& work);

// Spheres of leaves, and of nodes.
void fit_leaf_spheres(const TreeView& tree, std::uint32_t begin, std::uint32_t end);
void fit_node_spheres(const TreeView& tree, std::span<const std::uint32_t> nodes);

// The box of leaves and triangles in doubles. Lanes are those of leaf_blocks.
Aabb compute_box(const TreeView& tree, std::size_t first_lane, std::size_t count);
// Returns true if no further apart than the margin on any axis.
bool are_near(const Aabb& a, const Aabb& b, double margin);
// As kernels compare them.
bool are_spheres_near(const TreeVolume& a, const TreeVolume& b, float reach);

// Throws Error if trees and margin do not fit together.
TreeTask make_task(const TreeView& a, const TreeView& b, double margin, bool is_self);

// Marks leaves of a tree, such as those that are near another tree, and lists their content.
class TreeLeafSet {
 public:
  explicit TreeLeafSet(const ObjectTree& tree) : tree_(tree), marks_(tree.leaf_count(), 0) {}

  bool has(std::uint32_t leaf) const { return marks_[leaf] != 0; }
  void add(std::uint32_t leaf) { marks_[leaf] = 1; }

  void list(std::vector<std::uint32_t>& vertices, std::vector<std::uint32_t>& triangles) const {
    const ObjectTree::State& s = tree_.state();
    vertices.clear();
    triangles.clear();
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      if (marks_[i] == 0) continue;
      const auto ids = tree_.leaf(i);
      triangles.insert(triangles.end(), ids.begin(), ids.end());
      const auto corners = std::span(s.corners).subspan(
          std::size_t{3} * kTreeLanes * s.leaves[i].first_block, 3 * ids.size());
      vertices.insert(vertices.end(), corners.begin(), corners.end());
    }
    for (auto* ids : {&vertices, &triangles}) {
      std::sort(ids->begin(), ids->end());
      ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
    }
  }

 private:
  const ObjectTree& tree_;
  std::vector<std::uint8_t> marks_;
};

inline Aabb box_of_leaf(const TreeView& tree, std::uint32_t leaf) {
  const TreeLeaf& l = tree.leaves[leaf];
  return compute_box(tree, std::size_t{l.first_block} * kTreeLanes, l.count);
}

// As the search finally compares them.
inline bool are_leaves_near(const TreeTask& task, std::uint32_t a, std::uint32_t b) {
  if (task.a->has_spheres)
    return are_spheres_near(task.a->leaf_volumes[a], task.b->leaf_volumes[b], task.reach);
  return are_near(box_of_leaf(*task.a, a), box_of_leaf(*task.b, b), task.margin);
}

}  // namespace detail
}  // namespace isotact
