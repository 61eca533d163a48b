#include "isotact/queries/broad_phase/broad_phase.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/models/analytic.h"
#include "isotact/queries/broad_phase/box_tree.h"

#include "mdl06/scene_octree.h"
#include "queries/deformable/wandering.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

SceneOctreeSettings cube(double side, int level, RegionTest test = RegionTest::kArvo) {
  return {Vec3{1, 1, 1} * (side / 2), side, level, test};
}

// The oracle and all that must agree with it.
struct Contenders {
  BruteForceBroadPhase truth;
  std::vector<std::unique_ptr<BroadPhase>> others;

  Contenders(double side, int level) {
    others.push_back(std::make_unique<BoxTree>());
    others.push_back(std::make_unique<SceneOctree>(cube(side, level)));
    others.push_back(std::make_unique<SceneOctree>(cube(side, level, RegionTest::kGrownBox)));
    others.push_back(std::make_unique<BoxTree>(BoxTreeSettings{.margin = 0, .steps_ahead = 0}));
  }
  void each(const std::function<void(BroadPhase&)>& work) {
    work(truth);
    for (const auto& other : others) work(*other);
  }
  template <typename Volume>
  ObjectHandle insert(const Volume& volume) {
    const ObjectHandle object = truth.insert(volume);
    for (const auto& other : others) EXPECT_EQ(other->insert(volume), object);
    return object;
  }
  template <typename Volume>
  void update(ObjectHandle object, const Volume& volume) {
    each([&](BroadPhase& b) { b.update(object, volume); });
  }
  void remove(ObjectHandle object) {
    each([&](BroadPhase& b) { b.remove(object); });
  }
  void step_and_compare() {
    const std::vector<ObjectPair> before = list(truth.pairs());
    each([](BroadPhase& b) { b.step(); });
    for (std::size_t i = 0; i < others.size(); ++i) {
      SCOPED_TRACE("contender " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(expect_same_pairs(*others[i], truth));
    }
    // Events lead from the pairs before to those now.
    std::vector<ObjectPair> rest, now;
    std::set_difference(before.begin(), before.end(), truth.ended().begin(), truth.ended().end(),
                        std::back_inserter(rest));
    ASSERT_EQ(rest.size() + truth.ended().size(), before.size());
    std::set_union(rest.begin(), rest.end(), truth.begun().begin(), truth.begun().end(),
                   std::back_inserter(now));
    ASSERT_EQ(rest.size() + truth.begun().size(), now.size());
    ASSERT_EQ(now, list(truth.pairs()));
  }
};

struct Range {
  std::size_t least, most;
};

// Pairs and events over all frames, which must be in the ranges for the case to be of worth.
void run_scene(const WanderSettings& settings, int level, int frames, bool as_spheres, Range pairs,
               Range events) {
  Wanderers scene(settings, 11);
  Contenders all(settings.side, level);
  const auto volume = [&](std::size_t i) {
    const Aabb& box = scene.boxes[i];
    // Every third stays a box.
    return i % 3 == 0 ? Sphere{{}, -1} : Sphere{center(box), extent(box).x / 2};
  };
  for (std::size_t i = 0; i < settings.count; ++i) {
    if (as_spheres && volume(i).radius >= 0)
      all.insert(volume(i));
    else
      all.insert(scene.boxes[i]);
  }
  std::size_t pair_count = 0, event_count = 0;
  for (int frame = 0; frame < frames; ++frame) {
    SCOPED_TRACE("frame " + std::to_string(frame));
    ASSERT_NO_FATAL_FAILURE(all.step_and_compare());
    pair_count += all.truth.pairs().size();
    if (frame > 0) event_count += all.truth.begun().size() + all.truth.ended().size();
    scene.step();
    for (std::size_t i = 0; i < settings.count; ++i) {
      const auto object = static_cast<ObjectHandle>(i);
      if (as_spheres && volume(i).radius >= 0)
        all.update(object, volume(i));
      else
        all.update(object, scene.boxes[i]);
    }
  }
  EXPECT_GE(pair_count, pairs.least);
  EXPECT_LE(pair_count, pairs.most);
  EXPECT_GE(event_count, events.least);
  EXPECT_LE(event_count, events.most);
}

TEST(BroadPhase, TenObjectsWander) {
  run_scene({.count = 10, .side = 6, .speed = 0.1}, 2, 500, false, {500, 5000}, {50, 1000});
}
TEST(BroadPhase, HundredObjectsWander) {
  run_scene({.count = 100, .side = 10, .speed = 0.1}, 3, 200, false, {10000, 100000}, {500, 20000});
}
TEST(BroadPhase, ThousandObjectsWander) {
  run_scene({.count = 1000, .side = 25, .speed = 0.05}, 4, unless_slow(40, 10), false,
            {unless_slow(20000, 5000), 200000}, {unless_slow(500, 100), 20000});
}
TEST(BroadPhase, TenThousandObjectsWander) {
  run_scene({.count = 10000, .side = 60, .speed = 0.1}, 5, unless_slow(4, 2), false,
            {unless_slow(10000, 5000), 100000}, {unless_slow(1000, 300), 20000});
}
TEST(BroadPhase, FastObjectsAndTeleports) {
  run_scene({.count = 300, .side = 12, .speed = 1, .rest = 0.2, .teleport = 0.05}, 3,
            unless_slow(60, 20), false, {unless_slow(20000, 5000), 400000},
            {unless_slow(10000, 3000), 400000});
}
TEST(BroadPhase, FewObjectsMove) {
  run_scene({.count = 400, .side = 14, .speed = 0.2, .rest = 0.98}, 3, unless_slow(100, 20), false,
            {unless_slow(20000, 4000), 400000}, {unless_slow(50, 5), 20000});
}
TEST(BroadPhase, SizesOfVeryDifferentScale) {
  run_scene({.count = 300, .side = 10, .speed = 0.02, .least_size = 1e-5, .most_size = 5}, 3,
            unless_slow(60, 15), false, {unless_slow(20000, 5000), 2000000},
            {unless_slow(50, 5), 100000});
}
TEST(BroadPhase, SpheresAndBoxesWander) {
  run_scene({.count = 300, .side = 12, .speed = 0.1}, 3, unless_slow(60, 20), true,
            {unless_slow(20000, 5000), 300000}, {unless_slow(300, 100), 100000});
}

// Boxes that touch, or miss each other by the least that doubles can say.
TEST(BroadPhase, TouchingToTheLastBit) {
  Random random(3);
  Contenders all(4, 3);
  std::vector<Aabb> boxes;
  std::size_t touching = 0, near = 0;
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < 40; i += 2) {
      const Vec3 at = random.in_box({0.5, 0.5, 0.5}, {3, 3, 3});
      const Aabb first{at - Vec3{0.1, 0.1, 0.1}, at + Vec3{0.1, 0.1, 0.1}};
      Aabb second{{first.upper.x, at.y, at.z}, at + Vec3{0.3, 0.2, 0.2}};
      const unsigned kind = random.below(3);
      if (kind == 1) second.lower.x = std::nextafter(second.lower.x, 9);
      if (kind == 2) second.lower.x = std::nextafter(second.lower.x, 0);
      near += kind == 1;
      touching += kind != 1;
      if (round == 0) {
        all.insert(first);
        all.insert(second);
      } else {
        all.update(static_cast<ObjectHandle>(i), first);
        all.update(static_cast<ObjectHandle>(i + 1), second);
      }
    }
    ASSERT_NO_FATAL_FAILURE(all.step_and_compare());
  }
  EXPECT_GT(near, 100U);
  EXPECT_GT(touching, 100U);
}

