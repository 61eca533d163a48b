// How a SegmentIndex is made.
#pragma once

#include "isotact/base/parallel.h"
#include "isotact/queries/detail/segment_slab.h"
#include "isotact/queries/segment_index.h"

namespace isotact::detail {

SegmentIndex build_segment_index(const BrickField& field, float iso, Threads threads);

}  // namespace isotact::detail
