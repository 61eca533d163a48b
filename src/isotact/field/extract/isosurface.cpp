#include "isotact/field/extract/isosurface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"

namespace isotact {
namespace {

using detail::fill_march_nodes;
using detail::kMarchCells;
using detail::MarchSource;

// Blocks count in steps of the stride; stored values where there are any.
struct StridedBricks {
  const BrickField& field;
  std::int32_t stride;
};

bool is_coarse_cell(const BrickField& field, const Index3& block) {
  const Index3 coarse = field.tree_dims(0);
  return block[0] >= 0 && block[1] >= 0 && block[2] >= 0 && block[0] < coarse[0] &&
         block[1] < coarse[1] && block[2] < coarse[2];
}

void fill(const MarchSource& source, const Index3& block, std::span<float> samples) {
  const auto& strided = *static_cast<const StridedBricks*>(source.field);
  const BrickField& field = strided.field;
  const std::int32_t stride = strided.stride;
  static_assert(kMarchCells == kBrickCells);
  if (stride == 1 && is_coarse_cell(field, block)) {
    field.cell_nodes(block, samples);
    return;
  }
  const Index3& cells = field.lattice().cells;
  fill_march_nodes(block, samples, [&](const Index3& node) {
    const Index3 fine{node[0] * stride, node[1] * stride, node[2] * stride};
    const bool inside = fine[0] >= 0 && fine[1] >= 0 && fine[2] >= 0 && fine[0] <= cells[0] &&
                        fine[1] <= cells[1] && fine[2] <= cells[2];
    return inside ? field.node_value(fine[0], fine[1], fine[2])
                  : static_cast<float>(field.value(march_node(source, node)));
  });
}

Interval range(const MarchSource& source, const Index3& first, const Index3& last) {
  const auto& [field, stride] = *static_cast<const StridedBricks*>(source.field);
  // A block of stride 1 is a coarse cell, whose range is exact and comes without its neighbours'.
  if (stride != 1 || first != last || !is_coarse_cell(field, first))
    return field.range(march_box(source, first, last));
  const ValueRange r = field.cell_range(first);
  return {static_cast<double>(r.min), static_cast<double>(r.max)};
}

// How many metres beyond a side of the box the extension stays at or below the value. On the
// extension's far side values are at least sqrt(gap^2 + lowest^2), or gap + lowest where the box
// cuts the body (field.h).
double reach_beyond(const BrickField& field, std::size_t axis, bool upper_side, double level) {
  Aabb side = field.bounds();
  (upper_side ? side.lower : side.upper)[axis] = (upper_side ? side.upper : side.lower)[axis];
  const double lowest = field.range(side).lower;
  if (lowest > level) return 0;
  if (lowest < 0) return level - lowest;
  return std::sqrt(level * level - lowest * lowest);
}

// Of a few thousand points on the sides of the box. Ranges of whole bricks there would do for a
// bound, but reach so far in that they often hold the body.
double find_lowest_on_rim(const BrickField& field) {
  constexpr int kSteps = 32;
  const Aabb box = field.bounds();
  const Vec3 step = extent(box) / kSteps;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (int i = 0; i <= kSteps; ++i)
      for (int j = 0; j <= kSteps; ++j)
        for (const int k : {0, kSteps}) {
          Vec3 at;
          at[axis] = k;
          at[(axis + 1) % 3] = i;
          at[(axis + 2) % 3] = j;
          lowest = std::min(
              lowest, field.value(box.lower + Vec3{at.x * step.x, at.y * step.y, at.z * step.z}));
        }
  return lowest;
}

}  // namespace

// A convex body of surface S and integral of mean curvature M, grown by g, has the surface
// S + 2 M g + 4 pi g^2 (Steiner); M of a box is pi times the sum of its sides. Marching cubes make
// about three triangles for the square of a step.
double estimate_triangles(const BrickField& field, double level, int stride) {
  const double lowest = find_lowest_on_rim(field);
  if (lowest > level) return 0;
  const double reach = lowest < 0 ? level - lowest : std::sqrt(level * level - lowest * lowest);
  constexpr double kTrianglesAStep = 3;
  const double step = field.voxel_size() * stride;
  const Vec3 side = extent(field.bounds()) / step;
  const double g = reach / step;
  return kTrianglesAStep * (2 * (side.x * side.y + side.y * side.z + side.z * side.x) +
                            2 * kPi * (side.x + side.y + side.z) * g + 4 * kPi * g * g);
}

TriangleMesh extract_surface(const BrickField& field, const IsosurfaceSettings& settings) {
  if (!std::isfinite(settings.level)) throw Error("extract_surface: the value must be finite");
  if (settings.stride < 1 || settings.stride > 1024)
    throw Error(fmt::format("extract_surface: the stride is {}; it must be from 1 to 1024",
                            settings.stride));
  const StridedBricks bricks{field, settings.stride};
  const double spacing = field.voxel_size() * settings.stride;
  MarchSource source{.field = &bricks,
                     .origin = field.lattice().origin,
                     .spacing = spacing,
                     .first_node = {},
                     .last_node = {},
                     .fill = &fill,
                     .range = &range};
  // Before any work, which would take minutes to find the same. Also keeps node numbers small.
  const double estimate = estimate_triangles(field, settings.level, settings.stride);
  const double cells_away = std::max(settings.level, 0.0) / spacing;
  if (estimate > 2 * static_cast<double>(settings.max_triangles) || cells_away > 1e6)
    throw Error(
        fmt::format("the surface at {:.6g} m, {:.0f} cells away, would have about {:.2g} "
                    "triangles, more than {}; extract it in coarser steps, or allow more",
                    settings.level, cells_away, estimate, settings.max_triangles));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto steps = [&](bool upper) {
      const double cells = reach_beyond(field, axis, upper, settings.level) / spacing;
      // A box that cuts the body deep inside; builders make none.
      if (!(cells < 1e6))
        throw Error("extract_surface: the surface reaches too far out of the box");
      return static_cast<std::int32_t>(std::ceil(cells)) + 1;
    };
    source.first_node[axis] = -steps(false);
    source.last_node[axis] =
        (field.lattice().cells[axis] + settings.stride - 1) / settings.stride + steps(true);
  }
  return detail::march(source, settings);
}

}  // namespace isotact