TEST(BroadPhase, FlatEmptyAndInfiniteBoxes) {
  Random random(8);
  Contenders all(10, 3);
  std::vector<Aabb> kinds{all_of_space(),
                          Aabb{},
                          {{-kInf, 2, 2}, {kInf, 2, 2}},
                          {{3, 3, 3}, {3, 3, 3}},
                          {{5, 5, 5}, {4, 6, 6}},
                          {{-1e300, -1e300, -1e300}, {1e300, 3, 1e300}},
                          {{kInf, 0, 0}, {kInf, 1, 1}},
                          {{1e-310, 1e-310, 1e-310}, {2e-310, 1, 1}},
                          {{1e30, 1e30, 1e30}, {1e30, 1e31, 1e32}},
                          {{0, 0, 0}, {10, 10, 0}}};
  for (int i = 0; i < 60; ++i) all.insert(kinds[random.below(10)]);
  ASSERT_NO_FATAL_FAILURE(all.step_and_compare());
  EXPECT_GT(all.truth.pairs().size(), 100U);
  for (int round = 0; round < 50; ++round) {
    for (ObjectHandle i = 0; i < 60; ++i) {
      if (random.below(3) != 0) continue;
      const Vec3 at = random.in_box({0, 0, 0}, {10, 10, 10});
      all.update(i, random.below(2) != 0 ? kinds[random.below(10)] : Aabb{at, at + Vec3{1, 0, 2}});
    }
    ASSERT_NO_FATAL_FAILURE(all.step_and_compare());
  }
}

