#include "isotact/queries/points/shell_query.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/points/detail/shell_view.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

PointSphereTree sample_shape(const char* shape, std::uint32_t points,
                             const PointSphereTreeSettings& settings = {}) {
  return build_point_sphere_tree(
      sample_by_repulsion(make_shape(shape, {}),
                          {.common = {.covering_tolerance = 1}, .count = points, .rounds = 2}),
      settings);
}

std::shared_ptr<const HullSolid> make_octahedron(double size, double radius) {
  HullSolid hull;
  hull.radius = radius;
  for (const double s : {size, -size})
    for (const Vec3& axis : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}})
      hull.corners.push_back(axis * s);
  for (unsigned i = 0; i < 8; ++i) {
    const std::uint32_t x = (i & 1U) != 0 ? 3 : 0, y = (i & 2U) != 0 ? 4 : 1,
                        z = (i & 4U) != 0 ? 5 : 2;
    hull.triangles.insert(hull.triangles.end(), {x, y, z});
    const Vec3 normal = normalized(hull.corners[x] + hull.corners[y] + hull.corners[z]);
    hull.planes.push_back({normal, dot(normal, hull.corners[x])});
  }
  return std::make_shared<const HullSolid>(std::move(hull));
}

constexpr double kMargin = 0.02;

struct NamedTarget {
  const char* name;
  ShellTarget target;
};

const std::vector<NamedTarget>& all_targets() {
  static const std::vector<NamedTarget> targets = [] {
    const int cells = unless_slow(48, 24);
    const TriangleMesh knot = make_shape("knot", {});
    const BrickField field = build_field(knot, {.resolution = cells}).field;
    const Lattice lattice = voxmap_lattice(to_double(bounds(knot)), field.voxel_size());
    const TargetSettings settings{.max_margin = kMargin};
    const auto map = [&](VoxmapEncoding encoding) {
      return ShellTarget(build_voxmap(knot, lattice, {.encoding = encoding}).voxmap, settings);
    };
    return std::vector<NamedTarget>{
        {"plane", ShellTarget(PlaneField{normalized(Vec3{1, 2, 3}), 0.3})},
        {"box", ShellTarget(BoxField{{0.1, 0.2, 0.3}, {0.5, 0.2, 0.3}})},
        {"rounded box", ShellTarget(BoxField{{}, {0.3, 0.2, 0.3}}, 0.05)},
        {"sphere", ShellTarget(SphereField{{0.1, 0, 0}, 0.4})},
        {"capsule", ShellTarget(CapsuleField{{0, -0.3, 0.1}, {0.2, 0.3, 0}, 0.2})},
        {"point capsule", ShellTarget(CapsuleField{{0.1, 0, 0}, {0.1, 0, 0}, 0.3})},
        {"cylinder", ShellTarget(CylinderField{{0, 0.1, 0}, 0.3, 0.6}, 0.02)},
        {"cone", ShellTarget(ConeField{{0, 0.1, 0}, 0.3, 0.7}, 0.01)},
        {"hull", ShellTarget(make_octahedron(0.5, 0.04))},
        {"brick field", ShellTarget(field, settings)},
        {"layers", map(VoxmapEncoding::kLayers)},
        {"scaled", map(VoxmapEncoding::kScaled)},
        {"support", map(VoxmapEncoding::kSupport)},
        {"any field", ShellTarget(AnyField{TorusField{}})},
    };
  }();
  return targets;
}

// On the surface of a target, about: by steps along the gradient. A voxelmap's is that of the field
// of the same mesh.
Vec3 find_surface(const ShellTarget& wanted, Random& random) {
  const ShellTarget& target =
      wanted.kind() == TargetKind::kVoxmap ? all_targets()[9].target : wanted;
  Vec3 x = random.in_unit_ball() * 0.8;
  for (int i = 0; i < 8; ++i) {
    const FieldSample s = target.sample(x, {0, 1, 0});
    x = x - s.distance * s.gradient;
  }
  return x;
}

