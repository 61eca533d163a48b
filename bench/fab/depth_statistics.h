// Means, spreads, and whether two means differ: as FAB's Table 1 has them.
#pragma once

#include <cmath>
#include <vector>

namespace isotact::bench {

struct Sample {
  std::size_t count = 0;
  double mean = 0, deviation = 0;  // of single values
};

inline Sample describe_values(const std::vector<double>& values) {
  Sample s{.count = values.size()};
  if (values.empty()) return s;
  for (const double v : values) s.mean += v;
  s.mean /= static_cast<double>(s.count);
  for (const double v : values) s.deviation += (v - s.mean) * (v - s.mean);
  s.deviation = s.count > 1 ? std::sqrt(s.deviation / static_cast<double>(s.count - 1)) : 0;
  return s;
}

// The regularised incomplete beta function I_x(a, b) by its continued fraction (Lentz's way to
// evaluate it), which converges fast for x < (a + 1) / (a + b + 2); the other side follows by
// symmetry.
inline double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) -
                                std::lgamma(a) - std::lgamma(b)) /
                       a;
  constexpr double kTiny = 1e-300;
  double f = 1, c = 1, d = 0;
  for (int i = 0; i <= 400; ++i) {
    const int m = i / 2;
    double numerator = 1;
    if (i > 0 && i % 2 == 0) numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    if (i % 2 == 1) numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + numerator * d;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1 + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    f *= c * d;
    if (std::abs(1 - c * d) < 1e-14) break;
  }
  return front * (f - 1);
}

// How likely means that differ so much are if both come from the same distribution: Welch's form of
// Student's t-test, two-sided. 1 where there is too little to tell.
inline double find_p_value(const Sample& a, const Sample& b) {
  if (a.count < 2 || b.count < 2) return 1;
  const double va = a.deviation * a.deviation / static_cast<double>(a.count);
  const double vb = b.deviation * b.deviation / static_cast<double>(b.count);
  if (!(va + vb > 0)) return a.mean == b.mean ? 1 : 0;
  const double t_sq = (a.mean - b.mean) * (a.mean - b.mean) / (va + vb);
  const double freedom =
      (va + vb) * (va + vb) /
      (va * va / static_cast<double>(a.count - 1) + vb * vb / static_cast<double>(b.count - 1));
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t_sq));
}

}  // namespace isotact::bench
