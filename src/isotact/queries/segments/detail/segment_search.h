// The searches that walk: each passes every change of side along a path to the sink.
#pragma once

#include <span>
#include <vector>

#include "isotact/queries/segments/detail/brick_cells.h"
#include "isotact/queries/segments/detail/segment_slab.h"
#include "isotact/queries/segments/detail/segment_walk.h"

namespace isotact::detail {

void walk_dense(const DenseGrid& grid, const SegmentPath& path, const CellSettings& settings,
                IntervalSink& sink, SegmentWork& counts);
// A walk through an octree, from the root as in XB14, in steps. Each ends with a prefetch of the
// node or cell that the next one reads. Levels that stay in the caches get no prefetch. So walks
// that take turns wait for memory together.
class OctreeWalk {
 public:
  OctreeWalk(const MinMaxOctree& octree, const SegmentPath& path, const IntervalSink& sink);

  // Returns false at the end of the path, or if no later change of side matters.
  bool step(const CellSettings& settings, SegmentWork& counts);
  const IntervalSink& sink() const { return sink_; }

 private:
  void prefetch() const;

  const MinMaxOctree* octree_;
  CellWalk walk_;
  IntervalSink sink_;
  int level_;          // The level of the next node around the walk's cell; -1: the cell itself.
  int far_level_ = 0;  // The highest level that may not be in the caches.
};
void walk_octree(const MinMaxOctree& octree, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts);

// Coarse cells one by one.
void walk_bricks(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts);

// The octree below a brick: ranges of its 2^3 blocks of 4^3 cells and 4^3 blocks of 2^3 cells, x
// fastest. They are widened by the rounding of values. So a block that lies on one side of a margin
// has no cell that sees another side.
struct BrickTree {
  ValueRange four[8], two[64];
};
std::vector<BrickTree> build_brick_trees(const BrickField& field, Threads threads);
// Those of an edited field: copies all but those of the changed coarse cells.
std::vector<BrickTree> update_brick_trees(const BrickField& field, const BrickField& earlier_field,
                                          std::span<const BrickTree> earlier,
                                          std::span<const Index3> changed_cells, Threads threads);
// From the root down to the cells, as in XB14; without trees, down to the bricks.
void walk_brick_tree(const BrickField& field, std::span<const BrickTree> trees,
                     const SegmentPath& path, const CellSettings& settings, IntervalSink& sink,
                     SegmentWork& counts);

// Times outside the box, from `begin` to `end` of the whole segment. The rim is the field on the
// box's sides: its lattice and its values at the nodes.
struct Rim {
  Lattice lattice{};
  std::span<const float> values{};
  double least = 0;  // Smallest value on the box's sides.
};
Rim find_rim(const Lattice& lattice, std::span<const float> values);
void walk_outside(const Rim& rim, const Segment& segment, double begin, double end, double margin,
                  IntervalSink& sink);

// One segment through a field with an index.
void walk_indexed(const DenseGrid& grid, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentWork& counts);
void walk_indexed(const BrickField& field, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentWork& counts);

}  // namespace isotact::detail
