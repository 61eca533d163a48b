// The data that makes segments fast: a small index of the position of a field's isosurfaces near
// one value. It is one flat, pointer-free buffer: a section of asset files, a memory map, and plain
// data for tracers on other processors (gpu/segments/segment_tracer.h).
//
//   auto index = std::make_shared<const SegmentIndex>(build_segment_index(field));
//   const SegmentTracer all(field, index), first(field, index, {.mode = Mode::kFirst});
//
// It has three levels. A macro cell is 4^3 coarse cells. For each one, and each of the eight
// octants of directions, it stores the size of a cube of macro cells into that octant without
// isosurface. For each macro cell with isosurface, it has a slab, and a bit for each of its coarse
// cells with isosurface. Each of these coarse cells has a slab as well, so that most segments
// nearby need no sample of the field. The samples that a test needs are copied, so that they lie
// close together in memory. The levels above the coarse cells fit into the second cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/models/brick_field.h"

namespace ISOTACT_PUBLIC isotact {

struct EditReport;  // field/build/edit_field.h

// Two planes that enclose an isosurface within a box (detail/segment_slab.h).
struct SegmentSlab {
  float normal[3];  // g, the gradient of the field in cells.
  // Bounds of g . x, with x in fine cells of the lattice, of the isosurface at the index's centre.
  // Those of another isosurface are larger by the difference of their values in cells.
  float least, most;
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

// The start of the flat buffer of an index. Offsets count from it; each part begins at the next
// multiple of 64, with zeros between. Every number is little endian.
struct SegmentIndexHeader {
  char magic[8];  // "ISOINDEX"
  std::uint32_t version;
  std::uint32_t macro_cells;  // Fine cells along a macro cell.
  double center, reach;       // Metres.
  std::int32_t cells[3];      // Fine cells of the field.
  std::int32_t macros[3];
  std::uint32_t occupied_count, cell_count, block_count;
  std::uint32_t unused;
  std::uint64_t field_header;  // hash_bytes of the field's header; 0: not that of a brick field.
  std::uint64_t field_hash;    // hash_bytes of the field's buffer; likewise.
  std::uint64_t total_bytes;
  std::uint64_t free_cubes, occupied, rank, occupied_macros, masks, cell_offset, blocks;
  std::uint8_t more[40];
};
static_assert(sizeof(SegmentIndexHeader) == 192 &&
              offsetof(SegmentIndexHeader, field_header) == 72 &&
              offsetof(SegmentIndexHeader, more) == 152);

// An index serves all modes, and every margin from center - reach to center + reach. It has the
// cells that any of these isosurfaces enters. Each slab is moved by the margin's distance from the
// centre. Copies share the buffer.
struct SegmentIndex {
  FlatBuffer buffer{};
  double center = 0, reach = 0;  // Metres.
  Index3 macros{};               // Numbers per axis.
  // One value per macro cell, x fastest, for one octant after the other, and four more, since four
  // bytes are read at once. 0: it has indexed cells. Otherwise it lies on one side, inside if
  // negative. So do all macro cells of a cube with this number of macro cells per side. The cube
  // has the macro cell at its corner and reaches into the octant. Bits 0, 1, 2 of the octant mean:
  // down along x, y, z.
  std::span<const std::int8_t> free_cubes{};
  std::span<const std::uint64_t> occupied{};  // One bit per macro cell.
  std::span<const std::uint32_t> rank{};      // Number of bits set before each word.
  std::span<const IndexedMacro> occupied_macros{};
  std::span<const MacroMasks> masks{};  // Masks of occupied macro cells.
  std::span<const IndexedCell> cells{};
  std::span<const SampleBlock> blocks{};

  const SegmentIndexHeader& header() const {
    return *reinterpret_cast<const SegmentIndexHeader*>(buffer.bytes.data());
  }
  std::uint64_t memory_bytes() const { return buffer.bytes.size(); }
  bool serves(double margin) const {
    // Both ends count; cells are chosen with a thousand times this allowance for rounding.
    const double off = margin < center ? center - margin : margin - center;
    return !buffer.bytes.empty() && off <= reach * (1 + 1e-9);
  }
  std::uint32_t place_of(std::size_t macro) const {  // Index into occupied_macros.
    const std::uint64_t before = occupied[macro / 64] & ((std::uint64_t{1} << macro % 64) - 1);
    return rank[macro / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
  }
};

// Margins that an index serves if nothing else is said, in cells on both sides of its centre.
inline constexpr double kIndexReach = 2;

struct SegmentIndexSettings {
  double center = 0;              // Metres.
  std::optional<double> reach{};  // Metres; kIndexReach cells if there is none.
  Threads threads{};
};

// The same field and settings give the same bytes for any number of threads. Throws Error for a
// center or a reach that is not finite, and for a negative reach.
SegmentIndex build_segment_index(const BrickField& field,
                                 const SegmentIndexSettings& settings = {});

// Returns the index of a field that was edited (field/build/edit_field.h), byte for byte as
// build_segment_index makes it. The macro cells around which the two fields have the same bytes are
// copied. Throws Error if `earlier` is not the index of `earlier_field`. Fields of different
// lattices share nothing: all is built.
SegmentIndex update_segment_index(const BrickField& field, const BrickField& earlier_field,
                                  const SegmentIndex& earlier, Threads threads = {});

// The same from the report of the edit (EditableField) that led from the index's field to `field`.
// Only the macro cells around its changed cells are computed; the rest is copied, at the speed of
// memory. Throws Error if `earlier` is not the index of the field before that edit.
SegmentIndex update_segment_index(const BrickField& field, const EditReport& edit,
                                  const SegmentIndex& earlier, Threads threads = {});

// Returns what is wrong with bytes that claim to be an index, or nothing. With kHeader it reads all
// but the samples; that keeps every traversal inside the buffer. With kDeep it also checks the
// zeros between parts.
std::optional<std::string> find_segment_index_flaw(std::span<const std::byte> bytes,
                                                   Check check = Check::kDeep);
// Opens a buffer. Throws Error if it has a flaw.
SegmentIndex open_segment_index(const FlatBuffer& buffer, Check check = Check::kDeep);
// Returns true if an index was built from this field. kHeader compares the headers, kDeep all bytes
// of the field.
bool belongs_to(const SegmentIndex& index, const BrickField& field, Check check = Check::kDeep);

// The section of asset files (field/io/asset.h). Returns nothing if the asset has none, or if its
// index belongs to another field. Throws Error, with the file's name, for bytes with a flaw.
std::optional<SegmentIndex> find_segment_index(const Asset& asset, Check check = Check::kDeep);
// Adds the index, or replaces an existing one.
void set_segment_index(Asset& asset, const SegmentIndex& index);

// Threshold for the corners of a coarse cell without brick. Closer to zero, a brick beside it,
// which computes the same values by other operations, may see another side. In fractions of the
// largest corner.
inline constexpr float kDoubtful = 1e-5F;

}  // namespace isotact
