#include "isotact/field/models/min_max_octree.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"

namespace isotact {
namespace {

constexpr std::size_t kOctreeGrain = 16;

Index3 parent_dims(const Index3& n) { return {(n[0] + 1) / 2, (n[1] + 1) / 2, (n[2] + 1) / 2}; }

bool is_root(const Index3& n) { return n[0] == 1 && n[1] == 1 && n[2] == 1; }

// Calls visit(node) for all nodes of a level, rows in parallel.
template <typename Visit>
void for_nodes(const Index3& dims, Threads threads, const Visit& visit) {
  const auto ny = static_cast<std::size_t>(dims[1]);
  parallel_for(ny * static_cast<std::size_t>(dims[2]), kOctreeGrain, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t row = begin; row < end; ++row) {
                   const auto j = static_cast<std::int32_t>(row % ny);
                   const auto k = static_cast<std::int32_t>(row / ny);
                   for (std::int32_t i = 0; i < dims[0]; ++i) visit(Index3{i, j, k});
                 }
               });
}

// The union of range_of(child) over the children that exist.
template <typename RangeOf>
ValueRange unite_children(const Index3& node, const Index3& child_dims, const RangeOf& range_of) {
  const Index3 first{2 * node[0], 2 * node[1], 2 * node[2]};
  ValueRange range = range_of(first);
  for (std::int32_t k = first[2]; k < std::min(first[2] + 2, child_dims[2]); ++k)
    for (std::int32_t j = first[1]; j < std::min(first[1] + 2, child_dims[1]); ++j)
      for (std::int32_t i = first[0]; i < std::min(first[0] + 2, child_dims[0]); ++i)
        range = unite(range, range_of(Index3{i, j, k}));
  return range;
}

OctreeSkip make_skip(BlockSide side, int level, const Index3& cell, const Index3& cells) {
  OctreeSkip skip{.side = side, .level = level};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int32_t node = cell[axis] >> level;
    skip.lower[axis] = node << level;
    const std::int64_t end = (static_cast<std::int64_t>(node) + 1) << level;
    skip.upper[axis] = static_cast<std::int32_t>(std::min<std::int64_t>(end, cells[axis]));
  }
  return skip;
}

std::string in_words(int level, const Index3& node) {
  return fmt::format("level {}, node ({}, {}, {})", level, node[0], node[1], node[2]);
}

}  // namespace

double octree_bytes(const Index3& cells, bool store_leaves) {
  double nodes = 0;
  bool leaves = true;
  for (Index3 dims = cells;; dims = parent_dims(dims)) {
    if (!leaves || store_leaves)
      nodes += static_cast<double>(dims[0]) * static_cast<double>(dims[1]) *
               static_cast<double>(dims[2]);
    leaves = false;
    if (is_root(dims)) return nodes * sizeof(ValueRange);
  }
}

MinMaxOctree::MinMaxOctree(DenseGrid grid, const OctreeSettings& settings)
    : grid_(std::move(grid)), stores_leaves_(settings.store_leaves) {
  const Index3 cells = grid_.lattice().cells;
  const double bytes = octree_bytes(cells, settings.store_leaves);
  check_memory(bytes, settings.max_memory,
               fmt::format("a min-max octree of {} * {} * {} cells ({:.0f} MB without leaves)",
                           cells[0], cells[1], cells[2], octree_bytes(cells, false) / 1e6));
  for (Index3 dims = cells;; dims = parent_dims(dims)) {
    const int level = level_count();
    std::vector<ValueRange> ranges(level > 0 || stores_leaves_ ? count(dims) : 0);
    if (level == 0 && stores_leaves_) {
      for_nodes(dims, settings.threads, [&](const Index3& cell) {
        ranges[flat_index(dims, cell[0], cell[1], cell[2])] = grid_.cell_range(cell);
      });
    } else if (level > 0) {
      for_nodes(dims, settings.threads, [&](const Index3& node) {
        ranges[flat_index(dims, node[0], node[1], node[2])] =
            unite_children(node, level_dims(level - 1),
                           [&](const Index3& child) { return node_range(level - 1, child); });
      });
    }
    dims_.push_back(dims);
    levels_.push_back(std::move(ranges));
    if (is_root(dims)) return;
  }
}

