// The deepest point of a surface inside of another body.
#pragma once

#include "isotact/base/pose.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

struct Side {
  const Shape& shape;
  const ExactBody& body;
  Pose world_from_body;
};

struct Deepest {
  double depth = 0;  // metres; 0 if no point is inside
  double bound = 0;  // metres; no point is deeper
  Vec3 point{};      // of the surface, and the nearest point of the other one, in the other's frame
  Vec3 nearest{};
};

// Both bodies have triangles, and radius 0. Only depths above `at_least` are searched for: if there
// are none, the depth of the result is at_least, and its points mean nothing.
Deepest find_deepest(const Side& surface, const Side& other, double at_least);

}  // namespace isotact::detail
