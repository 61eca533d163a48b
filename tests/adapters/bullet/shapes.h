// Cooked once for all tests of the program.
#pragma once

#include "isotact/adapters/bullet/shape.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {

inline constexpr double kBallRadius = 0.2;

// A ball: Bullet's own sphere tells what is right.
inline const IsotactShape& ball_shape() {
  static const auto shape =
      cook_bullet_shape(make_sphere({.radius = kBallRadius, .frequency = 32}),
                        {.shape = {.field = {.resolution = 48}, .points = 3000}});
  return *shape;
}
inline const IsotactShape& torus_shape() {
  static const auto shape =
      cook_bullet_shape(make_torus({.segments = 48, .tube_segments = 24}),
                        {.shape = {.field = {.resolution = 64}, .points = 4000}});
  return *shape;
}
// Half a metre wide.
inline const IsotactShape& cube_shape() {
  static const auto shape =
      cook_bullet_shape(make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5}),
                        {.shape = {.field = {.resolution = 40}, .points = 2000}});
  return *shape;
}

// Shapes keep scaling and margin, which tests change: each has its own, of the same body.
inline IsotactShape copy(const IsotactShape& shape) {
  return IsotactShape(shape.shared_body(), shape.bullet_from_shape());
}

}  // namespace isotact
