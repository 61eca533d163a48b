// Spheres on straight paths through free space (free_space.h), and positions of a shell with their
// free distances, eight at a time. Plain data: kernels for different processors share it.
#pragma once

#include <cstddef>
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

// Free distance of a position that is always awake.
inline constexpr float kNoRoom = -1;

// Centres of nodes. Metres, shell frame.
struct alignas(64) FrontNodes {
  float x[8], y[8], z[8];
  float room[8];  // Free distances; infinite if there is no node.
};
static_assert(sizeof(FrontNodes) == 128);

// Up to eight points of a cluster. Bits are those of points.
struct FrontLeaf {
  float room[8];  // Free distances; infinite after the last.
  std::uint32_t first_point;
  std::uint32_t cluster;  // On the tree's last level.
  std::uint8_t inside;    // Side, if it has a free distance.
  std::uint8_t awake;
  std::uint8_t near;  // Had to be traced at its last measurement.
  std::uint8_t is_new;
};
static_assert(sizeof(FrontLeaf) == 44);

// All points of a shell, and seven numbers after the last.
struct ShellPoints {
  const float *x, *y, *z;
};

// Difference of two maps of the shell into the field.
struct Shift {
  float linear[3][3];
  float offset[3];
  float error;  // Metres: rounding, at any position of the shell.
};

struct FrontShifts {
  const Shift* data;
  std::size_t count;
};

struct Waking {
  std::uint64_t awake;  // Positions.
  float least_room;     // Over all.
};

struct FrontKernels {
  // Finds the positions that one of the shifts moves by their free distance or more. NaNs are
  // awake.
  Waking (*wake_nodes)(const FrontNodes* nodes, std::size_t count, FrontShifts shifts,
                       std::uint8_t* awake);
  Waking (*wake_leaves)(FrontLeaf* leaves, std::size_t count, ShellPoints points,
                        FrontShifts shifts);
  // Reduces free distances by the motion of the shift.
  void (*cut_nodes)(FrontNodes* nodes, std::size_t count, const Shift& shift);
  void (*cut_leaves)(FrontLeaf* leaves, std::size_t count, ShellPoints points, const Shift& shift);
};
extern const FrontKernels kBaselineFrontKernels, kAvx2FrontKernels;
const FrontKernels& choose_front_kernels(SimdLevel level);

}  // namespace isotact::detail
