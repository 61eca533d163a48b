// What makes segments fast on a brick field: a small picture of where one isosurface lies.
//
// Three levels. A byte for each 2^3 coarse cells, few enough for the second cache: how far away
// from all of them no coarse cell has the isosurface in it. Below, a bit for each coarse cell that
// has. And for each of these a slab, two planes between which it lies, so that most segments that
// come by are done without a look at a brick.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"

namespace isotact::detail {

inline constexpr int kMacroCells = 16;  // fine cells along a macro cell

// A coarse cell that the isosurface enters.
//
// The slab. Let phi be the field less iso and g any vector: where phi is zero at a place x, g . x
// is g . x - phi(x). In a fine cell that is trilinear, so it lies between its least and its largest
// value at the corners, and the isosurface is only in cells with corners on both sides.
struct IndexedCell {
  float normal[3];      // g, of the field in cells
  float least, most;    // of g . x, with x in fine cells of the lattice
  std::uint32_t brick;  // kNoBrick: the cell is one
  std::int16_t at[3];   // coarse cell
  std::int16_t unused;
};
static_assert(sizeof(IndexedCell) == 32);

// A macro cell with indexed cells in it.
struct IndexedMacro {
  std::uint32_t first;  // indexed cell
  std::uint32_t cells;  // bit x + 2 y + 4 z: that of the 2^3 is one
};

struct SegmentIndex {
  Index3 macros{};  // numbers an axis
  // Of each macro cell, x fastest. 0: it has indexed cells. Else it lies on one side, inside if
  // negative. Less one it is the free distance around it, in quarters of a macro cell.
  std::vector<std::int8_t> free_distance;
  std::vector<std::uint64_t> occupied;  // a bit each
  std::vector<std::uint32_t> rank;      // bits set before each word
  std::vector<IndexedMacro> occupied_macros;
  std::vector<IndexedCell> cells;

  std::uint64_t memory_bytes() const {
    return free_distance.size() + occupied.size() * 8 + rank.size() * 4 +
           occupied_macros.size() * sizeof(IndexedMacro) + cells.size() * sizeof(IndexedCell);
  }
  std::int8_t free_at(std::size_t macro) const { return free_distance[macro]; }
  const IndexedMacro& macro_at(std::size_t number) const {
    const std::uint64_t before = occupied[number / 64] & ((std::uint64_t{1} << number % 64) - 1);
    return occupied_macros[rank[number / 64] +
                           static_cast<std::uint32_t>(__builtin_popcountll(before))];
  }
};

// Ends of a coarse cell without brick so near to zero that a brick beside it, which computes the
// same values in another way, may see another side. In parts of the largest corner.
inline constexpr float kDoubtful = 1e-5F;

SegmentIndex build_segment_index(const BrickField& field, float iso, Threads threads);

}  // namespace isotact::detail
