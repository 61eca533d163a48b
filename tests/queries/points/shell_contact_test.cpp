// What is made of hits: forces, contacts, patches; against formulas and definitions.
#include "isotact/queries/points/shell_contact.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

PointSphereTree make_tree(const TriangleMesh& mesh, std::uint32_t points) {
  return build_point_sphere_tree(sample_by_repulsion(
      mesh, {.common = {.covering_tolerance = 1}, .count = points, .rounds = 4}));
}

const ShellTarget& ground() {
  static const ShellTarget plane{PlaneField{}};
  return plane;
}

ShellForce force_on(const PointSphereTree& tree, const ShellTarget& target,
                    const ShellPlacement& placement, const ShellForceSettings& settings,
                    int level = -1) {
  ShellScratch state;
  const ShellResult answer = find_hits(tree, target, placement, {.level = level}, state);
  return compute_force(tree, target, placement, answer.hits, settings);
}

// A ball of radius r, pressed d deep into the plane. The depth, summed over the cap, is pi r d^2;
// summed with the points' own normals it is the volume of the cap, pi d^2 (3 r - d) / 3.
TEST(ShellContact, PressureDoesNotDependOnSampling) {
  constexpr double kRadius = 0.1, kDepth = 0.03, kStiffness = 1e6;
  const TriangleMesh ball = make_sphere({.radius = kRadius, .frequency = 24});
  const ShellPlacement placement{{rotation_about({1, 2, 3}, 1), {0.5, kRadius - kDepth, -0.2}}};
  for (const std::uint32_t points : {500U, 2000U, unless_slow(20000U, 5000U)}) {
    SCOPED_TRACE(points);
    const PointSphereTree tree = make_tree(ball, points);
    const double tolerance = points < 1000 ? 0.06 : 0.025;
    ShellForceSettings settings{.stiffness = kStiffness, .normal = ShellForceNormal::kField};
    const double straight = kStiffness * kPi * kRadius * kDepth * kDepth;
    const ShellForce by_field = force_on(tree, ground(), placement, settings);
    EXPECT_NEAR(by_field.force.y, straight, tolerance * straight);
    settings.normal = ShellForceNormal::kShell;
    const double cap = kStiffness * kPi * kDepth * kDepth * (3 * kRadius - kDepth) / 3;
    const ShellForce by_shell = force_on(tree, ground(), placement, settings);
    EXPECT_NEAR(by_shell.force.y, cap, tolerance * cap);
    EXPECT_NEAR(by_shell.force.x, 0, tolerance * cap);
    EXPECT_NEAR(by_shell.area, 2 * kPi * kRadius * kDepth, 2 * tolerance * by_shell.area);
    EXPECT_NEAR(by_shell.mean_depth, kDepth / 2, tolerance * kDepth);
    // All pressure goes through the ball's middle.
    settings.center = placement.field_from_shell.translation;
    EXPECT_LT(length(force_on(tree, ground(), placement, settings).torque), 0.005 * cap * kRadius);
  }
}

// By SSL14's equations 2 and 3, one point after the other.
ShellForce force_by_definition(const PointSphereTree& tree, const ShellTarget& target,
                               const ShellPlacement& placement, std::span<const ShellHit> hits,
                               const ShellForceSettings& settings) {
  ShellForce sum;
  for (const ShellHit& hit : hits) {
    if (hit.distance >= 0) continue;
    const double depth = -static_cast<double>(hit.distance), area = static_cast<double>(hit.area);
    const Vec3 push =
        settings.normal == ShellForceNormal::kField
            ? direction_at(tree, target, placement, hit.point)
            : -rotate(placement.field_from_shell.rotation, to_double(tree.normals()[hit.point]));
    const Vec3 force = settings.stiffness * depth * area * push;
    sum.force = sum.force + force;
    sum.torque = sum.torque + cross(place_of(tree, placement, hit.point) - settings.center, force);
    sum.area += area;
  }
  if (settings.scale == ShellForceScale::kMeanDepth && sum.area > 0) {
    sum.force = sum.force / sum.area;
    sum.torque = sum.torque / sum.area;
  }
  return sum;
}

