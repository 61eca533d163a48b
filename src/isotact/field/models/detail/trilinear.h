// Trilinear interpolation of eight corners, in the one order of operations that every reader of a
// field uses. Corners are ordered as in Brick: bit 0 is x, bit 1 y, bit 2 z.
#pragma once

#include "isotact/base/vec.h"

namespace isotact::detail {

struct Trilinear {
  float value;
  Vec3f slope;  // a unit of the cell
};

// a + (b - a) t gives a exactly at t = 0.
constexpr float mix(float a, float b, float t) { return a + (b - a) * t; }

template <typename Corners>
constexpr float interpolate(const Corners& c, const Vec3f& t) {
  const float y0z0 = mix(c[0], c[1], t.x), y1z0 = mix(c[2], c[3], t.x);
  const float y0z1 = mix(c[4], c[5], t.x), y1z1 = mix(c[6], c[7], t.x);
  return mix(mix(y0z0, y1z0, t.y), mix(y0z1, y1z1, t.y), t.z);
}

template <typename Corners>
constexpr Trilinear interpolate_with_slope(const Corners& c, const Vec3f& t) {
  const float dx00 = c[1] - c[0], dx10 = c[3] - c[2], dx01 = c[5] - c[4], dx11 = c[7] - c[6];
  const float y0z0 = c[0] + dx00 * t.x, y1z0 = c[2] + dx10 * t.x;
  const float y0z1 = c[4] + dx01 * t.x, y1z1 = c[6] + dx11 * t.x;
  const float dy0 = y1z0 - y0z0, dy1 = y1z1 - y0z1;
  const float z0 = y0z0 + dy0 * t.y, z1 = y0z1 + dy1 * t.y;
  const float dz = z1 - z0;
  return {z0 + dz * t.z,
          {mix(mix(dx00, dx10, t.y), mix(dx01, dx11, t.y), t.z), mix(dy0, dy1, t.z), dz}};
}

}  // namespace isotact::detail
