// Many segments through a brick field at once. Plain data: kernels for different processors share
// it.
//
// A batch goes through stages. Each works on a queue of many items, eight at a time where it
// computes, and calls for the memory that the next one reads: what would be a wait for memory per
// segment becomes a stream. The arithmetic is that of the walk of one segment (segment_walk.h), so
// that results are the same to the last bit.
//   1. trace: through macro cells, over what is free; those with indexed cells are queued
//   2. open:  which of the 2^3 coarse cells of a macro cell the path goes through
//   3. clip:  to the slab of each
//   4. step:  from fine cell to fine cell between the slab's planes
//   5. look:  the cubic in each, eight at a time, and its roots
#pragma once

#include <cstdint>

#include "isotact/base/lanes.h"
#include "isotact/queries/detail/segment_index.h"
#include "isotact/queries/detail/segment_path.h"

namespace isotact::detail {

inline constexpr std::size_t kBatchSegments = 256;
inline constexpr std::int8_t kWalkAlone = 2;  // see BatchWork::first_side

// A path as the stages read it: two rows of eight.
struct alignas(64) BatchPath {
  float origin[3], direction[3], inverse_x, inverse_y;
  float inverse_z;
  float times_a_cell;  // 1 / length of the direction
  float unused[6];
};
static_assert(sizeof(BatchPath) == 64);

struct MacroVisit {
  std::uint32_t path;
  std::uint32_t macro;  // number
  float lower[3];       // fine cells
};

struct CellVisit {
  std::uint32_t path;
  std::uint32_t cell;  // indexed
  float from, to;
};

// A cell to look at: a fine one, or a coarse one without brick.
struct alignas(16) Look {
  // A row of eight.
  float lower[3];                 // fine cells
  float first[3];                 // in the coarse cell, 0 to 1
  float side, width;              // of the cell: in fine cells, and as part of the coarse one
  const std::int8_t* correction;  // of the first corner; null in a coarse cell
  std::uint32_t path;
  std::uint32_t corners;  // place in `corners` of a coarse cell, or number of a brick
};
static_assert(sizeof(Look) == 48);

// What a look found; in the order of looks.
struct Found {
  std::uint32_t path;
  std::uint16_t crossings;
  bool inside;       // where the path enters
  bool is_doubtful;  // rounding may see the next cell on another side: see walk_indexed
  float in;
  float time[3];  // of crossings
};

struct CoarseCorners {
  float value[8];
};

// A list that grows when it must, by a function that is compiled for every processor: kernels
// share no code with others.
struct RawQueue {
  void* data = nullptr;
  std::size_t size = 0, capacity = 0, item_bytes = 1;
};
template <typename T>
struct Queue {
  RawQueue raw{nullptr, 0, 0, sizeof(T)};

  ISOTACT_INLINE const T* begin() const { return static_cast<const T*>(raw.data); }
  ISOTACT_INLINE const T* end() const { return begin() + raw.size; }
  ISOTACT_INLINE void push(const T& item, void (*grow)(RawQueue&)) {
    if (raw.size == raw.capacity) grow(raw);
    static_cast<T*>(raw.data)[raw.size++] = item;
  }
};

struct BatchQueues {
  Queue<MacroVisit> macros;
  Queue<CellVisit> visits, parts;
  Queue<Look> looks;
  Queue<CoarseCorners> corners;
  Queue<Found> found;
};

struct BatchWork {
  // The field and its index.
  const std::int8_t* free_distance;
  const std::uint64_t* occupied;
  const std::uint32_t* rank;
  const IndexedMacro* occupied_macros;
  const IndexedCell* cells;
  std::size_t macros[3];
  const Brick* bricks;
  const float* coarse;  // values at the nodes
  std::size_t coarse_row, coarse_slice;
  float step, iso;
  // The paths.
  const BatchPath* paths;
  std::size_t path_count;
  // Of each path: 1 outside, -1 inside, 0 not known; kWalkAlone: it must be walked by itself.
  std::int8_t* first_side;
  bool are_starts;  // looks are at the first cells of their paths, and set first_side only
  BatchQueues* queues;
  void (*grow)(RawQueue&);
  std::uint64_t nodes, looks, cubics;  // counted
};

struct BatchKernels {
  void (*run)(BatchWork& work);
  void (*look)(BatchWork& work);  // the last stage alone
};
extern const BatchKernels kBaselineBatchKernels;
extern const BatchKernels kAvx2BatchKernels;  // only where the processor has AVX2

}  // namespace isotact::detail
