// Places of a shell that may move by so much, eight at a time. Plain data: kernels for different
// processors share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/cpu.h"

namespace isotact::detail {

// Of a place that is awake whatever happens.
inline constexpr float kNoRoom = -1;

// Centres of nodes. Metres, in the shell's frame.
struct alignas(64) FrontNodes {
  float x[8], y[8], z[8];
  float room[8];  // infinite where there is no node
};
static_assert(sizeof(FrontNodes) == 128);

// Up to eight points of a cluster. Bits are those of points.
struct FrontLeaf {
  float room[8];  // infinite behind the last
  std::uint32_t first_point;
  std::uint32_t cluster;  // on the tree's last level
  std::uint8_t inside;    // where it has room
  std::uint8_t awake;
  std::uint8_t near;  // had to be traced when it was last measured
  std::uint8_t is_new;
};
static_assert(sizeof(FrontLeaf) == 44);

// All points of a shell, and seven numbers behind the last.
struct ShellPoints {
  const float *x, *y, *z;
};

// Between two maps of the shell into the field: what one does to a place less what the other does.
struct Shift {
  float linear[3][3];
  float offset[3];
  float error;  // metres: of rounding, at any place of the shell
};

struct FrontShifts {
  const Shift* data;
  std::size_t count;
};

struct Waking {
  std::uint64_t awake;  // places
  float least_room;     // of all
};

struct FrontKernels {
  // Finds the places that one of the shifts moves by as much as they may, or more. NaNs are awake.
  Waking (*wake_nodes)(const FrontNodes* nodes, std::size_t count, FrontShifts shifts,
                       std::uint8_t* awake);
  Waking (*wake_leaves)(FrontLeaf* leaves, std::size_t count, ShellPoints points,
                        FrontShifts shifts);
  // Cuts rooms by what the shift moves places by.
  void (*cut_nodes)(FrontNodes* nodes, std::size_t count, const Shift& shift);
  void (*cut_leaves)(FrontLeaf* leaves, std::size_t count, ShellPoints points, const Shift& shift);
};
extern const FrontKernels kBaselineFrontKernels, kAvx2FrontKernels;
const FrontKernels& choose_front_kernels(SimdLevel level);

}  // namespace isotact::detail
