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

void walk_octree(const MinMaxOctree& octree, const SegmentPath& path,
                 const CellSettings& settings, IntervalSink& sink, SegmentWork& counts) {
  const DenseGrid& grid = octree.grid();
  CellWalk walk(path, grid.lattice().cells);
  bool goes_on = true;
  while (goes_on && !sink.is_done()) {
    const OctreeSkip skip =
        octree.compute_largest_skip(walk.cell(), static_cast<double>(settings.margin));
    counts.nodes += static_cast<std::uint64_t>(octree.level_count() -
                                               (skip.side == BlockSide::kMixed ? 0 : skip.level));
    if (skip.side != BlockSide::kMixed) {
      goes_on = skip_block(walk, skip.lower, skip.upper, skip.side == BlockSide::kInside, sink);
      continue;
    }
    float corner[8];
    load_corners(grid, walk.cell(), corner);
    look_at_cell(walk.path(), walk.span(walk.cell(), 1), corner, settings, sink, counts);
    goes_on = walk.leave_cell();
  }
}

namespace {

// Walks one coarse cell, through its brick if it has one. Returns false if the path ends.
bool walk_coarse_cell(const BrickCells& cells, CellWalk& walk, const CellSettings& settings,
                      IntervalSink& sink, SegmentWork& counts) {
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
    cells.load_fine(brick, walk.cell(), corner);
    look_at_cell(walk.path(), walk.span(walk.cell(), 1), corner, settings, sink, counts);
    if (!walk.leave_cell()) return false;
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

// Returns the largest node around a coarse cell that lies on one side, from the root.
TreeSkip find_tree_skip(const BrickField& field, const Index3& coarse, double margin,
                        SegmentWork& counts) {
  const Index3& cells = field.lattice().cells;
  for (int level = static_cast<int>(field.header().level_count); level >= 0; --level) {
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
  while (!sink.is_done() && walk_coarse_cell(cells, walk, settings, sink, counts)) {
  }
}

void walk_brick_tree(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                     IntervalSink& sink, SegmentWork& counts) {
  const BrickCells cells(field);
  CellWalk walk(path, field.lattice().cells);
  bool goes_on = true;
  while (goes_on && !sink.is_done()) {
    const Index3 coarse{walk.cell()[0] >> 3, walk.cell()[1] >> 3, walk.cell()[2] >> 3};
    const TreeSkip skip =
        find_tree_skip(field, coarse, static_cast<double>(settings.margin), counts);
    goes_on = skip.side == BlockSide::kMixed
                  ? walk_coarse_cell(cells, walk, settings, sink, counts)
                  : skip_block(walk, skip.lower, skip.upper, skip.side == BlockSide::kInside, sink);
  }
}

}  // namespace isotact::detail
