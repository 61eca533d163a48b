// What a body of a test is made of.
#pragma once

#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/queries/shape.h"

namespace isotact {

struct Part {
  Shape shape;
  BodyMass mass;
};

}  // namespace isotact
