// Subdivision of triangles into nodes, by the centres of their corners in the rest shape.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/queries/broad_phase/detail/hilbert.h"
#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact::detail {
namespace {

struct TreeCell {
  Vec3 middle{}, half{};
};

struct TreeRange {
  std::size_t begin = 0, end = 0;
  TreeCell cell{};  // For regular cuts.

  std::size_t size() const { return end - begin; }
};

class TreeBuilder {
 public:
  TreeBuilder(ObjectTree::State& state, std::span<const Vec3> positions,
              std::span<const Triangle> triangles)
      : state_(state), settings_(state.settings), given_(triangles), order_(triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    for (const Triangle& t : triangles) {
      const Vec3 middle = (positions[t[0]] + positions[t[1]] + positions[t[2]]) / 3.0;
      middles_.push_back(is_finite(middle) ? middle : Vec3{});
    }
  }

  void build() {
    if (order_.empty()) return;
    TreeRange all{0, order_.size(), {}};
    const Aabb box = box_of(all);
    const Vec3 half = box.upper * 0.5 - box.lower * 0.5;
    all.cell = {box.upper * 0.5 + box.lower * 0.5,
                Vec3{1, 1, 1} * std::max({half.x, half.y, half.z})};
    if (settings_.cut == TreeCut::kCurve) sort_along_curve(all.cell);
    state_.root = add(all, 0, false);
    state_.node_blocks.resize(state_.nodes.size());
    state_.node_volumes.resize(state_.nodes.size());
    state_.leaf_boxes.resize(state_.leaves.size());
    state_.part_volumes.resize(state_.parts.size());
    state_.leaf_blocks.resize(state_.triangles.size() / kTreeLanes);
  }

 private:
  Aabb box_of(const TreeRange& range) const {
    Aabb box;
    for (std::size_t i = range.begin; i < range.end; ++i) extend(box, middles_[order_[i]]);
    return box;
  }

  bool is_leaf(const TreeRange& range, int level) const {
    return range.size() <= static_cast<std::size_t>(settings_.leaf_triangles) ||
           level == settings_.max_level;
  }

  // Returns the child entry for its parent.
  std::uint32_t add(const TreeRange& range, int level, bool is_in_part) {
    const bool leaf = is_leaf(range, level);
    if (!is_in_part &&
        (leaf || (!state_.has_spheres() &&
                  range.size() <= static_cast<std::size_t>(settings_.part_triangles))))
      return add_part(range, level);
    if (leaf) return add_leaf(range);
    const auto index = static_cast<std::uint32_t>(state_.nodes.size());
    state_.nodes.emplace_back();
    if (!is_in_part) state_.top.push_back(index);
    TreeNode node{};
    for (const TreeRange& child : cut(range))
      if (child.size() > 0) node.children[node.count++] = add(child, level + 1, is_in_part);
    state_.nodes[index] = node;
    return index;
  }

  std::uint32_t add_part(const TreeRange& range, int level) {
    const auto index = static_cast<std::uint32_t>(state_.parts.size());
    state_.parts.emplace_back();
    TreePart part{};
    part.first_vertex = static_cast<std::uint32_t>(state_.part_vertices.size());
    part.first_node = static_cast<std::uint32_t>(state_.nodes.size());
    part.first_leaf = static_cast<std::uint32_t>(state_.leaves.size());
    part.root = add(range, level, true);
    part.node_count = static_cast<std::uint32_t>(state_.nodes.size()) - part.first_node;
    part.leaf_count = static_cast<std::uint32_t>(state_.leaves.size()) - part.first_leaf;
    auto& vertices = state_.part_vertices;
    for (std::size_t i = range.begin; i < range.end; ++i)
      for (const std::uint32_t v : given_[order_[i]]) vertices.push_back(v);
    const auto first = vertices.begin() + part.first_vertex;
    std::sort(first, vertices.end());
    vertices.erase(std::unique(first, vertices.end()), vertices.end());
    part.vertex_count = static_cast<std::uint32_t>(vertices.size()) - part.first_vertex;
    state_.parts[index] = part;
    return kTreeEnd | index;
  }

