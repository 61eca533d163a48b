#include "isotact/field/texels/field_texels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/texels/detail/texel_kernel.h"

namespace isotact {

namespace {

std::int16_t to_steps(double x) {
  return static_cast<std::int16_t>(std::nearbyint(std::clamp(x, -1.0, 1.0) * kTexelSteps));
}

void check_lattice(const FirstOrderField& field, const Aabb& body) {
  if (field.buffer().empty()) throw Error("texels: the field is empty");
  for (const std::int32_t n : field.lattice().cells)
    if (n < 1 || n > kMaxFirstOrderCells)
      throw Error(fmt::format("texels: {} cells along an axis; 1 to {} are possible", n,
                              kMaxFirstOrderCells));
  if (!(is_finite(body.lower) && is_finite(body.upper)) || is_empty(body))
    throw Error("texels: the body's box must be finite, and not empty");
}

// Calls body(i, j, k, node) for all nodes; `result` of chunks of rows are joined in order.
template <typename T, typename Join, typename Visit>
T over_nodes(const Lattice& lattice, Threads threads, T identity, Join join, Visit visit) {
  const Index3 nodes = node_counts(lattice);
  const auto row_length = static_cast<std::size_t>(nodes[0]);
  const auto ny = static_cast<std::size_t>(nodes[1]);
  return parallel_reduce(
      count(nodes) / row_length, 16, threads, identity,
      [&](std::size_t begin, std::size_t end) {
        T part = identity;
        for (std::size_t row = begin; row < end; ++row)
          for (std::int32_t i = 0; i < nodes[0]; ++i)
            visit(
                Index3{i, static_cast<std::int32_t>(row % ny), static_cast<std::int32_t>(row / ny)},
                row * row_length + static_cast<std::size_t>(i), part);
        return part;
      },
      join);
}

Vec3 from_middle(const Lattice& lattice, const Index3& at) {
  Vec3 place;
  for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = at[axis] - 0.5 * lattice.cells[axis];
  return place;
}

TexelParts find_parts(const FirstOrderField& field, const Index3& at) {
  const std::array<float, 4> texel = field.texel(at[0], at[1], at[2]);
  Vec3 gradient;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    gradient[axis] = 2 * static_cast<double>(texel[axis]);
    if (!(std::fabs(gradient[axis]) <= 1.001))
      throw Error(
          fmt::format("texels: the gradient at node ({}, {}, {}) has a component {}; a "
                      "distance's are within 1",
                      at[0], at[1], at[2], gradient[axis]));
  }
  return make_texel_parts(static_cast<double>(texel[3]), gradient,
                          from_middle(field.lattice(), at));
}

// What a hardware filter does other than sample(): its weights have eight bits after the point, so
// that the nodes are mixed as if the point were up to 1/512 cell further along each axis (1/256
// where a device cuts them off), while the position that multiplies the gradient is exact. How much
// that changes is a difference of two neighbours' answers at a point of their cells.
constexpr double kWeightError = 1.0 / 256;

// Along one edge: b and g of both ends, and where its middle is.
double compute_edge_rise(const std::int16_t* lower, const std::int16_t* upper, double b_step,
                         const Vec3& middle, std::size_t along) {
  double rise = b_step * (upper[3] - lower[3]), spread = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double turn = 0.5 * (upper[axis] - lower[axis]) / kTexelSteps;
    rise += turn * middle[axis];
    spread += std::fabs(turn) * (axis == along ? 0.5 : 1.0);
  }
  return std::fabs(rise) + spread;
}

// The steepest edges along each axis, cells a cell.
Vec3 compute_rises(const FieldTexels& texels, Threads threads) {
  const Index3 nodes = node_counts(texels.lattice);
  const auto row = static_cast<std::size_t>(nodes[0]);
  const std::array<std::size_t, 3> stride{1, row, row * static_cast<std::size_t>(nodes[1])};
  const double b_step = static_cast<double>(texels.b_scale) / kTexelSteps;
  const auto larger = [](const Vec3& a, const Vec3& b) { return max(a, b); };
  return over_nodes(
      texels.lattice, threads, Vec3{}, larger, [&](const Index3& at, std::size_t node, Vec3& part) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
          if (at[axis] == nodes[axis] - 1) continue;
          Vec3 middle = from_middle(texels.lattice, at);
          middle[axis] += 0.5;
          const std::size_t next = node + stride[axis];
          const double rise = texels.order == TexelOrder::kFirst
                                  ? compute_edge_rise(&texels.first[4 * node],
                                                      &texels.first[4 * next], b_step, middle, axis)
                                  : std::fabs(static_cast<double>(texels.zeroth[next]) -
                                              static_cast<double>(texels.zeroth[node])) /
                                        texels.lattice.spacing;
          part[axis] = std::max(part[axis], rise);
        }
      });
}

