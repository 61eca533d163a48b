// The contract of brick fields, held against the shapes that they were baked from.
#include "isotact/field/models/brick_field.h"

#include <cstring>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/csg.h"

#include "field/field_points.h"

namespace isotact {
namespace {

static_assert(Field<BrickField>);

constexpr double kVoxel = 0.02;

BakeSettings settings_for(const Aabb& box) {
  return {.lattice = make_brick_lattice(box, kVoxel), .threads = {1}};
}

const BrickField& torus() {
  static const BrickField field =
      bake_field(AnyField{TorusField{.radius = 0.4, .tube_radius = 0.15}},
                 settings_for({{-0.55, -0.15, -0.55}, {0.55, 0.15, 0.55}}))
          .field;
  return field;
}

TEST(BrickField, IsEmptyOfFlaws) {
  EXPECT_EQ(find_flaw_in_brick_field(torus().buffer()), std::nullopt);
  EXPECT_GT(torus().bricks().size(), 100U);
  EXPECT_LT(torus().bricks().size(), count(torus().coarse_lattice().cells));
}

TEST(BrickField, IsRightNearASmoothSurface) {
  const TorusField exact{.radius = 0.4, .tube_radius = 0.15};
  Random random(1);
  int near = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vec3 p = random_in_box(torus().bounds(), random);
    const double d = exact.value(p);
    const double off = std::abs(torus().value(p) - d);
    if (std::abs(d) < 4 * kVoxel && std::abs(d) < 0.1) {  // not at the tube's middle
      ++near;
      EXPECT_LT(off, 0.1 * kVoxel);
    }
    EXPECT_LE(off, static_cast<double>(torus().header().far_error));
    const Interval bounds = torus().distance_bounds(p);
    EXPECT_LE(bounds.lower, d + 1e-6);
    EXPECT_GE(bounds.upper, d - 1e-6);
  }
  EXPECT_GT(near, 1000);
}

TEST(BrickField, IsALowerBoundOutsideOfItsBox) {
  const TorusField exact{.radius = 0.4, .tube_radius = 0.15};
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    const Aabb box = torus().bounds();
    const Vec3 p = random_in_box({box.lower - extent(box), box.upper + extent(box)}, random);
    if (contains(box, p)) continue;
    EXPECT_LE(torus().value(p), exact.value(p) + static_cast<double>(torus().header().far_error));
    const Interval bounds = torus().distance_bounds(p);
    EXPECT_TRUE(contains(bounds, exact.value(p)));
  }
}

// Both sides of a face between coarse cells, whatever carries them.
TEST(BrickField, IsContinuousAcrossBricksAndLevels) {
  const BrickField& field = torus();
  const Lattice coarse = field.coarse_lattice();
  Random random(3);
  int between_levels = 0, between_bricks = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t axis = random.below(3);
    Vec3 p = random_in_box(field.bounds(), random);
    const auto face = 1 + random.below(static_cast<std::uint32_t>(coarse.cells[axis] - 1));
    p[axis] = coarse.origin[axis] + coarse.spacing * face;
    Vec3 before = p, after = p;
    before[axis] -= 1e-9 * kVoxel;
    after[axis] += 1e-9 * kVoxel;
    EXPECT_NEAR(field.value(before), field.value(after), 2e-6 * kVoxel + 1e-7);
    Index3 cell = locate(coarse, p).cell;
    const bool has = field.brick_at(cell) != BrickField::kNoBrick;
    --cell[axis];
    const bool had = field.brick_at(cell) != BrickField::kNoBrick;
    between_levels += has != had ? 1 : 0;
    between_bricks += has && had ? 1 : 0;
  }
  EXPECT_GT(between_levels, 1000);
  EXPECT_GT(between_bricks, 1000);
}