MinMaxOctree::MinMaxOctree(MinMaxOctree earlier, DenseGrid grid, const Index3& lower,
                           const Index3& upper)
    : grid_(std::move(grid)),
      stores_leaves_(earlier.stores_leaves_),
      dims_(std::move(earlier.dims_)),
      levels_(std::move(earlier.levels_)) {
  const Index3 cells = grid_.lattice().cells;
  if (!(grid_.lattice() == earlier.grid_.lattice()))
    throw Error("an edit of a grid's octree: the grid has another lattice than that before");
  Index3 first{}, last{};  // Cells with such a node, both included.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (lower[axis] < 0 || upper[axis] > cells[axis] + 1)
      throw Error(fmt::format("an edit of a grid's octree: nodes {} to {} along {}; there are {}",
                              lower[axis], upper[axis], "xyz"[axis], cells[axis] + 1));
    if (lower[axis] >= upper[axis]) return;
    first[axis] = std::max(lower[axis] - 1, 0);
    last[axis] = std::min(upper[axis] - 1, cells[axis] - 1);
  }
  for (int level = 0; level < level_count(); ++level) {
    auto& ranges = levels_[static_cast<std::size_t>(level)];
    for (std::int32_t k = first[2]; k <= last[2] && !ranges.empty(); ++k)
      for (std::int32_t j = first[1]; j <= last[1]; ++j)
        for (std::int32_t i = first[0]; i <= last[0]; ++i)
          ranges[flat_index(level_dims(level), i, j, k)] =
              level == 0 ? grid_.cell_range({i, j, k})
                         : unite_children({i, j, k}, level_dims(level - 1), [&](const Index3& c) {
                             return node_range(level - 1, c);
                           });
    for (std::size_t axis = 0; axis < 3; ++axis) {
      first[axis] /= 2;
      last[axis] /= 2;
    }
  }
}

ValueRange MinMaxOctree::node_range(int level, const Index3& node) const {
  if (level == 0 && !stores_leaves_) return grid_.cell_range(node);
  const Index3& dims = level_dims(level);
  return levels_[static_cast<std::size_t>(level)][flat_index(dims, node[0], node[1], node[2])];
}

OctreeSkip MinMaxOctree::compute_largest_skip(const Index3& cell, double sigma,
                                              int top_level) const {
  const Index3& cells = grid_.lattice().cells;
  assert(cell[0] >= 0 && cell[1] >= 0 && cell[2] >= 0);
  assert(cell[0] < cells[0] && cell[1] < cells[1] && cell[2] < cells[2]);
  assert(top_level < level_count());
  for (int level = top_level; level >= 0; --level) {
    const ValueRange range =
        node_range(level, {cell[0] >> level, cell[1] >> level, cell[2] >> level});
    const BlockSide side = classify(range, sigma);
    if (side != BlockSide::kMixed) return make_skip(side, level, cell, cells);
  }
  return {};
}

std::uint64_t MinMaxOctree::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& level : levels_) bytes += level.size() * sizeof(ValueRange);
  return bytes;
}

std::optional<std::string> find_flaw(const MinMaxOctree& octree, const DenseGrid& grid) {
  if (!(octree.level_dims(0) == grid.lattice().cells))
    return fmt::format("the tree is over {} * {} * {} cells, the grid has {} * {} * {}",
                       octree.level_dims(0)[0], octree.level_dims(0)[1], octree.level_dims(0)[2],
                       grid.lattice().cells[0], grid.lattice().cells[1], grid.lattice().cells[2]);
  if (!is_root(octree.level_dims(octree.level_count() - 1))) return "there is no root";
  std::optional<std::string> flaw;
  for (int level = 0; level < octree.level_count() && !flaw; ++level) {
    for_nodes(octree.level_dims(level), Threads{1}, [&](const Index3& node) {
      if (flaw) return;
      const ValueRange stored = octree.node_range(level, node);
      const ValueRange needed =
          level == 0 ? grid.cell_range(node)
                     : unite_children(node, octree.level_dims(level - 1), [&](const Index3& child) {
                         return octree.node_range(level - 1, child);
                       });
      if (!(stored == needed))
        flaw = fmt::format("{}: stores [{}, {}], its {} span [{}, {}]", in_words(level, node),
                           stored.min, stored.max, level == 0 ? "samples" : "children", needed.min,
                           needed.max);
    });
  }
  return flaw;
}

OctreeSkip brute_force::compute_largest_skip(const DenseGrid& grid, const Index3& cell,
                                             double sigma) {
  const Index3& cells = grid.lattice().cells;
  OctreeSkip best;
  const std::int32_t longest = std::max({cells[0], cells[1], cells[2]});
  for (int level = 0; level == 0 || (std::int64_t{1} << (level - 1)) < longest; ++level) {
    OctreeSkip block = make_skip(BlockSide::kMixed, level, cell, cells);
    bool all_inside = true, all_outside = true;
    for (std::int32_t k = block.lower[2]; k <= block.upper[2]; ++k)
      for (std::int32_t j = block.lower[1]; j <= block.upper[1]; ++j)
        for (std::int32_t i = block.lower[0]; i <= block.upper[0]; ++i) {
          const bool inside = static_cast<double>(grid.node_value(i, j, k)) <= sigma;
          all_inside = all_inside && inside;
          all_outside = all_outside && !inside;
        }
    if (!all_inside && !all_outside) return best;  // larger blocks are mixed as well
    block.side = all_inside ? BlockSide::kInside : BlockSide::kOutside;
    best = block;
  }
  return best;
}

}  // namespace isotact
