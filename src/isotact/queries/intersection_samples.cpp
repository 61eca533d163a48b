// KGM, Algorithm 1.
#include <algorithm>
#include <cmath>

#include "isotact/queries/intersection_field.h"

namespace isotact {

namespace {

// For x > 0. The same bits on every machine, unlike libm's.
double cube_root(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int third = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  const double unit = std::ldexp(x, -3 * third);  // in [0.5, 8)
  double root = 1;
  for (int i = 0; i < 8; ++i) root = (2 * root + unit / (root * root)) / 3;  // Newton
  return std::ldexp(root, third);
}

double at_least_one(double x) { return std::max(std::floor(x + 0.5), 1.0); }

}  // namespace

// The listing works on sorted sides. Where the smallest side is zero it divides by zero; what its
// steps tend to for ever smaller sides is: one sample there, and n^3 for the others by their ratio.
//
// Why the product is at most 1.5 n^3. r3 <= n, since it starts as the least of three numbers whose
// product is n^3 and n is whole. Then r2 is sqrt(a2 n^3 / r3), rounded, a2 <= 1, hence r2 r3 <=
// sqrt(n^3 r3) + r3 / 2 <= n^2 + n / 2, and 1 where n is 1: never above n^3. The last line of the
// listing is r1 = n^3 / (r2 r3) >= 1, rounded: the product is off by at most r2 r3 / 2 <= n^3 / 2.
std::array<std::int32_t, 3> distribute_samples(const Vec3& box_size, int n) {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::stable_sort(axis.begin(), axis.end(),
                   [&](std::size_t i, std::size_t j) { return box_size[i] > box_size[j]; });
  const double longest = box_size[axis[0]];
  if (!(longest > 0)) return {1, 1, 1};
  const double wanted = static_cast<double>(n) * n * n;
  const double a2 = box_size[axis[1]] / longest, a3 = box_size[axis[2]] / longest;
  double r1 = 0, r2 = 0, r3 = 1;
  const double product = a2 * a3;
  if (product > 0) {
    r1 = n / cube_root(product);
    r2 = r1 * a2;
    r3 = at_least_one(r1 * a3);
    const double q = std::sqrt(r1 * r2 * r3 / wanted);
    r2 = at_least_one(r2 / q);
  } else {
    r2 = at_least_one(std::sqrt(a2 * wanted));
  }
  r1 = at_least_one(wanted / (r2 * r3));
  std::array<std::int32_t, 3> samples{};
  samples[axis[0]] = static_cast<std::int32_t>(r1);
  samples[axis[1]] = static_cast<std::int32_t>(r2);
  samples[axis[2]] = static_cast<std::int32_t>(r3);
  return samples;
}

}  // namespace isotact
