#include "isotact/geometry/repair/repair.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/geometry/repair/flaws.h"

#include "support/nan.h"
#include "support/slow_build.h"
#include "support/small_meshes.h"

namespace isotact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Weld, EqualPositionsBecomeOne) {
  const TriangleMesh box = test::make_box();
  const WeldResult w = weld(test::exploded(box));
  EXPECT_EQ(w.merged, 28U);
  EXPECT_EQ(w.mesh.positions.size(), 8U);
  EXPECT_EQ(w.longest_move, 0);
  EXPECT_EQ(w.collapsed, 0U);
  EXPECT_TRUE(find_flaws(w.mesh).watertight_as_stored);
  for (std::size_t i = 0; i < box.triangles.size(); ++i)
    EXPECT_EQ(corners(w.mesh, i), corners(box, i));
}

TEST(Weld, SignOfZeroDoesNotMatterAndNonFiniteNeverMerge) {
  const TriangleMesh m{
      {{0, 0, 0}, {-0.0F, 0, -0.0F}, {kNan, 0, 0}, {kNan, 0, 0}, {kInf, 0, 0}, {kInf, 0, 0}},
      {{0, 1, 2}, {3, 4, 5}}};
  for (const double tolerance : {0.0, 0.1}) {
    const WeldResult w = weld(m, {.tolerance = tolerance});
    EXPECT_EQ(w.map, (std::vector<std::uint32_t>{0, 0, 1, 2, 3, 4}));
    EXPECT_EQ(w.collapsed, 1U);
  }
}

TEST(Weld, WithinAToleranceNothingMovesFurther) {
  // A chain with steps of 1: with a tolerance of 1.5, each second one is kept.
  TriangleMesh chain;
  for (int i = 0; i < 10; ++i) chain.positions.push_back({static_cast<float>(i), 0, 0});
  const WeldResult w = weld(chain, {.tolerance = 1.5});
  EXPECT_EQ(w.map, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(w.longest_move, 1);
}

TEST(Weld, ToleranceAgreesWithBruteForce) {
  Random random(91);
  std::size_t merged = 0, total = 0;
  for (int i = 0; i < 200; ++i) {
    TriangleMesh m;
    const double tolerance = random.uniform(0.01, 0.3);
    for (std::uint32_t k = 0; k < 100; ++k) {
      Vec3f p = to_float(random.in_box({-1, -1, -1}, {1, 1, 1}));
      if (i % 2 == 0)
        for (std::size_t a = 0; a < 3; ++a) p[a] = std::round(p[a] * 8) / 8;  // ties
      m.positions.push_back(p);
    }
    const WeldResult w = weld(m, {.tolerance = tolerance});
    std::vector<std::uint32_t> kept, expected;
    for (const Vec3f& p : m.positions) {
      double best = tolerance * tolerance;
      std::size_t nearest = kept.size();
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const double d = length_sq(to_double(m.positions[kept[k]]) - to_double(p));
        if (d < best || (d == best && nearest == kept.size())) {
          best = d;
          nearest = k;
        }
      }
      if (nearest == kept.size()) kept.push_back(static_cast<std::uint32_t>(expected.size()));
      expected.push_back(static_cast<std::uint32_t>(nearest));
    }
    ASSERT_EQ(w.map, expected);
    EXPECT_LE(w.longest_move, tolerance);
    merged += w.merged;
    total += m.positions.size();
  }
  EXPECT_GT(merged, total / 10);
  EXPECT_LT(merged, total * 9 / 10);
}

