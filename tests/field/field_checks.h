// What the contract in field.h promises, checked on random points, pairs and boxes of any field.
#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/field.h"

namespace isotact {

struct CheckSettings {
  Aabb box{{-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}};  // where points are taken
  int count = 2000;
  double step = 1e-6;       // of finite differences, metres
  double tolerance = 1e-5;  // of their slopes
  double smooth_share = 0.95;
  double rounding = 1e-12;  // metres: how far values may be off
  // Whether range() is the true one, and not only a bound: compared with samples of the box.
  bool range_is_exact = true;
};

// One answer, and a gradient that agrees with differences except across creases.
template <Field F>
void check_samples(const F& field, const CheckSettings& s = {}) {
  Random random(11);
  int smooth = 0;
  for (int i = 0; i < s.count; ++i) {
    const Vec3 p = random.in_box(s.box.lower, s.box.upper);
    const FieldSample at = field.sample(p);
    ASSERT_EQ(at.distance, field.value(p));
    ASSERT_LE(length(at.gradient), field.lipschitz() * (1 + 1e-9));
    Vec3 slope;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Vec3 low = p, high = p;
      low[axis] -= s.step;
      high[axis] += s.step;
      slope[axis] = (field.value(high) - field.value(low)) / (2 * s.step);
    }
    if (length(slope - at.gradient) < s.tolerance) ++smooth;
  }
  EXPECT_GE(smooth, s.smooth_share * s.count);
}

// Pairs at all distances.
template <Field F>
void check_lipschitz(const F& field, const CheckSettings& s = {}) {
  Random random(12);
  double steepest = 0;
  for (int i = 0; i < s.count; ++i) {
    const Vec3 p = random.in_box(s.box.lower, s.box.upper);
    const double reach = length(extent(s.box)) * std::exp2(random.uniform(-12, 0));
    const Vec3 q = p + random.in_unit_ball() * reach;
    const double change = std::abs(field.value(p) - field.value(q));
    ASSERT_LE(change, field.lipschitz() * length(p - q) + s.rounding);
    steepest = std::max(steepest, change / length(p - q));
  }
  EXPECT_GT(steepest, 0.4 * field.lipschitz()) << "the bound is far too large";
}

template <Field F>
void check_range(const F& field, const CheckSettings& s = {}) {
  Random random(13);
  for (int i = 0; i < s.count / 10; ++i) {
    Aabb box;
    const Vec3 p = random.in_box(s.box.lower, s.box.upper);
    const double size = std::exp2(random.uniform(-6, 1));
    const Vec3 sides = random.in_box({0, 0, 0}, {1, 1, 1}) * size;
    extend(box, p);
    extend(box, p + sides);
    const Interval range = field.range(box);
    constexpr int kSteps = 6;
    Interval seen{1e30, -1e30};
    for (int k = 0; k <= kSteps; ++k)
      for (int j = 0; j <= kSteps; ++j)
        for (int m = 0; m <= kSteps; ++m) {
          const Vec3 at = min(p + Vec3{sides.x * m, sides.y * j, sides.z * k} / kSteps, box.upper);
          const double v = field.value(at);
          ASSERT_TRUE(contains(range, v)) << v - range.lower << " " << range.upper - v;
          seen = unite(seen, {v, v});
        }
    // No point of the box is further from a sample than half of their diagonal.
    const double reach = field.lipschitz() * length(sides) / kSteps / 2 + s.rounding;
    if (s.range_is_exact) {
      ASSERT_GE(range.lower, seen.lower - reach);
      ASSERT_LE(range.upper, seen.upper + reach);
    }
  }
}

template <Field F>
void check_field(const F& field, const CheckSettings& s = {}) {
  check_samples(field, s);
  check_lipschitz(field, s);
  check_range(field, s);
}

}  // namespace isotact