// A point of the shell is near the surface of the target.
ShellPlacement make_meeting(const PointSphereTree& tree, const ShellTarget& target,
                            Random& random) {
  ShellPlacement placement;
  if (random.below(2) == 0) placement.shell_scale = random.uniform(0.3, 2);
  if (random.below(2) == 0) placement.field_scale = random.uniform(0.3, 2);
  placement.field_from_shell = random_pose(random, 0);
  const auto point = static_cast<std::uint32_t>(random.below(tree.point_count()));
  const Vec3 on_target = find_surface(target, random) * placement.field_scale;
  const Vec3 on_shell = place_of(tree, placement, point);
  placement.field_from_shell.translation =
      on_target - on_shell + random.in_unit_ball() * random.uniform(0, 0.2);
  return placement;
}

void expect_same(const ShellResult& fast, const ShellResult& slow) {
  ASSERT_EQ(fast.hits.size(), slow.hits.size());
  for (std::size_t i = 0; i < fast.hits.size(); ++i) {
    ASSERT_EQ(fast.hits[i].point, slow.hits[i].point);
    ASSERT_EQ(fast.hits[i].distance, slow.hits[i].distance);
    ASSERT_EQ(fast.hits[i].area, slow.hits[i].area);
  }
  ASSERT_EQ(fast.deepest, slow.deepest);
  ASSERT_EQ(fast.distance, slow.distance);
  ASSERT_EQ(fast.nearest_point, slow.nearest_point);
  ASSERT_EQ(fast.lower_bound, slow.lower_bound);
}

TEST(ShellQuery, FindsWhatTestingEveryPointFinds) {
  const PointSphereTree trees[] = {
      sample_shape("gear", 3000), sample_shape("bowl", 500, {.cluster_size = 3}),
      sample_shape("torus", 700, {.cluster_size = 16}), sample_shape("box", 9)};
  Random random(61);
  ShellScratch fast_state, slow_state;
  for (const NamedTarget& t : all_targets()) {
    SCOPED_TRACE(t.name);
    int touching = 0, culled = 0;
    const int count = unless_slow(300, 30);
    for (int i = 0; i < count; ++i) {
      const PointSphereTree& tree = trees[i % 4];
      const ShellPlacement placement = make_meeting(tree, t.target, random);
      const double most = std::min(kMargin * placement.field_scale, 0.02);
      const ShellRequest request{.margin = random.below(2) == 0 ? 0 : random.uniform(-0.02, most),
                                 .want_distance = true};
      const ShellResult fast = find_hits(tree, t.target, placement, request, fast_state);
      const ShellResult slow = find_hits_linear(tree, t.target, placement, request, slow_state);
      expect_same(fast, slow);
      if (HasFatalFailure()) return;
      touching += fast.hits.empty() ? 0 : 1;
      culled += fast.work.points < tree.point_count() ? 1 : 0;
    }
    EXPECT_GT(touching, count / 3);
    EXPECT_GT(culled, count / 5);
  }
}

TEST(ShellQuery, DistancesAreThoseOfTheTarget) {
  const PointSphereTree tree = sample_shape("gear", 500);
  Random random(62);
  ShellScratch state;
  for (const NamedTarget& t : all_targets()) {
    SCOPED_TRACE(t.name);
    int checked = 0;
    for (int i = 0; i < unless_slow(100, 20); ++i) {
      const ShellPlacement placement = make_meeting(tree, t.target, random);
      for (const ShellHit& hit : find_hits(tree, t.target, placement, {}, state).hits) {
        const Vec3 place = place_of(tree, placement, hit.point);
        const Vec3 normal =
            rotate(placement.field_from_shell.rotation, to_double(tree.normals()[hit.point]));
        const FieldSample s = t.target.sample(place / placement.field_scale, normal);
        // Voxelmaps jump where rounding puts a point into the next voxel.
        EXPECT_NEAR(static_cast<double>(hit.distance), s.distance * placement.field_scale, 1e-5);
        ++checked;
      }
    }
    EXPECT_GT(checked, 100);
  }
}

