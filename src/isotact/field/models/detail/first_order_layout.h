// The parts of a first-order field: the polynomial of a cell, and the places in its buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/field/field.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/half.h"
#include "isotact/field/models/first_order_field.h"

namespace isotact::detail {

// One cell: its polynomial, derivative and bounds follow. Lengths are cells, places are in
// [0, 1]^3, corners are numbered by bits: bit 0 is x, bit 1 y, bit 2 z.
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

// For the axes a, b = a + 1, c = a + 2 (cyclic). The first member says how f rises along the edges
// of axis a. The second says by how much component a of the half gradient falls along them.
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

// Tolerance for the rounding of evaluate and of the net, which are sums of some 30 terms in double.
inline constexpr double kCellRounding = 1e-13;

inline Interval compute_range(const ControlNet& net) {
  const auto [lower, upper] = std::minmax_element(net.begin(), net.end());
  const double slack = kCellRounding * (1 + std::fmax(std::fabs(*lower), std::fabs(*upper)));
  return {*lower - slack, *upper + slack};
}

// A bound of the gradient's squared length in the cell. A derivative's coefficients are twice the
// differences of neighbours. Raised to second degree along its axis, all three components have 27.
// The length of a mean of vectors is at most that of the longest.
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

using FloatRange = std::array<float, 2>;

// Returns the nodes of a level n >= 1. A node spans 2^(n+1) cells along each axis.
constexpr Index3 first_order_tree_dims(const Index3& cells, unsigned level) {
  Index3 dims = cells;
  for (std::int32_t& n : dims)
    n = static_cast<std::int32_t>((static_cast<std::uint32_t>(n) + (2U << level) - 1) >>
                                  (level + 1));
  return dims;
}

struct FirstOrderLayout {
  unsigned level_count = 0;
  std::size_t texel_offset = 0, tree_offset = 0, tree_nodes = 0, total_bytes = 0;
};

// Needs cells of 1 to kMaxFirstOrderCells an axis: then nothing overflows.
constexpr FirstOrderLayout compute_first_order_layout(const Index3& cells,
                                                      FirstOrderStorage storage) {
  FirstOrderLayout layout;
  const std::size_t nodes = count({cells[0] + 1, cells[1] + 1, cells[2] + 1});
  layout.texel_offset = sizeof(FirstOrderHeader);
  layout.tree_offset = round_up_to_alignment(
      layout.texel_offset + nodes * (storage == FirstOrderStorage::kHalf ? 8 : 16));
  for (;;) {
    const Index3 dims = first_order_tree_dims(cells, ++layout.level_count);
    layout.tree_nodes += count(dims);
    if (count(dims) == 1) break;
  }
  layout.total_bytes =
      round_up_to_alignment(layout.tree_offset + layout.tree_nodes * sizeof(FloatRange));
  return layout;
}

// The texels of a buffer, in either storage.
struct TexelView {
  const std::byte* texels = nullptr;
  FirstOrderStorage storage = FirstOrderStorage::kFloat32;
  Index3 nodes{};

  const float* floats() const { return reinterpret_cast<const float*>(texels); }
  const std::uint16_t* halves() const { return reinterpret_cast<const std::uint16_t*>(texels); }
  std::array<float, 4> at(std::size_t node) const {
    std::array<float, 4> texel{};
    for (std::size_t c = 0; c < 4; ++c)
      texel[c] = storage == FirstOrderStorage::kHalf ? float_from_half(halves()[4 * node + c])
                                                     : floats()[4 * node + c];
    return texel;
  }
  // Needs finite texels.
  FirstOrderCell cell(const Index3& at_cell) const {
    const std::size_t first = flat_index(nodes, at_cell[0], at_cell[1], at_cell[2]);
    const auto nx = static_cast<std::size_t>(nodes[0]), ny = static_cast<std::size_t>(nodes[1]);
    FirstOrderCell cell;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const std::size_t node =
          first + (corner & 1U) + (corner >> 1U & 1U) * nx + (corner >> 2U) * nx * ny;
      const auto component = [&](std::size_t c) {
        return static_cast<double>(storage == FirstOrderStorage::kHalf
                                       ? float_from_finite_half(halves()[4 * node + c])
                                       : floats()[4 * node + c]);
      };
      cell.a[corner] = {component(0), component(1), component(2)};
      cell.f[corner] = component(3);
    }
    return cell;
  }
};

// Numbers that follow from the texels alone: computed by the builder and again by the validator.
struct FirstOrderResult {
  double lipschitz = 0;
  std::vector<FloatRange> tree;
};
FirstOrderResult summarise(const TexelView& texels, const Index3& cells, Threads threads);

}  // namespace isotact::detail
