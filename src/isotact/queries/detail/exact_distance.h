// The exact path of distance().
#pragma once

#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

// Both shapes can be exact (exact_body.h). `exact` of the result is false where the depth of an
// overlap is not known exactly; then distance and contact are not set, and the caller finds them by
// the field.
// `memory` is that of find_deepest (exact_depth.h), if it is given.
DistanceResult compute_exact_distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                                      const Pose& world_from_b, const DistanceRequest& request,
                                      std::shared_ptr<void>* memory = nullptr);

// Whether a part of one body is inside the other. Both can be exact, and their surfaces share no
// point.
bool is_contained(const Shape& a, const Pose& world_from_a, const Shape& b,
                  const Pose& world_from_b);

}  // namespace isotact::detail
