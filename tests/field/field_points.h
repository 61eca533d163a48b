// What the tests of fields share: points worth asking about, and errors in cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact {

// On a random triangle (not by area).
inline Vec3 random_surface_point(const TriangleMesh& mesh, Random& random) {
  const auto c = corners(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())));
  double u = random.uniform(0.0, 1.0), v = random.uniform(0.0, 1.0);
  if (u + v > 1) u = 1 - u, v = 1 - v;
  return to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
}

inline Vec3 random_in_box(const Aabb& box, Random& random) {
  return {random.uniform(box.lower.x, box.upper.x), random.uniform(box.lower.y, box.upper.y),
          random.uniform(box.lower.z, box.upper.z)};
}

// A point as a mesh has them: rounded to float.
inline Vec3 rounded(const Vec3& p) { return to_double(to_float(p)); }

// The value below which this part of the numbers lies.
inline double quantile(std::vector<double> numbers, double part) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[std::min(numbers.size() - 1,
                          static_cast<std::size_t>(part * static_cast<double>(numbers.size())))];
}

}  // namespace isotact
