// Spheres on straight ways through free space (free_space.h), eight at a time. Plain data: kernels
// for different processors share it.
#pragma once

#include <cstdint>

#include "isotact/base/cpu.h"
#include "isotact/base/lanes.h"

namespace isotact::detail {

// Lengths are in blocks.
struct FreeGrid {
  const std::uint8_t* quarters;
  std::uint32_t blocks[3];
  float size[3];
};

// A map of places of the shell into blocks of the grid.
struct BlockMap {
  float linear[3][3];
  float offset[3];
};

// Spheres of a shell, in its frame; eight are read.
struct SphereLanes {
  const float *x, *y, *z;
  const float* radius;  // null: points
  unsigned wanted;      // bits
};

struct SweptTask {
  const BlockMap *from, *to;  // at times 0 and 1 of the way
  float blocks_a_metre;       // of radii: the stretch is in it
  float margin;      // blocks: what is added to all radii. More than kGap, and than rounding
  float begin, end;  // only these times matter
  bool shrink_end;   // look for the last time as well
};

struct SweptTimes {
  float begin[8], end[8];
};

// No step is shorter, in blocks: each place on the way is nearer than this to one that was proved
// free for a sphere that is larger by more.
inline constexpr float kGap = 1.0F / 32;
inline constexpr int kMostSteps = 48;

// Bits of spheres that may touch, and the times between which they may.
using FindTouching = unsigned (*)(const FreeGrid& grid, const SphereLanes& spheres,
                                  const SweptTask& task, SweptTimes& times);
unsigned find_touching_baseline(const FreeGrid& grid, const SphereLanes& spheres,
                                const SweptTask& task, SweptTimes& times);
unsigned find_touching_avx2(const FreeGrid& grid, const SphereLanes& spheres, const SweptTask& task,
                            SweptTimes& times);
FindTouching choose_find_touching(SimdLevel level);

}  // namespace isotact::detail
