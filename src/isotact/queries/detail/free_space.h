// Where spheres may go without touching what a field has at or below one value: how far it is at
// least from each block of 8^3 cells to the nearest block that has such a place in it.
//
// It needs no Lipschitz bound: distances are those between blocks. A field steeper than 1, or a
// wrong one, loses nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"

namespace isotact::detail {

inline constexpr int kFreeBlockCells = kBrickCells;

// Lengths are in blocks, places from the corner of the lattice.
struct FreeSpace {
  Index3 blocks{};
  // Of each block, x fastest: the distance in quarters of a block, rounded down. At most
  // kMostFree quarters, however far away.
  std::vector<std::uint8_t> quarters;
  Vec3f size{};  // of the lattice
  // Where the isosurface leaves the box, no place outside at or below the value is further than
  // this from a block on the box's side that has one, too.
  double reach = 0;
};
inline constexpr int kMostFree = 252;

// From each block to the nearest marked one, in quarters of a block, rounded down: between the
// nearest points of the two.
std::vector<std::uint8_t> find_block_distances(const Index3& blocks,
                                               const std::vector<std::uint8_t>& marked,
                                               Threads threads);

// Outside of its box a field is sqrt(g^2 + v^2), with the distance g to the box and the value v at
// the nearest point of it, or g + v where v is negative (field.h). Where that is at most iso, v is
// as well, and g is no more than this.
double find_free_reach(double iso, double least_on_sides);

// `least_on_sides`: of the field's values on the sides of its box.
FreeSpace build_free_space(const BrickField& field, double iso, double least_on_sides,
                           Threads threads);
FreeSpace build_free_space(const DenseGrid& grid, double iso, double least_on_sides,
                           Threads threads);

}  // namespace isotact::detail