TEST(ShellContact, ForceAndTorqueAreThoseOfTheirDefinition) {
  const PointSphereTree tree = make_tree(make_shape("gear", {}), 800);
  const ShellTarget target{build_field(make_shape("knot", {}), {.resolution = 32}).field,
                           {.max_margin = 0.02}};
  Random random(71);
  ShellScratch state;
  int touching = 0;
  for (int i = 0; i < unless_slow(300, 60); ++i) {
    const ShellPlacement placement{random_pose(random, 0.4), random.uniform(0.3, 2),
                                   random.uniform(0.5, 1.5)};
    const ShellResult answer =
        find_hits(tree, target, placement, {.margin = 0.01 * placement.field_scale}, state);
    const ShellForceSettings settings{
        .stiffness = 1e5,
        .scale = random.below(2) == 0 ? ShellForceScale::kPressure : ShellForceScale::kMeanDepth,
        .normal = random.below(2) == 0 ? ShellForceNormal::kShell : ShellForceNormal::kField,
        .center = random.in_unit_ball()};
    const ShellForce fast = compute_force(tree, target, placement, answer.hits, settings);
    const ShellForce slow = force_by_definition(tree, target, placement, answer.hits, settings);
    const double scale = 1 + length(slow.force);
    ASSERT_NEAR(length(fast.force - slow.force), 0, 1e-10 * scale);
    ASSERT_NEAR(length(fast.torque - slow.torque), 0, 1e-10 * scale);
    ASSERT_NEAR(fast.area, slow.area, 1e-12);
    touching += length(slow.force) > 0 ? 1 : 0;
  }
  EXPECT_GT(touching, unless_slow(100, 20));
}

TEST(ShellContact, CoarserLevelsPushAboutAsHard) {
  const PointSphereTree tree =
      make_tree(make_sphere({.radius = 0.1, .frequency = 24}), unless_slow(20000U, 5000U));
  const ShellPlacement placement{{.translation = {0, 0.06, 0}}};
  const double whole = force_on(tree, ground(), placement, {}).force.y;
  const int last = tree.level_count();
  EXPECT_NEAR(force_on(tree, ground(), placement, {}, last).force.y, whole, 1e-9 * whole);
  EXPECT_NEAR(force_on(tree, ground(), placement, {}, last - 1).force.y, whole, 0.05 * whole);
  EXPECT_NEAR(force_on(tree, ground(), placement, {}, last - 2).force.y, whole, 0.2 * whole);
}

// A square peg, five times as long as it is wide. Its sides overlap a little, too, where its end
// does; that is the tenth that is left.
TEST(ShellContact, MeanDepthPushesAsHardWithEndAndSide) {
  const PointSphereTree peg =
      make_tree(make_box({.size_x = 0.2, .size_y = 1, .size_z = 0.2}), 8000);
  constexpr double kDepth = 0.005;
  const ShellPlacement end{{.translation = {0, 0.5 - kDepth, 0}}};
  const ShellPlacement side{{rotation_about({0, 0, 1}, kPi / 2), {0, 0.1 - kDepth, 0}}};
  const auto push = [&](const ShellPlacement& placement, ShellForceScale scale) {
    return force_on(peg, ground(), placement, {.stiffness = 1000, .scale = scale}).force.y;
  };
  const double by_end = push(end, ShellForceScale::kMeanDepth),
               by_side = push(side, ShellForceScale::kMeanDepth);
  EXPECT_NEAR(by_end, 1000 * kDepth, 100 * kDepth);
  EXPECT_NEAR(by_side / by_end, 1, 0.1);
  EXPECT_NEAR(push(side, ShellForceScale::kPressure) / push(end, ShellForceScale::kPressure), 5,
              0.3);
}

