// Roots of a cubic polynomial on [0, 1] in Bernstein form: b0 (1-s)^3 + 3 b1 s (1-s)^2 + 3 b2 s^2
// (1-s) + b3 s^3. Its values lie between its least and its largest coefficient. It has no more
// roots than its coefficients have changes of sign. A value is inside if it is at most zero.
#pragma once

#include "isotact/base/detail/lanes.h"

namespace isotact::detail {

template <typename F>
struct CubicValue {
  F value, slope;
};

// De Casteljau.
template <typename F>
ISOTACT_INLINE CubicValue<F> evaluate_cubic(const F* b, F s) {
  const F p0 = b[0] + (b[1] - b[0]) * s, p1 = b[1] + (b[2] - b[1]) * s,
          p2 = b[2] + (b[3] - b[2]) * s;
  const F q0 = p0 + (p1 - p0) * s, q1 = p1 + (p2 - p1) * s;
  return {q0 + (q1 - q0) * s, (q1 - q0) * F(3.0F)};
}

// Returns the root between lo and hi, whose values must be on different sides. Uses Newton's
// method, or bisection if a step would leave the interval. A step from a root stays there, so that
// ending earlier gives the same bits.
inline constexpr int kRootSteps = 12;

template <typename F>
ISOTACT_INLINE F find_cubic_root(const F* b, F lo, F at_lo, F hi, F at_hi) {
  const F zero(0.0F), half(0.5F);
  const auto lo_inside = at_lo <= zero;
  const F line = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
  F s = lesser(greater(line, lo), hi);
  for (int i = 0; i < kRootSteps; ++i) {
    const CubicValue<F> at = evaluate_cubic(b, s);
    const auto with_lo = (at.value <= zero) == lo_inside;
    lo = select(with_lo, s, lo);
    hi = select(with_lo, hi, s);
    const F newton = s - at.value / at.slope;
    const auto good = (newton >= lo) & (newton <= hi);
    const F next = select(good, newton, (lo + hi) * half);
    if (bits_of(next != s) == 0) break;
    s = next;
  }
  return s;
}

// Returns all crossings from one side to the other, in order; 0 to 3. Their number is odd if b0 and
// b3 lie on different sides, and even otherwise.
ISOTACT_INLINE int find_crossings(const float* b, float* s) {
  const bool side[4] = {b[0] <= 0, b[1] <= 0, b[2] <= 0, b[3] <= 0};
  const int changes =
      (side[0] != side[1] ? 1 : 0) + (side[1] != side[2] ? 1 : 0) + (side[2] != side[3] ? 1 : 0);
  if (changes == 0) return 0;
  if (changes == 1) {
    s[0] = find_cubic_root(b, 0.0F, b[0], 1.0F, b[3]);
    return 1;
  }
  // The cubic is monotonic between its extrema. They are roots of the slope, whose coefficients
  // are:
  const float q0 = b[1] - b[0], q1 = b[2] - b[1], q2 = b[3] - b[2];
  const float a = (q0 - q1) + (q2 - q1), half_b = q1 - q0;
  const float discriminant = half_b * half_b - a * q0;
  float knot[4] = {0, 1, 1, 1};
  int knots = 1;
  if (discriminant > 0) {
    const float root = __builtin_sqrtf(discriminant);
    const float sum = half_b < 0 ? root - half_b : -(half_b + root);
    float e[2] = {sum / a, q0 / sum};
    if (e[1] < e[0]) {
      const float t = e[0];
      e[0] = e[1];
      e[1] = t;
    }
    for (const float extremum : e)
      if (extremum > knot[knots - 1] && extremum < 1) knot[knots++] = extremum;
  }
  knot[knots] = 1;
  int found = 0;
  float before = b[0];
  for (int i = 1; i <= knots; ++i) {
    const float after = i == knots ? b[3] : evaluate_cubic(b, knot[i]).value;
    if ((before <= 0) != (after <= 0))
      s[found++] = find_cubic_root(b, knot[i - 1], before, knot[i], after);
    before = after;
  }
  return found;
}

// XB14's search: the root of a straight line through both ends, five times. Returns at most one.
template <typename Evaluate>
int find_crossing_of_paper(const float* b, float* s, const Evaluate& evaluate) {
  if ((b[0] <= 0) == (b[3] <= 0)) return 0;
  float lo = 0, at_lo = b[0], hi = 1, at_hi = b[3];
  for (int i = 0; i < 5; ++i) {
    *s = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
    const float at = evaluate(*s);
    if ((at <= 0) == (at_lo <= 0)) {
      lo = *s;
      at_lo = at;
    } else {
      hi = *s;
      at_hi = at;
    }
  }
  return 1;
}

}  // namespace isotact::detail