TEST(BroadPhase, WhatIsNoNumberIsAnError) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Contenders all(10, 2);
  all.insert(Aabb{{0, 0, 0}, {1, 1, 1}});
  all.insert(Sphere{{1, 1, 1}, 1});
  all.step_and_compare();
  all.each([&](BroadPhase& b) {
    EXPECT_THROW(b.insert(Aabb{{0, nan, 0}, {1, 1, 1}}), Error);
    EXPECT_THROW(b.update(0, Aabb{{0, 0, 0}, {1, 1, nan}}), Error);
    EXPECT_THROW(b.insert(Sphere{{0, 0, nan}, 1}), Error);
    EXPECT_THROW(b.insert(Sphere{{0, 0, 0}, -1}), Error);
    EXPECT_THROW(b.update(1, Sphere{{0, 0, 0}, kInf}), Error);
    EXPECT_EQ(b.size(), 2U);
  });
  all.step_and_compare();
  EXPECT_EQ(all.truth.pairs().size(), 1U);
  EXPECT_EQ(all.truth.begun().size(), 0U);
  EXPECT_THROW(SceneOctree({.size = nan}), Error);
  EXPECT_THROW(SceneOctree({.size = 0}), Error);
  EXPECT_THROW(SceneOctree({.max_level = 11}), Error);
}

TEST(BroadPhase, HandlesComeBackAfterTheirPairsHaveEnded) {
  Contenders all(10, 2);
  const Aabb box{{1, 1, 1}, {2, 2, 2}};
  for (ObjectHandle i = 0; i < 4; ++i) EXPECT_EQ(all.insert(box), i);
  all.step_and_compare();
  EXPECT_EQ(all.truth.pairs().size(), 6U);
  all.remove(1);
  all.remove(2);
  EXPECT_EQ(all.insert(box), 4U);  // not 1: its pairs have not ended yet
  all.step_and_compare();
  EXPECT_EQ(all.truth.ended().size(), 5U);
  EXPECT_EQ(all.truth.begun().size(), 2U);
  EXPECT_FALSE(all.truth.contains(1));
  EXPECT_EQ(all.insert(box), 1U);
  EXPECT_EQ(all.insert(box), 2U);
  EXPECT_EQ(all.insert(box), 5U);
  all.step_and_compare();
  EXPECT_EQ(all.truth.pairs().size(), 15U);
  all.step_and_compare();  // nothing has changed
  EXPECT_EQ(all.truth.begun().size() + all.truth.ended().size(), 0U);
}

TEST(BroadPhase, ObjectsComeAndGo) {
  Random random(17);
  Contenders all(8, 3);
  std::vector<ObjectHandle> there;
  std::size_t events = 0;
  for (int frame = 0; frame < unless_slow(300, 80); ++frame) {
    const bool grows = frame / 40 % 2 == 0;
    for (int i = 0; i < 8; ++i) {
      const Vec3 at = random.in_box({0, 0, 0}, {8, 8, 8});
      const Aabb box{at, at + random.in_box({0, 0, 0}, {1.5, 1.5, 1.5})};
      if (random.below(4) < (grows ? 3U : 1U)) {
        there.push_back(random.below(3) == 0 ? all.insert(sphere_around_cube(box))
                                             : all.insert(box));
      } else if (!there.empty()) {
        const std::uint32_t which = random.below(static_cast<std::uint32_t>(there.size()));
        all.remove(there[which]);
        there[which] = there.back();
        there.pop_back();
      }
      if (!there.empty() && random.below(2) == 0)
        all.update(there[random.below(static_cast<std::uint32_t>(there.size()))], box);
    }
    ASSERT_NO_FATAL_FAILURE(all.step_and_compare());
    events += all.truth.begun().size() + all.truth.ended().size();
  }
  EXPECT_GT(events, 500U);
}

TEST(BroadPhase, SameForAnyNumberOfThreads) {
  const std::size_t count = unless_slow<std::size_t>(6000, 3000);
  Wanderers scene({.count = count, .side = 40, .speed = 0.2, .rest = 0.1, .teleport = 0.01}, 5);
  std::vector<std::unique_ptr<BoxTree>> trees;
  const std::vector<int> threads{1, 2, 5};
  for (std::size_t i = 0; i < threads.size(); ++i) trees.push_back(std::make_unique<BoxTree>());
  for (const auto& tree : trees)
    for (const Aabb& box : scene.boxes) tree->insert(box);
  std::size_t pairs = 0;
  for (int frame = 0; frame < 12; ++frame) {
    for (std::size_t i = 0; i < trees.size(); ++i) {
      for (ObjectHandle k = 0; k < count; ++k) trees[i]->update(k, scene.boxes[k]);
      trees[i]->step({threads[i]});
      ASSERT_NO_FATAL_FAILURE(expect_same_pairs(*trees[i], *trees[0]));
      ASSERT_EQ(trees[i]->work().candidates, trees[0]->work().candidates);
    }
    pairs += trees[0]->pairs().size();
    scene.step();
  }
  EXPECT_GT(pairs, count * 5);
}

}  // namespace
}  // namespace isotact
