// One segment through a brick field with the help of an index.
#pragma once

#include "isotact/queries/detail/segment_index.h"
#include "isotact/queries/detail/segment_search.h"

namespace isotact::detail {

void walk_indexed(const BrickField& field, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentCounts& counts);

}  // namespace isotact::detail
