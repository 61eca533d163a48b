// Eight boxes side by side, and a test of which overlap another box, over a lane type. The test
// only compares, so every width of lanes gives the same result.
#pragma once

#include "isotact/base/detail/lanes.h"

namespace isotact::detail {

inline constexpr unsigned kBoxLanes = 8;

// Lanes without a box may contain anything: their users mask them out.
struct alignas(64) BoxBlock {
  float lower[3][kBoxLanes];
  float upper[3][kBoxLanes];
};

struct LaneBox {
  float lower[3], upper[3];
};

ISOTACT_INLINE LaneBox lane_of(const BoxBlock& block, unsigned lane) {
  LaneBox box;
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = block.lower[k][lane];
    box.upper[k] = block.upper[k][lane];
  }
  return box;
}

// Bit j is set if lane j shares a point with the box; touching boxes overlap.
template <typename L>
ISOTACT_INLINE unsigned overlap_bits(const BoxBlock& block, const LaneBox& box) {
  unsigned bits = 0;
  for (unsigned i = 0; i < kBoxLanes; i += unsigned{L::kWidth}) {
    const auto here = (load<L>(block.lower[0] + i) <= L(box.upper[0])) &
                      (load<L>(block.upper[0] + i) >= L(box.lower[0])) &
                      (load<L>(block.lower[1] + i) <= L(box.upper[1])) &
                      (load<L>(block.upper[1] + i) >= L(box.lower[1])) &
                      (load<L>(block.lower[2] + i) <= L(box.upper[2])) &
                      (load<L>(block.upper[2] + i) >= L(box.lower[2]));
    bits |= bits_of(here) << i;
  }
  return bits;
}

}  // namespace isotact::detail
