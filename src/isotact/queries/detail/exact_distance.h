// The exact path of distance().
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

// Both shapes can be exact (exact_body.h), or it throws Error.
// `memory` is that of find_deepest (exact_depth.h), if it is given.
DistanceResult compute_exact_distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                                      const Pose& world_from_b, const DistanceRequest& request,
                                      std::shared_ptr<void>* memory = nullptr);

// Moves contacts that samples found to the witnesses of the surfaces, and drops those that are not
// within the margin. The deepest of all then moves along its surface to where that is deepest
// nearby. The search ends early after some steps, or if a thousandth of the depth is all that can
// be gained. Each group stays in the order of depths; groups that are empty are dropped. Cost:
// about a microsecond per contact, and some microseconds for the deepest. It does not allocate.
void settle_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                     const Pose& world_from_b, double margin, std::vector<Contact>& contacts,
                     std::vector<std::uint32_t>& first_contact);

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
