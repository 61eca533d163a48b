// SSL14 section 2.1.1: from a voxel along the gradient of the layers to the first surface voxel.
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "isotact/field/voxmap/detail/voxmap_layers.h"

namespace isotact::detail {

namespace {

bool is_in_grid(const Index3& cells, const Index3& voxel) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (voxel[axis] < 0 || voxel[axis] >= cells[axis]) return false;
  return true;
}

std::size_t place_of(const Index3& cells, const Index3& voxel) {
  return flat_index(cells, voxel[0], voxel[1], voxel[2]);
}

// Towards the surface, by central differences of the layers' numbers, one-sided at the faces of the
// grid. Zero on ridges.
Vec3 compute_descent(std::span<const std::int16_t> layers, const Index3& cells,
                     const Index3& voxel) {
  Vec3 descent;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Index3 lower = voxel, upper = voxel;
    if (voxel[axis] > 0) --lower[axis];
    if (voxel[axis] + 1 < cells[axis]) ++upper[axis];
    const int span = upper[axis] - lower[axis];
    if (span == 0) continue;
    const int rise =
        std::abs(layers[place_of(cells, upper)]) - std::abs(layers[place_of(cells, lower)]);
    descent[axis] = -static_cast<double>(rise) / span;
  }
  return descent;
}

// Voxel by voxel along the straight line from the voxel's centre.
std::optional<std::size_t> walk_straight(std::span<const std::int16_t> layers, const Index3& cells,
                                         const Index3& from, const Vec3& direction) {
  Vec3 next,
      step;  // where the line meets the next face along each axis, and how far apart they are
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double speed = std::fabs(direction[axis]);
    step[axis] = speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity();
    next[axis] = 0.5 * step[axis];
  }
  for (Index3 voxel = from; is_in_grid(cells, voxel);) {
    const std::size_t place = place_of(cells, voxel);
    if (layers[place] == 0) return place;
    const std::size_t axis = next.x <= next.y && next.x <= next.z ? 0 : next.y <= next.z ? 1 : 2;
    voxel[axis] += direction[axis] > 0 ? 1 : -1;
    next[axis] += step[axis];
  }
  return std::nullopt;
}

// Neighbours across faces first, then edges, then corners.
constexpr std::array<Index3, 26> make_neighbours() {
  std::array<Index3, 26> neighbours{};
  std::size_t n = 0;
  for (int kind = 1; kind <= 3; ++kind)
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          if (x * x + y * y + z * z == kind) neighbours[n++] = {x, y, z};
  return neighbours;
}
constexpr std::array<Index3, 26> kNeighbours = make_neighbours();

// From layer n to a neighbour in layer n - 1, and so on: one exists by the layers' definition.
std::size_t walk_down(std::span<const std::int16_t> layers, const Index3& cells, Index3 voxel) {
  for (;;) {
    const int layer = std::abs(layers[place_of(cells, voxel)]);
    if (layer == 0) return place_of(cells, voxel);
    for (const Index3& by : kNeighbours) {
      const Index3 next{voxel[0] + by[0], voxel[1] + by[1], voxel[2] + by[2]};
      if (!is_in_grid(cells, next) || std::abs(layers[place_of(cells, next)]) != layer - 1)
        continue;
      voxel = next;
      break;
    }
  }
}

}  // namespace

LayerWalk walk_to_surface(std::span<const std::int16_t> layers, const Index3& cells,
                          const Index3& from) {
  const Vec3 direction = compute_descent(layers, cells, from);
  if (length_sq(direction) > 0)
    if (const auto voxel = walk_straight(layers, cells, from, direction))
      return {.voxel = *voxel, .strayed = false};
  return {.voxel = walk_down(layers, cells, from), .strayed = true};
}

}  // namespace isotact::detail
