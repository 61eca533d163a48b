// What image-space queries need of their callers.
#pragma once

#include "isotact/queries/depth_map.h"

namespace isotact::detail {

// Throws Error where the view is not a box.
void check_depth_view(const DepthView& view);

}  // namespace isotact::detail
