// A picture of two bodies at the moment of their first contact.
#pragma once

#include "isotact/queries/continuous_collide.h"

#include "picture/picture.h"

namespace isotact::tool {

struct CollidePicture {
  const Shape &a, &b;
  BodyMotion motion_of_a, motion_of_b;
  ContinuousRequest request;
  const ContinuousResult& result;
};

// B as a body. A as its points at the time of contact, or at the end where there is none; those
// that touch B at some time in another colour, with the ways that they take; where A begins,
// faintly; and the place of contact.
Picture draw_collision(const CollidePicture& what, int width, Threads threads);

}  // namespace isotact::tool
