#include <algorithm>

#include "isotact/queries/segments/detail/segment_search.h"

namespace isotact::detail {
namespace {

// Skips a block whose side is known.
bool skip_block(CellWalk& walk, const Index3& lower, const Index3& upper, bool inside,
                IntervalSink& sink) {
  const BoxTimes<float> t = walk.times(lower, upper);
  if (t.out > t.in) sink.set_side(time_of(walk.path(), t.in), inside);
  return walk.leave(lower, upper);
}

// Returns the lowest level at which two cells have the same node.
int find_common_level(const Index3& a, const Index3& b) {
  const auto differ = static_cast<unsigned>((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]));
  return differ == 0 ? 0 : 32 - __builtin_clz(differ);
}

}  // namespace

void walk_dense(const DenseGrid& grid, const SegmentPath& path, const CellSettings& settings,
                IntervalSink& sink, SegmentWork& counts) {
  CellWalk walk(path, grid.lattice().cells);
  do {
    float corner[8];
    load_corners(grid, walk.cell(), corner);
    look_at_cell(walk.path(), walk.span(walk.cell(), 1), corner, settings, sink, counts);
  } while (!sink.is_done() && walk.leave_cell());
}

OctreeWalk::OctreeWalk(const MinMaxOctree& octree, const SegmentPath& path,
                       const IntervalSink& sink)
    : octree_(&octree),
      walk_(path, octree.grid().lattice().cells),
      sink_(sink),
      level_(octree.level_count() - 1) {
  constexpr std::size_t kCached = std::size_t{512} * 1024;
  while (far_level_ < level_ && octree.level_ranges(far_level_ + 1).size_bytes() > kCached)
    ++far_level_;
}

void OctreeWalk::prefetch() const {
  const Index3& c = walk_.cell();
  if (level_ > 0 || (level_ == 0 && octree_->stores_leaves())) {
    const std::span<const ValueRange> ranges = octree_->level_ranges(level_);
    __builtin_prefetch(&ranges[flat_index(octree_->level_dims(level_), c[0] >> level_,
                                          c[1] >> level_, c[2] >> level_)]);
    return;
  }
  const DenseGrid& grid = octree_->grid();
  for (std::int32_t i = 0; i < 4; ++i)
    __builtin_prefetch(&grid.samples()[flat_index(node_counts(grid.lattice()), c[0], c[1] + (i & 1),
                                                  c[2] + (i >> 1))]);
}

bool OctreeWalk::step(const CellSettings& settings, SegmentWork& counts) {
  do {
    const Index3 cell = walk_.cell();
    if (level_ < 0) {
      float corner[8];
      load_corners(octree_->grid(), cell, corner);
      look_at_cell(walk_.path(), walk_.span(cell, 1), corner, settings, sink_, counts);
      if (!walk_.leave_cell()) return false;
    } else {
      ++counts.nodes;
      const Index3 node{cell[0] >> level_, cell[1] >> level_, cell[2] >> level_};
      const BlockSide side =
          classify(octree_->node_range(level_, node), static_cast<double>(settings.margin));
      if (side == BlockSide::kMixed) {
        --level_;
        continue;
      }
      Index3 lower{}, upper{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        lower[axis] = node[axis] << level_;
        upper[axis] = std::min((node[axis] + 1) << level_, octree_->grid().lattice().cells[axis]);
      }
      if (!skip_block(walk_, lower, upper, side == BlockSide::kInside, sink_)) return false;
    }
    if (sink_.is_done()) return false;
    // The next cell is not in the node that was skipped. So the nodes around both lie above it, and
    // were found to be mixed: the search need not begin at the root again.
    level_ = find_common_level(cell, walk_.cell()) - 1;
  } while (level_ > far_level_);
  prefetch();
  return true;
}

void walk_octree(const MinMaxOctree& octree, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts) {
  if (sink.is_done()) return;
  OctreeWalk walk(octree, path, sink);
  while (walk.step(settings, counts)) {
  }
  sink = walk.sink();
}

