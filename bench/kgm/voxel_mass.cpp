#include "kgm/voxel_mass.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/texels/detail/texel_kernel.h"

namespace isotact {

namespace {

// In cells, from the middle of the lattice: multiples of a half, so that the sums of a row are
// exact.
struct VoxelSums {
  double count = 0;
  Vec3 first{};
  Vec3 squares{};   // xx, yy, zz
  Vec3 products{};  // yz, zx, xy
  bool at_edge = false;

  friend VoxelSums operator+(VoxelSums a, const VoxelSums& b) {
    a.count += b.count;
    a.first += b.first;
    a.squares += b.squares;
    a.products += b.products;
    a.at_edge = a.at_edge || b.at_edge;
    return a;
  }
};

VoxelSums sum_row(const Lattice& lattice, std::int32_t j, std::int32_t k,
                  const std::uint8_t* inside) {
  const std::int32_t nx = lattice.cells[0];
  VoxelSums sums;
  double x_sum = 0, x_squares = 0;
  for (std::int32_t i = 0; i < nx; ++i) {
    const double x = (i + 0.5 - 0.5 * nx) * inside[i];
    sums.count += inside[i];
    x_sum += x;
    x_squares += x * x;
  }
  if (sums.count == 0) return sums;
  const double y = j + 0.5 - 0.5 * lattice.cells[1], z = k + 0.5 - 0.5 * lattice.cells[2];
  sums.first = {x_sum, y * sums.count, z * sums.count};
  sums.squares = {x_squares, y * y * sums.count, z * z * sums.count};
  sums.products = {y * z * sums.count, z * x_sum, y * x_sum};
  sums.at_edge = j == 0 || k == 0 || j == lattice.cells[1] - 1 || k == lattice.cells[2] - 1 ||
                 inside[0] != 0 || inside[nx - 1] != 0;
  return sums;
}

void check_input(const Lattice& lattice, const MassSettings& settings) {
  for (const std::int32_t n : lattice.cells)
    if (n < 1 || n > kMaxFirstOrderCells)
      throw Error(
          fmt::format("voxels: {} along an axis; 1 to {} are possible", n, kMaxFirstOrderCells));
  if (!(lattice.spacing > 0) || !std::isfinite(lattice.spacing) || !is_finite(lattice.origin))
    throw Error("voxels: their size must be positive, and their place finite");
  if (settings.mass && !(std::isfinite(*settings.mass) && *settings.mass > 0))
    throw Error(fmt::format("mass is {}, must be positive", *settings.mass));
  if (!settings.mass && !(std::isfinite(settings.density) && settings.density > 0))
    throw Error(fmt::format("density is {}, must be positive", settings.density));
}

// About the centre of mass, of unit density. A cube of side h has h^2 / 12 of its own along each
// axis.
Mat3 compute_second_moments(const VoxelSums& sums, const Vec3& mean, double h) {
  const double n = sums.count, unit = h * h * h * h * h;
  const auto square = [&](std::size_t axis) {
    return unit * (sums.squares[axis] - n * mean[axis] * mean[axis] + n / 12);
  };
  const double yz = unit * (sums.products.x - n * mean.y * mean.z);
  const double zx = unit * (sums.products.y - n * mean.z * mean.x);
  const double xy = unit * (sums.products.z - n * mean.x * mean.y);
  return {{Vec3{square(0), xy, zx}, Vec3{xy, square(1), yz}, Vec3{zx, yz, square(2)}}};
}

MassProperties make_properties(const VoxelSums& sums, const Lattice& lattice,
                               const MassSettings& settings) {
  MassProperties result;
  if (sums.count == 0) {
    result.warnings.emplace_back("no voxel's centre is inside of the body");
    return result;
  }
  const double h = lattice.spacing;
  const Vec3 mean = sums.first / sums.count;
  result.status = MassStatus::kSolid;
  result.volume = sums.count * h * h * h;
  result.mass = settings.mass ? *settings.mass : settings.density * result.volume;
  result.density = settings.mass ? result.mass / result.volume : settings.density;
  result.center = center(bounds(lattice)) + mean * h;
  const Mat3 second = compute_second_moments(sums, mean, h);
  const double trace = second.rows[0].x + second.rows[1].y + second.rows[2].z;
  result.inertia = (diagonal3({trace, trace, trace}) + second * -1) * result.density;
  const PrincipalAxes axes = compute_principal_axes(result.inertia);
  result.principal_moments = axes.moments;
  result.mesh_from_principal = axes.mesh_from_principal;
  if (sums.at_edge)
    result.warnings.emplace_back(
        "the body reaches the outermost voxels: more of it may lie beyond");
  return result;
}

}  // namespace

namespace detail {

MassProperties compute_voxel_mass(const void* field, VoxelRow row, const Lattice& lattice,
                                  const MassSettings& settings) {
  check_input(lattice, settings);
  const auto nx = static_cast<std::size_t>(lattice.cells[0]);
  const auto ny = static_cast<std::size_t>(lattice.cells[1]);
  const std::size_t rows = ny * static_cast<std::size_t>(lattice.cells[2]);
  // By the lattice alone, so that sums are the same; no more than some thousand parts.
  const std::size_t grain = std::max<std::size_t>(16, rows / 4096);
  const VoxelSums sums = parallel_reduce(
      rows, grain, settings.threads, VoxelSums{},
      [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint8_t> inside(nx);
        VoxelSums part;
        for (std::size_t n = begin; n < end; ++n) {
          const auto j = static_cast<std::int32_t>(n % ny), k = static_cast<std::int32_t>(n / ny);
          row(field, lattice, j, k, inside.data());
          part = part + sum_row(lattice, j, k, inside.data());
        }
        return part;
      },
      [](const VoxelSums& a, const VoxelSums& b) { return a + b; });
  return make_properties(sums, lattice, settings);
}

}  // namespace detail

MassProperties compute_voxel_mass(const FieldTexels& texels, const MassSettings& settings) {
  const TexelGrid grid = make_texel_grid(texels);
  return detail::compute_voxel_mass(
      &grid,
      [](const void* opaque, const Lattice& l, std::int32_t j, std::int32_t k,
         std::uint8_t* inside) {
        for (std::int32_t i = 0; i < l.cells[0]; ++i) {
          const Vec3f p = to_float(voxel_center(l, i, j, k));
          const float at[3] = {p.x, p.y, p.z};
          float distance = 0, direction[3];
          detail::evaluate_texels<float>(*static_cast<const TexelGrid*>(opaque), at, distance,
                                         direction);
          inside[i] = distance <= 0 ? 1 : 0;
        }
      },
      texels.lattice, settings);
}

}  // namespace isotact
