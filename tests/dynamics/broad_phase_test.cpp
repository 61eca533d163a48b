#include "isotact/dynamics/broad_phase.h"

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/analytic.h"

namespace isotact {
namespace {

// Heaps of boxes in many columns, some of them wide, flat or without end.
TEST(BroadPhaseColumns, FindAllPairs) {
  Random random(4);
  std::size_t pairs = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<SweptBox> boxes;
    const double size = random.uniform(0.01, 0.3);
    const bool flat = round % 7 == 0, same_place = round % 11 == 0;
    for (int i = 0; i < 250; ++i) {
      Vec3 c = random.in_unit_ball() * (same_place ? 0.01 : 2);
      Vec3 r = random.in_box({0.5, 0.5, 0.5}, {1, 1, 1}) * size;
      if (random.below(40) == 0) r = r * 20;
      if (flat) c.z = r.z = 0;
      boxes.push_back({{c - r, c + r}, random.below(4) != 0});
    }
    boxes.push_back({all_of_space(), false});
    boxes.push_back({all_of_space(), true});
    boxes.push_back({{{-1, -HUGE_VAL, -1}, {1, 0, 1}}, false});
    boxes.push_back({Aabb{}, true});
    std::vector<BodyPair> got, want;
    find_box_pairs(boxes, got);
    brute_force::find_box_pairs(boxes, want);
    ASSERT_EQ(got, want) << round;
    pairs += got.size();
  }
  EXPECT_GT(pairs, 60U * 500);
  EXPECT_LT(pairs, 60U * 20000);
}

}  // namespace
}  // namespace isotact
