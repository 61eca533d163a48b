// Affine maps of glTF nodes, in double.
#pragma once

#include <algorithm>
#include <cmath>

#include "isotact/base/mat3.h"
#include "isotact/base/vec.h"

namespace isotact::detail {

struct Affine {
  Mat3 linear = identity3();
  Vec3 offset{};

  friend constexpr bool operator==(const Affine&, const Affine&) = default;
};

constexpr Vec3 operator*(const Affine& a, const Vec3& p) { return a.linear * p + a.offset; }

constexpr Affine operator*(const Affine& a, const Affine& b) {
  return {a.linear * b.linear, a * b.offset};
}

// Whether the map turns outside in. Rows are scaled first, so that neither tiny nor huge models
// lose the sign to underflow or overflow.
inline bool is_mirror(const Affine& a) {
  Mat3 scaled = a.linear;
  for (Vec3& row : scaled.rows) {
    const double largest = std::max({std::abs(row.x), std::abs(row.y), std::abs(row.z)});
    if (largest > 0) row = row / largest;
  }
  return determinant(scaled) < 0;
}

}  // namespace isotact::detail
