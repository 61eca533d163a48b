// Lengths are in metres. Other units must be named; sizes that suggest a forgotten unit cause a
// warning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isotact/base/aabb.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Takes "m", "cm", "mm" or "in"; throws Error for anything else.
double metres_per_unit(std::string_view unit);

// Returns a warning if a body of this size, taken as metres, is larger than 10 m or smaller than 1
// mm across. Most such files are in millimetres or have lost their scale.
std::optional<std::string> find_implausible_size(const Aabbf& bounds);

}  // namespace isotact
