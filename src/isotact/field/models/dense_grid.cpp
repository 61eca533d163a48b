#include "isotact/field/models/dense_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/detail/shared_progress.h"
#include "isotact/base/error.h"
#include "isotact/base/machine.h"

namespace isotact {
namespace {

constexpr std::int32_t kMostCells = 1 << 20;  // an axis
constexpr std::size_t kGridGrain = 16;

std::size_t row_count(const Index3& n) {
  return static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(n[2]);
}

// The samples around a cell; bit 0 of the place is x, bit 1 y, bit 2 z. With `flip`, places are
// counted from another corner.
struct CellSamples {
  double at[8];
};
CellSamples cell_samples(const DenseGridParts& parts, const Index3& nodes, const Index3& cell,
                         std::size_t flip = 0) {
  const float* first = parts.samples.data() + flat_index(nodes, cell[0], cell[1], cell[2]);
  const auto row = static_cast<std::size_t>(nodes[0]);
  const std::size_t slab = row * static_cast<std::size_t>(nodes[1]);
  CellSamples s{};
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t corner = i ^ flip;
    s.at[i] = static_cast<double>(
        first[(corner & 1U) + ((corner >> 1U) & 1U) * row + (corner >> 2U) * slab]);
  }
  return s;
}

// A cell seen from the corner nearest to the point, so that all weights are at most 1/2.
struct NearCorner {
  CellSamples samples{};
  double weight[3];  // of the far side, along each axis
  double sign[3];    // -1 where the corner is at the axis' upper end
};
NearCorner find_near_corner(const DenseGridParts& parts, const Index3& nodes, const CellPoint& at) {
  NearCorner near;
  std::size_t flip = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto t = static_cast<double>(at.fraction[axis]);
    const bool upper = t >= 0.5;
    near.weight[axis] = std::min(t, 1 - t);  // exact
    near.sign[axis] = upper ? -1 : 1;
    flip |= static_cast<std::size_t>(upper) << axis;
  }
  near.samples = cell_samples(parts, nodes, at.cell, flip);
  return near;
}

// With t <= 1/2 the step is at most half of b - a and a rounding, so that the sum cannot pass b.
double mix(double a, double b, double t) { return a + t * (b - a); }

double mix4(double a, double b, double c, double d, double s, double t) {
  return mix(mix(a, b, s), mix(c, d, s), t);
}

double interpolate(const NearCorner& near) {
  const auto& s = near.samples.at;
  const auto& w = near.weight;
  return mix(mix4(s[0], s[1], s[2], s[3], w[0], w[1]), mix4(s[4], s[5], s[6], s[7], w[0], w[1]),
             w[2]);
}

// Of the interpolant, a cell being 1 wide.
Vec3 slope(const NearCorner& near) {
  const auto& s = near.samples.at;
  const auto& w = near.weight;
  return {
      near.sign[0] * mix4(s[1] - s[0], s[3] - s[2], s[5] - s[4], s[7] - s[6], w[1], w[2]),
      near.sign[1] * mix4(s[2] - s[0], s[3] - s[1], s[6] - s[4], s[7] - s[5], w[0], w[2]),
      near.sign[2] * mix4(s[4] - s[0], s[5] - s[1], s[6] - s[2], s[7] - s[3], w[0], w[1]),
  };
}

std::optional<std::string> find_flaw_in_lattice(const Lattice& l) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (l.cells[axis] < 1 || l.cells[axis] > kMostCells)
      return fmt::format("the lattice has {} * {} * {} cells, must have 1 to {} an axis",
                         l.cells[0], l.cells[1], l.cells[2], kMostCells);
  if (!(std::isfinite(l.spacing) && l.spacing > 0))
    return fmt::format("the lattice's spacing is {}, must be positive", l.spacing);
  if (!is_finite(l.origin)) return "the lattice's origin is not finite";
  // Else nodes would not be told apart well, and the places of points in cells would be noise.
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::abs(l.origin[axis]) > 0x1p40 * l.spacing)
      return fmt::format("the lattice's origin is {} away, too far for a spacing of {}",
                         l.origin[axis], l.spacing);
  return std::nullopt;
}