namespace {

// Returns the size of the largest block around a cell of a brick that lies on one side; 0: none.
std::int32_t find_brick_block(const BrickTree& tree, const Index3& cell, double margin,
                              BlockSide& side, SegmentWork& counts) {
  const Index3 c{cell[0] & 7, cell[1] & 7, cell[2] & 7};
  ++counts.nodes;
  side = classify(tree.four[flat_index({2, 2, 2}, c[0] >> 2, c[1] >> 2, c[2] >> 2)], margin);
  if (side != BlockSide::kMixed) return 4;
  ++counts.nodes;
  side = classify(tree.two[flat_index({4, 4, 4}, c[0] >> 1, c[1] >> 1, c[2] >> 1)], margin);
  return side != BlockSide::kMixed ? 2 : 0;
}

// Walks one coarse cell, through its brick if it has one. Returns false if the path ends.
bool walk_coarse_cell(const BrickCells& cells, std::span<const BrickTree> trees, CellWalk& walk,
                      const CellSettings& settings, IntervalSink& sink, SegmentWork& counts) {
  const Index3 coarse{walk.cell()[0] >> 3, walk.cell()[1] >> 3, walk.cell()[2] >> 3};
  const Index3 lower{coarse[0] << 3, coarse[1] << 3, coarse[2] << 3};
  const std::uint32_t number = cells.field().brick_at(coarse);
  float corner[8];
  if (number == BrickField::kNoBrick) {
    cells.load_coarse(coarse, corner);
    look_at_cell(walk.path(), walk.span(lower, kBrickCells), corner, settings, sink, counts);
    return walk.leave(lower, {lower[0] + 8, lower[1] + 8, lower[2] + 8});
  }
  const Brick& brick = cells.field().bricks()[number];
  while (!sink.is_done()) {
    BlockSide side = BlockSide::kMixed;
    const std::int32_t size =
        trees.empty() ? 0
                      : find_brick_block(trees[number], walk.cell(),
                                         static_cast<double>(settings.margin), side, counts);
    if (size > 0) {
      Index3 first{}, last{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        first[axis] = walk.cell()[axis] & ~(size - 1);
        last[axis] = first[axis] + size;
      }
      if (!skip_block(walk, first, last, side == BlockSide::kInside, sink)) return false;
    } else {
      cells.load_fine(brick, walk.cell(), corner);
      look_at_cell(walk.path(), walk.span(walk.cell(), 1), corner, settings, sink, counts);
      if (!walk.leave_cell()) return false;
    }
    const Index3& c = walk.cell();
    if (c[0] >> 3 != coarse[0] || c[1] >> 3 != coarse[1] || c[2] >> 3 != coarse[2]) break;
  }
  return true;
}

struct TreeSkip {
  BlockSide side;
  Index3 lower, upper;  // Fine cells.
  int level;
};

// Returns the largest node around a coarse cell that lies on one side, from a level down.
TreeSkip find_tree_skip(const BrickField& field, const Index3& coarse, double margin, int top,
                        SegmentWork& counts) {
  const Index3& cells = field.lattice().cells;
  for (int level = top; level >= 0; --level) {
    ++counts.nodes;
    const Index3 node{coarse[0] >> level, coarse[1] >> level, coarse[2] >> level};
    const ValueRange range =
        level == 0 ? field.cell_range(coarse)
                   : field.tree_level(
                         level)[flat_index(field.tree_dims(level), node[0], node[1], node[2])];
    const BlockSide side = classify(range, margin);
    if (side == BlockSide::kMixed) continue;
    TreeSkip skip{side, {}, {}, level};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      skip.lower[axis] = (node[axis] << level) * kBrickCells;
      skip.upper[axis] = std::min(((node[axis] + 1) << level) * kBrickCells, cells[axis]);
    }
    return skip;
  }
  return {BlockSide::kMixed, {}, {}, -1};
}

}  // namespace

void walk_bricks(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts) {
  const BrickCells cells(field);
  CellWalk walk(path, field.lattice().cells);
  while (!sink.is_done() && walk_coarse_cell(cells, {}, walk, settings, sink, counts)) {
  }
}

