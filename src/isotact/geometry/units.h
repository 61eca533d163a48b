// Lengths are metres. Meshes in other units say so; sizes that hint at a forgotten unit are named.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isotact/base/aabb.h"

namespace isotact {

// Of "m", "cm", "mm" or "in"; anything else is an Error.
double metres_per_unit(std::string_view unit);

// A warning in words where a body of this size, taken as metres, is larger than 10 m or smaller
// than 1 mm across: most such files are in millimetres or have lost their scale.
std::optional<std::string> find_implausible_size(const Aabbf& bounds);

}  // namespace isotact