  std::uint32_t add_leaf(const TreeRange& range) {
    const auto index = static_cast<std::uint32_t>(state_.leaves.size());
    state_.leaves.push_back({static_cast<std::uint32_t>(state_.triangles.size() / kTreeLanes),
                             static_cast<std::uint32_t>(range.size())});
    for (std::size_t i = range.begin; i < range.end; ++i) {
      state_.triangles.push_back(order_[i]);
      for (const std::uint32_t v : given_[order_[i]]) state_.corners.push_back(v);
    }
    while (state_.triangles.size() % kTreeLanes != 0) {
      state_.triangles.push_back(0);
      state_.corners.insert(state_.corners.end(), 3, 0);
    }
    return kTreeEnd | index;
  }

  std::vector<TreeRange> cut(const TreeRange& range) {
    std::vector<TreeRange> children;
    if (settings_.cut == TreeCut::kRegular) {
      cut_regularly(range, children);
    } else if (settings_.cut == TreeCut::kCurve) {
      cut_curve(range, children);
    } else {
      const std::size_t size = size_below(range);
      cut_evenly(range, (range.size() + size - 1) / size, children);
    }
    return children;
  }

  // Every cut is across the longest side of the box of the centres, next to a whole number of
  // leaves, so that all but a few leaves are full.
  void cut_evenly(const TreeRange& range, std::size_t parts, std::vector<TreeRange>& children) {
    if (parts <= 1) {
      children.push_back(range);
      return;
    }
    const Vec3 size = extent(box_of(range));
    const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const auto leaf = static_cast<std::size_t>(settings_.leaf_triangles);
    const std::size_t left_parts = parts / 2;
    const std::size_t share = range.size() * left_parts / parts;
    const std::size_t whole = (share + leaf - 1) / leaf * leaf;
    const std::size_t middle = range.begin + (whole < range.size() ? whole : share);
    const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(range.begin), at(middle), at(range.end),
                     [&](std::uint32_t a, std::uint32_t b) {
                       const double x = middles_[a][axis], y = middles_[b][axis];
                       return x != y ? x < y : a < b;
                     });
    cut_evenly({range.begin, middle, {}}, left_parts, children);
    cut_evenly({middle, range.end, {}}, parts - left_parts, children);
  }

  // Across the middle of the longest side of the cell, the two longest, or all three.
  void cut_regularly(const TreeRange& range, std::vector<TreeRange>& children) {
    std::array<std::size_t, 3> axes{0, 1, 2};
    const TreeCell& cell = range.cell;
    std::stable_sort(axes.begin(), axes.end(),
                     [&](std::size_t a, std::size_t b) { return cell.half[a] > cell.half[b]; });
    const auto arity = static_cast<std::size_t>(settings_.arity);
    const std::size_t cut_count = arity == 8 ? 3 : arity == 4 ? 2 : 1;
    const auto place = [&](std::uint32_t triangle) {
      std::size_t index = 0;
      for (std::size_t i = 0; i < cut_count; ++i)
        index |= std::size_t{middles_[triangle][axes[i]] > cell.middle[axes[i]]} << i;
      return index;
    };
    std::array<std::vector<std::uint32_t>, kTreeLanes> lists;
    for (std::size_t i = range.begin; i < range.end; ++i)
      lists[place(order_[i])].push_back(order_[i]);
    std::size_t begin = range.begin;
    for (std::size_t index = 0; index < arity; ++index) {
      TreeRange child{begin, begin + lists[index].size(), cell};
      for (std::size_t i = 0; i < cut_count; ++i) {
        double& half = child.cell.half[axes[i]];
        half *= 0.5;
        child.cell.middle[axes[i]] += (index >> i & 1U) != 0 ? half : -half;
      }
      std::copy(lists[index].begin(), lists[index].end(),
                order_.begin() + static_cast<std::ptrdiff_t>(begin));
      begin = child.end;
      children.push_back(child);
    }
  }

  // Full leaves in a row make full nodes, and so on upwards: the same result as a bottom-up
  // construction.
  void cut_curve(const TreeRange& range, std::vector<TreeRange>& children) const {
    const std::size_t size = size_below(range);
    for (std::size_t begin = range.begin; begin < range.end; begin += size)
      children.push_back({begin, std::min(begin + size, range.end), {}});
  }