TEST(ShellQuery, FormulasAreThoseOfTheFields) {
  Random random(63);
  const auto compare = [&](const ShellTarget& target, const auto& field) {
    for (int i = 0; i < 300; ++i) {
      const Vec3 p = random.in_unit_ball();
      const FieldSample a = target.sample(p, {}), b = field.sample(p);
      EXPECT_NEAR(a.distance, b.distance, 1e-12);
      EXPECT_NEAR(length(a.gradient - b.gradient), 0, 1e-9);
    }
  };
  compare(ShellTarget(PlaneField{}), PlaneField{});
  compare(ShellTarget(BoxField{}), BoxField{});
  compare(ShellTarget(SphereField{}), SphereField{});
  compare(ShellTarget(CapsuleField{}), CapsuleField{});
  compare(ShellTarget(CylinderField{}), CylinderField{});
}

// Against many points of the surface.
TEST(ShellQuery, ConesAndHullsAreExact) {
  Random random(64);
  const ConeField cone{{0, 0.1, 0}, 0.3, 0.7};
  const ShellTarget targets[] = {ShellTarget(cone, 0.05), ShellTarget(make_octahedron(0.5, 0.04))};
  for (const ShellTarget& target : targets)
    for (int i = 0; i < 2000; ++i) {
      const Vec3 p = random.in_unit_ball();
      const FieldSample s = target.sample(p, {});
      EXPECT_NEAR(length(s.gradient), 1, 1e-9);
      // The surface is that far in that direction, and no nearer in any.
      const double on = target.sample(p - s.distance * s.gradient, {}).distance;
      EXPECT_NEAR(on, 0, 1e-9);
      const Vec3 other = p + random.in_unit_ball() * (0.999 * std::abs(s.distance));
      EXPECT_EQ(target.sample(other, {}).distance > 0, s.distance > 0);
    }
}

// Directions of support maps went from the surface point nearest to the voxel's centre to the point
// asked for: sideways on flat ground, where a ball then bounced off at any angle.
TEST(ShellQuery, DirectionsOfSupportMapsAreSquareToFlatGround) {
  constexpr double kVoxel = 0.01;
  const TriangleMesh box = make_box({.size_x = 0.4, .size_y = 0.2, .size_z = 0.4});
  const Lattice lattice = voxmap_lattice(to_double(bounds(box)), kVoxel, 4);
  const ShellTarget target(
      build_voxmap(box, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap,
      {.max_margin = 0.03});
  Random random(70);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 point = random.in_box({-0.1, 0.07, -0.1}, {0.1, 0.13, 0.1});
    const FieldSample sample = target.sample(point, random.unit_vector());
    ASSERT_NEAR(sample.distance, point.y - 0.1, 1e-6);
    ASSERT_NEAR(sample.gradient.y, 1, 1e-6);
  }
}

