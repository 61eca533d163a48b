#pragma once

#include <limits>

namespace isotact {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace isotact
