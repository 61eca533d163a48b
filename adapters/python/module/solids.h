// Simple solids and their combinations, with the recipe by which each was made: solids travel
// between processes as recipes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "module.h"
#include "shape_object.h"

namespace isotact::python {

// The word of a solid with its numbers, or of an operation with its operands.
struct SolidRecipe {
  std::string word;
  std::vector<double> numbers;
  std::vector<std::shared_ptr<const SolidRecipe>> parts{};
  int depth = 0;  // Of the tree: queries descend it by recursion.
};

// Throws Error for numbers that make no solid, and for trees that are too deep.
ShapeObject shape_of_recipe(const std::shared_ptr<const SolidRecipe>& recipe);

// A list of (word, numbers, operands), each after its operands, which are places in the list. A
// part that is used several times is written once.
py::list encode_recipe(const SolidRecipe& recipe);
// Throws ValueError for a list that encode_recipe does not make.
std::shared_ptr<const SolidRecipe> decode_recipe(const py::handle& list);

// Shape.box and the others, and the operators.
void add_solids(py::class_<ShapeObject>& c);

}  // namespace isotact::python
