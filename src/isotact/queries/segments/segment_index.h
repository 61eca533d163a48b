// The data that makes segments fast on a brick field: a small index of the position of one
// isosurface. It is plain data, also for tracers on other processors
// (gpu/segments/segment_tracer.h). SegmentTracer builds and owns it.
//
// It has three levels. For each macro cell, 4^3 coarse cells, and each of the eight octants of
// directions, it stores the size of a cube of macro cells into that octant without isosurface. For
// each macro cell with isosurface, it has a slab, and a bit for each of its coarse cells with
// isosurface. Each of these coarse cells has a slab as well, so that most segments nearby need no
// sample of the field. The samples that a test needs are copied, so that they lie close together in
// memory. The levels above the coarse cells fit into the second cache.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/models/brick_field.h"

namespace ISOTACT_PUBLIC isotact {

// Two planes that enclose an isosurface within a box (detail/segment_slab.h).
struct SegmentSlab {
  float normal[3];    // g, the gradient of the field in cells.
  float least, most;  // Bounds of g . x, with x in fine cells of the lattice.
};

// A path whose g . x changes by less is almost parallel to the planes. It is taken as a whole, or
// not at all.
inline constexpr float kAlongSlab = 1e-6F;

inline constexpr int kMacroSide = 4;  // Coarse cells along a macro cell.
inline constexpr int kMacroCells = kMacroSide * kBrickCells;

// Corrections (BrickField) of 4^3 fine cells of a brick, x fastest: the same bytes in two cache
// lines. Only blocks that the isosurface enters are stored.
inline constexpr int kIndexBlockCells = 4;
inline constexpr int kBlockNodes = kIndexBlockCells + 1;
struct alignas(64) SampleBlock {
  std::int8_t correction[kBlockNodes * kBlockNodes * kBlockNodes];
  std::int8_t unused[3];  // Two loads of eight bytes fetch the corners of a cell.
};
static_assert(sizeof(SampleBlock) == 128);

// A coarse cell that the isosurface enters.
struct alignas(64) IndexedCell {
  SegmentSlab slab;
  std::uint32_t first_block;   // kNoBlocks: the coarse cell has no fine cells.
  std::uint8_t blocks;         // Bit x + 2 y + 4 z: this block is stored.
  std::uint8_t inside_blocks;  // Such a bit: the block is not stored, and is inside.
  std::uint8_t inside;         // Sides below and above the slab: bits 0 and 1.
  std::uint8_t unused[5];
  float corner[8];  // Coarse values.

  static constexpr std::uint32_t kNoBlocks = 0xffffffffU;
};
static_assert(sizeof(IndexedCell) == 64);

// A macro cell with indexed cells.
struct IndexedMacro {
  SegmentSlab slab;     // Slab around all of its indexed cells.
  std::uint32_t first;  // First indexed cell.
  std::int16_t at[3];   // Macro cell.
  std::uint8_t inside;  // As for a cell.
  std::uint8_t unused;
};
static_assert(sizeof(IndexedMacro) == 32);

// Its coarse cells: bit x + 4 y + 16 z.
struct MacroMasks {
  std::uint64_t indexed;
  std::uint64_t inside;  // Inside bits of the cells that are not indexed.
};

struct SegmentIndex {
  Index3 macros{};  // Numbers per axis.
  // One value per macro cell, x fastest, for one octant after the other. 0: it has indexed cells.
  // Otherwise it lies on one side, inside if negative. So do all macro cells of a cube with this
  // number of macro cells per side. The cube has the macro cell at its corner and reaches into the
  // octant. Bits 0, 1, 2 of the octant mean: down along x, y, z.
  std::vector<std::int8_t> free_cubes;
  std::vector<std::uint64_t> occupied;  // One bit per macro cell.
  std::vector<std::uint32_t> rank;      // Number of bits set before each word.
  std::vector<IndexedMacro> occupied_macros;
  std::vector<MacroMasks> masks;  // Masks of occupied macro cells.
  std::vector<IndexedCell> cells;
  std::vector<SampleBlock> blocks;

  std::uint64_t memory_bytes() const {
    return free_cubes.size() + occupied.size() * 8 + rank.size() * 4 +
           occupied_macros.size() * (sizeof(IndexedMacro) + sizeof(MacroMasks)) +
           cells.size() * sizeof(IndexedCell) + blocks.size() * sizeof(SampleBlock);
  }
  std::uint32_t place_of(std::size_t macro) const {  // Index into occupied_macros.
    const std::uint64_t before = occupied[macro / 64] & ((std::uint64_t{1} << macro % 64) - 1);
    return rank[macro / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
  }
};

// Threshold for the corners of a coarse cell without brick. Closer to zero, a brick beside it,
// which computes the same values by other operations, may see another side. In fractions of the
// largest corner.
inline constexpr float kDoubtful = 1e-5F;

}  // namespace isotact
