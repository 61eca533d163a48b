// IEEE binary16, the 16-bit float of textures: 11 bits of precision, from 2^-24 to 65504.
// Conversions are exact or rounded to nearest even. They use plain integer arithmetic, so a CPU
// without F16C gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr double kHalfMax = 65504;
// Conversion changes a number of magnitude up to kHalfMax by at most this fraction of itself. Below
// 2^-14 it changes by at most kHalfTiniest / 2.
inline constexpr double kHalfRounding = 0x1p-11;
inline constexpr double kHalfTiniest = 0x1p-24;

// Rounds once; a conversion through float could round twice. Returns infinity beyond kHalfMax by
// half a step or more. NaN stays NaN.
constexpr std::uint16_t half_from_double(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 48U) & 0x8000U);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffU;
  constexpr std::uint64_t kInfinity = 0x7ff0000000000000U;
  if (magnitude >= std::bit_cast<std::uint64_t>(65520.0))  // Too large, infinite, or NaN.
    return static_cast<std::uint16_t>(sign | (magnitude > kInfinity ? 0x7e00U : 0x7c00U));

  const auto exponent = static_cast<int>(magnitude >> 52U) - 1023;
  std::uint64_t digits = 0;  // Its lowest `drop` bits are dropped.
  unsigned drop = 42;
  if (exponent >= -14) {
    digits = magnitude - (std::uint64_t{1023 - 15} << 52U);  // Exponent and fraction together.
  } else {
    if (exponent < -25) return sign;
    digits = (magnitude & 0x000fffffffffffffU) | 0x0010000000000000U;
    drop = static_cast<unsigned>(28 - exponent);
  }
  const std::uint64_t kept = digits >> drop;
  const std::uint64_t lost = digits & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  // May carry into the exponent.
  const bool up = lost > half || (lost == half && (kept & 1U) != 0);
  return static_cast<std::uint16_t>(sign | (kept + (up ? 1U : 0U)));
}

// This conversion is exact.
constexpr float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t magnitude = half & 0x7fffU;
  if (magnitude >= 0x7c00U)  // Infinity and NaN.
    return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13U));
  if (magnitude < 0x400U) {  // Below 2^-14: a whole number of smallest steps.
    const float tiny = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -tiny : tiny;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13U) + (std::uint32_t{127 - 15} << 23U)));
}

// The same for finite numbers only, without branches.
constexpr float float_from_finite_half(std::uint16_t half) {
  // If the bits are read as those of a float, the exponent is 112 too low.
  const float magnitude = std::bit_cast<float>((half & 0x7fffU) << 13U) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | ((half & 0x8000U) << 16U));
}

}  // namespace isotact
