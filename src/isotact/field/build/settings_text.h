// The settings of a build as text: what an asset's source section says, and what the cache's keys
// are made of.
#pragma once

#include <string>

#include "isotact/field/build/build_field.h"

namespace isotact {

// One line of JSON with every setting that changes the result, and none that does not (threads,
// memory, monitor). Equal settings give equal text; numbers are exact.
std::string describe(const FieldSettings& settings);

}  // namespace isotact