namespace {

BrickTree make_brick_tree(const BrickField& field, const Index3& cell, std::uint32_t brick) {
  float node[kBrickSamples];
  field.cell_nodes(cell, node);
  float largest = 0;
  for (const float c : field.bricks()[brick].corner) largest = std::max(largest, std::abs(c));
  const float slack = 4e-6F * largest;  // As segment_slab.cpp bounds the rounding, twice.
  BrickTree tree;
  for (std::int32_t k = 0; k < 64; ++k) {
    const std::int32_t x = 2 * (k & 3), y = 2 * (k >> 2 & 3), z = 2 * (k >> 4);
    ValueRange range{node[first_sample(x, y, z)], node[first_sample(x, y, z)]};
    for (std::int32_t i = 0; i < 27; ++i) {
      const float value = node[first_sample(x + i % 3, y + i / 3 % 3, z + i / 9)];
      range = unite(range, {value, value});
    }
    tree.two[k] = {range.min - slack, range.max + slack};
    ValueRange& four = tree.four[(k & 3) / 2 + (k >> 2 & 3) / 2 * 2 + (k >> 4) / 2 * 4];
    four = x % 4 + y % 4 + z % 4 == 0 ? tree.two[k] : unite(four, tree.two[k]);
  }
  return tree;
}

// Sets trees[brick] to make(cell, brick) for all bricks.
template <typename Make>
std::vector<BrickTree> make_brick_trees(const BrickField& field, Threads threads,
                                        const Make& make) {
  std::vector<BrickTree> trees(field.bricks().size());
  const Index3 coarse = field.coarse_lattice().cells;
  parallel_for(
      static_cast<std::size_t>(coarse[2]), 1, threads, [&](std::size_t begin, std::size_t end) {
        for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
          for (std::int32_t y = 0; y < coarse[1]; ++y)
            for (std::int32_t x = 0; x < coarse[0]; ++x)
              if (const std::uint32_t brick = field.brick_at({x, y, z});
                  brick != BrickField::kNoBrick)
                trees[brick] = make(Index3{x, y, z}, brick);
      });
  return trees;
}

}  // namespace

std::vector<BrickTree> build_brick_trees(const BrickField& field, Threads threads) {
  return make_brick_trees(field, threads, [&](const Index3& cell, std::uint32_t brick) {
    return make_brick_tree(field, cell, brick);
  });
}

std::vector<BrickTree> update_brick_trees(const BrickField& field, const BrickField& earlier_field,
                                          std::span<const BrickTree> earlier,
                                          std::span<const Index3> changed_cells, Threads threads) {
  // A node on a cell's side may have its value from a brick beside it.
  const Index3 coarse = field.coarse_lattice().cells;
  std::vector<std::uint8_t> changed(count(coarse));
  for (const Index3& c : changed_cells)
    for (std::int32_t z = std::max(c[2] - 1, 0); z < std::min(c[2] + 2, coarse[2]); ++z)
      for (std::int32_t y = std::max(c[1] - 1, 0); y < std::min(c[1] + 2, coarse[1]); ++y)
        for (std::int32_t x = std::max(c[0] - 1, 0); x < std::min(c[0] + 2, coarse[0]); ++x)
          changed[flat_index(coarse, x, y, z)] = 1;
  return make_brick_trees(field, threads, [&](const Index3& cell, std::uint32_t brick) {
    return changed[flat_index(coarse, cell[0], cell[1], cell[2])] != 0
               ? make_brick_tree(field, cell, brick)
               : earlier[earlier_field.brick_at(cell)];
  });
}

void walk_brick_tree(const BrickField& field, std::span<const BrickTree> trees,
                     const SegmentPath& path, const CellSettings& settings, IntervalSink& sink,
                     SegmentWork& counts) {
  const BrickCells cells(field);
  CellWalk walk(path, field.lattice().cells);
  int top = static_cast<int>(field.header().level_count);  // As in walk_octree.
  bool goes_on = true;
  while (goes_on && !sink.is_done()) {
    const Index3 coarse{walk.cell()[0] >> 3, walk.cell()[1] >> 3, walk.cell()[2] >> 3};
    const TreeSkip skip =
        find_tree_skip(field, coarse, static_cast<double>(settings.margin), top, counts);
    goes_on = skip.side == BlockSide::kMixed
                  ? walk_coarse_cell(cells, trees, walk, settings, sink, counts)
                  : skip_block(walk, skip.lower, skip.upper, skip.side == BlockSide::kInside, sink);
    const Index3 next{walk.cell()[0] >> 3, walk.cell()[1] >> 3, walk.cell()[2] >> 3};
    top = find_common_level(coarse, next) - 1;
  }
}

}  // namespace isotact::detail
