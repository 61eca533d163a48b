#include "isotact/queries/broad_phase/box_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/queries/broad_phase/detail/box_levels.h"

#include "queries/deformable/wandering.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using detail::BoxLevels;
using detail::FloatBox;

FloatBox random_box(Random& random) {
  const Vec3 at = random.in_box({0, 0, 0}, {10, 10, 10});
  const double size = random.below(20) == 0 ? 5 : 0.8;
  const Vec3 to = at + random.in_box({0, 0, 0}, {size, size, size});
  FloatBox box;
  for (std::size_t k = 0; k < 3; ++k) {
    box.lower[k] = static_cast<float>(at[k]);
    box.upper[k] = static_cast<float>(to[k]);
  }
  return box;
}

bool overlap(const FloatBox& a, const FloatBox& b) {
  for (std::size_t k = 0; k < 3; ++k)
    if (a.lower[k] > b.upper[k] || b.lower[k] > a.upper[k]) return false;
  return true;
}

std::vector<std::uint64_t> find(detail::FindTreePairs find_pairs, const BoxLevels& levels) {
  struct Sink : detail::PairSink {
    std::array<std::uint64_t, 80> few{};  // flushed often
    std::vector<std::uint64_t> all;
  } sink;
  sink.keys = sink.few.data();
  sink.count = 0;
  sink.capacity = sink.few.size();
  sink.flush = [](detail::PairSink& full) {
    auto& s = static_cast<Sink&>(full);
    s.all.insert(s.all.end(), s.keys, s.keys + s.count);
    s.count = 0;
  };
  const detail::BoxTreeView view = levels.view();
  find_pairs(view, 0, view.block_count, sink);
  sink.flush(sink);
  return sink.all;
}

// Everything that is asked for, once; by all kernels in the same order.
TEST(BoxLevels, FindsPairsOfWhatMoved) {
  Random random(21);
  for (const std::uint32_t count : {1U, 7U, 8U, 9U, 64U, 65U, 600U, 1500U}) {
    BoxLevels levels;
    std::vector<FloatBox> boxes;
    for (std::uint32_t i = 0; i < count; ++i) {
      boxes.push_back(random_box(random));
      levels.add(i);
    }
    std::vector<std::uint8_t> moved(count, 1), there(count, 1);
    for (int round = 0; round < unless_slow(6, 3); ++round) {
      if (round % 2 == 0) levels.build(boxes, {1});
      const bool all = round == 0;
      levels.refresh(boxes, all, {1});
      std::vector<std::uint64_t> want;
      for (std::uint32_t a = 0; a < count; ++a)
        for (std::uint32_t b = a + 1; b < count; ++b)
          if (there[a] != 0 && there[b] != 0 && (all || moved[a] != 0 || moved[b] != 0) &&
              overlap(boxes[a], boxes[b]))
            want.push_back(std::uint64_t{a} << 32U | b);
      std::vector<std::uint64_t> got = find(detail::find_tree_pairs_baseline(), levels);
      ASSERT_EQ(find(detail::choose_find_tree_pairs(simd_level_of_cpu()), levels), got);
      std::sort(got.begin(), got.end());
      ASSERT_EQ(got, want) << count << " round " << round;
      levels.settle();
      std::fill(moved.begin(), moved.end(), std::uint8_t{0});
      for (std::uint32_t i = 0; i < count; ++i) {
        if (there[i] == 0 || random.below(4) != 0) continue;
        if (random.below(5) == 0) {
          levels.drop(i);
          there[i] = 0;
          continue;
        }
        boxes[i] = random_box(random);
        moved[i] = 1;
        levels.touch(i);
      }
    }
  }
}

