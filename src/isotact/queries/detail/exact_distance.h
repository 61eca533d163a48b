// The exact path of distance().
#pragma once

#include <cstdint>

#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

// Both shapes can be exact (exact_body.h), or it throws Error.
// `memory` is that of find_deepest (exact_depth.h), if it is given.
DistanceResult compute_exact_distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                                      const Pose& world_from_b, const DistanceRequest& request,
                                      std::shared_ptr<void>* memory = nullptr);

// The contact of bodies whose triangles touch: a point of one deep in the other, if the fields lead
// to one that is deeper than `touch`, where they were found to touch. It takes some microseconds.
Contact guess_contact(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const Contact& touch);

enum class Containment : std::uint8_t {
  kNone,
  kInOpen,  // A part of one body is in what the field of the other, an open mesh, takes for inside.
  kInClosed,  // A part of one body is inside of the other: they overlap.
};
// Both can be exact, and their surfaces share no point. A half-space contains nothing.
Containment find_containment(const Shape& a, const Pose& world_from_a, const Shape& b,
                             const Pose& world_from_b);

}  // namespace isotact::detail