TEST(BrickField, KeepsItsLipschitzBoundAndRanges) {
  const BrickField& field = torus();
  Random random(4);
  const Aabb box = field.bounds();
  const Aabb around{box.lower - extent(box) * 0.3, box.upper + extent(box) * 0.3};
  for (int i = 0; i < 5000; ++i) {
    const Vec3 p = random_in_box(around, random);
    const Vec3 q = p + random.in_unit_ball() * (i % 2 == 0 ? kVoxel : 0.3);
    EXPECT_LE(std::abs(field.value(p) - field.value(q)), field.lipschitz() * length(p - q) + 1e-6);
    const Vec3 r = random_in_box(around, random);
    const Aabb some{min(p, r), max(p, r)};
    const Interval range = field.range(some);
    for (int j = 0; j < 4; ++j) {
      const double value = field.value(random_in_box(some, random));
      EXPECT_LE(range.lower, value + 1e-6);
      EXPECT_GE(range.upper, value - 1e-6);
    }
  }
}

TEST(BrickField, GradientsAreThoseOfTheInterpolant) {
  const BrickField& field = torus();
  Random random(5);
  int unit = 0, far_from_creases = 0;
  const Aabb box = field.bounds();
  for (int i = 0; i < 5000; ++i) {
    const Vec3 p = random_in_box({box.lower - Vec3{0.1, 0.1, 0.1}, box.upper}, random);
    const FieldSample s = field.sample(p);
    EXPECT_EQ(s.distance, field.value(p));
    // Differences inside one fine cell are slopes.
    const CellPoint at = locate(field.lattice(), p);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (at.fraction[axis] < 0.1F || at.fraction[axis] > 0.8F || !contains(box, p)) continue;
      Vec3 q = p;
      q[axis] += 0.1 * kVoxel;
      EXPECT_NEAR((field.value(q) - s.distance) / (0.1 * kVoxel), s.gradient[axis], 2e-3);
    }
    const double d = TorusField{.radius = 0.4, .tube_radius = 0.15}.value(p);
    if (d > -0.1 && d < 0.12 && std::hypot(p.x, p.z) > 0.1) {
      ++far_from_creases;
      unit += std::abs(length(s.gradient) - 1) < 0.1 ? 1 : 0;
    }
  }
  EXPECT_GT(far_from_creases, 500);
  EXPECT_GT(unit, far_from_creases * 98 / 100);
}

TEST(BrickField, BatchesGiveTheSameBits) {
  const BrickField& field = torus();
  Random random(6);
  std::vector<Vec3f> points;
  const Aabb box = field.bounds();
  for (int i = 0; i < 10001; ++i)
    points.push_back(to_float(
        random_in_box({box.lower - extent(box) * 0.2, box.upper + extent(box) * 0.2}, random)));
  std::vector<float> values(points.size()), alone(points.size());
  std::vector<Vec3f> gradients(points.size());
  sample_field(field, points, values, gradients, {2});
  sample_field(field, points, alone, {}, {1});
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FieldSample s = field.sample(to_double(points[i]));
    EXPECT_EQ(values[i], static_cast<float>(s.distance));
    EXPECT_EQ(gradients[i], to_float(s.gradient));
    EXPECT_EQ(values[i], alone[i]);
  }
}

TEST(BrickField, NodeValuesAreValuesAtNodes) {
  const BrickField& field = torus();
  const Lattice& l = field.lattice();
  Random random(7);
  for (int i = 0; i < 5000; ++i) {
    Index3 n;
    for (std::size_t axis = 0; axis < 3; ++axis)
      n[axis] =
          static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(l.cells[axis] + 1)));
    EXPECT_NEAR(static_cast<double>(field.node_value(n[0], n[1], n[2])),
                field.value(node_position(l, n[0], n[1], n[2])), 1e-6);
  }
}

