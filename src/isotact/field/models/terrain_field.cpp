#include "isotact/field/models/terrain_field.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/models/analytic.h"

namespace isotact {
namespace {

struct Place {
  std::size_t cell;
  double fraction;
  bool clamped;
};

// Never falls while x grows, so that range() may look at the ends of a box alone.
Place find_place(double x, double origin, double spacing, std::int32_t cells) {
  const double t = (x - origin) / spacing, last = cells;
  if (!(t > 0)) return {0, 0, t < 0};
  if (t >= last) return {static_cast<std::size_t>(cells - 1), 1, t > last};
  const double cell = std::floor(t);
  return {static_cast<std::size_t>(cell), t - cell, false};
}

// From the nearer end, so that rounding cannot lead out of [a, b], and both ends are met.
double mix_within(double a, double b, double t) {
  return t < 0.5 ? a + t * (b - a) : b - (1 - t) * (b - a);
}

struct Patch {
  double h00, h10, h01, h11;  // first x, then z
};
Patch patch_at(const TerrainHeights& t, std::size_t x, std::size_t z) {
  const std::size_t row = static_cast<std::size_t>(t.cells_x) + 1, at = z * row + x;
  return {static_cast<double>(t.heights[at]), static_cast<double>(t.heights[at + 1]),
          static_cast<double>(t.heights[at + row]), static_cast<double>(t.heights[at + row + 1])};
}

struct Ground {
  double height, slope_x, slope_z;
};
Ground compute_ground(const TerrainHeights& t, double at_x, double at_z) {
  const Place x = find_place(at_x, t.origin_x, t.spacing, t.cells_x);
  const Place z = find_place(at_z, t.origin_z, t.spacing, t.cells_z);
  const Patch p = patch_at(t, x.cell, z.cell);
  const double low = mix_within(p.h00, p.h10, x.fraction),
               high = mix_within(p.h01, p.h11, x.fraction);
  return {
      .height = mix_within(low, high, z.fraction),
      .slope_x = x.clamped ? 0 : mix_within(p.h10 - p.h00, p.h11 - p.h01, z.fraction) / t.spacing,
      .slope_z = z.clamped ? 0 : (high - low) / t.spacing,
  };
}

// The slope along an axis is a mean of the two edges along it.
double compute_max_slope(const TerrainHeights& t) {
  double steepest_sq = 0;
  for (std::size_t z = 0; z < static_cast<std::size_t>(t.cells_z); ++z) {
    for (std::size_t x = 0; x < static_cast<std::size_t>(t.cells_x); ++x) {
      const Patch p = patch_at(t, x, z);
      const double dx = std::max(std::abs(p.h10 - p.h00), std::abs(p.h11 - p.h01));
      const double dz = std::max(std::abs(p.h01 - p.h00), std::abs(p.h11 - p.h10));
      steepest_sq = std::max(steepest_sq, dx * dx + dz * dz);
    }
  }
  return std::sqrt(steepest_sq) / t.spacing;
}

}  // namespace

std::optional<std::string> find_flaw(const TerrainHeights& t) {
  if (!std::isfinite(t.origin_x) || !std::isfinite(t.origin_z)) return "origin is not finite";
  if (!(std::isfinite(t.spacing) && t.spacing > 0))
    return fmt::format("spacing is {}, must be positive", t.spacing);
  constexpr std::int32_t kMost = 1 << 24;
  if (t.cells_x < 1 || t.cells_z < 1 || t.cells_x > kMost || t.cells_z > kMost)
    return fmt::format("there are {} * {} cells, must be 1 to {} an axis", t.cells_x, t.cells_z,
                       kMost);
  const std::size_t nx = static_cast<std::size_t>(t.cells_x) + 1;
  const std::size_t nz = static_cast<std::size_t>(t.cells_z) + 1;
  if (t.heights.size() != nx * nz)
    return fmt::format("heights has {} numbers, {} * {} are needed", t.heights.size(), nx, nz);
  for (std::size_t i = 0; i < t.heights.size(); ++i)
    if (!std::isfinite(t.heights[i]))
      return fmt::format("height ({}, {}) is {}, must be finite", i % nx, i / nx, t.heights[i]);
  return std::nullopt;
}

TriangleMesh make_surface(const TerrainHeights& t) {
  if (const auto flaw = find_flaw(t)) throw Error("terrain: " + *flaw);
  TriangleMesh mesh;
  const auto row = static_cast<std::uint32_t>(t.cells_x) + 1;
  for (std::uint32_t i = 0; i < t.heights.size(); ++i)
    mesh.positions.push_back({static_cast<float>(t.origin_x + t.spacing * (i % row)), t.heights[i],
                              static_cast<float>(t.origin_z + t.spacing * (i / row))});
  for (std::uint32_t z = 0; z < static_cast<std::uint32_t>(t.cells_z); ++z)
    for (std::uint32_t x = 0; x + 1 < row; ++x) {
      const std::uint32_t first = z * row + x;
      mesh.triangles.push_back({first, first + row, first + row + 1});
      mesh.triangles.push_back({first, first + row + 1, first + 1});
    }
  return mesh;
}

TerrainField::TerrainField(TerrainHeights terrain)
    : terrain_(std::make_shared<const TerrainHeights>(std::move(terrain))) {
  if (const auto flaw = find_flaw(*terrain_)) throw Error("terrain: " + *flaw);
  max_slope_ = compute_max_slope(*terrain_);
  scale_ = 1 / std::sqrt(1 + max_slope_ * max_slope_);
}

FieldSample TerrainField::sample(const Vec3& point) const {
  const Ground ground = compute_ground(*terrain_, point.x, point.z);
  return {(point.y - ground.height) * scale_, Vec3{-ground.slope_x, 1, -ground.slope_z} * scale_};
}

double TerrainField::height(double x, double z) const {
  return compute_ground(*terrain_, x, z).height;
}

Aabb TerrainField::bounds() const { return all_of_space(); }

Interval TerrainField::range(const Aabb& box) const {
  const TerrainHeights& t = *terrain_;
  const Place x0 = find_place(box.lower.x, t.origin_x, t.spacing, t.cells_x);
  const Place x1 = find_place(box.upper.x, t.origin_x, t.spacing, t.cells_x);
  const Place z0 = find_place(box.lower.z, t.origin_z, t.spacing, t.cells_z);
  const Place z1 = find_place(box.upper.z, t.origin_z, t.spacing, t.cells_z);
  const std::size_t row = static_cast<std::size_t>(t.cells_x) + 1;
  Interval heights{std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
  for (std::size_t z = z0.cell; z <= z1.cell + 1; ++z) {
    for (std::size_t x = x0.cell; x <= x1.cell + 1; ++x) {
      const double h = static_cast<double>(t.heights[z * row + x]);
      heights = unite(heights, {h, h});
    }
  }
  return {(box.lower.y - heights.upper) * scale_, (box.upper.y - heights.lower) * scale_};
}

Interval TerrainField::distance_bounds(const Vec3& point) const {
  const TerrainHeights& t = *terrain_;
  const double bound = value(point), straight = bound / scale_;
  // Rounding: of heights, which are at most |p_y| + |straight|, and of the place in the plane,
  // which counts as often as the ground is steep.
  const double place =
      std::abs(point.x) + std::abs(point.z) + std::abs(t.origin_x) + std::abs(t.origin_z);
  const double slack = 8 * std::numeric_limits<double>::epsilon() *
                       (std::abs(point.y) + std::abs(straight) + max_slope_ * place);
  return {std::min(bound, straight) - slack, std::max(bound, straight) + slack};
}

}  // namespace isotact
