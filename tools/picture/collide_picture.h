// A picture of two bodies at the time of their first contact.
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

// Draws B as a body. Draws A as its points at the time of contact, or at the end if there is none.
// Points that touch B at some time have another colour, with their paths. A at its start is drawn
// faintly; the position of contact is marked.
Picture draw_collision(const CollidePicture& what, int width, Threads threads);

}  // namespace isotact::tool
