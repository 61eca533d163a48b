// Fields of the shapes that make_shape knows.
#pragma once

#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {

inline BrickField make_field(const char* shape, int resolution) {
  return build_field(make_shape(shape, {}), {.resolution = resolution}).field;
}

}  // namespace isotact
