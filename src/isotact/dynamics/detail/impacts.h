// What a step and its impacts share.
#pragma once

#include "isotact/dynamics/detail/world_state.h"

namespace isotact::detail {

// From where it began (step.motion.from, step.center_from) to where it is now.
void finish_body_step(WorldBody& body, double step);

}  // namespace isotact::detail
