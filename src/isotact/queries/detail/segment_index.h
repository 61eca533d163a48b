// What makes segments fast on a brick field: a small picture of where one isosurface lies.
//
// Three levels. Of each macro cell, 4^3 coarse cells, for each of the eight octants of directions:
// how large a cube of macro cells into that octant has no isosurface in it. Below, for each macro
// cell that has, a slab and a bit for each coarse cell of it that has. And for each of these a slab
// again, so that most segments that come by are done without a look at a brick. All but the last
// fits into the second cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"
#include "isotact/queries/detail/segment_slab.h"

namespace isotact::detail {

inline constexpr int kMacroSide = 4;  // coarse cells along a macro cell
inline constexpr int kMacroCells = kMacroSide * kBrickCells;

// A coarse cell that the isosurface enters.
struct IndexedCell {
  Slab slab;
  std::uint32_t brick;   // kNoBrick: the cell is one
  std::int16_t at[3];    // coarse cell
  std::uint16_t inside;  // of what is below and above the slab: bits 0 and 1
};
static_assert(sizeof(IndexedCell) == 32);

// A macro cell with indexed cells in it; as those.
struct IndexedMacro {
  Slab slab;             // around all of its indexed cells
  std::uint32_t first;   // indexed cell
  std::int16_t at[3];    // macro cell
  std::uint16_t inside;  // as of a cell
};
static_assert(sizeof(IndexedMacro) == 32);

// Its coarse cells: bit x + 4 y + 16 z.
struct MacroMasks {
  std::uint64_t indexed;
  std::uint64_t inside;  // among the others
};

struct SegmentIndex {
  Index3 macros{};  // numbers an axis
  // Of each macro cell, x fastest, for one octant after the other. 0: it has indexed cells. Else it
  // lies on one side, inside if negative, and so do all of a cube of so many macro cells a side
  // that has it for its corner and reaches into the octant. Bits 0, 1, 2 of the octant: down along
  // x, y, z.
  std::vector<std::int8_t> free_cubes;
  std::vector<std::uint64_t> occupied;  // a bit each
  std::vector<std::uint32_t> rank;      // bits set before each word
  std::vector<IndexedMacro> occupied_macros;
  std::vector<MacroMasks> masks;  // of occupied macros
  std::vector<IndexedCell> cells;

  std::uint64_t memory_bytes() const {
    return free_cubes.size() + occupied.size() * 8 + rank.size() * 4 +
           occupied_macros.size() * (sizeof(IndexedMacro) + sizeof(MacroMasks)) +
           cells.size() * sizeof(IndexedCell);
  }
  std::uint32_t place_of(std::size_t macro) const {  // in occupied_macros
    const std::uint64_t before = occupied[macro / 64] & ((std::uint64_t{1} << macro % 64) - 1);
    return rank[macro / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
  }
};

// Ends of a coarse cell without brick so near to zero that a brick beside it, which computes the
// same values in another way, may see another side. In parts of the largest corner.
inline constexpr float kDoubtful = 1e-5F;

SegmentIndex build_segment_index(const BrickField& field, float iso, Threads threads);

}  // namespace isotact::detail