// With bricks and without, on sides that they share, and at the ends of the box.
TEST(BrickField, CellNodesHaveTheBitsOfNodeValues) {
  const BrickField& field = torus();
  const Index3 cells = field.coarse_lattice().cells;
  std::size_t with_brick = 0;
  std::vector<float> nodes(kBrickSamples);
  for (std::int32_t z = 0; z < cells[2]; ++z)
    for (std::int32_t y = 0; y < cells[1]; ++y)
      for (std::int32_t x = 0; x < cells[0]; ++x) {
        with_brick += field.brick_at({x, y, z}) != BrickField::kNoBrick ? 1U : 0U;
        field.cell_nodes({x, y, z}, nodes);
        std::size_t place = 0, wrong = 0;
        for (std::int32_t k = 0; k < kBrickNodes; ++k)
          for (std::int32_t j = 0; j < kBrickNodes; ++j)
            for (std::int32_t i = 0; i < kBrickNodes; ++i)
              wrong += nodes[place++] != field.node_value(x * kBrickCells + i, y * kBrickCells + j,
                                                          z * kBrickCells + k)
                           ? 1U
                           : 0U;
        EXPECT_EQ(wrong, 0U) << x << ' ' << y << ' ' << z;
      }
  EXPECT_GT(with_brick, 100U);
  EXPECT_LT(with_brick, count(cells));
}

// Halving the cells divides the error by four, down to the steps of quantisation.
TEST(BrickField, ConvergesWithTheSquareOfTheCell) {
  const SphereField sphere{.radius = 0.2};
  std::vector<double> errors;
  for (const double voxel : {0.02, 0.01}) {
    const Lattice lattice = make_brick_lattice({{-0.8, -0.8, -0.8}, {0.8, 0.8, 0.8}}, voxel);
    const BrickField field = bake_field(AnyField{sphere}, {.lattice = lattice}).field;
    // Coarse cells carry no quantisation: far from the ball, where there are no bricks.
    Random random(8);
    double worst = 0;
    for (int i = 0; i < 20000; ++i) {
      const Vec3 p = random_in_box(field.bounds(), random);
      if (field.brick_at(locate(field.coarse_lattice(), p).cell) != BrickField::kNoBrick) continue;
      if (sphere.value(p) < 0.4) continue;
      worst = std::max(worst, std::abs(field.value(p) - sphere.value(p)));
    }
    errors.push_back(worst);
  }
  ASSERT_GT(errors[1], 0);
  EXPECT_GT(errors[0] / errors[1], 3.0);
}

TEST(BrickField, BakesCombinationsWithSampledFields) {
  const Difference body{torus(), BoxField{.half_size = {0.2, 0.3, 0.6}}};
  const BakeResult baked =
      bake_field(AnyField{body}, settings_for({{-0.55, -0.15, -0.55}, {0.55, 0.15, 0.55}}));
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 p = random_in_box(torus().bounds(), random);
    const double d = body.value(p);
    if (std::abs(d) > kVoxel) {
      EXPECT_EQ(baked.field.value(p) < 0, d < 0);
    }
  }
}

// A box that cuts the body promises nothing beyond it but that distances change no faster than
// space.
TEST(BrickField, IsSoundWhereItsBoxCutsABody) {
  const PlaneField ground{.offset = 0.05};
  const BrickField field =
      bake_field(AnyField{ground}, settings_for({{-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}})).field;
  Random random(10);
  for (int i = 0; i < 3000; ++i) {
    const Vec3 p = random.in_unit_ball(), q = p + random.in_unit_ball() * 0.1;
    EXPECT_TRUE(contains(field.distance_bounds(p), ground.value(p)));
    EXPECT_LE(std::abs(field.value(p) - field.value(q)), field.lipschitz() * length(p - q) + 1e-6);
  }
}

TEST(BrickField, ABatchWithoutResultsDoesNothing) {
  const std::vector<Vec3f> points(10);
  sample_field(torus(), points, {}, {});
}

TEST(BrickField, RefusesWhatCannotBeBaked) {
  const AnyField sphere{SphereField{.radius = 0.2}};
  BakeSettings s = settings_for({{-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}});
  s.max_memory = 1000;
  EXPECT_THROW(bake_field(sphere, s), Error);
  s.max_memory = 0;
  s.lattice.cells[1] = 12;
  EXPECT_THROW(bake_field(sphere, s), Error);
  s.lattice.cells[1] = 1 << 20;
  EXPECT_THROW(bake_field(sphere, s), Error);
}

}  // namespace
}  // namespace isotact
