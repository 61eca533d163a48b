#include "isotact/queries/segments/detail/cubic.h"

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact::detail {
namespace {

// Against sides at many points, in double: found crossings are where the side changes.
TEST(Cubic, FindsEveryCrossing) {
  Random random(1);
  int with[4] = {0, 0, 0, 0};
  for (int trial = 0; trial < 20000; ++trial) {
    float b[4], s[3] = {0, 0, 0};
    for (float& x : b) x = static_cast<float>(random.uniform(-1, 1));
    if (trial % 3 == 0) {  // up and down again: two crossings near each other
      const float deep = static_cast<float>(random.uniform(0.3, 1.2));
      b[0] = 1, b[1] = -deep, b[2] = -deep, b[3] = 1;
    }
    const int n = find_crossings(b, s);
    ++with[n];
    EXPECT_EQ(n % 2 == 1, (b[0] <= 0) != (b[3] <= 0));
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(evaluate_cubic(b, s[i]).value, 0, 4e-6);
      EXPECT_TRUE(s[i] >= 0 && s[i] <= 1);
      if (i > 0) {
        EXPECT_LE(s[i - 1], s[i]);
      }
    }
    constexpr int kSteps = 400;
    for (int k = 0; k <= kSteps; ++k) {
      const double t = static_cast<double>(k) / kSteps, u = 1 - t;
      const double v =
          b[0] * u * u * u + 3 * b[1] * u * u * t + 3 * b[2] * u * t * t + b[3] * t * t * t;
      if (std::abs(v) < 1e-5) continue;
      bool inside = b[0] <= 0;
      for (int i = 0; i < n; ++i)
        if (static_cast<double>(s[i]) < t) inside = !inside;
      EXPECT_EQ(inside, v <= 0) << b[0] << " " << b[1] << " " << b[2] << " " << b[3] << " at " << t;
    }
  }
  EXPECT_GT(with[0], 1000);
  EXPECT_GT(with[1], 1000);
  EXPECT_GT(with[2], 1000);
  EXPECT_GT(with[3], 20);
}

TEST(Cubic, LanesGiveTheSameBits) {
  using Four = Lanes<float, 4>;
  Random random(2);
  for (int trial = 0; trial < 5000; ++trial) {
    float b[4][4], root[4];
    for (auto& coefficient : b)
      for (float& x : coefficient) x = static_cast<float>(random.uniform(-1, 1));
    for (int i = 0; i < 4; ++i) {
      b[0][i] = std::abs(b[0][i]);
      b[3][i] = -std::abs(b[3][i]);
    }
    const Four lanes[4] = {load<Four>(b[0]), load<Four>(b[1]), load<Four>(b[2]), load<Four>(b[3])};
    store(find_cubic_root(lanes, Four(0.0F), lanes[0], Four(1.0F), lanes[3]), root);
    for (int i = 0; i < 4; ++i) {
      const float one[4] = {b[0][i], b[1][i], b[2][i], b[3][i]};
      EXPECT_EQ(root[i], find_cubic_root(one, 0.0F, one[0], 1.0F, one[3]));
    }
  }
}

}  // namespace
}  // namespace isotact::detail