// Metres.
double compute_filter_error(const FieldTexels& texels, const Vec3& rises) {
  // The sums in float, of numbers as large as b and half the box.
  double largest = static_cast<double>(texels.b_scale);
  for (const std::int32_t n : texels.lattice.cells) largest += n;
  const double cells = kWeightError * (rises.x + rises.y + rises.z) + 8 * largest * 0x1p-24;
  return cells * texels.lattice.spacing;
}

// Between nodes of a face values fall by at most sqrt(2)/4 cells below those of the nodes.
bool is_outside_on_faces(const FirstOrderField& field) {
  const Index3 nodes = node_counts(field.lattice());
  for (std::int32_t k = 0; k < nodes[2]; ++k)
    for (std::int32_t j = 0; j < nodes[1]; ++j) {
      const bool whole_row = k == 0 || k == nodes[2] - 1 || j == 0 || j == nodes[1] - 1;
      for (std::int32_t i = 0; i < nodes[0]; i += whole_row ? 1 : nodes[0] - 1)
        if (!(field.texel(i, j, k)[3] > 0.5F)) return false;
    }
  return true;
}

// |value - true distance| at a point x of the box is at most
//   sum w_i |f_i + 1/2 g_i (x - x_i) - d(x)| <= node error + 3/2 sum w_i |x - x_i|
// since distances change no faster than space and no gradient is longer than 1; and the last sum is
// at most sqrt(sum w_i |x - x_i|^2) <= sqrt(3)/2 cells. Without gradients the factor 3/2 is 1. On
// smooth surfaces it is a hundred times less, but that is not known from samples alone.
//
// Where the body may reach out of the box, values outside are no distances (extend_outside), and no
// error is known.
void set_errors(FieldTexels& texels, const FirstOrderField& field, double node_error) {
  const double h = texels.lattice.spacing;
  const double share = texels.order == TexelOrder::kFirst ? 1.5 * 1.001 : 1.0;
  const FirstOrderHeader& header = field.header();
  // Nodes around a point within four cells of the surface may lie further away than four.
  const double at_nodes = std::max(header.near_error, header.far_error) + node_error;
  texels.node_error = header.near_error + node_error;
  texels.far_node_error = at_nodes;
  texels.near_error = texels.far_error = at_nodes + share * 0.8661 * h;
  if (!is_outside_on_faces(field)) texels.far_error = std::numeric_limits<double>::infinity();
}

}  // namespace

TexelParts make_texel_parts(double value, const Vec3& gradient, const Vec3& from_middle) {
  TexelParts parts{.b = value};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    parts.gradient[axis] = to_steps(gradient[axis]);
    parts.b -= 0.5 * (parts.gradient[axis] / kTexelSteps) * from_middle[axis];
  }
  return parts;
}

