#include "isotact/base/parallel.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

TEST(ParallelFor, CoversEveryElementOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const std::size_t count : {0U, 1U, 99U, 100U, 101U, 12345U}) {
      std::vector<int> visits(count, 0);
      parallel_for(count, 100, {threads}, [&](std::size_t begin, std::size_t end) {
        EXPECT_LT(begin, end);
        EXPECT_LE(end - begin, 100U);
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(count));
    }
  }
}

TEST(ParallelFor, UsesNoMoreThreadsThanAsked) {
  std::atomic<int> inside{0}, most{0};
  parallel_for(200, 1, {2}, [&](std::size_t, std::size_t) {
    const int now = ++inside;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --inside;
  });
  EXPECT_LE(most.load(), 2);
}

TEST(ParallelFor, MayBeNested) {
  std::vector<int> sums(50, 0);
  parallel_for(50, 1, {}, [&](std::size_t outer, std::size_t) {
    sums[outer] = parallel_reduce(
        1000, 10, {}, 0,
        [](std::size_t begin, std::size_t end) { return static_cast<int>(end - begin); },
        [](int a, int b) { return a + b; });
  });
  EXPECT_EQ(std::count(sums.begin(), sums.end(), 1000), 50);
}

TEST(ParallelFor, RethrowsTheLowestChunksError) {
  for (const int threads : {1, 2, 7}) {
    try {
      parallel_for(1000, 1, {threads}, [](std::size_t i, std::size_t) {
        if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "37");
    }
  }
}

// Sums of doubles of very different size: any change in the order of additions shows in the bits.
TEST(ParallelReduce, GivesTheSameBitsWithAnyNumberOfThreads) {
  Random random(4);
  std::vector<double> values(100'003);
  for (double& v : values) v = random.uniform(-1, 1) * (random.below(2) == 0 ? 1e-9 : 1e9);
  const auto sum = [&](int threads) {
    return parallel_reduce(
        values.size(), 128, {threads}, 0.0,
        [&](std::size_t begin, std::size_t end) {
          double part = 0;
          for (std::size_t i = begin; i < end; ++i) part += values[i];
          return part;
        },
        [](double a, double b) { return a + b; });
  };
  const double expected = sum(1);
  for (const int threads : {0, 2, 3, 7}) EXPECT_EQ(sum(threads), expected);
}

TEST(Threads, ResolveTakesAsked) {
  EXPECT_EQ(resolve({3}), 3);
  EXPECT_GE(resolve({}), 1);
}

}  // namespace
}  // namespace isotact
