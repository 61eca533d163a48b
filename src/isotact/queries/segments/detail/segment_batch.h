// Many segments through a brick field at once. Plain data: kernels for different processors share
// it.
//
// A batch goes through stages. Each works on a table of many items, eight at a time, and calls for
// the memory that the next one reads: what would be a wait for memory per segment becomes a stream.
// What goes on is packed without branches. The arithmetic is that of the walk of one segment
// (segment_walk.h), so that results are the same to the last bit.
//   1. trace:  through macro cells, over what is free; those with indexed cells are noted
//   2. clip:   to the slab of each
//   3. open:   from coarse cell to coarse cell in that time, those that are indexed
//   4. refine: to the slab of each coarse cell
//   5. step:   from fine cell to fine cell between the slab's planes
//   6. look:   the cubic in each
//   7. solve:  for the roots of those that have some
// Where a path starts on one side of a slab, or in a cell without the isosurface, its first side is
// known with that; else the look at its first cell tells.
#pragma once

#include <cstdint>

#include "isotact/base/lanes.h"
#include "isotact/queries/detail/segment_index.h"
#include "isotact/queries/detail/segment_path.h"

namespace isotact::detail {

inline constexpr std::size_t kBatchSegments = 256;
inline constexpr std::size_t kMostLanes = 8;
inline constexpr std::size_t kMostBatchMacros = std::size_t{1} << 27U;  // numbers are ints

// A path as the stages read it: a row of eight. The inverse of its direction is computed anew.
struct alignas(32) BatchPath {
  float origin[3], direction[3], unused[2];
};
static_assert(sizeof(BatchPath) == 32);

// Columns of numbers of four bytes, floats or bits of integers. It grows when it must, by a
// function that is compiled for every processor: kernels share no code with others.
struct RawTable {
  float* data = nullptr;
  std::size_t size = 0, capacity = 0;
  std::size_t columns = 1;
};
template <std::size_t N>
struct Table {
  RawTable raw{nullptr, 0, 0, N};

  ISOTACT_INLINE std::size_t size() const { return raw.size; }
  ISOTACT_INLINE float* column(std::size_t k) const { return raw.data + k * raw.capacity; }
  ISOTACT_INLINE std::uint32_t number(std::size_t k, std::size_t i) const {
    std::uint32_t n;
    __builtin_memcpy(&n, column(k) + i, sizeof(n));
    return n;
  }
  ISOTACT_INLINE void set_number(std::size_t k, std::size_t i, std::uint32_t n) {
    __builtin_memcpy(column(k) + i, &n, sizeof(n));
  }
};

// A cell with crossings.
struct Found {
  std::uint32_t path;
  std::uint16_t crossings;
  bool inside;  // where the path enters
  float in;
  float time[3];  // of crossings
};
struct FoundList {
  Found* data = nullptr;
  std::size_t size = 0, capacity = 0;
};

struct BatchTables {
  Table<12> active;      // origin, direction, inverse; time; path, place of its octant
  Table<4> macros;       // path, macro cell (number, then place in the index); from, to
  Table<7> near_macros;  // the same, clipped, with the lower corner
  Table<8> cells;        // path, indexed cell; from, to; lower corner; a number
  Table<9> parts;        // path, indexed cell; from, to; lower corner; first block, masks
  Table<5> coarse;       // path, indexed cell: one without blocks; lower corner
  Table<8> looks;        // path, indexed cell; lower corner; first sample, block; a number
  Table<8> cubics;       // coefficients; in, out; path, whether it may have several roots
  FoundList found;
};

// first_side of a path: positive outside, negative inside, 0 not known, kWalkAlone: it must be
// walked by itself.
inline constexpr std::int32_t kWalkAlone = 1 << 20;

struct BatchWork {
  // The field and its index.
  const std::int8_t* free_cubes;
  const std::uint64_t* occupied;
  const std::uint32_t* rank;
  const IndexedMacro* occupied_macros;
  const MacroMasks* masks;
  const IndexedCell* cells;
  std::int32_t macros[3];
  std::int32_t macro_count;
  const SampleBlock* blocks;
  float step, iso;
  float top[3];       // cells an axis
  double origin[12];  // of the box, metres: x, y, z again and again
  double scale;       // cells a metre
  // The segments, from and to in metres one after the other, and room for them in cells.
  const float* segments;
  std::size_t count;
  float* places;
  // Their paths. Those that are not simple (a segment inside of the box that moves along all axes)
  // are made by make_path; false: there is none.
  BatchPath* paths;
  bool (*make_path)(BatchWork& work, std::size_t segment);
  void* context;
  std::int32_t* first_side;
  BatchTables* tables;
  void (*grow)(RawTable&);
  void (*grow_found)(FoundList&);
  std::uint64_t nodes, looks, cubics;  // counted
};

struct BatchKernels {
  void (*run)(BatchWork& work);
};
extern const BatchKernels kBaselineBatchKernels;
extern const BatchKernels kAvx2BatchKernels;  // only where the processor has AVX2

}  // namespace isotact::detail
