// Smallest enclosing balls, of points and of balls.
#pragma once

#include <span>

#include "isotact/base/sphere.h"

namespace isotact::detail {

// Coordinates of points, equally long and not empty.
struct PointColumns {
  std::span<const float> x, y, z;
};

// The smallest ball, to about 1e-9 of its radius: points may stick out by that much. Who needs them
// inside takes the centre and measures (distance_to_furthest). Deterministic. Cost: some 5 to 10
// passes over the points.
Sphere find_enclosing_ball(const PointColumns& points);
Sphere find_enclosing_ball(std::span<const Sphere> balls);

// Of the points, or of the balls' far sides.
double distance_to_furthest(const PointColumns& points, const Vec3& from);
double distance_to_furthest(std::span<const Sphere> balls, const Vec3& from);

}  // namespace isotact::detail
