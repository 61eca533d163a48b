// A curve through all cells of a cube on which neighbours are near each other in space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace isotact::detail {

inline constexpr unsigned kHilbertAxisBits = 10;  // 2^10 cells per axis.

// Returns the bits of x, with two zeros between.
inline std::uint64_t spread_bits(std::uint64_t x) {
  x = (x | x << 16U) & 0x00ff0000ff0000ffU;
  x = (x | x << 8U) & 0xf00f00f00f00f00fU;
  x = (x | x << 4U) & 0x30c30c30c30c30c3U;
  return (x | x << 2U) & 0x9249249249249249U;
}

// Returns the position of a cell along the curve. Skilling 2004.
inline std::uint64_t hilbert(std::array<std::uint32_t, 3> x) {
  for (std::uint32_t q = 1U << (kHilbertAxisBits - 1); q > 1; q >>= 1U) {
    const std::uint32_t p = q - 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t t = (x[0] ^ x[i]) & p;
      const bool set = (x[i] & q) != 0;
      x[0] ^= set ? p : t;
      x[i] ^= set ? 0 : t;
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t t = 0;
  for (std::uint32_t q = 1U << (kHilbertAxisBits - 1); q > 1; q >>= 1U)
    t ^= (x[2] & q) != 0 ? q - 1 : 0;
  for (auto& v : x) v ^= t;
  return spread_bits(x[0]) << 2U | spread_bits(x[1]) << 1U | spread_bits(x[2]);
}

}  // namespace isotact::detail
