// Whether a triangle meets a box: the separating-axis test (SSL14 section 2.1.1; Akenine-Moeller
// 2001 gives the 13 axes).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "isotact/base/vec.h"

namespace isotact::detail {

// Closed sets: touching counts. Segments and points are welcome as degenerate triangles.
inline bool overlaps_triangle_box(const std::array<Vec3, 3>& triangle, const Vec3& middle,
                                  const Vec3& half) {
  const std::array<Vec3, 3> p{triangle[0] - middle, triangle[1] - middle, triangle[2] - middle};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto [lower, upper] = std::minmax({p[0][axis], p[1][axis], p[2][axis]});
    if (lower > half[axis] || upper < -half[axis]) return false;
  }
  const auto is_separating = [&](const Vec3& axis) {
    const auto [lower, upper] = std::minmax({dot(axis, p[0]), dot(axis, p[1]), dot(axis, p[2])});
    const double reach =
        std::fabs(axis.x) * half.x + std::fabs(axis.y) * half.y + std::fabs(axis.z) * half.z;
    return lower > reach || upper < -reach;
  };
  const std::array<Vec3, 3> edges{p[1] - p[0], p[2] - p[1], p[0] - p[2]};
  if (is_separating(cross(edges[0], edges[1]))) return false;
  for (const Vec3& e : edges)
    if (is_separating({0, -e.z, e.y}) || is_separating({e.z, 0, -e.x}) ||
        is_separating({-e.y, e.x, 0}))
      return false;
  return true;
}

}  // namespace isotact::detail
