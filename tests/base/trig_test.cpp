#include "isotact/base/trig.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

// Distance to the true value in units in the last place of the result.
double ulps(double value, long double truth) {
  const double next = std::nextafter(std::abs(value), std::numeric_limits<double>::infinity());
  const long double unit = std::max(next - std::abs(value), std::numeric_limits<double>::min());
  return static_cast<double>(std::abs(static_cast<long double>(value) - truth) / unit);
}

TEST(Trig, SineAndCosineAreWithinOneUlp) {
  Random random(7);
  double worst = 0;
  for (const double range : {1e-3, 1.0, 10.0, 1e3, 1e6})
    for (int i = 0; i < 20000; ++i) {
      const double x = random.uniform(-range, range);
      const SinCos t = sin_cos(x);
      worst = std::max({worst, ulps(t.sin, std::sin(static_cast<long double>(x))),
                        ulps(t.cos, std::cos(static_cast<long double>(x)))});
    }
  EXPECT_LT(worst, 1.0);
}

TEST(Trig, QuartersOfATurnAreNearlyExact) {
  EXPECT_EQ(sin_cos(0).sin, 0);
  EXPECT_EQ(sin_cos(0).cos, 1);
  EXPECT_EQ(sin_cos(kPi / 2).sin, 1);
  EXPECT_EQ(sin_cos(kPi).cos, -1);
  // The rounding of pi itself.
  EXPECT_DOUBLE_EQ(sin_cos(kPi).sin, 1.2246467991473532e-16);
  EXPECT_DOUBLE_EQ(sin_cos(kPi / 2).cos, 6.123233995736766e-17);
}

TEST(Trig, FarAndNonFiniteAnglesAreNan) {
  for (const double x : {1e7, -1e300, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(sin_cos(x).sin)) << x;
    EXPECT_TRUE(std::isnan(sin_cos(x).cos)) << x;
  }
}

TEST(Trig, AngleOfFindsTheAngleBack) {
  Random random(8);
  for (int i = 0; i < 50000; ++i) {
    const double angle = random.uniform(-kPi, kPi), radius = random.uniform(1e-3, 1e3);
    const double y = radius * std::sin(angle), x = radius * std::cos(angle);
    EXPECT_NEAR(angle_of(y, x), std::atan2(y, x), 1e-15 + 4e-16 * std::abs(angle));
  }
  EXPECT_EQ(angle_of(0, 0), 0);
  EXPECT_EQ(angle_of(0, 5), 0);
  EXPECT_DOUBLE_EQ(angle_of(0, -5), kPi);
  EXPECT_DOUBLE_EQ(angle_of(-3, 0), -kPi / 2);
}

}  // namespace
}  // namespace isotact
