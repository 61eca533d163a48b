// Leaves of two trees that are near each other, and their content.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact::detail {

// Marks leaves, and lists their content.
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

}  // namespace isotact::detail
