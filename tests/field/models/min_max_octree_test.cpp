#include "isotact/field/models/min_max_octree.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"

#include "support/test_seed.h"

namespace isotact {
namespace {

// Distances of a sphere, some rounded to steps so that samples often equal sigma.
DenseGrid random_grid(Random& random) {
  const Lattice lattice{.origin = {-1, -1, -1},
                        .spacing = 0.125,
                        .cells = {static_cast<std::int32_t>(1 + random.below(20)),
                                  static_cast<std::int32_t>(1 + random.below(20)),
                                  static_cast<std::int32_t>(1 + random.below(20))}};
  const SphereField ball{.center = random.in_unit_ball(), .radius = random.uniform(0.2, 1)};
  DenseGridParts parts = sample_on_lattice(ball, lattice, {.threads = {1}}).parts();
  if (random.below(2) == 0)
    for (float& s : parts.samples) s = std::round(s * 4) / 4;
  return DenseGrid(std::move(parts), {1});
}

Index3 random_cell(const DenseGrid& grid, Random& random) {
  Index3 cell{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    cell[axis] = static_cast<std::int32_t>(
        random.below(static_cast<std::uint32_t>(grid.lattice().cells[axis])));
  return cell;
}

// Half of the time a sample's own value, which is where the rules differ.
double random_sigma(const DenseGrid& grid, Random& random) {
  if (random.below(2) == 0) return random.uniform(-1, 1.5);
  return static_cast<double>(
      grid.samples()[random.below(static_cast<std::uint32_t>(grid.samples().size()))]);
}

TEST(MinMaxOctree, SkipsExactlyWhatBruteForceSkips) {
  Random random(61);
  int cases = 0, skips = 0, large = 0, inside = 0, equal = 0;
  for (int i = 0; i < 100; ++i) {
    const DenseGrid grid = random_grid(random);
    const MinMaxOctree stored(grid, {.threads = {1}});
    const MinMaxOctree lean(grid, {.store_leaves = false, .threads = {1}});
    for (int j = 0; j < 60; ++j) {
      const Index3 cell = random_cell(grid, random);
      const double sigma = random_sigma(grid, random);
      const OctreeSkip skip = stored.compute_largest_skip(cell, sigma);
      ASSERT_EQ(skip, lean.compute_largest_skip(cell, sigma));
      ASSERT_EQ(skip, brute_force::compute_largest_skip(grid, cell, sigma));
      const ValueRange range = grid.cell_range(cell);
      ++cases;
      skips += skip.level >= 0 ? 1 : 0;
      large += skip.level >= 1 ? 1 : 0;
      inside += skip.side == BlockSide::kInside ? 1 : 0;
      equal += sigma == static_cast<double>(range.min) || sigma == static_cast<double>(range.max);
    }
  }
  EXPECT_EQ(cases, 6000);
  EXPECT_GT(skips, cases / 4);
  EXPECT_LT(skips, cases * 19 / 20);
  EXPECT_GT(large, cases / 8);
  EXPECT_GT(inside, cases / 20);
  EXPECT_GT(equal, cases / 50);
}

// An edited grid's tree is that of the whole grid.
TEST(MinMaxOctree, FollowsEdits) {
  Random random(test_seed(64));
  int changed = 0;
  for (int i = 0; i < test_cases(100); ++i) {
    const DenseGrid grid = random_grid(random);
    const bool leaves = random.below(2) == 0;
    MinMaxOctree octree(grid, {.store_leaves = leaves, .threads = {1}});
    DenseGridParts parts = grid.parts();
    for (int edit = 0; edit < 5; ++edit) {
      const Index3 nodes = node_counts(grid.lattice());
      Index3 lower{}, upper{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto n = static_cast<std::uint32_t>(nodes[axis]);
        lower[axis] = static_cast<std::int32_t>(random.below(n));
        upper[axis] =
            std::min(nodes[axis], lower[axis] + static_cast<std::int32_t>(random.below(4)));
      }
      for (std::int32_t z = lower[2]; z < upper[2]; ++z)
        for (std::int32_t y = lower[1]; y < upper[1]; ++y)
          for (std::int32_t x = lower[0]; x < upper[0]; ++x, ++changed)
            parts.samples[flat_index(nodes, x, y, z)] = static_cast<float>(random.uniform(-2, 2));
      const DenseGrid next(DenseGridParts(parts), {1});
      octree = MinMaxOctree(std::move(octree), next, lower, upper);
      ASSERT_EQ(find_flaw(octree, next), std::nullopt) << i;
    }
    const Index3 nodes = node_counts(grid.lattice());
    EXPECT_THROW(MinMaxOctree(octree, octree.grid(), {0, 0, 0}, {nodes[0] + 1, 1, 1}), Error);
  }
  EXPECT_GT(changed, 100);
}

// No point of a skipped block is on the other side: no root and no interval can be lost.
TEST(MinMaxOctree, PointsOfSkippedBlocksAreOnTheirSide) {
  Random random(62);
  int checked = 0, next_to_other_side = 0;
  for (int i = 0; i < 100; ++i) {
    const DenseGrid grid = random_grid(random);
    const MinMaxOctree octree(grid, {.store_leaves = false, .threads = {1}});
    const double sigma = random_sigma(grid, random);
    for (int j = 0; j < 40; ++j) {
      const OctreeSkip skip = octree.compute_largest_skip(random_cell(grid, random), sigma);
      if (skip.side == BlockSide::kMixed) continue;
      const Lattice& l = grid.lattice();
      const Vec3 lower = node_position(l, skip.lower[0], skip.lower[1], skip.lower[2]);
      const Vec3 upper = node_position(l, skip.upper[0], skip.upper[1], skip.upper[2]);
      for (int k = 0; k < 30; ++k) {
        Vec3 p = random.in_box(lower, upper);
        const std::size_t axis = random.below(3);
        if (k % 3 == 0) p[axis] = k % 2 == 0 ? lower[axis] : upper[axis];
        const double v = grid.value(p);
        ASSERT_EQ(v <= sigma, skip.side == BlockSide::kInside) << v - sigma;
        ++checked;
        next_to_other_side += std::abs(v - sigma) < l.spacing ? 1 : 0;
      }
    }
  }
  EXPECT_GT(checked, 20000);
  EXPECT_GT(next_to_other_side, checked / 50);
}

// XB14 skips if sigma <= min or sigma >= max. With the ground on a node plane, that skips every
// cell of the grid, and a segment straight through the ground is never tested.
TEST(MinMaxOctree, FindsASurfaceOnANodePlane) {
  const Lattice lattice{.origin = {0, -1, 0}, .spacing = 0.25, .cells = {2, 8, 2}};
  const DenseGrid grid = sample_on_lattice(PlaneField{}, lattice);
  const MinMaxOctree octree(grid);
  int mixed = 0;
  for (std::int32_t j = 0; j < 8; ++j) {
    const ValueRange range = grid.cell_range({0, j, 0});
    EXPECT_TRUE(0 <= range.min || 0 >= range.max);
    mixed += octree.compute_largest_skip({0, j, 0}, 0).side == BlockSide::kMixed ? 1 : 0;
  }
  EXPECT_EQ(mixed, 1);
  EXPECT_EQ(octree.compute_largest_skip({0, 4, 0}, 0).side, BlockSide::kMixed);
  EXPECT_EQ(octree.compute_largest_skip({0, 3, 0}, 0).side, BlockSide::kInside);
  EXPECT_EQ(octree.compute_largest_skip({0, 7, 0}, 0).side, BlockSide::kOutside);
}

TEST(MinMaxOctree, NestsIntervalsUpToTheRoot) {
  Random random(63);
  for (int i = 0; i < 20; ++i) {
    const DenseGrid grid = random_grid(random);
    const MinMaxOctree octree(grid, {.store_leaves = i % 2 == 0});
    ASSERT_EQ(find_flaw(octree, grid), std::nullopt);
    const int root = octree.level_count() - 1;
    ASSERT_EQ(octree.node_range(root, {0, 0, 0}), grid.value_range());
    for (int level = 0; level < root; ++level) {
      const Index3& n = octree.level_dims(level);
      for (std::int32_t z = 0; z < n[2]; ++z)
        for (std::int32_t y = 0; y < n[1]; ++y)
          for (std::int32_t x = 0; x < n[0]; ++x) {
            const ValueRange child = octree.node_range(level, {x, y, z});
            const ValueRange parent = octree.node_range(level + 1, {x / 2, y / 2, z / 2});
            ASSERT_LE(parent.min, child.min);
            ASSERT_GE(parent.max, child.max);
          }
    }
  }
}

TEST(MinMaxOctree, IsTheSameForAnyNumberOfThreads) {
  Random random(64);
  const DenseGrid grid = random_grid(random);
  const MinMaxOctree one(grid, {.threads = {1}}), many(grid, {.threads = {7}});
  for (int level = 0; level < one.level_count(); ++level)
    EXPECT_TRUE(std::ranges::equal(one.level_ranges(level), many.level_ranges(level)));
}

TEST(MinMaxOctree, NamesWhereItDisagreesWithAGrid) {
  Random random(65);
  const DenseGrid grid = random_grid(random), other = random_grid(random);
  EXPECT_TRUE(find_flaw(MinMaxOctree(grid), other));
  DenseGridParts parts = grid.parts();
  parts.samples.back() += 3;
  const auto flaw = find_flaw(MinMaxOctree(grid), DenseGrid(parts));
  ASSERT_TRUE(flaw);
  EXPECT_NE(flaw->find("level 0, node"), std::string::npos) << *flaw;
}

TEST(MinMaxOctree, KnowsItsMemory) {
  Random random(66);
  for (const bool leaves : {false, true}) {
    const MinMaxOctree octree(random_grid(random), {.store_leaves = leaves});
    EXPECT_EQ(static_cast<double>(octree.memory_bytes()),
              octree_bytes(octree.level_dims(0), leaves));
  }
  // The paper's largest: 17.1 GB there.
  EXPECT_NEAR(octree_bytes({1024, 1024, 1024}, true) / 1e9, 9.82, 0.01);
  EXPECT_NEAR(octree_bytes({1024, 1024, 1024}, false) / 1e9, 1.23, 0.01);
  const DenseGrid grid = random_grid(random);
  EXPECT_THROW(MinMaxOctree(grid, {.max_memory = 7}), Error);
}

TEST(MinMaxOctree, HandlesASingleCell) {
  const DenseGrid grid = sample_on_lattice(PlaneField{}, {.origin = {0, 1, 0}, .cells = {1, 1, 1}});
  for (const bool leaves : {false, true}) {
    const MinMaxOctree octree(grid, {.store_leaves = leaves});
    EXPECT_EQ(octree.level_count(), 1);
    EXPECT_EQ(octree.compute_largest_skip({0, 0, 0}, 0),
              (OctreeSkip{.side = BlockSide::kOutside, .level = 0, .upper = {1, 1, 1}}));
  }
}

}  // namespace
}  // namespace isotact
