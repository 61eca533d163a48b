#include "isotact/base/trig.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace isotact {
namespace {

// pi/2 in three pieces; the first two have 33 bits, so their products with a 20-bit quadrant count
// are exact (Cody and Waite 1980).
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;

// Taylor series on [-pi/4, pi/4]; the omitted terms are below 1e-19 there. The argument is x + low,
// with |low| below an ulp of x.
double sin_near_zero(double x, double low) {
  const double z = x * x;
  const double p =
      1.0 / 5040 -
      z * (1.0 / 362880 -
           z * (1.0 / 39916800 -
                z * (1.0 / 6227020800 - z * (1.0 / 1307674368000 - z * (1.0 / 355687428096000)))));
  const double r = 1.0 / 120 - z * p;
  return x + (low * (1 - 0.5 * z) + x * z * (z * r - 1.0 / 6));
}

double cos_near_zero(double x, double low) {
  const double z = x * x;
  const double p =
      1.0 / 720 -
      z * (1.0 / 40320 -
           z * (1.0 / 3628800 - z * (1.0 / 479001600 - z * (1.0 / 87178291200 -
                                                            z * (1.0 / 20922789888000 -
                                                                 z * (1.0 / 6402373705728000))))));
  const double half = 0.5 * z, w = 1 - half;
  // (1 - w) - half is the part that the subtraction above rounded away.
  return w + (((1 - w) - half) + (z * z * (1.0 / 24 - z * p) - x * low));
}

}  // namespace

SinCos sin_cos(double angle) {
  constexpr double kTooFar = 1e6;
  if (!(std::abs(angle) <= kTooFar)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  const double quadrants = std::floor(angle * (2 / kPi) + 0.5);
  const double a = angle - quadrants * kHalfPi1;  // Exact: both are multiples of one small unit.
  const double b = quadrants * kHalfPi2;
  const double high = a - b;
  const double lost = (a - high) - b;
  const double low_part = lost - quadrants * kHalfPi3;
  const double x = high + low_part;
  const double low = (high - x) + low_part;
  const double s = sin_near_zero(x, low), c = cos_near_zero(x, low);
  switch (static_cast<std::int64_t>(quadrants) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double angle_of(double y, double x) {
  const double r = std::sqrt(x * x + y * y);
  if (!(r > 0)) return 0;
  const double u = x / r, v = y / r;
  // Starts with a guess within 0.1 from the "diamond angle"; each step then cubes the error.
  const double diamond = std::abs(v) / (std::abs(u) + std::abs(v));
  double angle = diamond * (kPi / 2);
  if (u < 0) angle = kPi - angle;
  if (v < 0) angle = -angle;
  for (int step = 0; step < 3; ++step) {
    const SinCos t = sin_cos(angle);
    angle += v * t.cos - u * t.sin;
  }
  return angle > kPi ? kPi : angle;
}

}  // namespace isotact
