// Seeded random numbers that are the same on every machine and standard library: PCG32 (O'Neill
// 2014). The distributions are our own, since those of <random> differ between libraries.
#pragma once

#include <cassert>
#include <cstdint>

#include "isotact/base/pose.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : increment_(stream * 2 + 1) {
    next_u32();
    state_ += seed;
    next_u32();
  }

  std::uint32_t next_u32() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005ULL + increment_;
    const auto xored = static_cast<std::uint32_t>(((old >> 18U) ^ old) >> 27U);
    const auto turn = static_cast<std::uint32_t>(old >> 59U);
    return (xored >> turn) | (xored << ((32U - turn) & 31U));
  }

  std::uint64_t next_u64() {
    const std::uint64_t high = next_u32();
    return (high << 32U) | next_u32();
  }

  // Returns a uniform number in [0, count), without bias.
  std::uint32_t below(std::uint32_t count) {
    assert(count > 0);
    const std::uint32_t reject = (0U - count) % count;  // 2^32 mod count
    for (;;) {
      const std::uint32_t r = next_u32();
      if (r >= reject) return r % count;
    }
  }

  // Returns a uniform number in [0, 1), with 53 bits.
  double uniform() { return static_cast<double>(next_u64() >> 11U) * 0x1p-53; }
  double uniform(double lower, double upper) { return lower + (upper - lower) * uniform(); }

  Vec3 in_box(const Vec3& lower, const Vec3& upper) {
    const double x = uniform(lower.x, upper.x), y = uniform(lower.y, upper.y);
    return {x, y, uniform(lower.z, upper.z)};
  }

  Vec3 in_unit_ball() {
    for (;;) {
      const Vec3 p = in_box({-1, -1, -1}, {1, 1, 1});
      if (length_sq(p) <= 1) return p;
    }
  }

  Vec3 unit_vector() {
    for (;;) {
      const Vec3 p = in_unit_ball();
      if (length_sq(p) > 1e-6) return normalized(p);
    }
  }

  // Returns a rotation, uniform over all rotations. It is a point of the unit 3-sphere found by
  // rejection, so no libm function is needed.
  Quat rotation() {
    for (;;) {
      const Quat q{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double l = length_sq(q);
      if (l <= 1 && l > 1e-6) return normalized(q);
    }
  }

 private:
  std::uint64_t state_ = 0;
  std::uint64_t increment_;
};

}  // namespace isotact
