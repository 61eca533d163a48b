// Spheres around deforming objects, in both of MDL06's ways (section 5.1).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "isotact/base/aabb.h"
#include "isotact/base/sphere.h"

namespace isotact {

// Its equation 3: about the middle of the cube that has the box's lower corner and its longest edge
// L. Equation 4 gives the radius as L/2, which is the sphere *inside* that cube: corners of the box
// stick out, and contacts would be missed. The radius here is that of the sphere around the cube,
// L/2 times the root of three. It needs no vertices, and is "too large for the object", as they
// say. Of a box that is not empty.
inline Sphere sphere_around_cube(const Aabb& box) {
  const Vec3 e = extent(box);
  const double half = std::max({e.x, e.y, e.z}) / 2;
  // The root of three, and rounding of the middle.
  const double slack =
      4 * std::numeric_limits<double>::epsilon() *
      (half + std::abs(box.lower.x) + std::abs(box.lower.y) + std::abs(box.lower.z));
  return {box.lower + Vec3{half, half, half}, half * 1.7320508075688774 + slack};
}

// Its equation 5, the one the paper chose: about the middle of the box, as far as the farthest
// vertex. The box must be that of the points. Cost: one pass over them; in a loop that moves them,
// the box comes from the same pass, and this is a second one.
template <typename T>
Sphere sphere_around_points(const Aabb& box, std::span<const Vector3<T>> points) {
  const Vec3 middle = center(box);
  double farthest = 0;
  for (const Vector3<T>& p : points) {
    const Vec3 to{static_cast<double>(p.x) - middle.x, static_cast<double>(p.y) - middle.y,
                  static_cast<double>(p.z) - middle.z};
    farthest = std::max(farthest, length_sq(to));
  }
  return {middle, std::sqrt(farthest) * (1 + 4 * std::numeric_limits<double>::epsilon())};
}

}  // namespace isotact
