// The searches that walk: each hands every change of side along a path to the sink.
#pragma once

#include "isotact/queries/detail/brick_cells.h"
#include "isotact/queries/detail/segment_walk.h"

namespace isotact::detail {

void walk_dense(const DenseGrid& grid, const SegmentPath& path, const CellSettings& settings,
                IntervalSink& sink, SegmentCounts& counts);
// `from_root`: as XB14 has it. Else from the level of the last skip, and by steps that the field's
// Lipschitz bound allows.
void walk_octree(const MinMaxOctree& octree, bool from_root, const SegmentPath& path,
                 const CellSettings& settings, IntervalSink& sink, SegmentCounts& counts);

// Coarse cells one by one.
void walk_bricks(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                 IntervalSink& sink, SegmentCounts& counts);
void walk_brick_tree(const BrickField& field, const SegmentPath& path, const CellSettings& settings,
                     IntervalSink& sink, SegmentCounts& counts);

// Times outside of the box, from `begin` to `end` of the whole segment. The rim is where the field
// lives on the box's sides: its lattice and its values at the nodes.
struct Rim {
  Lattice lattice{};
  std::span<const float> values{};
  double least = 0;  // on the box's sides
};
Rim find_rim(const Lattice& lattice, std::span<const float> values);
void walk_outside(const Rim& rim, const Segment& segment, double begin, double end, double iso,
                  IntervalSink& sink);

}  // namespace isotact::detail
