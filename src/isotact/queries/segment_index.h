// What makes segments fast on a brick field: a small picture of where one isosurface lies. Plain
// data, for tracers on other processors (gpu/segment_tracer.h); SegmentTracer makes it and has it.
//
// Three levels. Of each macro cell, 4^3 coarse cells, for each of the eight octants of directions:
// how large a cube of macro cells into that octant has no isosurface in it. Below, for each macro
// cell that has, a slab and a bit for each coarse cell of it that has. And for each of these a slab
// again, so that most segments that come by are done without a look at the field. What a look needs
// is copied, so that it lies close together. The levels above the coarse cells fit into the second
// cache.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/field/brick_field.h"

namespace isotact {

// Two planes between which an isosurface lies in a box (detail/segment_slab.h).
struct SegmentSlab {
  float normal[3];    // g, of the field in cells
  float least, most;  // of g . x, with x in fine cells of the lattice
};

// A path whose g . x changes by less is all but along the planes: it is taken whole, or not at all.
inline constexpr float kAlongSlab = 1e-6F;

inline constexpr int kMacroSide = 4;  // coarse cells along a macro cell
inline constexpr int kMacroCells = kMacroSide * kBrickCells;

// Corrections (BrickField) of 4^3 fine cells of a brick, x fastest: the same bytes in two lines of
// the cache. Only blocks that the isosurface enters are there.
inline constexpr int kIndexBlockCells = 4;
inline constexpr int kBlockNodes = kIndexBlockCells + 1;
struct alignas(64) SampleBlock {
  std::int8_t correction[kBlockNodes * kBlockNodes * kBlockNodes];
  std::int8_t unused[3];  // two times eight bytes hold the corners of a cell
};
static_assert(sizeof(SampleBlock) == 128);

// A coarse cell that the isosurface enters.
struct alignas(64) IndexedCell {
  SegmentSlab slab;
  std::uint32_t first_block;   // kNoBlocks: the cell is one
  std::uint8_t blocks;         // bit x + 2 y + 4 z: this block is there
  std::uint8_t inside_blocks;  // such a bit: it is not, and is inside
  std::uint8_t inside;         // of what is below and above the slab: bits 0 and 1
  std::uint8_t unused[5];
  float corner[8];  // coarse values

  static constexpr std::uint32_t kNoBlocks = 0xffffffffU;
};
static_assert(sizeof(IndexedCell) == 64);

// A macro cell with indexed cells in it.
struct IndexedMacro {
  SegmentSlab slab;     // around all of its indexed cells
  std::uint32_t first;  // indexed cell
  std::int16_t at[3];   // macro cell
  std::uint8_t inside;  // as of a cell
  std::uint8_t unused;
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
  std::vector<SampleBlock> blocks;

  std::uint64_t memory_bytes() const {
    return free_cubes.size() + occupied.size() * 8 + rank.size() * 4 +
           occupied_macros.size() * (sizeof(IndexedMacro) + sizeof(MacroMasks)) +
           cells.size() * sizeof(IndexedCell) + blocks.size() * sizeof(SampleBlock);
  }
  std::uint32_t place_of(std::size_t macro) const {  // in occupied_macros
    const std::uint64_t before = occupied[macro / 64] & ((std::uint64_t{1} << macro % 64) - 1);
    return rank[macro / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
  }
};

// Ends of a coarse cell without brick so near to zero that a brick beside it, which computes the
// same values in another way, may see another side. In parts of the largest corner.
inline constexpr float kDoubtful = 1e-5F;

}  // namespace isotact
