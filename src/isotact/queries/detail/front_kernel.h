// find_awake (front_lanes.h) over a lane type.
#pragma once

#include "isotact/base/lanes.h"
#include "isotact/queries/detail/front_lanes.h"

namespace isotact::detail {

template <typename F>
struct FrontKernel {
  static constexpr unsigned kLanes = F::kWidth;

  static ISOTACT_INLINE unsigned find_asleep(const FrontBlock& block, unsigned first,
                                             const Shift* shifts, std::size_t count) {
    const F x = load<F>(block.x + first), y = load<F>(block.y + first),
            z = load<F>(block.z + first), room = load<F>(block.room + first);
    unsigned asleep = (1U << kLanes) - 1;
    for (std::size_t k = 0; k < count; ++k) {
      const Shift& s = shifts[k];
      F by_sq(0.0F);
      for (int axis = 0; axis < 3; ++axis) {
        const F by =
            ((F(s.linear[axis][0]) * x + F(s.linear[axis][1]) * y) + F(s.linear[axis][2]) * z) +
            F(s.offset[axis]);
        by_sq = by_sq + by * by;
      }
      const F left = room - F(s.error);
      asleep &= bits_of(left > F(0.0F)) & bits_of(by_sq < left * left);
    }
    return asleep;
  }

  static ISOTACT_INLINE std::uint64_t run(const FrontBlock* blocks, std::size_t block_count,
                                          const Shift* shifts, std::size_t shift_count,
                                          std::uint8_t* awake) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block_count; ++i) {
      unsigned asleep = 0;
      for (unsigned first = 0; first < 8; first += kLanes)
        asleep |= find_asleep(blocks[i], first, shifts, shift_count) << first;
      awake[i] = static_cast<std::uint8_t>(~asleep);
      sum += static_cast<unsigned>(__builtin_popcount(~asleep & 0xffU));
    }
    return sum;
  }
};

}  // namespace isotact::detail
