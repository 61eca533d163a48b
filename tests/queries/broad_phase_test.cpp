#include "isotact/queries/broad_phase/broad_phase.h"

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/queries/broad_phase/box_tree.h"

namespace isotact {
namespace {
TEST(BroadPhaseQuick, Works) {
  Random random(5);
  BruteForceBroadPhase brute;
  BoxTree tree;
  std::vector<Aabb> boxes;
  std::vector<Vec3> v;
  for (int i = 0; i < 2000; ++i) {
    Vec3 c = random.in_box({0, 0, 0}, {12, 12, 12}), r = random.in_box({.1, .1, .1}, {.6, .6, .6});
    boxes.push_back({c - r, c + r});
    v.push_back(random.in_unit_ball() * (i%2?0.02:.2));
    brute.insert(boxes.back());
    tree.insert(boxes.back());
  }
  for (int f = 0; f < 40; ++f) {
    for (unsigned i = 0; i < boxes.size(); ++i) {
      boxes[i].lower += v[i];
      boxes[i].upper += v[i];
      brute.update(i, boxes[i]);
      tree.update(i, boxes[i]);
    }
    brute.step();
    tree.step();
    std::vector<ObjectPair> a(brute.pairs().begin(), brute.pairs().end()),
        b(tree.pairs().begin(), tree.pairs().end());
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(a, b) << f;
    ASSERT_EQ(brute.begun().size(), tree.begun().size());
    ASSERT_EQ(brute.ended().size(), tree.ended().size());
  }
}
}  // namespace
}  // namespace isotact