TEST(ShellContact, ManifoldsAreDeepestFirstAndDistinct) {
  const PointSphereTree tree = make_tree(make_shape("gear", {}), 2000);
  const ShellTarget target{BoxField{{0.1, 0, 0}, {0.5, 0.2, 0.4}}};
  Random random(72);
  ShellScratch state;
  int full = 0;
  for (int i = 0; i < unless_slow(500, 60); ++i) {
    const ShellPlacement placement{random_pose(random, 0.6)};
    const ShellResult answer = find_hits(tree, target, placement, {}, state);
    const std::uint32_t most = 1 + random.below(4);
    const Manifold m = choose_manifold(tree, target, placement, answer.hits, most);
    ASSERT_EQ(m.count == 0, answer.hits.empty());
    ASSERT_LE(m.count, std::min<std::size_t>(most, answer.hits.size()));
    if (m.count == 0) continue;
    ASSERT_EQ(answer.hits[m.hit[0]].distance, answer.hits[answer.deepest].distance);
    const std::set<std::uint32_t> distinct(m.hit, m.hit + m.count);
    ASSERT_EQ(distinct.size(), m.count);
    ASSERT_LT(*distinct.rbegin(), answer.hits.size());
    full += m.count == 4 ? 1 : 0;
  }
  EXPECT_GT(full, unless_slow(40, 4));
}

// A box that stands on the plane: four contacts in its four corners, or nearly so.
TEST(ShellContact, ManifoldsSpanThePatch) {
  const PointSphereTree box =
      make_tree(make_box({.size_x = 0.4, .size_y = 0.2, .size_z = 0.3}), 3000);
  Random random(73);
  ShellScratch state;
  for (int i = 0; i < 50; ++i) {
    const Quat tilt = rotation_about({random.uniform(-1, 1), 0, random.uniform(-1, 1)}, 1e-3);
    const ShellPlacement placement{{tilt, {0, 0.098, 0}}};
    const ShellResult answer = find_hits(box, ground(), placement, {}, state);
    const Manifold m = choose_manifold(box, ground(), placement, answer.hits);
    ASSERT_EQ(m.count, 4U);
    std::vector<Vec3> p;
    for (const std::uint32_t hit : m.hit)
      p.push_back(place_of(box, placement, answer.hits[hit].point));
    // Deepest and furthest are opposite, the others lie on both sides.
    const double area = 0.5 * std::abs(cross(p[1] - p[0], p[3] - p[2]).y);
    EXPECT_GT(area, 0.9 * 0.4 * 0.3);
  }
}

TEST(ShellContact, SegmentsPartitionTheHits) {
  const PointSphereTree tree = make_tree(make_shape("gear", {}), 2000);
  Random random(74);
  ShellScratch state;
  for (const std::uint32_t wanted : {1U, 4U, 15U, 60U, 100000U}) {
    const ShellPatches patches = choose_patches(tree, wanted);
    const std::size_t count = patches.first_point.size() - 1;
    EXPECT_EQ(patches.first_point.front(), 0U);
    EXPECT_EQ(patches.first_point.back(), tree.point_count());
    ASSERT_TRUE(std::is_sorted(patches.first_point.begin(), patches.first_point.end()));
    if (wanted > 60) continue;
    EXPECT_LE(std::abs(std::log(static_cast<double>(count) / wanted)), std::log(3.0));
    for (int i = 0; i < 20; ++i) {
      const ShellPlacement placement{random_pose(random, 0.3)};
      const ShellResult answer = find_hits(tree, ground(), placement, {}, state);
      std::size_t next = 0;
      for (std::uint32_t s = 0; s < count; ++s) {
        const auto part = hits_of_patch(patches, s, answer.hits);
        if (part.empty()) continue;
        ASSERT_EQ(part.data(), answer.hits.data() + next);
        ASSERT_GE(part.front().point, patches.first_point[s]);
        ASSERT_LT(part.back().point, patches.first_point[s + 1]);
        next += part.size();
      }
      ASSERT_EQ(next, answer.hits.size());
    }
  }
}

}  // namespace
}  // namespace isotact