TEST(Weld, TinyAndHugeTolerances) {
  TriangleMesh m = test::exploded(test::make_box({-3e38F, -3e38F, -3e38F}, {3e38F, 3e38F, 3e38F}));
  EXPECT_EQ(weld(m, {.tolerance = 1e-300}).mesh.positions.size(), 8U);
  EXPECT_EQ(weld(m, {.tolerance = 1e300}).mesh.positions.size(), 1U);
  EXPECT_THROW(weld(m, {.tolerance = -1}), Error);
  EXPECT_THROW(weld(m, {.tolerance = std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(Weld, TolerancesBelowWhatFloatsResolveMergeEqualPositionsOnly) {
  Random random(95);
  TriangleMesh m;
  for (int i = 0; i < 100'000; ++i) {
    Vec3f p = to_float(random.in_box({-1, -1, -1}, {1, 1, 1}));
    if (i % 4 == 0) p = p * 1e-44F;  // a few units of the finest floats
    if (i % 4 == 1) p = m.positions[random.below(static_cast<std::uint32_t>(i))];
    m.positions.push_back(p);
  }
  const WeldResult exact = weld(m);
  EXPECT_GT(exact.merged, 25'000U);
  EXPECT_LT(exact.merged, 75'000U);
  for (const double tolerance : {5e-324, 1e-310, 1e-300, 1.4e-45})
    EXPECT_EQ(weld(m, {.tolerance = tolerance}).map, exact.map) << tolerance;
  // At the finest step itself, neighbours are within the tolerance.
  EXPECT_GT(weld(m, {.tolerance = 0x1p-149}).merged, exact.merged);
}

TEST(Remove, DegenerateDuplicateAndUnreferenced) {
  TriangleMesh m = test::make_box();
  m.positions.push_back({0.5F, 0, 0});
  m.positions.push_back({7, 7, 7});
  m.positions.push_back({0, 0, 0});
  m.triangles.insert(m.triangles.begin(), {{0, 0, 1}, {0, 8, 1}, {0, 10, 3}});
  m.triangles.push_back({3, 0, 2});  // the first of the box
  m.triangles.push_back({3, 2, 10});

  const RemoveResult collapsed = remove_degenerate(m);
  EXPECT_EQ(collapsed.removed, 2U);
  EXPECT_EQ(collapsed.map[0], kRemoved);
  EXPECT_EQ(collapsed.map[1], 0U);
  EXPECT_EQ(collapsed.map[2], kRemoved);
  const RemoveResult all = remove_degenerate(m, {.collinear = true});
  EXPECT_EQ(all.removed, 3U);

  EXPECT_EQ(remove_duplicates(all.mesh, {.same_winding_only = true}).removed, 1U);
  const RemoveResult single = remove_duplicates(all.mesh);
  EXPECT_EQ(single.removed, 2U);
  EXPECT_TRUE(find_flaws(single.mesh).watertight);

  const RemoveResult compact = remove_unreferenced(single.mesh);
  EXPECT_EQ(compact.removed, 3U);
  EXPECT_EQ(compact.mesh, test::make_box());
  EXPECT_EQ(compact.map[9], kRemoved);
}

TEST(Orient, ConsistentMeshesStayAsTheyAre) {
  for (const TriangleMesh& m : {test::make_box(), test::flipped(test::make_box()), TriangleMesh{},
                                test::exploded(test::make_box())}) {
    const OrientResult r = orient(m);
    EXPECT_EQ(r.mesh, m);
    EXPECT_EQ(r.made_consistent + r.flipped_triangles + r.turned, 0U);
  }
}

TEST(Orient, TheMinorityIsFlipped) {
  Random random(92);
  for (int i = 0; i < 50; ++i) {
    const TriangleMesh ball = test::make_ball(3, 1);
    TriangleMesh m = ball;
    std::size_t flips = 0;
    for (Triangle& t : m.triangles)
      if (random.below(4) == 0) {
        test::flip(t);
        ++flips;
      }
    const OrientResult r = orient(m);
    EXPECT_EQ(r.mesh, ball);
    EXPECT_EQ(r.components, 1U);
    EXPECT_EQ(r.made_consistent, 1U);
    EXPECT_EQ(r.flipped_triangles, flips);
  }
}

TEST(Orient, OutwardTurnsClosedComponentsOnly) {
  TriangleMesh m = test::flipped(test::make_box());
  test::append(m, test::make_box({2, 0, 0}, {3, 1, 1}));
  TriangleMesh open = test::flipped(test::make_box({4, 0, 0}, {5, 1, 1}));
  open.triangles.pop_back();
  test::append(m, open);
  const OrientResult r = orient(m, {.outward = Outward::kAll});
  EXPECT_EQ(r.components, 3U);
  EXPECT_EQ(r.turned, 1U);
  EXPECT_EQ(r.flipped_triangles, 12U);
  EXPECT_EQ(orient(m, {.outward = Outward::kByNesting}).mesh, r.mesh);
}

TEST(Orient, NestedShellsAlternate) {
  Random random(93);
  for (int i = 0; i < 40; ++i) {
    TriangleMesh m;
    const auto add = [&](const TriangleMesh& part) {
      test::append(m, random.below(2) == 0 ? part : test::flipped(part));
    };
    // A box in a box in a box, and one beside: 1000 - 216 + 8 + 1
    add(test::make_box({0, 0, 0}, {10, 10, 10}));
    add(test::make_box({2, 2, 2}, {8, 8, 8}));
    add(test::make_box({4, 4, 4}, {6, 6, 6}));
    add(test::make_box({4, 4, 20}, {5, 5, 21}));
    const OrientResult nested = orient(m, {.outward = Outward::kByNesting});
    EXPECT_NEAR(find_flaws(nested.mesh).volume.value_or(0), 793, 1e-9);
    const OrientResult all = orient(m, {.outward = Outward::kAll});
    EXPECT_NEAR(find_flaws(all.mesh).volume.value_or(0), 1225, 1e-9);
  }
}

// Balls with few and with many triangles, in each other and beside each other at random: whether
// one is a cavity follows from centers and radii.
TEST(Orient, NestingOfBallsFollowsFromTheirCentersAndRadii) {
  Random random(96);
  std::size_t cavities = 0, balls = 0;
  for (int i = 0; i < unless_slow(60, 12); ++i) {
    struct Ball {
      Vec3 center;
      double radius;
    };
    std::vector<Ball> placed;
    TriangleMesh m;
    std::vector<std::size_t> first_triangle;
    for (int k = 0; k < 60; ++k) {
      const Ball ball{random.in_box({-1, -1, -1}, {1, 1, 1}), k % 2 == 0 ? 2.4 / (k + 2) : 0.05};
      const bool clear = std::all_of(placed.begin(), placed.end(), [&](const Ball& other) {
        const double d = length(ball.center - other.center);
        const double large = std::max(ball.radius, other.radius);
        const double small = std::min(ball.radius, other.radius);
        return d > large + small || d + small < 0.7 * large;  // balls of triangles are smaller
      });
      if (!clear) continue;
      TriangleMesh part = test::make_ball(1 + k % 3, 1);
      for (Vec3f& p : part.positions) p = to_float(to_double(p) * ball.radius + ball.center);
      first_triangle.push_back(m.triangles.size());
      test::append(m, random.below(2) == 0 ? part : test::flipped(part));
      placed.push_back(ball);
    }
    const OrientResult r = orient(m, {.outward = Outward::kByNesting, .threads = {1 + i % 3}});
    ASSERT_EQ(r.components, placed.size());
    for (std::size_t k = 0; k < placed.size(); ++k) {
      std::size_t around = 0;
      for (const Ball& other : placed)
        if (other.radius > placed[k].radius &&
            length(other.center - placed[k].center) < other.radius)
          ++around;
      const auto [a, b, c] = corners(r.mesh, first_triangle[k]);
      const Vec3 normal = cross(to_double(b) - to_double(a), to_double(c) - to_double(a));
      EXPECT_EQ(dot(normal, to_double(a) - placed[k].center) < 0, around % 2 == 1) << i << " " << k;
      cavities += around % 2;
    }
    balls += placed.size();
  }
  EXPECT_GT(cavities, balls / 10);
  EXPECT_LT(cavities, balls * 9 / 10);
}

TEST(Orient, ManyComponentsBesideEachOtherAreCheap) {
  // A row along the rays that nesting is decided by, in one box: in all pairs, this takes a minute.
  TriangleMesh m = test::make_box({-1, -1, -1}, {100'000, 2, 2});
  for (int i = 0; i < 20'000; ++i) {
    const auto x = static_cast<float>(2 * i);
    test::append(m, test::make_box({x, 0, 0}, {x + 1, 1, 1}));
  }
  const OrientResult r = orient(m, {.outward = Outward::kByNesting});
  EXPECT_EQ(r.components, 20'001U);
  EXPECT_EQ(r.turned, 20'000U);
}

TEST(Orient, MoebiusStripsAreLeftAlone) {
  TriangleMesh m = test::make_moebius_strip(9);
  test::append(m, test::make_box({5, 5, 5}, {6, 6, 6}));
  test::flip(m.triangles.back());
  const OrientResult r = orient(m);
  EXPECT_EQ(r.components, 2U);
  EXPECT_EQ(r.non_orientable, 1U);
  EXPECT_EQ(r.made_consistent, 1U);
  EXPECT_EQ(r.flipped_triangles, 1U);
}

TEST(Orient, SheetsAreNotJoinedAcrossNonManifoldEdges) {
  TriangleMesh m = test::make_box();
  test::append(m, test::flipped(test::make_box({1, 1, 0}, {2, 2, 1})));
  const OrientResult r = orient(m);
  EXPECT_EQ(r.components, 2U);
  EXPECT_EQ(r.mesh, m);
}

TEST(Repair, HolesAreClosedAlongTheirRims) {
  TriangleMesh box = test::make_box();
  const std::size_t whole = box.triangles.size();
  box.triangles.resize(whole - 2);  // one side
  FillResult r = fill_holes(box);
  EXPECT_EQ(r.filled, 1U);
  EXPECT_EQ(r.left_open, 0U);
  EXPECT_EQ(r.added, 2U);
  const MeshFlaws closed = find_flaws(r.mesh, {});
  EXPECT_TRUE(closed.watertight && closed.oriented);
  EXPECT_NEAR(*closed.volume, *find_flaws(test::make_box(), {}).volume, 1e-6);
  EXPECT_EQ(fill_holes(r.mesh).mesh, r.mesh);
  // Two holes that share a vertex: it is not known where either goes on.
  TriangleMesh fan{.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}},
                   .triangles = {{0, 1, 2}, {0, 3, 4}}};
  r = fill_holes(fan);
  EXPECT_EQ(r.filled, 0U);
  EXPECT_GT(r.left_open, 0U);
  EXPECT_EQ(r.mesh, fan);
}

TEST(Repair, LargestComponentsAreKept) {
  TriangleMesh m = test::make_box({0, 0, 0}, {1, 1, 1});
  test::append(m, test::make_box({5, 0, 0}, {8, 3, 3}));
  test::append(m, test::make_box({10, 0, 0}, {12, 2, 2}));
  const RemoveResult two = keep_largest_components(m, 2);
  EXPECT_EQ(two.removed, 1U);
  EXPECT_EQ(two.mesh.triangles.size(), 24U);
  EXPECT_EQ(bounds(two.mesh).lower, (Vec3f{5, 0, 0}));
  EXPECT_EQ(two.map[0], kRemoved);
  EXPECT_EQ(two.map[12], 0U);
  EXPECT_EQ(bounds(keep_largest_components(m, 1).mesh).upper, (Vec3f{8, 3, 3}));
  EXPECT_EQ(keep_largest_components(m, 9).mesh, m);
  EXPECT_TRUE(keep_largest_components({}, 1).mesh.triangles.empty());
}

TEST(Repair, AnyPositionsAreTaken) {
  Random random(94);
  for (int i = 0; i < 500; ++i) {
    TriangleMesh m;
    for (int k = 0; k < 8; ++k) {
      const std::array<float, 5> values{0, -0.0F, 1, kNan, kInf};
      m.positions.push_back(
          {values[random.below(5)], values[random.below(5)], values[random.below(5)]});
    }
    for (int k = 0; k < 12; ++k)
      m.triangles.push_back({random.below(8), random.below(8), random.below(8)});
    for (const Outward outward : {Outward::kLeave, Outward::kAll, Outward::kByNesting})
      EXPECT_EQ(orient(m, {.outward = outward}).mesh.triangles.size(), 12U);
    EXPECT_GE(fill_holes(m).mesh.triangles.size(), 12U);
    EXPECT_LE(keep_largest_components(m, 1).mesh.triangles.size(), 12U);
    const TriangleMesh mended =
        remove_unreferenced(
            remove_duplicates(remove_degenerate(weld(m).mesh, {.collinear = true}).mesh).mesh)
            .mesh;
    const MeshFlaws f = find_flaws(mended, {.self_intersections = true});
    EXPECT_EQ(f.degenerate + f.duplicate_triangles.count + f.unreferenced_vertices.count, 0U);
  }
}

}  // namespace
}  // namespace isotact
