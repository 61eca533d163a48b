// A plain 3 by 3 matrix, stored row by row, for rotations and inertia tensors.
#pragma once

#include <array>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct Mat3 {
  std::array<Vec3, 3> rows{};

  friend constexpr bool operator==(const Mat3&, const Mat3&) = default;
};

constexpr Mat3 identity3() { return {{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}}; }

constexpr Mat3 diagonal3(const Vec3& d) {
  return {{Vec3{d.x, 0, 0}, Vec3{0, d.y, 0}, Vec3{0, 0, d.z}}};
}

constexpr Vec3 operator*(const Mat3& m, const Vec3& v) {
  return {dot(m.rows[0], v), dot(m.rows[1], v), dot(m.rows[2], v)};
}

constexpr Mat3 transpose(const Mat3& m) {
  const auto& r = m.rows;
  return {
      {Vec3{r[0].x, r[1].x, r[2].x}, Vec3{r[0].y, r[1].y, r[2].y}, Vec3{r[0].z, r[1].z, r[2].z}}};
}

constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
  const Mat3 columns = transpose(b);
  return {{columns * a.rows[0], columns * a.rows[1], columns * a.rows[2]}};
}

constexpr Mat3 operator+(const Mat3& a, const Mat3& b) {
  return {{a.rows[0] + b.rows[0], a.rows[1] + b.rows[1], a.rows[2] + b.rows[2]}};
}

constexpr Mat3 operator*(const Mat3& a, double s) {
  return {{a.rows[0] * s, a.rows[1] * s, a.rows[2] * s}};
}

constexpr double determinant(const Mat3& m) { return dot(m.rows[0], cross(m.rows[1], m.rows[2])); }

}  // namespace isotact
