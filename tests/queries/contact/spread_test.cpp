#include "isotact/queries/contact/spread.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

constexpr Vec3 kUp{0, 1, 0};

std::vector<std::size_t> choose(const std::vector<Vec3>& at, std::size_t deepest, std::size_t most,
                                const SpreadSettings& settings = {}) {
  const SpreadChoice c = choose_spread(
      at.size(), deepest, kUp, most, [&](std::size_t i) { return at[i]; }, settings);
  return {c.index, c.index + c.count};
}

TEST(Spread, TakesTheCornersOfAPatch) {
  // A grid of 5 * 5, and its corners; the deepest is one of them.
  std::vector<Vec3> at;
  for (int x = 0; x < 5; ++x)
    for (int z = 0; z < 5; ++z) at.push_back({1.0 * x, 0, 1.0 * z});
  std::vector<std::size_t> found = choose(at, 0, 4);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], 0U);
  EXPECT_EQ(found[1], 24U);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 4, 20, 24}));
  for (std::size_t most = 0; most <= 4; ++most) EXPECT_EQ(choose(at, 12, most).size(), most);
}

TEST(Spread, LeavesSliversOut) {
  const std::vector<Vec3> at = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0.0005}, {0.5, 0, -0.002}};
  EXPECT_EQ(choose(at, 0, 4), (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(choose(at, 0, 4, {.sliver = 0}), (std::vector<std::size_t>{0, 1, 3, 2}));
  // Seen along the normal, the side at the left is that of negative z.
  EXPECT_EQ(choose(at, 0, 3, {.sliver = 0, .larger_side_first = false}),
            choose(at, 0, 3, {.sliver = 0}));
  const std::vector<Vec3> mirrored = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, -0.0005}, {0.5, 0, 0.002}};
  EXPECT_EQ(choose(mirrored, 0, 3, {.sliver = 0, .larger_side_first = false})[2], 2U);
  EXPECT_EQ(choose(mirrored, 0, 3, {.sliver = 0})[2], 3U);
}

TEST(Spread, MeasuresInThePlaneOrInSpace) {
  const std::vector<Vec3> at = {{0, 0, 0}, {1, 0, 0}, {0.1, 5, 0}};
  EXPECT_EQ(choose(at, 0, 2)[1], 1U);
  EXPECT_EQ(choose(at, 0, 2, {.in_plane = false})[1], 2U);
  // All at one place along the normal: nothing to add.
  const std::vector<Vec3> column = {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}};
  EXPECT_EQ(choose(column, 1, 4), (std::vector<std::size_t>{1}));
}

TEST(Spread, KeepsThoseOfTheStepBefore) {
  const std::vector<Vec3> at = {{0, 0, 0}, {1, 0, 0},    {0.95, 0, 0},
                                {0, 0, 1}, {0, 0, 0.95}, {0, 0, 0.5}};
  const std::array<std::size_t, 2> near = {2, 4}, far = {2, 5};
  EXPECT_EQ(choose(at, 0, 4), (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(choose(at, 0, 4, {.last = near}), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(choose(at, 0, 4, {.last = far}), (std::vector<std::size_t>{0, 2, 3}));
}

// Brute force: among all pairs and triples with the deepest, the first is the furthest, and those
// at the sides add the most area.
TEST(Spread, IsTheBestOfRandomPatches) {
  Random random(3);
  int full = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Vec3> at(3 + static_cast<std::size_t>(round) % 20);
    for (Vec3& p : at)
      p = {random.uniform(-1, 1), random.uniform(-0.1, 0.1), random.uniform(-1, 1)};
    const std::vector<std::size_t> found = choose(at, 1, 4);
    ASSERT_GE(found.size(), 2U);
    full += found.size() == 4 ? 1 : 0;
    const auto flat = [&](std::size_t i) {
      const Vec3 d = at[i] - at[1];
      return d.x * d.x + d.z * d.z;
    };
    const auto side = [&](std::size_t i) {
      return dot(cross(kUp, at[found[1]] - at[1]), at[i] - at[1]);
    };
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_LE(flat(i), flat(found[1]) * (1 + 1e-12));
      for (std::size_t k = 2; k < found.size(); ++k) {
        if (side(i) * side(found[k]) > 0) {
          EXPECT_LE(std::abs(side(i)), std::abs(side(found[k])) * (1 + 1e-12));
        }
      }
    }
  }
  EXPECT_GT(full, 150);
}

}  // namespace
}  // namespace isotact
