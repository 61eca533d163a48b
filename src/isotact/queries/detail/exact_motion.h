// The exact path of continuous_collide().
#pragma once

#include "isotact/queries/continuous_collide.h"

namespace isotact::detail {

// Whether the request may be answered by the triangles: both shapes can be exact (exact_body.h),
// and nothing is asked for that only points know.
bool can_be_exact(const Shape& a, const Shape& b, const ContinuousRequest& request);

// Fills a result that has been reset. Throws Error if a shape cannot be exact, and for requests
// that only points can answer.
void collide_exact_motion(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                          const BodyMotion& motion_of_b, const ContinuousRequest& request,
                          ContinuousResult& result);

}  // namespace isotact::detail