  // Returns the number of triangles of the largest full node that is smaller than the range. Nodes
  // of this size, or slightly less, have all their lanes filled down to the leaves, where most
  // nodes are.
  std::size_t size_below(const TreeRange& range) const {
    auto size = static_cast<std::size_t>(settings_.leaf_triangles);
    const auto arity = static_cast<std::size_t>(settings_.arity);
    while (size * arity < range.size()) size *= arity;
    return size;
  }

  void sort_along_curve(const TreeCell& cube) {
    constexpr double kCells = 1U << kHilbertAxisBits;
    std::vector<std::uint64_t> keys(order_.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::array<std::uint32_t, 3> cells{};
      for (std::size_t k = 0; k < 3; ++k) {
        const double at = (middles_[i][k] - (cube.middle[k] - cube.half[k])) /
                          (cube.half[k] > 0 ? 2 * cube.half[k] : 1);
        cells[k] = at > 0 ? static_cast<std::uint32_t>(std::min(at * kCells, kCells - 1)) : 0U;
      }
      keys[i] = hilbert(cells);
    }
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    });
  }

  ObjectTree::State& state_;
  const ObjectTreeSettings& settings_;
  std::span<const Triangle> given_;
  std::vector<Vec3> middles_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

void build_tree(ObjectTree::State& state, std::span<const Vec3> positions,
                std::span<const Triangle> triangles) {
  TreeBuilder(state, positions, triangles).build();
}

// Bounds are fitted to the current vertices: those of parts and of all nodes above in each first
// search, the content of a part when a search visits it.

namespace {

constexpr std::size_t kPartBoxGrain = 64, kPartGrain = 16;

}  // namespace

Aabb compute_box(const TreeView& tree, std::size_t first_lane, std::size_t count) {
  Aabb box;
  for (const double* positions : {tree.places.t0, tree.places.t1}) {
    if (positions == nullptr) continue;
    for (std::size_t i = 3 * first_lane; i < 3 * (first_lane + count); ++i) {
      const double* p = positions + std::size_t{3} * tree.corners[i];
      for (std::size_t k = 0; k < 3; ++k) {
        // A NaN is neither.
        if (p[k] < box.lower[k]) box.lower[k] = p[k];
        if (p[k] > box.upper[k]) box.upper[k] = p[k];
      }
    }
  }
  return box;
}

bool are_near(const Aabb& a, const Aabb& b, double margin) {
  for (std::size_t k = 0; k < 3; ++k)
    if (!(a.lower[k] <= b.upper[k] + margin && b.lower[k] <= a.upper[k] + margin)) return false;
  return true;
}

void fit_top(ObjectTree::State& state, Threads threads, TreeWork& work) {
  if (state.is_top_fitted) return;
  const TreeView view = state.view();
  const auto top_count = static_cast<std::uint32_t>(state.top.size());
  parallel_for(state.parts.size(), kPartBoxGrain, threads, [&](std::size_t begin, std::size_t end) {
    const auto fit = state.has_spheres() ? fit_leaf_spheres : state.kernels->fit_part_boxes;
    fit(view, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
  if (state.has_spheres())
    fit_node_spheres(view, state.top);
  else
    state.kernels->fit_top(view, state.top.data(), top_count);
  state.is_top_fitted = true;
  work.nodes_fitted += state.parts.size() + state.top.size();
  work.vertices_read += state.part_vertices.size() * (state.at_t1.empty() ? 1U : 2U);
}

void fit_parts(ObjectTree::State& state, std::span<const std::uint32_t> parts, Threads threads,
               TreeWork& work) {
  ThreadScratch<std::vector<std::uint32_t>> stale;
  stale->clear();
  for (const std::uint32_t part : parts) {
    if (state.is_part_fitted[part] != 0) continue;
    state.is_part_fitted[part] = 1;
    stale->push_back(part);
    const TreePart& p = state.parts[part];
    work.nodes_fitted += p.node_count + p.leaf_count;
    for (std::uint32_t i = 0; i < p.leaf_count; ++i)
      work.vertices_read +=
          std::uint64_t{3} * state.leaves[p.first_leaf + i].count * (state.at_t1.empty() ? 1U : 2U);
  }
  const TreeView view = state.view();
  parallel_for(stale->size(), kPartGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      state.kernels->fit_part(view, state.parts[(*stale)[i]]);
  });
}

}  // namespace isotact::detail
