// A square of hills: gradient noise (Perlin, "Improving noise", 2002) on a grid, closed to a solid.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using detail::Ring;
using detail::SurfaceBuilder;

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ (h >> 32U)) * 0xd6e8feb86659fd93ULL;
  h = (h ^ (h >> 32U)) * 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 32U);
}

class GradientNoise {
 public:
  explicit GradientNoise(std::uint64_t seed) : seed_(mix(seed + 1)) {}

  // Between about -0.7 and 0.7; zero at whole x and z.
  double at(double x, double z) const {
    const double fx = std::floor(x), fz = std::floor(z);
    const auto i = static_cast<std::int64_t>(fx), j = static_cast<std::int64_t>(fz);
    const double u = x - fx, v = z - fz;
    const double a = slope(i, j, u, v), b = slope(i + 1, j, u - 1, v);
    const double c = slope(i, j + 1, u, v - 1), d = slope(i + 1, j + 1, u - 1, v - 1);
    const double s = ease(u), t = ease(v);
    const double near = a + (b - a) * s, far = c + (d - c) * s;
    return near + (far - near) * t;
  }

 private:
  static double ease(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }

  // The plane through zero at a lattice point, with a random unit slope, at an offset from it.
  double slope(std::int64_t i, std::int64_t j, double u, double v) const {
    const std::uint64_t h =
        mix(mix(seed_ ^ static_cast<std::uint64_t>(i)) + static_cast<std::uint64_t>(j));
    const SinCos direction = sin_cos(2 * kPi * static_cast<double>(h >> 11U) * 0x1p-53);
    return u * direction.cos + v * direction.sin;
  }

  std::uint64_t seed_;
};

// Heights on the (n + 1)^2 grid, moved and scaled to fill [base, base + height].
std::vector<double> make_heights(const TerrainShape& shape) {
  const auto n = static_cast<std::size_t>(shape.cells);
  std::vector<double> heights((n + 1) * (n + 1), 0.0);
  double amplitude = 1, frequency = shape.features;
  for (int octave = 0; octave < shape.octaves; ++octave) {
    const GradientNoise noise(shape.seed * 64 + static_cast<std::uint64_t>(octave));
    for (std::size_t j = 0; j <= n; ++j)
      for (std::size_t i = 0; i <= n; ++i)
        heights[j * (n + 1) + i] +=
            amplitude * noise.at(frequency * static_cast<double>(i) / static_cast<double>(n),
                                 frequency * static_cast<double>(j) / static_cast<double>(n));
    amplitude *= shape.roughness;
    frequency *= 2;
  }
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double bottom = *low, range = *high - *low;
  for (double& h : heights)
    h = shape.base + (range > 0 ? shape.height * ((h - bottom) / range) : 0);
  return heights;
}

}  // namespace

TriangleMesh make_terrain(const TerrainShape& shape) {
  detail::check(shape);
  const double cell = shape.size / shape.cells;
  const double wall_rows =
      std::clamp(std::floor((shape.base + shape.height / 2) / cell + 0.5), 1.0, 1000.0);
  detail::check_triangles("terrain", "cells", shape.cells,
                          2.0 * shape.cells * (shape.cells + 4 * wall_rows + 8));
  const auto n = static_cast<std::size_t>(shape.cells);
  const std::vector<double> heights = make_heights(shape);
  SurfaceBuilder builder;
  const auto x_of = [&](std::size_t i) {
    return shape.size * (static_cast<double>(i) / static_cast<double>(n) - 0.5);
  };
  for (std::size_t j = 0; j <= n; ++j)
    for (std::size_t i = 0; i <= n; ++i) builder.add({x_of(i), heights[j * (n + 1) + i], x_of(j)});
  const auto grid = [&](std::size_t i, std::size_t j) {
    return static_cast<std::uint32_t>(j * (n + 1) + i);
  };
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      builder.quad(grid(i, j), grid(i, j + 1), grid(i + 1, j + 1), grid(i + 1, j));

  Ring edge;  // around y in the positive sense: along +z side first, towards +x
  for (std::size_t i = 0; i < n; ++i) edge.push_back(grid(i, n));
  for (std::size_t j = n; j > 0; --j) edge.push_back(grid(n, j));
  for (std::size_t i = n; i > 0; --i) edge.push_back(grid(i, 0));
  for (std::size_t j = 0; j < n; ++j) edge.push_back(grid(0, j));
  Ring bottom;
  for (const std::uint32_t k : edge)
    bottom.push_back(builder.add({builder.point(k).x, 0, builder.point(k).z}));
  const int rows = static_cast<int>(wall_rows);
  Ring below = bottom;
  for (int row = 1; row <= rows; ++row) {
    Ring above = edge;
    if (row < rows)
      for (std::size_t k = 0; k < edge.size(); ++k)
        above[k] = builder.add(lerp(builder.point(bottom[k]), builder.point(edge[k]),
                                    static_cast<double>(row) / rows));
    builder.stitch(below, above);
    below = std::move(above);
  }
  builder.fill_disc(bottom, {0, 0, 0}, false);
  return builder.finish({"terrain", "size", shape.size});
}

}  // namespace isotact
