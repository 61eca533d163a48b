// The report of a step as a dictionary.
#pragma once

#include <pybind11/pybind11.h>

#include "isotact/dynamics/rigid/world.h"

namespace isotact::python {

pybind11::dict describe(const StepReport& report);

}  // namespace isotact::python
