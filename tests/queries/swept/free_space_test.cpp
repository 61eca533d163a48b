#include "isotact/queries/swept/detail/free_space.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact::detail {
namespace {

std::vector<std::uint8_t> compute_by_brute_force(const Index3& n,
                                                 const std::vector<std::uint8_t>& marked) {
  std::vector<Index3> places;
  std::vector<Index3> all;
  for (std::int32_t z = 0; z < n[2]; ++z)
    for (std::int32_t y = 0; y < n[1]; ++y)
      for (std::int32_t x = 0; x < n[0]; ++x) {
        all.push_back({x, y, z});
        if (marked[all.size() - 1] != 0) places.push_back(all.back());
      }
  std::vector<std::uint8_t> quarters;
  for (const Index3& at : all) {
    double least = 1e9;
    for (const Index3& other : places) {
      double square = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const int gap = std::max(std::abs(at[axis] - other[axis]) - 1, 0);
        square += gap * gap;
      }
      least = std::min(least, square);
    }
    quarters.push_back(
        static_cast<std::uint8_t>(std::min(4 * std::sqrt(least), double{kMostFree})));
  }
  return quarters;
}

// Rows shorter than a chunk, of several chunks, and of a part of one; some marks, one, or none; and
// distances beyond the furthest that is kept.
TEST(FreeSpace, BlockDistancesAreThoseOfBruteForce) {
  Random random(3);
  std::size_t far = 0, near = 0;
  for (const Index3& n : {Index3{7, 5, 6}, Index3{32, 6, 5}, Index3{40, 9, 4}, Index3{100, 3, 3},
                          Index3{3, 90, 4}, Index3{5, 3, 140}})
    for (const int marks : {0, 1, 3, 40}) {
      std::vector<std::uint8_t> marked(count(n));
      for (int i = 0; i < marks; ++i)
        marked[random.below(static_cast<std::uint32_t>(marked.size()))] = 1;
      const std::vector<std::uint8_t> expected = compute_by_brute_force(n, marked);
      for (const int threads : {1, 3})
        EXPECT_EQ(compute_block_distances(n, marked, {threads}), expected)
            << n[0] << ' ' << n[1] << ' ' << n[2] << ", " << marks << " marks";
      for (const std::uint8_t q : expected) (q == kMostFree ? far : near) += 1;
    }
  EXPECT_GT(far, 1000U);
  EXPECT_GT(near, 1000U);
}

}  // namespace
}  // namespace isotact::detail
