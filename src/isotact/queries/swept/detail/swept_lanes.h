// Spheres on straight paths through free space (free_space.h), eight at a time. Plain data: kernels
// for different processors share it.
#pragma once

#include <cstdint>

#include "isotact/base/detail/lanes.h"
#include "isotact/base/machine.h"

namespace isotact::detail {

// Lengths are in blocks.
struct FreeGrid {
  const std::uint8_t* quarters;
  std::uint32_t blocks[3];
  float size[3];
};

// A map of positions of the shell into blocks of the grid.
struct BlockMap {
  float linear[3][3];
  float offset[3];
};

// Spheres of a shell, in its frame; eight are read.
struct SphereLanes {
  const float *x, *y, *z;
  const float* radius;  // Null: points.
  unsigned wanted;      // Bits.
};

struct SweptTask {
  const BlockMap *from, *to;  // At times 0 and 1 of the path.
  float blocks_a_metre;       // For radii; includes the stretch.
  float margin;               // Blocks, added to all radii. More than kGap and rounding.
  float begin, end;           // Only these times matter.
  bool shrink_end;            // Also find the last time.
};

struct SweptTimes {
  float begin[8], end[8];
};

// No step is shorter, in blocks. Each position on the path is nearer than this to one that was
// proved free for a sphere that is larger by more.
inline constexpr float kGap = 1.0F / 32;
inline constexpr int kMostSteps = 48;

// Returns bits of spheres that may touch, and the times between which they may.
using FindTouching = unsigned (*)(const FreeGrid& grid, const SphereLanes& spheres,
                                  const SweptTask& task, SweptTimes& times);
unsigned find_touching_baseline(const FreeGrid& grid, const SphereLanes& spheres,
                                const SweptTask& task, SweptTimes& times);
unsigned find_touching_avx2(const FreeGrid& grid, const SphereLanes& spheres, const SweptTask& task,
                            SweptTimes& times);
FindTouching choose_find_touching(SimdLevel level);

}  // namespace isotact::detail
