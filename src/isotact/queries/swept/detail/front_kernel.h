// FrontKernels (swept_lanes.h) over a lane type.
#pragma once

#include "isotact/base/detail/lanes.h"
#include "isotact/queries/swept/detail/swept_lanes.h"

namespace isotact::detail {

template <typename F>
struct FrontKernel {
  static constexpr unsigned kLanes = F::kWidth;
  // Bound of the relative error of squares, roots and differences of floats.
  static constexpr float kSlack = 1e-6F;

  struct Places {
    F x, y, z;
  };
  static ISOTACT_INLINE Places places(const float* x, const float* y, const float* z) {
    return {load<F>(x), load<F>(y), load<F>(z)};
  }

  static ISOTACT_INLINE F moved_sq(const Shift& s, const Places& p) {
    F sum(0.0F);
    for (int axis = 0; axis < 3; ++axis) {
      const F by =
          ((F(s.linear[axis][0]) * p.x + F(s.linear[axis][1]) * p.y) + F(s.linear[axis][2]) * p.z) +
          F(s.offset[axis]);
      sum = sum + by * by;
    }
    return sum;
  }

  static ISOTACT_INLINE unsigned find_asleep(const Places& p, F room, FrontShifts shifts) {
    unsigned asleep = (1U << kLanes) - 1;
    for (std::size_t k = 0; k < shifts.count; ++k) {
      const F left = room - F(shifts.data[k].error);
      asleep &= bits_of(left > F(0.0F)) & bits_of(moved_sq(shifts.data[k], p) < left * left);
    }
    return asleep;
  }

  static ISOTACT_INLINE F cut(const Shift& shift, const Places& p, F room) {
    const F left = room * F(1 - kSlack) -
                   (square_root(moved_sq(shift, p)) * F(1 + 4 * kSlack) + F(shift.error));
    return greater(left, F(kNoRoom));
  }

  static ISOTACT_INLINE float compute_least(F a) {
    float all[kLanes];
    store(a, all);
    float least = all[0];
    for (unsigned k = 1; k < kLanes; ++k) least = all[k] < least ? all[k] : least;
    return least;
  }

  static Waking wake_nodes(const FrontNodes* nodes, std::size_t count, FrontShifts shifts,
                           std::uint8_t* awake) {
    std::uint64_t sum = 0;
    F least(__builtin_inff());
    for (std::size_t i = 0; i < count; ++i) {
      const FrontNodes& n = nodes[i];
      unsigned asleep = 0;
      for (unsigned k = 0; k < 8; k += kLanes) {
        const F room = load<F>(n.room + k);
        least = lesser(least, room);
        asleep |= find_asleep(places(n.x + k, n.y + k, n.z + k), room, shifts) << k;
      }
      awake[i] = static_cast<std::uint8_t>(~asleep);
      sum += static_cast<unsigned>(__builtin_popcount(~asleep & 0xffU));
    }
    return {sum, compute_least(least)};
  }

  static Waking wake_leaves(FrontLeaf* leaves, std::size_t count, ShellPoints points,
                            FrontShifts shifts) {
    std::uint64_t sum = 0;
    F least(__builtin_inff());
    for (std::size_t i = 0; i < count; ++i) {
      FrontLeaf& leaf = leaves[i];
      unsigned asleep = 0;
      for (unsigned k = 0; k < 8; k += kLanes) {
        const std::size_t at = leaf.first_point + k;
        const F room = load<F>(leaf.room + k);
        least = lesser(least, room);
        asleep |= find_asleep(places(points.x + at, points.y + at, points.z + at), room, shifts)
                  << k;
      }
      leaf.awake = static_cast<std::uint8_t>(~asleep);
      sum += static_cast<unsigned>(__builtin_popcount(~asleep & 0xffU));
    }
    return {sum, compute_least(least)};
  }

  static void cut_nodes(FrontNodes* nodes, std::size_t count, const Shift& shift) {
    for (std::size_t i = 0; i < count; ++i)
      for (unsigned k = 0; k < 8; k += kLanes) {
        FrontNodes& n = nodes[i];
        store(cut(shift, places(n.x + k, n.y + k, n.z + k), load<F>(n.room + k)), n.room + k);
      }
  }

  static void cut_leaves(FrontLeaf* leaves, std::size_t count, ShellPoints points,
                         const Shift& shift) {
    for (std::size_t i = 0; i < count; ++i)
      for (unsigned k = 0; k < 8; k += kLanes) {
        FrontLeaf& leaf = leaves[i];
        const std::size_t at = leaf.first_point + k;
        store(
            cut(shift, places(points.x + at, points.y + at, points.z + at), load<F>(leaf.room + k)),
            leaf.room + k);
      }
  }

  static constexpr FrontKernels kAll{wake_nodes, wake_leaves, cut_nodes, cut_leaves};
};

}  // namespace isotact::detail
