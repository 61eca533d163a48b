// One cell of a first-order field: its polynomial, derivative and bounds. Lengths are cells, places
// are in [0, 1]^3, corners are numbered by bits: bit 0 is x, bit 1 y, bit 2 z.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "isotact/base/vec.h"
#include "isotact/field/field.h"

namespace isotact::detail {

struct FirstOrderCell {
  std::array<double, 8> f{};
  std::array<Vec3, 8> a{};  // half the gradient
};

// Values at the four edges along one axis, interpolated over the two other axes (b, c).
struct EdgeQuad {
  std::array<double, 4> edge{};  // bit 0: upper in b, bit 1: upper in c

  double at(double b, double c) const { return lerp(at_b(0, b), at_b(2, b), c); }
  double slope_b(double c) const { return lerp(edge[1] - edge[0], edge[3] - edge[2], c); }
  double slope_c(double b) const { return lerp(edge[2] - edge[0], edge[3] - edge[1], b); }

 private:
  static double lerp(double p, double q, double t) { return p + (q - p) * t; }
  double at_b(std::size_t first, double b) const { return lerp(edge[first], edge[first + 1], b); }
};

// For the axes a, b = a + 1, c = a + 2 (cyclic): how f rises along the edges of axis a, and by how
// much component a of the half gradient falls along them.
struct EdgeRises {
  std::array<EdgeQuad, 3> f{}, fall{};
};

inline EdgeRises compute_edge_rises(const FirstOrderCell& cell) {
  EdgeRises rises;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (std::size_t edge = 0; edge < 4; ++edge) {
      const std::size_t lower = ((edge & 1U) << b) | ((edge >> 1U) << c);
      const std::size_t upper = lower | (std::size_t{1} << axis);
      rises.f[axis].edge[edge] = cell.f[upper] - cell.f[lower];
      rises.fall[axis].edge[edge] = cell.a[lower][axis] - cell.a[upper][axis];
    }
  }
  return rises;
}

inline double interpolate_corners(const std::array<double, 8>& f, const Vec3& at) {
  const auto lerp = [](double p, double q, double t) { return p + (q - p) * t; };
  const double y0 = lerp(lerp(f[0], f[1], at.x), lerp(f[2], f[3], at.x), at.y);
  const double y1 = lerp(lerp(f[4], f[5], at.x), lerp(f[6], f[7], at.x), at.y);
  return lerp(y0, y1, at.z);
}

inline double evaluate(const FirstOrderCell& cell, const Vec3& at) {
  const EdgeRises rises = compute_edge_rises(cell);
  double value = interpolate_corners(cell.f, at);
  for (std::size_t axis = 0; axis < 3; ++axis)
    value +=
        at[axis] * (1 - at[axis]) * rises.fall[axis].at(at[(axis + 1) % 3], at[(axis + 2) % 3]);
  return value;
}

// The derivative of evaluate.
inline Vec3 evaluate_gradient(const FirstOrderCell& cell, const Vec3& at) {
  const EdgeRises rises = compute_edge_rises(cell);
  Vec3 gradient;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    // For the quad of axis b, this axis is its second other one; for that of axis c its first.
    gradient[axis] = rises.f[axis].at(at[b], at[c]) +
                     (1 - 2 * at[axis]) * rises.fall[axis].at(at[b], at[c]) +
                     at[b] * (1 - at[b]) * rises.fall[b].slope_c(at[c]) +
                     at[c] * (1 - at[c]) * rises.fall[c].slope_b(at[b]);
  }
  return gradient;
}

// The polynomial is of second degree along each axis. In Bernstein form it has 27 coefficients, x
// fastest; it lies between the least and the greatest, since its value anywhere is a mean of them.
// A linear function has its values at 0, 1/2, 1 as coefficients; u (1-u) has 0, 1/2, 0.
using ControlNet = std::array<double, 27>;

inline ControlNet compute_control_net(const FirstOrderCell& cell) {
  const EdgeRises rises = compute_edge_rises(cell);
  ControlNet net;
  for (std::size_t n = 0; n < 27; ++n) {
    const std::array<std::size_t, 3> place{n % 3, n / 3 % 3, n / 9};
    Vec3 at;
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = 0.5 * static_cast<double>(place[axis]);
    net[n] = interpolate_corners(cell.f, at);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (place[axis] == 1)
        net[n] += 0.5 * rises.fall[axis].at(at[(axis + 1) % 3], at[(axis + 2) % 3]);
  }
  return net;
}

// Room for the rounding of evaluate and of the net, which are sums of some 30 terms in double.
inline constexpr double kCellRounding = 1e-13;

inline Interval compute_range(const ControlNet& net) {
  const auto [lower, upper] = std::minmax_element(net.begin(), net.end());
  const double slack = kCellRounding * (1 + std::fmax(std::fabs(*lower), std::fabs(*upper)));
  return {*lower - slack, *upper + slack};
}

// A bound of the gradient's squared length in the cell. A derivative's coefficients are twice the
// differences of neighbours; raised to second degree along its axis, all three components have 27,
// and the length of a mean of vectors is at most that of the longest.
inline double compute_gradient_bound_sq(const ControlNet& net) {
  constexpr std::array<std::size_t, 3> kStride{1, 3, 9};
  double bound = 0;
  for (std::size_t n = 0; n < 27; ++n) {
    const std::array<std::size_t, 3> place{n % 3, n / 3 % 3, n / 9};
    double length_sq = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t stride = kStride[axis], first = n - place[axis] * stride;
      const std::size_t from = place[axis] == 2 ? first + stride : first;
      const std::size_t to = place[axis] == 0 ? first + stride : first + 2 * stride;
      const double spans = place[axis] == 1 ? 1 : 2;
      const double slope = spans * (net[to] - net[from]);
      length_sq += slope * slope;
    }
    bound = std::max(bound, length_sq);
  }
  return bound;
}

}  // namespace isotact::detail