bool is_on_rim(const Index3& nodes, std::int32_t i, std::int32_t j, std::int32_t k) {
  return i == 0 || j == 0 || k == 0 || i == nodes[0] - 1 || j == nodes[1] - 1 || k == nodes[2] - 1;
}

template <typename Visit>
void for_rim(const DenseGridParts& parts, const Visit& visit) {
  const Index3 n = node_counts(parts.lattice);
  for (std::int32_t k = 0; k < n[2]; ++k) {
    for (std::int32_t j = 0; j < n[1]; ++j) {
      const bool whole_row = is_on_rim(n, 1, j, k);
      for (std::int32_t i = 0; i < n[0]; i += whole_row ? 1 : n[0] - 1)
        visit(i, j, k, parts.samples[flat_index(n, i, j, k)]);
    }
  }
}

// Along x the trilinear function's derivative is bilinear in y and z, and so on: as a function of
// each coordinate alone, the gradient is affine. So it is a mean of the gradients at the eight
// corners, and no longer than the longest of them; those are made of the edges that meet there. And
// a continuous function with |gradient| <= L in every cell has the Lipschitz constant L in their
// box, which is convex.
double cell_slope_sq(const CellSamples& s) {
  double most = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const double x = s.at[i ^ 1U] - s.at[i], y = s.at[i ^ 2U] - s.at[i], z = s.at[i ^ 4U] - s.at[i];
    most = std::max(most, x * x + y * y + z * z);
  }
  return most;
}

double compute_inner_lipschitz(const DenseGridParts& parts, Threads threads) {
  const Index3 nodes = node_counts(parts.lattice);
  const Index3& cells = parts.lattice.cells;
  const double most = parallel_reduce(
      row_count(cells), kGridGrain, threads, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double most_here = 0;
        for (std::size_t row = begin; row < end; ++row) {
          const auto j = static_cast<std::int32_t>(row % static_cast<std::size_t>(cells[1]));
          const auto k = static_cast<std::int32_t>(row / static_cast<std::size_t>(cells[1]));
          for (std::int32_t i = 0; i < cells[0]; ++i)
            most_here = std::max(most_here, cell_slope_sq(cell_samples(parts, nodes, {i, j, k})));
        }
        return most_here;
      },
      [](double a, double b) { return std::max(a, b); });
  return std::sqrt(most) / parts.lattice.spacing;
}

// Outside, let p be the point of the box nearest to x, and r = x - p. Projection onto a convex set
// obeys dp . dr >= 0, hence |dp|^2 + |dr|^2 <= |dx|^2. The value sqrt(r^2 + f(p)^2) changes by at
// most sqrt(|dr|^2 + L^2 |dp|^2) <= max(1, L) |dx|. Where f(p) < 0, |r| + f(p) changes by at most
// |dr| + L |dp| <= sqrt(1 + L^2) |dx|.
double compute_lipschitz(const DenseGridParts& parts, Threads threads) {
  const double inner = compute_inner_lipschitz(parts, threads);
  float least = std::numeric_limits<float>::infinity();
  for_rim(parts,
          [&](std::int32_t, std::int32_t, std::int32_t, float v) { least = std::min(least, v); });
  return least < 0 ? std::sqrt(1 + inner * inner) : std::max(1.0, inner);
}

ValueRange compute_range(std::span<const float> samples) {
  ValueRange range{samples[0], samples[0]};
  for (const float s : samples) range = unite(range, {s, s});
  return range;
}

}  // namespace

double dense_grid_bytes(const Lattice& lattice) {
  double bytes = sizeof(float);
  for (const std::int32_t n : lattice.cells) bytes *= static_cast<double>(n) + 1;
  return bytes;
}

