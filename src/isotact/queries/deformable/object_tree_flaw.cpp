#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact {
namespace {

using detail::kTreeEnd;
using detail::TreeView;
using detail::TreeVolume;

bool bounds_box(const TreeVolume& volume, const Aabb& box) {
  const auto most = static_cast<double>(detail::kTreeLargest);
  for (std::size_t k = 0; k < 3; ++k) {
    // Values beyond all floats are clamped.
    if (box.lower[k] > -most && static_cast<double>(volume.lower[k]) > box.lower[k]) return false;
    if (box.upper[k] < most && static_cast<double>(volume.upper[k]) < box.upper[k]) return false;
  }
  return true;
}

class FlawSearch {
 public:
  explicit FlawSearch(ObjectTree& tree) : tree_(tree), state_(tree.state()), view_(state_.view()) {
    TreeWork work;
    std::vector<std::uint32_t> all(state_.parts.size());
    std::iota(all.begin(), all.end(), 0U);
    detail::fit_top(state_, {1}, work);
    detail::fit_parts(state_, all, {1}, work);
  }

  std::optional<std::string> find() const {
    if (auto flaw = find_in_leaves()) return flaw;
    for (std::uint32_t i = 0; i < state_.nodes.size(); ++i) {
      const bool is_top = std::binary_search(state_.top.begin(), state_.top.end(), i);
      if (auto flaw = find_in_node(i, is_top)) return flaw;
    }
    return {};
  }

 private:
  std::optional<std::string> find_in_leaves() const {
    std::vector<std::uint8_t> seen(tree_.triangle_count(), 0);
    for (std::size_t i = 0; i < tree_.leaf_count(); ++i) {
      for (const std::uint32_t triangle : tree_.leaf(i))
        if (seen[triangle]++ != 0) return fmt::format("triangle {} is in two leaves", triangle);
      const detail::TreeLeaf& leaf = state_.leaves[i];
      const std::size_t first = std::size_t{leaf.first_block} * detail::kTreeLanes;
      for (std::size_t lane = first; lane < first + leaf.count; ++lane) {
        const Aabb box = detail::compute_box(view_, lane, 1);
        if (is_empty(box)) continue;
        TreeVolume own{};
        for (int k = 0; k < 3; ++k) {
          own.lower[k] = state_.leaf_blocks[lane / 8].lower[k][lane % 8];
          own.upper[k] = state_.leaf_blocks[lane / 8].upper[k][lane % 8];
        }
        if (!bounds_box(own, box) || !bounds_box(state_.leaf_boxes[i], box))
          return fmt::format("leaf {} does not bound triangle {}", i, state_.triangles[lane]);
      }
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] == 0) return fmt::format("triangle {} is in no leaf", i);
    return {};
  }

  std::optional<std::string> find_in_node(std::uint32_t index, bool is_top) const {
    const detail::TreeNode& node = state_.nodes[index];
    if (node.count < 1 || node.count > detail::kTreeLanes)
      return fmt::format("node {} has {} children", index, node.count);
    for (std::uint32_t lane = 0; lane < node.count; ++lane) {
      const std::uint32_t child = node.children[lane];
      const TreeVolume& own = (child & kTreeEnd) == 0 ? state_.node_volumes[child]
                              : is_top                ? state_.part_volumes[child & ~kTreeEnd]
                                                      : state_.leaf_boxes[child & ~kTreeEnd];
      const detail::TreeBlock& block = state_.node_blocks[index];
      for (int k = 0; k < 3; ++k)
        if (own.lower[k] < block.lower[k][lane] || own.upper[k] > block.upper[k][lane])
          return fmt::format("node {} has an old volume of child {}", index, lane);
      if (!bounds_child(state_.node_volumes[index], own))
        return fmt::format("node {} does not bound child {}", index, lane);
    }
    return {};
  }

  bool bounds_child(const TreeVolume& parent, const TreeVolume& child) const {
    if (!state_.has_spheres()) {
      for (int k = 0; k < 3; ++k)
        if (parent.lower[k] > child.lower[k] || parent.upper[k] < child.upper[k]) return false;
      return true;
    }
    if (!(child.upper[0] >= 0)) return true;  // It is not a sphere.
    const Vec3 a{parent.lower[0], parent.lower[1], parent.lower[2]},
        b{child.lower[0], child.lower[1], child.lower[2]};
    return length(a - b) + static_cast<double>(child.upper[0]) <=
           static_cast<double>(parent.upper[0]);
  }

  const ObjectTree& tree_;
  ObjectTree::State& state_;
  TreeView view_;
};

}  // namespace

std::optional<std::string> find_flaw(ObjectTree& tree) { return FlawSearch(tree).find(); }

}  // namespace isotact
