#include "isotact/field/build/bake.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/models/detail/brick_assembly.h"
#include "isotact/field/models/detail/brick_layout.h"

namespace isotact {
namespace {

void check(const BakeSettings& s) {
  const Lattice& l = s.lattice;
  if (!(l.spacing > 0 && std::isfinite(l.spacing) && is_finite(l.origin)))
    throw Error("the lattice's origin or spacing is not finite, or the spacing not positive");
  for (const std::int32_t n : l.cells)
    if (n < kBrickCells || n % kBrickCells != 0 || n > detail::kMaxCoarse * kBrickCells)
      throw Error(
          fmt::format("{} cells along an axis: a brick field needs a multiple of {}, at "
                      "most {}",
                      n, kBrickCells, detail::kMaxCoarse * kBrickCells));
  if (!(s.band >= 4 && s.band <= 1000))
    throw Error(fmt::format("band {} is not between 4 and 1000 cells", s.band));
  if (!(s.tolerance >= 0 && s.tolerance <= 1))
    throw Error(fmt::format("tolerance {} is not between 0 and 1", s.tolerance));
  if (!(s.sample_error >= 0 && std::isfinite(s.sample_error)))
    throw Error(fmt::format("sample error {} is not a length", s.sample_error));
}

Lattice coarse_of(const Lattice& fine) {
  Lattice coarse{.origin = fine.origin, .spacing = fine.spacing * kBrickCells};
  for (std::size_t axis = 0; axis < 3; ++axis) coarse.cells[axis] = fine.cells[axis] / kBrickCells;
  return coarse;
}

std::vector<float> sample_coarse(const AnyField& field, const Lattice& coarse,
                                 const BakeSettings& settings) {
  const Index3 nodes = node_counts(coarse);
  std::vector<float> values(count(nodes));
  std::atomic<bool> all_finite{true};
  parallel_for(
      static_cast<std::size_t>(nodes[2]), 1, settings.threads,
      [&](std::size_t begin, std::size_t end) {
        settings.monitor.check();
        for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
          for (std::int32_t y = 0; y < nodes[1]; ++y)
            for (std::int32_t x = 0; x < nodes[0]; ++x) {
              const float v = static_cast<float>(field.value(node_position(coarse, x, y, z)));
              if (!std::isfinite(v)) all_finite = false;
              values[flat_index(nodes, x, y, z)] = v;
            }
      });
  if (!all_finite) throw Error("the field has values that are not finite");
  return values;
}

// Cells in whose cubes of 4^3 cells a value may be within reach: the field changes by at most its
// Lipschitz bound times half a cube's diagonal from the middle of the cube.
void mark_band(const AnyField& field, const Lattice& coarse, double reach,
               const BakeSettings& settings, detail::CellBits& bits) {
  const double side = 0.5 * coarse.spacing;
  const double most = reach + std::max(1.0, field.lipschitz()) * side * 0.8660254037844387;
  parallel_for(
      static_cast<std::size_t>(coarse.cells[2]), 1, settings.threads,
      [&](std::size_t begin, std::size_t end) {
        settings.monitor.check();
        for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
          for (std::int32_t y = 0; y < coarse.cells[1]; ++y)
            for (std::int32_t x = 0; x < coarse.cells[0]; ++x) {
              const Vec3 corner = node_position(coarse, x, y, z);
              bool near = false;
              for (int cube = 0; cube < 8 && !near; ++cube) {
                const Vec3 middle{(cube & 1) + 0.5, (cube >> 1 & 1) + 0.5, (cube >> 2) + 0.5};
                near = std::abs(field.value(corner + middle * side)) <= most;
              }
              if (near) bits.set({x, y, z});
            }
      });
}

// Whether the surface may come to the box's sides: between nodes, values are lower by at most the
// Lipschitz bound times half a cell's diagonal.
bool may_leave(const AnyField& field, const Lattice& coarse, std::span<const float> values) {
  const Index3 nodes = node_counts(coarse);
  const double most = std::max(1.0, field.lipschitz()) * coarse.spacing * 0.8660254037844387;
  for (std::int32_t z = 0; z < nodes[2]; ++z)
    for (std::int32_t y = 0; y < nodes[1]; ++y) {
      const bool side = z == 0 || y == 0 || z == coarse.cells[2] || y == coarse.cells[1];
      for (std::int32_t x = 0; x < nodes[0]; x += side ? 1 : coarse.cells[0])
        if (static_cast<double>(values[flat_index(nodes, x, y, z)]) < most) return true;
    }
  return false;
}

}  // namespace

BakeResult bake_field(const AnyField& field, const BakeSettings& settings) {
  check(settings);
  const Lattice& fine = settings.lattice;
  const Lattice coarse = coarse_of(fine);
  const FieldSettings limit{.max_memory = settings.max_memory};
  detail::check_memory(detail::field_bytes(coarse.cells, 0), limit, "the field, without bricks,");
  const std::vector<float> values = sample_coarse(field, coarse, settings);
  detail::CellBits bits(coarse.cells);
  constexpr double kCellDiagonal = 1.7320508075688773;
  mark_band(field, coarse, (settings.band + kCellDiagonal) * fine.spacing, settings, bits);
  if (settings.tolerance < 1)
    detail::mark_creases(values, coarse, settings.tolerance, settings.threads, bits);
  if (bits.count_set() >= BrickField::kNoBrick)
    throw Error(fmt::format("{} bricks are more than a field can number: choose larger voxels",
                            bits.count_set()));
  detail::check_memory(detail::field_bytes(coarse.cells, bits.count_set()), limit, "the field");
  std::atomic<bool> all_finite{true};
  detail::BrickAssembly assembly({.lattice = fine,
                                  .band = settings.band * fine.spacing,
                                  .sample_error = settings.sample_error,
                                  .open = may_leave(field, coarse, values),
                                  .threads = settings.threads},
                                 bits.words(), values);
  parallel_for(
      assembly.brick_count(), 4, settings.threads, [&](std::size_t begin, std::size_t end) {
        settings.monitor.check();
        std::array<float, 512> distance;
        for (std::size_t b = begin; b < end; ++b) {
          const Index3 cell = assembly.cell_of(b);
          for (std::int32_t i = 0; i < 512; ++i)
            distance[static_cast<std::size_t>(i)] = static_cast<float>(field.value(node_position(
                fine, cell[0] * kBrickCells + (i & 7), cell[1] * kBrickCells + (i >> 3 & 7),
                cell[2] * kBrickCells + (i >> 6))));
          for (const float d : distance)
            if (!std::isfinite(d)) all_finite = false;
          assembly.set(b, distance);
        }
      });
  if (!all_finite) throw Error("the field has values that are not finite");
  BakeResult result{.field = assembly.finish(), .warnings = {}};
  if (assembly.cut_count() > 0)
    result.warnings.push_back(
        fmt::format("{} samples change faster than space and were cut: the field is no distance "
                    "there",
                    assembly.cut_count()));
  return result;
}

Lattice make_brick_lattice(const Aabb& box, double voxel_size, double padding) {
  return detail::make_lattice(box, {.voxel_size = voxel_size, .padding = padding});
}

}  // namespace isotact
