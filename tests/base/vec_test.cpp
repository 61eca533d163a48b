#include "isotact/base/vec.h"

#include <gtest/gtest.h>

#include "isotact/base/aabb.h"

namespace isotact {
namespace {

TEST(Vec, CrossIsRightHanded) { EXPECT_EQ(cross(Vec3{1, 0, 0}, Vec3{0, 1, 0}), (Vec3{0, 0, 1})); }

TEST(Vec, NormalizedZeroStaysZero) { EXPECT_EQ(normalized(Vec3{}), Vec3{}); }

// gcc 12 at -O2 takes the rounding to float and back for nothing where two doubles lie side by
// side, unless its straight-line vectoriser is off. Ours is off (cmake/IsotactCompile.cmake).
TEST(Vec, RoundingToFloatIsNotOptimisedAway) {
  struct Pair {
    double x, y;
  };
  volatile double tenth = 0.1;
  const auto round = [](const Pair& a) __attribute__((noinline)) {
    return Pair{static_cast<double>(static_cast<float>(a.x)),
                static_cast<double>(static_cast<float>(a.y))};
  };
  const Pair rounded = round({tenth, 3 * tenth});
  EXPECT_NE(rounded.x, tenth);
  EXPECT_NE(rounded.y, 3 * tenth);
}

TEST(Vec, PublicStructsHaveNoPaddingAndNoAlignmentOfTheirOwn) {
  static_assert(sizeof(Vec3) == 24 && alignof(Vec3) == alignof(double));
  static_assert(sizeof(Vec3f) == 12 && alignof(Vec3f) == alignof(float));
  static_assert(sizeof(Aabbf) == 24 && sizeof(Sphere) == 32);
}

TEST(Aabb, EmptyBoxSwallowsNothingAndGrows) {
  Aabb box;
  EXPECT_TRUE(is_empty(box));
  EXPECT_FALSE(contains(box, Vec3{}));
  EXPECT_FALSE(overlaps(box, Aabb{{-1, -1, -1}, {1, 1, 1}}));
  extend(box, Vec3{1, 2, 3});
  EXPECT_EQ(box, (Aabb{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_FALSE(is_empty(box));
}

TEST(Aabb, DistanceIsZeroInsideAndEuclideanOutside) {
  const Aabb box{{0, 0, 0}, {1, 1, 1}};
  EXPECT_EQ(distance_sq(box, Vec3{0.5, 0.5, 0.5}), 0);
  EXPECT_EQ(distance_sq(box, Vec3{4, 5, 0.5}), 25);
}

}  // namespace
}  // namespace isotact
