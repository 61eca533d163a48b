// Free space of spheres at one value of a field. Each block of 8^3 cells has a lower bound of the
// distance to the nearest block with a position at or below that value.
//
// It needs no Lipschitz bound: distances are those between blocks. A field that is steeper than 1,
// or wrong, loses nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"

namespace isotact::detail {

inline constexpr int kFreeBlockCells = kBrickCells;

// Lengths are in blocks; positions are relative to the corner of the lattice.
struct FreeSpace {
  Index3 blocks{};
  // Per block, x fastest: the distance in quarters of a block, rounded down. At most kMostFree
  // quarters.
  std::vector<std::uint8_t> quarters;
  std::vector<std::uint8_t> marked;  // 1: the block has such a position.
  Vec3f size{};                      // Size of the lattice.
  // For an isosurface that leaves the box. Every outside position at or below the value is within
  // this distance of a block on the box's side. That block has such a position as well.
  double reach = 0;
};
inline constexpr int kMostFree = 252;

// Returns, for each block, the distance to the nearest marked one, in quarters of a block, rounded
// down. It is the distance between the nearest points of the two.
std::vector<std::uint8_t> compute_block_distances(const Index3& blocks,
                                                  const std::vector<std::uint8_t>& marked,
                                                  Threads threads);

// Outside its box a field is sqrt(g^2 + v^2), or g + v if v is negative (field.h). Here g is the
// distance to the box, and v the value at the nearest point of it. If the field is at most margin,
// v is as well, and g is at most the returned value.
double compute_free_reach(double margin, double least_on_sides);

// `least_on_sides`: smallest value of the field on the sides of its box.
FreeSpace build_free_space(const BrickField& field, double margin, double least_on_sides,
                           Threads threads);
FreeSpace build_free_space(const DenseGrid& grid, double margin, double least_on_sides,
                           Threads threads);

// That of an edited field, from that before: blocks are tested again only where the field changed.
// The distances stay if no block came or went; otherwise they are computed from the blocks.
FreeSpace update_free_space(FreeSpace earlier, const BrickField& field, double margin,
                            double least_on_sides, std::span<const Index3> changed_cells,
                            Threads threads);

}  // namespace isotact::detail
