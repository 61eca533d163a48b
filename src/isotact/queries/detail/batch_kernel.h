// The stages of segment_batch.h over a lane type.
#pragma once

#include "isotact/queries/detail/batch_clip.h"
#include "isotact/queries/detail/batch_look.h"
#include "isotact/queries/detail/batch_trace.h"

namespace isotact::detail {

template <typename F>
struct BatchKernel {
  static void run(BatchWork& w) {
    BatchTrace<F>::find_places(w);
    BatchTrace<F>::trace(w);
    BatchClip<F>::find_macros(w);
    BatchClip<F>::clip(w);
    BatchClip<F>::open(w);
    BatchClip<F>::refine(w);
    BatchLook<F>::step(w);
    BatchLook<F>::look(w);
    BatchLook<F>::look_coarse(w);
    BatchLook<F>::solve(w);
    w.nodes += w.tables->macros.raw.size + w.tables->cells.raw.size;
  }
};

}  // namespace isotact::detail