FieldTexels make_first_order_texels(const FirstOrderField& field, const Aabb& body,
                                    Threads threads) {
  check_lattice(field, body);
  FieldTexels texels{.lattice = field.lattice(), .order = TexelOrder::kFirst, .body = body};
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const double most = over_nodes(texels.lattice, threads, 0.0, larger,
                                 [&](const Index3& at, std::size_t, double& part) {
                                   part = std::max(part, std::fabs(find_parts(field, at).b));
                                 });
  texels.b_scale = std::nextafter(static_cast<float>(std::max(most, 1e-6)), 1e30F);
  texels.first.resize(4 * count(node_counts(texels.lattice)));
  const double b_scale = static_cast<double>(texels.b_scale);
  over_nodes(texels.lattice, threads, 0.0, larger,
             [&](const Index3& at, std::size_t node, double&) {
               const TexelParts parts = find_parts(field, at);
               std::copy_n(parts.gradient.begin(), 3, &texels.first[4 * node]);
               texels.first[4 * node + 3] = to_steps(parts.b / b_scale);
             });

  // Values at nodes are off by half a step of b, and gradients by half a step in each component.
  // The difference of both fields is a field of the same kind made of these; its gradient is at
  // most 2 sqrt(3) times the first (neighbours may differ by two of them) plus 7 times half the
  // second (once by itself; and six times by the weights' slopes, where x - x_i is up to sqrt(3)).
  const double off_value = 0.5 * b_scale / kTexelSteps, off_gradient = 0.867 / kTexelSteps;
  texels.lipschitz = field.lipschitz() + 3.47 * off_value + 3.5 * off_gradient;
  set_errors(texels, field, off_value * texels.lattice.spacing);
  texels.rounding = compute_filter_error(texels, compute_rises(texels, threads));
  return texels;
}

FieldTexels make_zeroth_order_texels(const FirstOrderField& field, const Aabb& body,
                                     Threads threads) {
  check_lattice(field, body);
  FieldTexels texels{.lattice = field.lattice(), .order = TexelOrder::kZeroth, .body = body};
  texels.zeroth.resize(count(node_counts(texels.lattice)));
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const double h = texels.lattice.spacing;
  const double most = over_nodes(
      texels.lattice, threads, 0.0, larger, [&](const Index3& at, std::size_t node, double& part) {
        const double value = h * static_cast<double>(field.texel(at[0], at[1], at[2])[3]);
        texels.zeroth[node] = static_cast<float>(value);
        part = std::max(part, std::fabs(value));
      });
  // Along an axis the slope is a mean of rises along edges. Outside of a box with a body that
  // reaches out of it, slopes along the box and away from it add up (first_order_build.cpp).
  const Vec3 rises = compute_rises(texels, threads);
  texels.rounding = compute_filter_error(texels, rises);
  texels.lipschitz = std::sqrt(length_sq(rises) + 1);
  set_errors(texels, field, most * 0x1p-23);
  return texels;
}

NodeBound compute_node_bound(const FieldTexels& texels) {
  const double h = texels.lattice.spacing;
  const double excess = std::max(0.0, texels.far_node_error - texels.node_error);
  return {.near = static_cast<float>(texels.near >= 0 ? texels.near / h : -1e30),
          .excess = static_cast<float>(excess / h * (1 + 1e-6))};
}

TexelGrid make_texel_grid(const FieldTexels& texels) {
  const Lattice& lattice = texels.lattice;
  const Index3 nodes = node_counts(lattice);
  TexelGrid grid;
  if (texels.order == TexelOrder::kFirst)
    grid.first = texels.first.data();
  else
    grid.zeroth = texels.zeroth.data();
  const Vec3 middle = center(bounds(lattice));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    grid.middle[axis] = static_cast<float>(middle[axis]);
    grid.half[axis] = 0.5F * static_cast<float>(lattice.cells[axis]);
    grid.cells[axis] = static_cast<float>(lattice.cells[axis]);
    grid.last[axis] = static_cast<float>(lattice.cells[axis] - 1);
  }
  grid.cells_per_metre = static_cast<float>(1 / lattice.spacing);
  grid.metres_per_cell = static_cast<float>(lattice.spacing);
  grid.b_scale = texels.b_scale / 32767.0F;
  const NodeBound bound = compute_node_bound(texels);
  grid.near = bound.near;
  grid.excess = bound.excess;
  grid.row = static_cast<std::size_t>(nodes[0]);
  grid.slice = grid.row * static_cast<std::size_t>(nodes[1]);
  return grid;
}

TexelSample sample(const FieldTexels& texels, const Vec3f& point) {
  const float at[3] = {point.x, point.y, point.z};
  TexelSample result;
  float direction[3];
  detail::evaluate_texels<float>(make_texel_grid(texels), at, result.distance, direction);
  const Vec3f raw{direction[0], direction[1], direction[2]};
  const float size_sq = length_sq(raw);
  result.direction = size_sq > 1e-20F ? raw / std::sqrt(size_sq) : Vec3f{0, 1, 0};
  return result;
}

}  // namespace isotact
