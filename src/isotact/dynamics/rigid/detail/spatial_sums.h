// Sums of spatial matrices over many points: derivatives of a contact's forces.
#pragma once

#include <array>
#include <cstddef>

#include "isotact/dynamics/model/spatial.h"

namespace isotact::detail {

// The sum of resist_along over points. `unit` is the wrench of a unit force along the direction.
struct AlongSum {
  std::array<double, 21> sum{};

  void add(const Wrench& unit, double size) {
    const Vec3 &l = unit.linear, &a = unit.angular;
    const std::array<double, 6> w = {l.x, l.y, l.z, a.x, a.y, a.z};
    std::size_t at = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double scaled = w[i] * size;
      for (std::size_t k = i; k < 6; ++k) sum[at++] += scaled * w[k];
    }
  }
  SpatialMatrix matrix(double scale) const {
    std::array<std::array<double, 6>, 6> m{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t k = i; k < 6; ++k, ++at) m[i][k] = m[k][i] = sum[at] * scale;
    SpatialMatrix r;
    for (std::size_t i = 0; i < 3; ++i) {
      r.ll.rows[i] = {m[i][0], m[i][1], m[i][2]};
      r.la.rows[i] = {m[i][3], m[i][4], m[i][5]};
      r.aa.rows[i] = {m[i + 3][3], m[i + 3][4], m[i + 3][5]};
    }
    return r;
  }
};

// The sum of resist_all over points: moments of their weights.
struct AllSum {
  double weight = 0;
  Vec3 first{};
  Vec3 xx_yy_zz{}, yz_zx_xy{};

  void add(const Vec3& arm, double size) {
    const Vec3 r = arm * size;
    weight += size;
    first += r;
    xx_yy_zz += {arm.x * r.x, arm.y * r.y, arm.z * r.z};
    yz_zx_xy += {arm.y * r.z, arm.z * r.x, arm.x * r.y};
  }
  SpatialMatrix matrix(double scale) const {
    SpatialMatrix m;
    const Vec3 r = first * scale, d = xx_yy_zz * scale, o = yz_zx_xy * scale;
    m.ll = identity3() * (weight * scale);
    m.la = {{Vec3{0, r.z, -r.y}, Vec3{-r.z, 0, r.x}, Vec3{r.y, -r.x, 0}}};
    m.aa = {
        {Vec3{d.y + d.z, -o.z, -o.y}, Vec3{-o.z, d.z + d.x, -o.x}, Vec3{-o.y, -o.x, d.x + d.y}}};
    return m;
  }
};

inline Vec3 along_surface(const Vec3& v, const Vec3& normal) { return v - normal * dot(v, normal); }

}  // namespace isotact::detail