std::optional<std::string> find_flaw(const DenseGridParts& parts) {
  if (auto flaw = find_flaw_in_lattice(parts.lattice)) return flaw;
  const double needed = dense_grid_bytes(parts.lattice) / sizeof(float);
  if (static_cast<double>(parts.samples.size()) != needed)
    return fmt::format("there are {} samples, the lattice has {} nodes", parts.samples.size(),
                       needed);
  const Index3 n = node_counts(parts.lattice);
  const auto in_words = [&](std::size_t at) {
    const auto nx = static_cast<std::size_t>(n[0]), ny = static_cast<std::size_t>(n[1]);
    return fmt::format("sample ({}, {}, {})", at % nx, at / nx % ny, at / nx / ny);
  };
  for (std::size_t i = 0; i < parts.samples.size(); ++i)
    if (!std::isfinite(parts.samples[i]))
      return fmt::format("{} is {}, must be finite", in_words(i), parts.samples[i]);
  if (!(parts.sample_error.lower <= parts.sample_error.upper))
    return fmt::format("the error of samples is [{}, {}], must be an interval",
                       parts.sample_error.lower, parts.sample_error.upper);
  if (!parts.holds_body) return std::nullopt;
  std::optional<std::string> flaw;
  for_rim(parts, [&](std::int32_t i, std::int32_t j, std::int32_t k, float v) {
    if (!flaw && static_cast<double>(v) + parts.sample_error.upper < 0)
      flaw = fmt::format("{} is {}: the body leaves the box that should hold it",
                         in_words(flat_index(n, i, j, k)), v);
  });
  return flaw;
}

DenseGrid::DenseGrid(DenseGridParts parts, Threads threads)
    : parts_(std::make_shared<const DenseGridParts>(std::move(parts))) {
  if (const auto flaw = find_flaw(*parts_)) throw Error("dense grid: " + *flaw);
  nodes_ = node_counts(parts_->lattice);
  value_range_ = compute_range(parts_->samples);
  lipschitz_ = compute_lipschitz(*parts_, threads);
}

std::optional<std::string> find_flaw(const DenseGrid& grid) {
  if (auto flaw = find_flaw(grid.parts())) return flaw;
  if (!(grid.value_range() == compute_range(grid.samples())))
    return "the range is not that of the samples";
  const double lipschitz = compute_lipschitz(grid.parts(), {});
  if (grid.lipschitz() != lipschitz)
    return fmt::format("the Lipschitz bound is {}, should be {}", grid.lipschitz(), lipschitz);
  return std::nullopt;
}

double DenseGrid::value(const Vec3& point) const {
  const Aabb box = bounds();
  const Vec3 on_box = min(max(point, box.lower), box.upper);
  const double inside = interpolate(find_near_corner(*parts_, nodes_, locate(lattice(), on_box)));
  if (on_box == point) return inside;
  return extend_outside(inside, length(point - on_box));
}

FieldSample DenseGrid::sample(const Vec3& point) const {
  const Aabb box = bounds();
  const Vec3 on_box = min(max(point, box.lower), box.upper);
  const NearCorner near = find_near_corner(*parts_, nodes_, locate(lattice(), on_box));
  const FieldSample inside{interpolate(near), slope(near) / lattice().spacing};
  return on_box == point ? inside : extend_outside(inside, point, on_box);
}

ValueRange DenseGrid::cell_range(const Index3& cell) const {
  const float first = node_value(cell[0], cell[1], cell[2]);
  ValueRange range{first, first};
  for (std::int32_t k = 0; k < 2; ++k)
    for (std::int32_t j = 0; j < 2; ++j)
      for (std::int32_t i = 0; i < 2; ++i) {
        const float v = node_value(cell[0] + i, cell[1] + j, cell[2] + k);
        range = unite(range, {v, v});
      }
  return range;
}