// What makes it fast: objects that move a little are rarely looked up, resting ones never.
TEST(BoxTree, LooksUpWhatLeavesItsWiderBox) {
  Wanderers scene({.count = 1000, .side = 25, .speed = 0.02}, 3);
  BoxTree tree;
  for (const Aabb& box : scene.boxes) tree.insert(box);
  tree.step();
  EXPECT_EQ(tree.work().looked_up, 1000U);
  EXPECT_TRUE(tree.work().sorted);
  std::size_t looked_up = 0;
  for (int frame = 0; frame < 20; ++frame) {
    scene.step();
    for (ObjectHandle i = 0; i < 1000; ++i) tree.update(i, scene.boxes[i]);
    tree.step();
    looked_up += tree.work().looked_up;
    EXPECT_LT(tree.work().candidates, 4 * tree.pairs().size());
  }
  EXPECT_LT(looked_up, 20U * 1000 / 5);
  EXPECT_GT(looked_up, 100U);
  for (ObjectHandle i = 0; i < 1000; ++i) tree.update(i, scene.boxes[i]);
  tree.step();
  EXPECT_TRUE(tree.begun().empty());
  EXPECT_TRUE(tree.ended().empty());
  EXPECT_FALSE(tree.pairs().empty());
}

// One that flew away, and one without end, must not keep the tree from being sorted.
TEST(BoxTree, IsSortedAnewDespiteStrays) {
  Wanderers scene({.count = 1000, .side = 25, .speed = 0.4}, 3);
  BoxTree tree;
  for (const Aabb& box : scene.boxes) tree.insert(box);
  tree.insert(Aabb{{1e12, 1e12, 1e12}, {2e12, 2e12, 2e12}});
  tree.insert(Aabb{{-HUGE_VAL, -HUGE_VAL, 0}, {HUGE_VAL, HUGE_VAL, 0}});
  int sorted = 0;
  for (int frame = 0; frame < 60; ++frame) {
    tree.step();
    sorted += tree.work().sorted ? 1 : 0;
    scene.step();
    for (ObjectHandle i = 0; i < 1000; ++i) tree.update(i, scene.boxes[i]);
  }
  EXPECT_GT(sorted, 3);
  EXPECT_LT(sorted, 30);
}

// Heaps as worlds have them: some boxes wide, flat or without end, and all of them new in each
// step.
TEST(BoxTree, FindsAllPairsOfHeaps) {
  Random random(4);
  std::size_t pairs = 0;
  BoxTree tree;
  BruteForceBroadPhase all;
  for (int round = 0; round < 60; ++round) {
    const double size = random.uniform(0.01, 0.3);
    const bool flat = round % 7 == 0, same_place = round % 11 == 0;
    std::vector<Aabb> boxes;
    for (int i = 0; i < 250; ++i) {
      Vec3 c = random.in_unit_ball() * (same_place ? 0.01 : 2);
      Vec3 r = random.in_box({0.5, 0.5, 0.5}, {1, 1, 1}) * size;
      if (random.below(40) == 0) r = r * 20;
      if (flat) c.z = r.z = 0;
      boxes.push_back({c - r, c + r});
    }
    constexpr double kEnd = std::numeric_limits<double>::infinity();
    boxes.push_back({{-kEnd, -kEnd, -kEnd}, {kEnd, kEnd, kEnd}});
    boxes.push_back({{-1, -kEnd, -1}, {1, 0, 1}});
    boxes.push_back({});
    for (ObjectHandle i = 0; i < boxes.size(); ++i)
      for (BroadPhase* phase : {static_cast<BroadPhase*>(&tree), static_cast<BroadPhase*>(&all)}) {
        if (phase->contains(i))
          phase->update(i, boxes[i]);
        else
          ASSERT_EQ(phase->insert(boxes[i]), i);
      }
    tree.step();
    all.step();
    ASSERT_TRUE(std::ranges::equal(tree.pairs(), all.pairs())) << round;
    pairs += tree.pairs().size();
  }
  EXPECT_GT(pairs, 60U * 500);
  EXPECT_LT(pairs, 60U * 20000);
}

}  // namespace
}  // namespace isotact
