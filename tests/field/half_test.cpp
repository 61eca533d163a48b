#include "isotact/field/half.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

// By the definition of the format.
double decode(std::uint16_t half) {
  const int exponent = (half >> 10U) & 31;
  const double fraction = half & 0x3ffU;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryFiniteNumberGoesThereAndBack) {
  for (std::uint32_t h = 0; h < 0x10000U; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    if ((h & 0x7c00U) == 0x7c00U) continue;
    ASSERT_EQ(static_cast<double>(float_from_half(half)), decode(half)) << h;
    ASSERT_EQ(half_from_double(decode(half)), half);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(float_from_finite_half(half)),
              std::bit_cast<std::uint32_t>(float_from_half(half)));
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  for (std::uint32_t h = 0; h < 0x7bffU; ++h) {
    const double lower = decode(static_cast<std::uint16_t>(h));
    const double upper = decode(static_cast<std::uint16_t>(h + 1));
    const double middle = 0.5 * (lower + upper);
    const double below = std::nextafter(middle, 0.0), above = std::nextafter(middle, 1e9);
    ASSERT_EQ(half_from_double(below), h);
    ASSERT_EQ(half_from_double(middle), (h & 1U) == 0 ? h : h + 1);
    ASSERT_EQ(half_from_double(above), h + 1);
    ASSERT_EQ(half_from_double(-above), (h + 1) | 0x8000U);
  }
}

TEST(Half, KnowsTheEndsOfItsRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(half_from_double(65519.999), 0x7bffU);
  EXPECT_EQ(half_from_double(65520), 0x7c00U);
  EXPECT_EQ(half_from_double(-infinity), 0xfc00U);
  EXPECT_EQ(half_from_double(0x1p-25), 0U);
  EXPECT_EQ(half_from_double(0x1.00001p-25), 1U);
  EXPECT_EQ(half_from_double(-1e-300), 0x8000U);
  EXPECT_EQ(float_from_half(0x7c00U), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_half(half_from_double(std::nan("")))));
}

TEST(Half, KeepsItsBoundOfRounding) {
  Random random(16);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(random.uniform(-1, 1), static_cast<int>(random.below(50)) - 34);
    const double error = std::fabs(static_cast<double>(float_from_half(half_from_double(x))) - x);
    ASSERT_LE(error, std::fmax(std::fabs(x) * kHalfRounding, kHalfTiniest / 2)) << x;
  }
}

}  // namespace
}  // namespace isotact