// locate() never falls while a coordinate grows, rounding included, so the cells of all points in
// the box lie between those of its corners. A place of 0 in a cell uses its lower nodes alone.
// Outside, the value rises with the value on the box and with the distance from it.
Interval DenseGrid::range(const Aabb& box) const {
  const Aabb grid_box = bounds();
  const Vec3 lower = min(max(box.lower, grid_box.lower), grid_box.upper);
  const Vec3 upper = min(max(box.upper, grid_box.lower), grid_box.upper);
  ValueRange inside = value_range_;
  if (!(lower == grid_box.lower && upper == grid_box.upper)) {
    const CellPoint first = locate(lattice(), lower), last = locate(lattice(), upper);
    Index3 end{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      end[axis] = last.cell[axis] + (last.fraction[axis] > 0 ? 1 : 0);
    const float start = node_value(first.cell[0], first.cell[1], first.cell[2]);
    inside = {start, start};
    for (std::int32_t k = first.cell[2]; k <= end[2]; ++k)
      for (std::int32_t j = first.cell[1]; j <= end[1]; ++j)
        for (std::int32_t i = first.cell[0]; i <= end[0]; ++i) {
          const float v = node_value(i, j, k);
          inside = unite(inside, {v, v});
        }
  }
  const Vec3 nearest = max(max(box.lower - grid_box.upper, grid_box.lower - box.upper), Vec3{});
  const Vec3 farthest = max(max(box.upper - grid_box.upper, grid_box.lower - box.lower), Vec3{});
  return {extend_outside(static_cast<double>(inside.min), length(nearest)),
          extend_outside(static_cast<double>(inside.max), length(farthest))};
}

// For a point in the box.
Interval DenseGrid::node_bounds(const Vec3& point) const {
  const Index3 cell = locate(lattice(), point).cell;
  const CellSamples s = cell_samples(*parts_, nodes_, cell);
  Interval bounds{-std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < 8; ++i) {
    const Vec3 node = node_position(lattice(), cell[0] + static_cast<std::int32_t>(i & 1U),
                                    cell[1] + static_cast<std::int32_t>((i >> 1U) & 1U),
                                    cell[2] + static_cast<std::int32_t>(i >> 2U));
    const double gap = length(point - node);
    bounds.lower = std::max(bounds.lower, s.at[i] + parts_->sample_error.lower - gap);
    bounds.upper = std::min(bounds.upper, s.at[i] + parts_->sample_error.upper + gap);
  }
  const double slack = 8 * std::numeric_limits<double>::epsilon() *
                       (lattice().spacing + length(point) + std::abs(s.at[0]));
  return {bounds.lower - slack, bounds.upper + slack};
}

Interval DenseGrid::distance_bounds(const Vec3& point) const {
  const Aabb box = bounds();
  const Vec3 on_box = min(max(point, box.lower), box.upper);
  const Interval there = node_bounds(on_box);
  if (on_box == point) return there;
  const double gap = length(point - on_box);
  const double slack = 8 * std::numeric_limits<double>::epsilon() * (gap + length(point));
  if (!parts_->holds_body) return {there.lower - gap - slack, there.upper + gap + slack};
  // The body lies in the box, so the distance on the box is not negative, and the argument beside
  // extend_outside holds.
  return {extend_outside(std::max(there.lower, 0.0), gap) - slack, there.upper + gap + slack};
}

void detail::check_sampling(const Lattice& lattice, const SampleSettings& settings) {
  if (const auto flaw = find_flaw_in_lattice(lattice)) throw Error("dense grid: " + *flaw);
  settings.monitor.check();
  check_memory(dense_grid_bytes(lattice), settings.max_memory,
               fmt::format("a dense grid of {} * {} * {} cells", lattice.cells[0], lattice.cells[1],
                           lattice.cells[2]));
}

Interval detail::error_of(float stored, const Interval& true_distance) {
  const auto at = static_cast<double>(stored);
  return {true_distance.lower - at, true_distance.upper - at};
}

DenseGrid detail::sample_rows(const Lattice& lattice, const SampleSettings& settings,
                              const SampleRow& row) {
  check_sampling(lattice, settings);
  const Index3 nodes = node_counts(lattice);
  DenseGridParts parts{.lattice = lattice,
                       .samples = std::vector<float>(count(nodes)),
                       .holds_body = settings.holds_body};
  const std::size_t rows = row_count(nodes);
  SharedProgress progress(settings.monitor, "sampling values", rows);
  parts.sample_error = parallel_reduce(
      rows, 8, settings.threads, Interval{},
      [&](std::size_t begin, std::size_t end) {
        Interval error{};
        for (std::size_t at = begin; at < end; ++at) {
          const auto j = static_cast<std::int32_t>(at % static_cast<std::size_t>(nodes[1]));
          const auto k = static_cast<std::int32_t>(at / static_cast<std::size_t>(nodes[1]));
          const auto length = static_cast<std::size_t>(nodes[0]);
          error = unite(error, row(j, k, std::span(parts.samples).subspan(at * length, length)));
        }
        progress.advance(end - begin);
        return error;
      },
      [](const Interval& a, const Interval& b) { return unite(a, b); });
  return DenseGrid(std::move(parts), settings.threads);
}

}  // namespace isotact
