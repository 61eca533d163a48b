#include "isotact/base/random.h"

#include <gtest/gtest.h>

namespace isotact {
namespace {

// The first outputs of pcg32 for state 42 and stream 54, as its author published them.
TEST(Random, MatchesTheReferenceGenerator) {
  Random random(42, 54);
  for (const std::uint32_t expected :
       {0xa15c02b7U, 0x7b47f409U, 0xba1d3330U, 0x83d2f293U, 0xbfa4784bU, 0xcbed606eU})
    EXPECT_EQ(random.next_u32(), expected);
}

TEST(Random, BelowIsUnbiasedAndInRange) {
  Random random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(random.below(6));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Random, RotationsAreUnitAndEvenlySpread) {
  Random random(2);
  Vec3 mean{};
  for (int i = 0; i < 20'000; ++i) {
    const Quat q = random.rotation();
    EXPECT_NEAR(length_sq(q), 1, 1e-14);
    mean += rotate(q, {1, 0, 0}) / 20'000.0;
  }
  EXPECT_LT(length(mean), 0.02);
}

TEST(Random, StreamsDiffer) {
  EXPECT_NE(Random(1, 0).next_u64(), Random(1, 1).next_u64());
  EXPECT_NE(Random(1, 0).next_u64(), Random(2, 0).next_u64());
}

}  // namespace
}  // namespace isotact
