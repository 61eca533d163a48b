#include "isotact/base/srgb.h"

#include <algorithm>

namespace isotact {
namespace {

// x^(1/5) for x in (0, 1], by Newton's method.
double fifth_root(double x) {
  double r = 1;
  for (int i = 0; i < 60; ++i) {
    const double r4 = r * r * r * r;
    r -= (r * r4 - x) / (5 * r4);
  }
  return r;
}

}  // namespace

double decode_srgb(double encoded) {
  if (encoded <= 0.04045) return std::max(encoded, 0.0) / 12.92;
  const double x = (std::min(encoded, 1.0) + 0.055) / 1.055;
  return x * x * fifth_root(x * x);  // x^2.4
}

}  // namespace isotact
