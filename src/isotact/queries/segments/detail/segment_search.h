// The searches that walk: each passes every change of side along a path to the sink.
#pragma once

#include "isotact/queries/segments/detail/brick_cells.h"
#include "isotact/queries/segments/detail/segment_slab.h"
#include "isotact/queries/segments/detail/segment_walk.h"

namespace isotact::detail {

void walk_dense(const DenseGrid& grid, const SegmentPath& path, const CellSettings& settings,
                IntervalSink& sink, SegmentWork& counts);
// From the root, as in XB14.
void walk_octree(const MinMaxOctree& octree, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts);

// Coarse cells one by one.
void walk_bricks(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentWork& counts);
void walk_brick_tree(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                     IntervalSink& sink, SegmentWork& counts);

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
