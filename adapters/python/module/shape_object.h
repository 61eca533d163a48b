// A shape with what Python keeps beside it.
#pragma once

#include <memory>

#include "isotact/base/made_once.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/queries/shape.h"

namespace isotact::python {

struct SolidRecipe;  // solids.h

struct ShapeObject {
  Shape shape;
  // For exact distances of points; made on first use.
  std::shared_ptr<MadeOnce<ExactField>> exact = std::make_shared<MadeOnce<ExactField>>();
  // How a simple solid, or a combination of some, was made. Null for all other shapes.
  std::shared_ptr<const SolidRecipe> recipe{};
};

}  // namespace isotact::python
