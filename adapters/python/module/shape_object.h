// A shape with what Python keeps beside it.
#pragma once

#include <memory>

#include "isotact/base/made_once.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/queries/shape.h"

namespace isotact::python {

struct ShapeObject {
  Shape shape;
  // For exact distances of points; made on first use.
  std::shared_ptr<MadeOnce<ExactField>> exact = std::make_shared<MadeOnce<ExactField>>();
  int depth = 0;  // Of the tree of a combination: queries descend it by recursion.
};

}  // namespace isotact::python
