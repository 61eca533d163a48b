// Layout shared by the builder, the reader and the validator of point-sphere trees.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

inline constexpr char kTreeMagic[9] = "ISOSHELL";
inline constexpr float kFurthestPoint = 1e15F;  // Coordinate limit: squares stay far from overflow.

inline bool is_usable_point(const Vec3f& p) {
  const auto fits = [](float c) { return std::abs(c) <= kFurthestPoint; };
  return fits(p.x) && fits(p.y) && fits(p.z);
}
inline bool is_usable_normal(const Vec3f& n) {
  const float l = length_sq(n);
  return l == 0 || std::abs(l - 1) <= 1e-3F;
}
inline bool is_usable_area(float a) { return a >= 0 && a <= std::numeric_limits<float>::max(); }

// Returns a radius that contains points at this distance, also in float arithmetic. Let u = 2^-24.
// Differences are rounded once, and so are squares and sums. The squared distance in floats is
// therefore at most (1 + u)^5 times the true one. The radius' square loses one more (1 - u). A
// factor of 1 + 3.1 u on the radius outweighs that; 4e-7 is 6.7 u. Below 1e-18, squares lose bits
// at the lower end of the floats, so radii stop there.
inline float rounded_out(double distance) {
  if (distance == 0) return 0;
  const auto r = static_cast<float>(distance * (1 + 4e-7));
  return std::max(std::nextafter(r, std::numeric_limits<float>::infinity()), 1e-18F);
}

// Sets places, offsets and total_bytes of a header whose level_count, node_counts, point_count and
// child_stride are set. Needs at most kMaxShellLevels levels, kMaxShellPoints points, and
// kMaxShellPoints nodes per level.
void lay_out(PointSphereTreeHeader& header);

struct LevelRadii {
  float mean = 0, max = 0;
};
LevelRadii compute_level_radii(std::span<const SphereGroup> groups,
                               std::span<const ShellNode> nodes);

}  // namespace isotact::detail
