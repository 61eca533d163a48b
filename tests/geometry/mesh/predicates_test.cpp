#include "isotact/geometry/mesh/predicates.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

__extension__ using Wide = __int128;
using Whole = std::array<std::int64_t, 3>;

int sign(Wide v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

// In whole numbers of up to 30 bits nothing overflows 128 bits.
int oracle_orient3d(const Whole& a, const Whole& b, const Whole& c, const Whole& d) {
  std::array<std::array<Wide, 3>, 3> m{};
  for (std::size_t k = 0; k < 3; ++k)
    m[0][k] = b[k] - a[k], m[1][k] = c[k] - a[k], m[2][k] = d[k] - a[k];
  return sign(m[2][0] * (m[0][1] * m[1][2] - m[0][2] * m[1][1]) +
              m[2][1] * (m[0][2] * m[1][0] - m[0][0] * m[1][2]) +
              m[2][2] * (m[0][0] * m[1][1] - m[0][1] * m[1][0]));
}

Vec3f to_point(const Whole& w, float scale) {
  return {static_cast<float>(w[0]) * scale, static_cast<float>(w[1]) * scale,
          static_cast<float>(w[2]) * scale};
}

// Numbers of 24 bits at most, times a power of two: exact as floats, of very different sizes.
std::int64_t draw(Random& random, std::uint32_t spread) {
  const std::int64_t v = static_cast<std::int64_t>(random.below(1U << 12U)) - (1 << 11);
  return v * (std::int64_t{1} << random.below(spread + 1));
}

TEST(Predicates, Orient3dAgreesWithWholeNumbers) {
  Random random(51);
  int zeros = 0, total = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::uint32_t spread = random.below(18);
    Whole a{}, b{}, c{}, d{};
    for (std::size_t k = 0; k < 3; ++k) {
      a[k] = draw(random, spread);
      b[k] = draw(random, spread);
      c[k] = draw(random, spread);
    }
    // On the plane of the others, or next to it.
    const std::int64_t s = random.below(3), t = random.below(3);
    for (std::size_t k = 0; k < 3; ++k) d[k] = a[k] + s * (b[k] - a[k]) + t * (c[k] - a[k]);
    if (random.below(2) == 0) d[random.below(3)] += 1;
    bool exact = true;
    for (const std::int64_t v : d) exact &= static_cast<std::int64_t>(static_cast<float>(v)) == v;
    if (!exact) continue;
    const float scale = std::ldexp(1.0F, static_cast<int>(random.below(140)) - 70);
    const int expected = oracle_orient3d(a, b, c, d);
    ASSERT_EQ(
        orient3d(to_point(a, scale), to_point(b, scale), to_point(c, scale), to_point(d, scale)),
        expected);
    zeros += expected == 0 ? 1 : 0;
    ++total;
  }
  EXPECT_GT(total, 10000);
  EXPECT_GT(zeros, total / 4);
  EXPECT_LT(zeros, total * 3 / 4);
}

TEST(Predicates, Orient2dAgreesWithWholeNumbers) {
  Random random(52);
  int zeros = 0;
  for (int i = 0; i < 30000; ++i) {
    std::array<std::int64_t, 6> v{};
    for (std::int64_t& x : v) x = draw(random, random.below(10));
    const std::int64_t s = random.below(2);
    if (i % 2 == 0)
      for (std::size_t k = 0; k < 2; ++k) v[4 + k] = v[k] + s * (v[2 + k] - v[k]);
    const Wide det = Wide{v[2] - v[0]} * (v[5] - v[1]) - Wide{v[3] - v[1]} * (v[4] - v[0]);
    const auto point = [&](std::size_t k) {
      return Point2f{static_cast<float>(v[2 * k]), static_cast<float>(v[2 * k + 1])};
    };
    ASSERT_EQ(orient2d(point(0), point(1), point(2)), sign(det));
    zeros += det == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 10000);
}