TEST(ShellQuery, EveryWidthGivesTheSameBits) {
#if defined(__x86_64__)
  if (simd_level_of_cpu() != SimdLevel::kAvx2) GTEST_SKIP() << "needs AVX2";
  const detail::ShellKernels& narrow = detail::shell_kernels_baseline();
  const detail::ShellKernels& wide = detail::choose_shell_kernels(SimdLevel::kAvx2);
  Random random(65);
  for (int i = 0; i < 4000; ++i) {
    detail::ShellMap map{};
    for (auto& row : map.linear)
      for (float& x : row) x = static_cast<float>(random.uniform(-1, 1));
    for (float& x : map.offset) x = static_cast<float>(random.uniform(0, 4));
    map.radius_scale = 1;
    map.cull = 0.01F;
    detail::FormulaNumbers numbers{};
    for (float& x : numbers.number) x = static_cast<float>(random.uniform(0.1, 1));
    float planes[12];
    for (float& x : planes) x = static_cast<float>(random.uniform(-1, 1));
    numbers.planes = planes;
    numbers.plane_count = 3;
    const std::vector<std::uint8_t> quarters = [&] {
      std::vector<std::uint8_t> q(64);
      for (std::uint8_t& x : q) x = static_cast<std::uint8_t>(random.below(8));
      return q;
    }();
    const detail::ClearanceView clearance{quarters.data(), {4, 4, 4}, {3.5F, 4, 4}};
    const detail::ShellTask task{nullptr, &map, &numbers, &clearance};
    SphereGroup group;
    for (unsigned k = 0; k < 8; ++k) {
      group.x[k] = static_cast<float>(random.uniform(-3, 3));
      group.y[k] = static_cast<float>(random.uniform(-3, 3));
      group.z[k] = static_cast<float>(random.uniform(-3, 3));
      group.radius[k] = static_cast<float>(random.uniform(0, 1.5));
    }
    const auto test = static_cast<detail::SphereTest>(i % 8);
    ASSERT_EQ(narrow.test_group(test, task, group), wide.test_group(test, task, group));
  }
#endif
}

