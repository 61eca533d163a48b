// Many segments through a brick field at once. Plain data: kernels for different processors share
// it.
//
// A batch passes through stages. Each works on a table of many items, eight at a time, and
// prefetches the memory that the next one reads. So a wait for memory per segment becomes a stream.
// Remaining items are packed without branches. The arithmetic is that of the walk of one segment
// (segment_walk.h), so that results are the same bit for bit.
//   1. trace:  through macro cells, over free cubes; lists those with indexed cells
//   2. clip:   to the slab of each
//   3. open:   from coarse cell to coarse cell in that time; lists the indexed ones
//   4. refine: to the slab of each coarse cell
//   5. step:   from fine cell to fine cell between the slab's planes
//   6. read:   the cubic in each
//   7. solve:  for the roots of those that have some
// If only the first time inside is wanted, paths pass through the stages in rounds. In each, a path
// goes on to its next macro cell with the isosurface, and those that came inside are left out of
// the next round.
//
// If a path starts on one side of a slab, or in a cell without the isosurface, that gives its first
// side. Otherwise the first cell of stage 6 does.
#pragma once

#include <cstdint>

#include "isotact/base/detail/lanes.h"
#include "isotact/queries/segments/detail/segment_path.h"
#include "isotact/queries/segments/detail/segment_slab.h"

namespace isotact::detail {

inline constexpr std::size_t kBatchSegments = 1024;
inline constexpr std::size_t kMostLanes = 8;
inline constexpr std::size_t kMostBatchMacros = std::size_t{1} << 27U;  // Numbers are ints.

// A path for the stages: a row of eight. The inverse of its direction is computed anew.
struct alignas(32) BatchPath {
  float origin[3], direction[3], unused[2];
};
static_assert(sizeof(BatchPath) == 32);

// Columns of numbers of four bytes, floats or bits of integers. It grows by a function that is
// compiled for every processor: kernels share no code with others.
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
  bool inside;  // Side at which the path enters.
  float in;
  float time[3];  // Times of crossings.
};
struct FoundList {
  Found* data = nullptr;
  std::size_t size = 0, capacity = 0;
};

struct BatchTables {
  Table<12> active;   // Origin, direction, inverse; time; path, offset of its octant.
  Table<12> waiting;  // The same, of paths that stop at a macro cell.
  // Path, macro cell (number, then position in the index); from, to.
  Table<4> macros;
  Table<7> near_macros;  // The same, clipped, with the lower corner.
  Table<8> cells;        // Path, indexed cell; from, to; lower corner; a number.
  Table<9> parts;        // Path, indexed cell; from, to; lower corner; first block, masks.
  Table<5> coarse;       // Path, indexed cell without blocks; lower corner.
  Table<8> looks;        // Path, indexed cell; lower corner; first sample, block; a number.
  Table<8> cubics;       // Coefficients; in, out; path, several roots possible.
  FoundList found;
};

// first_side of a path: positive outside, negative inside, 0 not known, kWalkAlone: it must be
// walked by itself.
inline constexpr std::int32_t kWalkAlone = 1 << 20;

// Determined by a field, its index and a margin.
struct BatchField {
  const std::int8_t* free_cubes;
  const std::uint64_t* occupied;
  const std::uint32_t* rank;
  const IndexedMacro* occupied_macros;
  const MacroMasks* masks;
  const IndexedCell* cells;
  std::int32_t macros[3];
  std::int32_t macro_count;
  const SampleBlock* blocks;
  float step, margin;
  float shift;          // The margin less the index's centre, in cells.
  float top[3];         // Cells per axis.
  float last_macro[4];  // Macro cells per axis, less one; 0.
  double origin[12];    // Origin of the box, metres: x, y, z repeated.
  double scale;         // Cells per metre.
};

struct BatchWork {
  const BatchField* field;
  // The segments, from and to in metres one after the other, and memory for them in cells.
  const float* segments;
  std::size_t count;
  float* places;
  // Their paths. A simple path is a segment inside the box that moves along all axes. Others are
  // made by make_path; false: there is none.
  BatchPath* paths;
  const SegmentPath* alone;  // For run_alone.
  bool (*make_path)(BatchWork& work, std::size_t segment);
  void* context;
  std::int32_t* first_side;
  std::uint8_t* done;  // Marks paths that stop at their first time inside; nullptr: none stops.
  BatchTables* tables;
  // Make space for more items, or drop those that a table has and set `overflow`.
  void (*grow)(BatchWork&, RawTable&);
  void (*grow_found)(BatchWork&, FoundList&, std::size_t needed);
  bool overflow;
  std::uint64_t nodes, looks, cubics;  // Counters.
};

struct BatchKernels {
  void (*run)(BatchWork& work);
  void (*run_alone)(BatchWork& work);  // The path `alone` (batch_alone.h).
};
extern const BatchKernels kBaselineBatchKernels;
extern const BatchKernels kAvx2BatchKernels;  // Only if the processor has AVX2.

}  // namespace isotact::detail