TEST(Predicates, CoordinatesOfAllSizesAreExact) {
  // Differences of these do not fit a double: 2^100 + 2^-100 has 200 bits.
  const float huge = 0x1p100F, tiny = 0x1p-100F;
  const Vec3f a{huge, 0, 0}, b{0, huge, 0}, c{0, 0, huge};
  EXPECT_EQ(orient3d(a, b, c, {huge, 0, 0}), 0);
  EXPECT_EQ(orient3d(a, b, c, {huge, tiny, 0}), 1);
  EXPECT_EQ(orient3d(a, b, c, {huge, -tiny, 0}), -1);
  EXPECT_EQ(orient3d(a, b, c, {huge, tiny, -tiny}), 0);
  EXPECT_EQ(orient3d(a, b, c, {huge, tiny, -2 * tiny}), -1);
  EXPECT_EQ(orient2d(Point2f{-huge, -huge}, {huge, huge}, {tiny, tiny}), 0);
  EXPECT_EQ(orient2d(Point2f{-huge, -huge}, {huge, huge}, {tiny, 2 * tiny}), 1);
  const float denormal = 0x1p-149F, largest = std::numeric_limits<float>::max();
  EXPECT_EQ(orient2d(Point2f{-largest, -largest}, {largest, largest}, {denormal, 0}), -1);
  EXPECT_EQ(orient3d(Vec3f{0, 0, 0}, {denormal, 0, 0}, {0, denormal, 0}, {0, 0, denormal}), 1);
  EXPECT_EQ(
      orient3d(Vec3f{0, 0, 0}, {largest, 0, 0}, {0, denormal, 0}, {largest, largest, -denormal}),
      -1);
}

// Doubles of 53 bits and of very different sizes, on a plane or next to it: the sums of two points
// in wider numbers than theirs are known.
TEST(Predicates, DoublesAgreeWithWholeNumbers) {
  Random random(54);
  int zeros = 0, total = 0;
  for (int i = 0; i < 20000; ++i) {
    Whole a{}, b{}, c{}, d{};
    for (Whole* p : {&a, &b, &c})
      for (std::int64_t& x : *p)
        x = static_cast<std::int64_t>(random.next_u64() >> 24U) - (1LL << 39);
    const std::int64_t s = random.below(2), t = random.below(2);
    for (std::size_t k = 0; k < 3; ++k) d[k] = a[k] + s * (b[k] - a[k]) + t * (c[k] - a[k]);
    if (random.below(2) == 0) d[random.below(3)] += 1;
    const double scale = std::ldexp(1.0, static_cast<int>(random.below(400)) - 240);
    const auto point = [&](const Whole& w) {
      return Vec3{static_cast<double>(w[0]), static_cast<double>(w[1]), static_cast<double>(w[2])} *
             scale;
    };
    const int expected = oracle_orient3d(a, b, c, d);
    ASSERT_EQ(orient3d(point(a), point(b), point(c), point(d)), expected);
    zeros += expected == 0 ? 1 : 0;
    ++total;
  }
  EXPECT_GT(zeros, total / 4);
  EXPECT_LT(zeros, total * 3 / 4);
  const double last = std::nextafter(3.0, 4);
  EXPECT_EQ(orient2d(Point2{0, 0}, {1, 1}, {3, last}), 1);
  EXPECT_EQ(orient2d(Point2{0, 0}, {1, 1}, {last, 3}), -1);
  EXPECT_EQ(orient2d(Point2{0, 0}, {kLeastExact, kLeastExact}, {kMostExact, kMostExact}), 0);
  EXPECT_TRUE(are_collinear(Vec3{0, 0, 0}, {1, 2, 3}, {3, 6, 9}));
  EXPECT_FALSE(are_collinear(Vec3{0, 0, 0}, {1, 2, 3}, {3, 6, std::nextafter(9.0, 10)}));
}

TEST(Predicates, SignsTurnWithTheOrderOfPoints) {
  Random random(53);
  for (int i = 0; i < 2000; ++i) {
    std::array<Vec3f, 4> p{};
    for (Vec3f& q : p)
      for (std::size_t k = 0; k < 3; ++k)
        q[k] =
            std::ldexp(static_cast<float>(random.below(9)) - 4, static_cast<int>(random.below(60)));
    const int s = orient3d(p[0], p[1], p[2], p[3]);
    EXPECT_EQ(orient3d(p[1], p[2], p[0], p[3]), s);
    EXPECT_EQ(orient3d(p[1], p[0], p[2], p[3]), -s);
    EXPECT_EQ(orient3d(p[3], p[1], p[2], p[0]), -s);
    EXPECT_EQ(orient3d(p[2], p[3], p[0], p[1]), s);
  }
}

TEST(Predicates, CollinearPoints) {
  EXPECT_TRUE(are_collinear(Vec3f{0, 0, 0}, {1, 2, 3}, {3, 6, 9}));
  EXPECT_TRUE(are_collinear(Vec3f{1, 1, 1}, {1, 1, 1}, {3, 6, 9}));
  EXPECT_FALSE(are_collinear(Vec3f{0, 0, 0}, {1, 2, 3}, {3, 6, std::nextafter(9.0F, 10.0F)}));
  EXPECT_FALSE(are_collinear(Vec3f{0, 0, 0}, {0, 1, 0}, {0, 0, 1}));
}

}  // namespace
}  // namespace isotact
