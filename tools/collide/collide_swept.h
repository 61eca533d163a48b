// What the triangles say of two bodies that move, beside what points and fields say.
#pragma once

#include <cstddef>
#include <optional>

#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/closest_approach.h"

namespace isotact::tool {

// The exact query beside a request for points, if it is to decide: `best` takes it where it can.
std::optional<ContinuousRequest> exact_request_of(const ContinuousRequest& of_points,
                                                  const Shape& a, const Shape& b);

// The verdict, the first contact and the distance of the triangles; points and intervals stay, and
// the contacts of points from then on, `most` in all.
void decide_by(const ContinuousResult& exact, std::size_t most, ContinuousResult& result);

// The least distance of the surfaces over a motion of which `exact` is the first contact: 0 if they
// touch. With a margin the search may give up.
ApproachResult find_exact_approach(const Shape& a, const BodyMotion& of_a, const Shape& b,
                                   const BodyMotion& of_b, const ContinuousRequest& request,
                                   const ContinuousResult& exact);

}  // namespace isotact::tool
