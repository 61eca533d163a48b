// About how far a place is from the surface: enough to choose where to look first, and for nothing
// else. Of a brick field only the coarse samples are read, which stay in the caches.
#pragma once

#include <cmath>
#include <span>

#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"

namespace isotact::detail {

struct RoughField {
  Lattice lattice{};
  std::span<const float> samples{};  // at its nodes; whoever holds the field keeps them

  // Metres. Outside of the box, the distance to it is added.
  float value(const Vec3& point) const {
    const CellPoint at = locate(lattice, point);
    const Index3 nodes = node_counts(lattice);
    const auto nx = static_cast<std::size_t>(nodes[0]);
    const std::size_t plane = nx * static_cast<std::size_t>(nodes[1]);
    const float* s = samples.data() + flat_index(nodes, at.cell[0], at.cell[1], at.cell[2]);
    const auto mix = [](float a, float b, float t) { return a + (b - a) * t; };
    const auto along_x = [&](std::size_t k) { return mix(s[k], s[k + 1], at.fraction.x); };
    const float low = mix(along_x(0), along_x(nx), at.fraction.y);
    const float high = mix(along_x(plane), along_x(plane + nx), at.fraction.y);
    return mix(low, high, at.fraction.z) +
           static_cast<float>(std::sqrt(distance_sq(bounds(lattice), point)));
  }
};

inline RoughField make_rough(const BrickField& field) {
  return {field.coarse_lattice(), field.coarse_values()};
}
inline RoughField make_rough(const DenseGrid& grid) { return {grid.lattice(), grid.samples()}; }

}  // namespace isotact::detail
