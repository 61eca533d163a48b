// Positions of a shell with their free distances, eight at a time. Plain data: kernels for
// different processors share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/machine.h"

namespace isotact::detail {

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
