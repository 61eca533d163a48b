// A regular lattice of cubic cells: the positions of a field's samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

using Index3 = std::array<std::int32_t, 3>;

// n cells along an axis have n + 1 nodes; x runs fastest in arrays.
struct Lattice {
  Vec3 origin{};       // Position of node (0, 0, 0), metres.
  double spacing = 1;  // Side of a cell, metres.
  Index3 cells{};      // Along x, y, z; all positive in a usable lattice.

  friend bool operator==(const Lattice&, const Lattice&) = default;
};

constexpr Index3 node_counts(const Lattice& l) {
  return {l.cells[0] + 1, l.cells[1] + 1, l.cells[2] + 1};
}
constexpr std::size_t count(const Index3& n) {
  return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
         static_cast<std::size_t>(n[2]);
}
// Returns the index of element (i, j, k) in an array of n elements per axis.
constexpr std::size_t flat_index(const Index3& n, std::int32_t i, std::int32_t j, std::int32_t k) {
  return (static_cast<std::size_t>(k) * static_cast<std::size_t>(n[1]) +
          static_cast<std::size_t>(j)) *
             static_cast<std::size_t>(n[0]) +
         static_cast<std::size_t>(i);
}
constexpr Vec3 node_position(const Lattice& l, std::int32_t i, std::int32_t j, std::int32_t k) {
  return {l.origin.x + l.spacing * i, l.origin.y + l.spacing * j, l.origin.z + l.spacing * k};
}
constexpr Aabb bounds(const Lattice& l) {
  return {l.origin, node_position(l, l.cells[0], l.cells[1], l.cells[2])};
}

// The cell that contains a point, and the position in it: each fraction in [0, 1]. Points outside
// of the lattice count as the nearest point of its box. A point on a face between two cells belongs
// to the upper one, on the last face to the last cell. NaN counts as the lower end.
struct CellPoint {
  Index3 cell{};
  Vec3f fraction{};
};
CellPoint locate(const Lattice& lattice, const Vec3& point);

}  // namespace isotact
