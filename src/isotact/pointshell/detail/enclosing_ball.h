// Smallest enclosing balls of points and of balls.
#pragma once

#include <span>

#include "isotact/base/aabb.h"

namespace isotact::detail {

// Coordinates of points, of equal length and not empty.
struct PointColumns {
  std::span<const float> x, y, z;
};

// Returns the smallest ball, to about 1e-9 of its radius: points may lie outside by that much.
// Callers that need all points inside take the centre and measure (distance_to_furthest).
// Deterministic. Cost: about 5 to 10 passes over the points.
Sphere compute_enclosing_ball(const PointColumns& points);
Sphere compute_enclosing_ball(std::span<const Sphere> balls);

// Returns the largest distance to a point, or to the far side of a ball.
double distance_to_furthest(const PointColumns& points, const Vec3& from);
double distance_to_furthest(std::span<const Sphere> balls, const Vec3& from);

}  // namespace isotact::detail
