// One node of a first-order texture: field_texels.h says what its numbers mean, and
// gpu/shaders/texel.glsl does the same on a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "isotact/base/vec.h"

namespace isotact {

inline constexpr double kTexelSteps = 32767;  // of a signed normalised integer

inline std::int16_t to_texel_steps(double x) {
  return static_cast<std::int16_t>(std::nearbyint(std::clamp(x, -1.0, 1.0) * kTexelSteps));
}

// The gradient in whole steps, and b for the gradient as it is kept: then its rounding does not
// count times the position.
struct TexelParts {
  std::array<std::int16_t, 3> gradient{};
  double b = 0;  // cells
};
// Lengths are cells; the position counts from the middle of the lattice's box.
inline TexelParts make_texel_parts(double value, const Vec3& gradient, const Vec3& from_middle) {
  TexelParts parts{.b = value};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    parts.gradient[axis] = to_texel_steps(gradient[axis]);
    parts.b -= 0.5 * (parts.gradient[axis] / kTexelSteps) * from_middle[axis];
  }
  return parts;
}

}  // namespace isotact