TEST(ShellQuery, LevelsComeNearerAndStateWhatTheyMayMiss) {
  const PointSphereTree tree = sample_shape("gear", 3000);
  Random random(66);
  ShellScratch state, slow_state;
  std::vector<double> error(static_cast<std::size_t>(tree.level_count()) + 1, 0.0);
  int interesting = 0;
  for (const NamedTarget& t : all_targets()) {
    SCOPED_TRACE(t.name);
    for (int i = 0; i < unless_slow(60, 6); ++i) {
      const ShellPlacement placement = make_meeting(tree, t.target, random);
      const ShellResult all = find_hits_linear(tree, t.target, placement, {}, slow_state);
      if (all.hits.empty()) continue;
      ++interesting;
      double bound = -std::numeric_limits<double>::infinity();
      for (int level = 0; level <= tree.level_count(); ++level) {
        const ShellResult part = find_hits(tree, t.target, placement, {.level = level}, state);
        ASSERT_EQ(part.status, ShellStatus::kComplete);
        ASSERT_EQ(part.level, level);
        ASSERT_LE(part.lower_bound, all.distance + 1e-6);
        bound = std::max(bound, part.lower_bound);
        const double found = std::min(part.distance, 0.0);
        ASSERT_GE(found, all.distance);
        error[static_cast<std::size_t>(level)] += found - all.distance;
        ASSERT_TRUE(
            std::is_sorted(part.hits.begin(), part.hits.end(),
                           [](const ShellHit& a, const ShellHit& b) { return a.point < b.point; }));
      }
      const ShellResult full = find_hits(
          tree, t.target, placement, {.level = tree.level_count(), .max_nodes = 1'000'000}, state);
      expect_same(full, all);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(interesting, unless_slow(300, 25));
  for (std::size_t i = 1; i < error.size(); ++i) EXPECT_LE(error[i], error[i - 1]);
  EXPECT_LT(error[error.size() - 2], 0.5 * error[1]);
  EXPECT_EQ(error.back(), 0);
}

TEST(ShellQuery, WorkBudgetsAreKeptAndRepeatable) {
  const PointSphereTree tree = sample_shape("gear", 3000);
  Random random(67);
  ShellScratch state, again_state, slow_state;
  int cut = 0;
  for (const NamedTarget& t : all_targets())
    for (int i = 0; i < unless_slow(60, 6); ++i) {
      const ShellPlacement placement = make_meeting(tree, t.target, random);
      const ShellResult all = find_hits_linear(tree, t.target, placement, {}, slow_state);
      const std::uint64_t budget = 1 + random.below(600);
      const ShellRequest request{.max_nodes = budget};
      const ShellResult part = find_hits(tree, t.target, placement, request, state);
      const ShellResult again = find_hits(tree, t.target, placement, request, again_state);
      expect_same(part, again);
      // No more than one node's children, and their points, past it.
      ASSERT_LE(part.work.spheres + part.work.points, budget + 2 * kMaxChildren);
      ASSERT_LE(part.lower_bound, std::min(all.distance, 0.0) + 1e-6);
      if (part.status == ShellStatus::kOutOfWork) ++cut;
      if (part.status == ShellStatus::kComplete) expect_same(part, all);
      if (HasFatalFailure()) return;
      // Areas of what was found are disjoint parts of the surface.
      double area = 0;
      for (const ShellHit& hit : part.hits) area += static_cast<double>(hit.area);
      const double whole =
          tree.header().surface_area * placement.shell_scale * placement.shell_scale;
      ASSERT_LE(area, whole * 1.001);
    }
  EXPECT_GT(cut, unless_slow(200, 15));
}

TEST(ShellQuery, TimeBudgetsGiveAnAnswer) {
  const PointSphereTree tree = sample_shape("gear", 3000);
  const ShellTarget& target = all_targets()[9].target;
  ShellScratch state, slow_state;
  Random random(68);
  for (int i = 0; i < 50; ++i) {
    const ShellPlacement placement = make_meeting(tree, target, random);
    const ShellResult all = find_hits_linear(tree, target, placement, {}, slow_state);
    const ShellResult none = find_hits(tree, target, placement, {.max_microseconds = 1e-3}, state);
    EXPECT_LE(none.lower_bound, std::min(all.distance, 0.0));
    const ShellResult enough = find_hits(tree, target, placement, {.max_microseconds = 1e9}, state);
    expect_same(enough, all);
  }
}

// At rest, slowly, faster, and with jumps in between.
TEST(ShellQuery, CoherenceNeverChangesAnAnswer) {
  const PointSphereTree tree = sample_shape("gear", 3000);
  Random random(69);
  for (const NamedTarget& t : all_targets()) {
    SCOPED_TRACE(t.name);
    // Two pairs that share a scratch, each with its own memory, and one that has its own.
    ShellScratch state, slow_state, shared;
    ShellPairScratch memory, of_another;
    state.set_coherent(true);
    int remembered = 0, touching = 0, steps = 0;
    for (int run = 0; run < unless_slow(12, 3); ++run) {
      ShellPlacement placement = make_meeting(tree, t.target, random);
      const double speed = run % 3 == 0 ? 0 : std::pow(10.0, random.uniform(-5, -2));
      const Vec3 axis = random.unit_vector(), direction = random.unit_vector();
      for (int step = 0; step < 40; ++step, ++steps) {
        const ShellResult fast = find_hits(tree, t.target, placement, {}, state);
        const ShellResult slow = find_hits_linear(tree, t.target, placement, {}, slow_state);
        expect_same(fast, slow);
        expect_same(find_hits(tree, t.target, placement, {}, memory, shared), slow);
        const ShellPlacement turned{.field_from_shell = Pose{rotation_about(axis, 1), {}} *
                                                        placement.field_from_shell};
        const ShellResult other = find_hits(tree, t.target, turned, {}, of_another, shared);
        expect_same(other, find_hits_linear(tree, t.target, turned, {}, slow_state));
        if (HasFatalFailure()) return;
        remembered += fast.work.spheres == 0 ? 1 : 0;
        touching += fast.hits.empty() ? 0 : 1;
        placement.field_from_shell =
            Pose{rotation_about(axis, speed), direction * speed} * placement.field_from_shell;
      }
    }
    EXPECT_GT(touching, steps / 4);
    EXPECT_GT(remembered, t.target.kind() == TargetKind::kAnyField ? -1 : steps / 5);
  }
}

}  // namespace
}  // namespace isotact
