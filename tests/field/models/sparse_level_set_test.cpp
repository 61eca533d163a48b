#include "isotact/field/models/sparse_level_set.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "support/ball_brick_field.h"

namespace isotact {
namespace {

static_assert(Field<LevelSetField>);

const BrickField& ball() {
  static const BrickField field = test::make_ball_field(12);
  return field;
}
const LevelSetField& ball_level_set() {
  static const LevelSetField field(to_level_set(ball()));
  return field;
}
double true_distance(const Vec3& p) { return length(p) - 1; }

TEST(SparseLevelSet, HoldsTheNodesOfAllBricksAndTheSignElsewhere) {
  const LevelSetField& field = ball_level_set();
  EXPECT_EQ(find_flaw(field.level_set()), std::nullopt);
  const Index3 nodes = node_counts(ball().lattice());
  std::size_t active = 0, inside = 0;
  for (std::int32_t k = 0; k < nodes[2]; ++k)
    for (std::int32_t j = 0; j < nodes[1]; ++j)
      for (std::int32_t i = 0; i < nodes[0]; ++i) {
        const float expected = ball().node_value(i, j, k);
        if (field.is_active(i, j, k)) {
          ++active;
          EXPECT_EQ(field.node_value(i, j, k), expected);
        } else {
          inside += expected < 0 ? 1 : 0;
          EXPECT_EQ(field.node_value(i, j, k), std::copysign(ball().header().band, expected));
          EXPECT_GE(std::abs(expected), ball().header().band);
        }
      }
  EXPECT_GT(active, count(nodes) / 10);
  EXPECT_LT(active, count(nodes) * 9 / 10);
  EXPECT_GT(inside, 1000U);
  // Every brick has 512 nodes of its own; faces towards cells without bricks add some.
  EXPECT_GE(active, ball().bricks().size() * 512);
}

TEST(SparseLevelSet, AgreesWithTheBrickFieldInTheBand) {
  Random random(5);
  const double h = ball().voxel_size();
  int near = 0;
  for (int n = 0; n < 20000; ++n) {
    const Vec3 p = random.in_box({-1.6, -1.6, -1.6}, {1.6, 1.6, 1.6});
    // Where all corners of the cell are nearer than the background.
    if (std::abs(true_distance(p)) > static_cast<double>(ball().header().band) - 2 * h) continue;
    ++near;
    EXPECT_NEAR(ball_level_set().value(p), ball().value(p), 1e-6);
    EXPECT_NEAR(length(ball_level_set().sample(p).gradient), 1, 0.1);
  }
  EXPECT_GT(near, 300);
}

TEST(SparseLevelSet, BoundsHold) {
  const LevelSetField& field = ball_level_set();
  Random random(6);
  int bounded = 0, outside = 0;
  for (int n = 0; n < 20000; ++n) {
    const Vec3 p = random.in_box({-2.5, -2.5, -2.5}, {2.5, 2.5, 2.5});
    const Interval known = field.distance_bounds(p);
    EXPECT_TRUE(contains(known, true_distance(p))) << p.x << " " << p.y << " " << p.z;
    bounded += std::isfinite(known.upper) && std::isfinite(known.lower) ? 1 : 0;
    const Vec3 q = p + random.in_unit_ball() * random.uniform(0, 0.2);
    EXPECT_LE(std::abs(field.value(p) - field.value(q)),
              field.lipschitz() * length(p - q) * (1 + 1e-9) + 1e-12);
    const Vec3 size = random.in_box({0, 0, 0}, {1, 1, 1}) * random.uniform();
    const Interval range = field.range({p, p + size});
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(contains(range, field.value(random.in_box(p, p + size))));
    if (!contains(field.bounds(), p)) {
      ++outside;
      EXPECT_LE(field.value(p), true_distance(p) + 0.9 * ball().voxel_size());
    }
  }
  EXPECT_GT(bounded, 200);
  EXPECT_GT(outside, 4000);
}

TEST(SparseLevelSet, GradientIsThatOfTheValue) {
  const LevelSetField& field = ball_level_set();
  Random random(8);
  int compared = 0;
  for (int n = 0; n < 2000; ++n) {
    const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2});
    const double h = 1e-4;  // fractions of a cell are float
    const FieldSample s = field.sample(p);
    const Vec3 slope{(field.value(p + Vec3{h, 0, 0}) - field.value(p - Vec3{h, 0, 0})) / (2 * h),
                     (field.value(p + Vec3{0, h, 0}) - field.value(p - Vec3{0, h, 0})) / (2 * h),
                     (field.value(p + Vec3{0, 0, h}) - field.value(p - Vec3{0, 0, h})) / (2 * h)};
    // On a crease between cells the two sides differ.
    compared += length(slope - s.gradient) < 1e-3 ? 1 : 0;
  }
  EXPECT_GT(compared, 1900);
}

TEST(SparseLevelSet, FlawsAreNamed) {
  SparseLevelSet good = to_level_set(test::make_ball_field(2));
  SparseLevelSet bad = good;
  bad.blocks.pop_back();
  EXPECT_NE(find_flaw(bad), std::nullopt);
  bad = good;
  bad.blocks[0] = 1 << 30;
  EXPECT_THROW(LevelSetField{bad}, Error);
  bad = good;
  bad.leaves[0].values[7] = NAN;
  EXPECT_EQ(find_flaw(bad), "level set: leaf 0 has a value that is not finite");
  bad = good;
  bad.background = 0;
  EXPECT_NE(find_flaw(bad), std::nullopt);
  bad = good;
  bad.lattice.cells[1] = 2000000000;
  EXPECT_NE(find_flaw(bad), std::nullopt);
}

}  // namespace
}  // namespace isotact
