#include "isotact/queries/swept/swept.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/swept/closest_approach.h"
#include "isotact/queries/swept/detail/swept_lanes.h"

#include "motions.h"
#include "queries/points/shape_field.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

PointSphereTree make_tree(const char* shape, std::uint32_t points, double scale = 1,
                          const PointSphereTreeSettings& settings = {}) {
  TriangleMesh mesh = make_shape(shape, {});
  for (Vec3f& p : mesh.positions) p *= static_cast<float>(scale);
  return build_point_sphere_tree(
      sample_by_repulsion(mesh,
                          {.common = {.covering_tolerance = 1}, .count = points, .rounds = 2}),
      settings);
}

// Noise: no distance at all, and as steep as it likes.
DenseGrid make_noise(const Aabb& box, int cells, Random& random) {
  DenseGridParts parts{.lattice = {box.lower, extent(box).x / cells, {cells, cells, cells}}};
  const std::size_t nodes = count(node_counts(parts.lattice));
  for (std::size_t i = 0; i < nodes; ++i)
    parts.samples.push_back(static_cast<float>(random.uniform(-0.1, 1) * extent(box).x));
  return DenseGrid(std::move(parts));
}

// Around a field of half size `size`: nearby, across, and from far away.
ShellMotion random_meeting(Random& random, double size) {
  ShellMotion motion;
  const double distance = size * (random.below(8) == 0 ? 40 : random.uniform(0.2, 2.5));
  motion.shell.from = random_pose(random, distance);
  switch (random.below(4)) {
    case 0:  // a small step, as in a simulation
      motion.shell.to = Pose{rotation_about(random.unit_vector(), random.uniform(0, 0.1)), {}} *
                        motion.shell.from;
      motion.shell.to.translation += random.in_unit_ball() * (size * 0.05);
      break;
    case 1:  // none
      motion.shell.to = motion.shell.from;
      break;
    default:
      motion.shell.to = random_pose(random, size * 2.5);
  }
  motion.field.from = random_pose(random, size);
  motion.field.to = random.below(2) == 0 ? motion.field.from : random_pose(random, size);
  // Poses above were those seen from the field.
  motion.shell.from = motion.field.from * motion.shell.from;
  motion.shell.to = motion.field.to * motion.shell.to;
  motion.shell.pivot = random.in_unit_ball() * size;
  motion.model = kAllModels[random.below(4)];
  motion.degree = 1 + static_cast<int>(random.below(4));
  return motion;
}

struct Tally {
  std::uint64_t cases = 0, hits = 0, culled = 0, traced = 0;
};

void expect_same(const SweptResults& a, const SweptResults& b) {
  ASSERT_EQ(a.motions.size(), b.motions.size());
  for (std::size_t i = 0; i < a.motions.size(); ++i) {
    ASSERT_EQ(a.motions[i].time, b.motions[i].time);
    ASSERT_EQ(a.motions[i].point, b.motions[i].point);
    ASSERT_EQ(a.motions[i].first_hit, b.motions[i].first_hit);
    ASSERT_EQ(a.motions[i].hit_count, b.motions[i].hit_count);
  }
  ASSERT_EQ(a.hits.size(), b.hits.size());
  for (std::size_t i = 0; i < a.hits.size(); ++i) {
    ASSERT_EQ(a.hits[i].point, b.hits[i].point);
    ASSERT_EQ(a.hits[i].interval_count, b.hits[i].interval_count);
    ASSERT_EQ(a.hits[i].first_interval, b.hits[i].first_interval);
  }
  ASSERT_EQ(a.intervals, b.intervals);
}

bool has_contact(const SweptResults& all, const SweptMotionResult& motion, std::uint32_t point,
                 float time) {
  for (std::uint64_t h = motion.first_hit; h < motion.first_hit + motion.hit_count; ++h) {
    const SweptHit& hit = all.hits[h];
    if (hit.point != point) continue;
    for (std::uint64_t k = 0; k < hit.interval_count; ++k) {
      const SegmentInterval& i = all.intervals[hit.first_interval + k];
      if (i.enter <= time && time <= i.exit) return true;
    }
  }
  return false;
}

// The tree against point by point, all, first and any.
template <typename F>
void compare(const F& field, const PointSphereTree& tree, std::span<const ShellMotion> motions,
             SweptSettings settings, Tally& tally) {
  SweptResults all, first, any, linear;
  settings.mode = Mode::kAll;
  settings.traversal = ShellTraversal::kTree;
  SweptTracer(field, settings).trace(tree, motions, all);
  settings.mode = Mode::kFirst;
  SweptTracer(field, settings).trace(tree, motions, first);
  settings.mode = Mode::kAny;
  SweptTracer(field, settings).trace(tree, motions, any);
  settings.mode = Mode::kAll;
  settings.traversal = ShellTraversal::kLinear;
  SweptTracer(field, settings).trace(tree, motions, linear);
  ASSERT_NO_FATAL_FAILURE(expect_same(all, linear));
  for (std::size_t i = 0; i < motions.size(); ++i) {
    ASSERT_EQ(first.motions[i].time, linear.motions[i].time);
    ASSERT_EQ(first.motions[i].point, linear.motions[i].point);
    const SweptMotionResult& one = any.motions[i];
    ASSERT_EQ(one.point == kNoPoint, linear.motions[i].hit_count == 0);
    ASSERT_TRUE(one.point == kNoPoint ||
                has_contact(linear, linear.motions[i], one.point, one.time));
    tally.cases += tree.point_count();
    tally.hits += linear.motions[i].hit_count;
    tally.traced += linear.motions[i].work.segments;
    tally.culled += linear.motions[i].work.segments - all.motions[i].work.segments;
  }
}

TEST(Swept, TreeAndPointByPointAgree) {
  Tally tally;
  Random random(11);
  for (const char* shape : {"gear", "knot", "bowl", "torus"}) {
    const BrickField field = make_field(shape, 48);
    const double size = length(extent(field.bounds())) / 2;
    for (const char* other : {"link", "bolt"}) {
      const double scale = std::pow(4, random.uniform(-1, 1)) * size /
                           length(extent(bounds(make_shape(other, {})))) * 2;
      const PointSphereTree tree =
          make_tree(other, 600 + random.below(600), scale,
                    {.cluster_size = 3 + static_cast<int>(random.below(12)),
                     .spheres = random.below(2) == 0 ? SphereKind::kPoints : SphereKind::kNested});
      std::vector<ShellMotion> motions;
      for (int i = 0; i < unless_slow(40, 4); ++i) motions.push_back(random_meeting(random, size));
      for (const double cells : {0.0, -1.5, 3.0, 30.0})
        ASSERT_NO_FATAL_FAILURE(compare(field, tree, motions,
                                        {.margin = cells * field.voxel_size(), .path_tolerance = 2},
                                        tally))
            << shape << " " << other << " " << cells;
    }
  }
  const double share = static_cast<double>(tally.hits) / static_cast<double>(tally.cases);
  const double culled = static_cast<double>(tally.culled) / static_cast<double>(tally.traced);
  RecordProperty("cases", std::to_string(tally.cases));
  RecordProperty("share_of_hits", std::to_string(share));
  std::printf("%llu cases, %.1f %% hit, %.1f %% of segments culled\n",
              static_cast<unsigned long long>(tally.cases), 100 * share, 100 * culled);
  EXPECT_GE(tally.cases, unless_slow(1000000U, 50000U));
  EXPECT_GT(share, 0.05);
  EXPECT_LT(share, 0.6);
  EXPECT_GT(culled, 0.3);
}

TEST(Swept, AgreesOnFieldsAsSteepAsTheyLike) {
  Tally tally;
  Random random(12);
  const PointSphereTree tree = make_tree("torus", 900, 0.3);
  for (int i = 0; i < unless_slow(6, 2); ++i) {
    const DenseGrid grid = make_noise({{-1, -1, -1}, {1, 1, 1}}, 19 + i, random);
    std::vector<ShellMotion> motions;
    for (int k = 0; k < 20; ++k) motions.push_back(random_meeting(random, 1.5));
    ASSERT_NO_FATAL_FAILURE(
        compare(grid, tree, motions, {.margin = -0.02 - 0.02 * i, .path_tolerance = 1}, tally));
  }
  EXPECT_GT(tally.hits, tally.cases / 50);
}

// Fields without cells: halved by their slope.
TEST(Swept, TakesFieldsOfAnyKind) {
  Tally tally;
  Random random(18);
  const PointSphereTree tree = make_tree("gear", 700, 10);
  const AnyField fields[] = {AnyField{PlaneField{}}, AnyField{SphereField{{0.2, 0, 0}, 0.7}},
                             AnyField{TorusField{}}};
  for (const AnyField& field : fields) {
    std::vector<ShellMotion> motions;
    for (int k = 0; k < unless_slow(30, 6); ++k) motions.push_back(random_meeting(random, 0.8));
    const auto compare_any = [&](double margin) {
      SweptResults all, first, linear;
      const double cell = 0.02;
      SweptTracer(field, cell, {.margin = margin}).trace(tree, motions, all);
      SweptTracer(field, cell, {.margin = margin, .mode = Mode::kFirst})
          .trace(tree, motions, first);
      SweptTracer(field, cell, {.margin = margin, .traversal = ShellTraversal::kLinear})
          .trace(tree, motions, linear);
      ASSERT_NO_FATAL_FAILURE(expect_same(all, linear));
      for (std::size_t i = 0; i < motions.size(); ++i) {
        ASSERT_EQ(first.motions[i].time, linear.motions[i].time);
        tally.cases += tree.point_count();
        tally.hits += linear.motions[i].hit_count;
      }
    };
    for (const double margin : {0.0, 0.1}) ASSERT_NO_FATAL_FAILURE(compare_any(margin));
  }
  EXPECT_GT(tally.hits, tally.cases / 20);
  EXPECT_LT(tally.hits, tally.cases / 2);
  // A point through a plane, to the digit.
  const PointSphereTree one = build_point_sphere_tree(
      {.points = {{0, 0, 0}}, .normals = {{0, 1, 0}}, .areas = {1}, .how = "one"}, {});
  SweptResults r;
  SweptTracer(fields[0], 0.01)
      .trace(one,
             {.shell = {.from = {.translation = {0, 3, 0}}, .to = {.translation = {0, -1, 0}}}}, r);
  EXPECT_NEAR(r.motions[0].time, 0.75, 1e-6);
  EXPECT_EQ(r.intervals[0].exit, 1);
  EXPECT_THROW(SweptTracer(fields[0], 0), Error);
}

// Values along true paths against the intervals found.
TEST(Swept, FollowsTrueMotions) {
  Random random(13);
  const BrickField field = make_field("knot", 48);
  const double size = length(extent(field.bounds())) / 2, h = field.voxel_size();
  const PointSphereTree tree = make_tree("gear", 200, size / 30);
  const SweptTracer tracer(field, {.path_tolerance = 0.05});
  std::uint64_t inside_times = 0, outside_times = 0;
  SweptResults results;
  for (int i = 0; i < unless_slow(60, 12); ++i) {
    const ShellMotion motion = random_meeting(random, size / 3);
    tracer.trace(tree, motion, results);
    const SweptMotionResult& summary = results.motions[0];
    const double slack = field.lipschitz() * (summary.path_error + 2e-3 * h + 1e-5 * size);
    std::size_t next = 0;
    for (std::uint32_t p = 0; p < tree.point_count(); ++p) {
      std::span<const SegmentInterval> found;
      if (next < results.hits.size() && results.hits[next].point == p) {
        found = std::span(results.intervals)
                    .subspan(results.hits[next].first_interval, results.hits[next].interval_count);
        ++next;
      }
      for (int k = 0; k < 40; ++k) {
        const double t = random.uniform();
        const double v = field.value(compute_map(motion, t) * to_double(tree.point(p)));
        if (std::abs(v) <= slack) continue;
        bool inside = false;
        for (const SegmentInterval& in : found)
          inside =
              inside || (static_cast<double>(in.enter) <= t && t <= static_cast<double>(in.exit));
        ASSERT_EQ(inside, v < 0) << name(motion.model) << " point " << p << " at " << t;
        ++(inside ? inside_times : outside_times);
      }
    }
    ASSERT_EQ(next, results.hits.size());
  }
  EXPECT_GT(inside_times, outside_times / 50);
}

TEST(Swept, AnyNumberOfThreadsGivesTheSame) {
  Random random(14);
  const BrickField field = make_field("gear", 48);
  const double size = length(extent(field.bounds())) / 2;
  const PointSphereTree tree = make_tree("link", 500, size / 10);
  std::vector<ShellMotion> motions;
  for (int i = 0; i < 23; ++i) motions.push_back(random_meeting(random, size));
  SweptResults want, got;
  SweptTracer(field, {.threads = {1}}).trace(tree, motions, want);
  EXPECT_GT(want.hits.size(), 100U);
  for (const int threads : {2, 3, 7}) {
    SweptTracer(field, {.threads = {threads}}).trace(tree, motions, got);
    expect_same(want, got);
  }
  // One by one.
  const SweptTracer tracer(field, {.threads = {2}});
  for (std::size_t i = 0; i < motions.size(); ++i) {
    tracer.trace(tree, motions[i], got);
    EXPECT_EQ(got.motions[0].time, want.motions[i].time);
    EXPECT_EQ(got.hits.size(), want.motions[i].hit_count);
  }
}

TEST(Swept, KernelsGiveTheSameBits) {
  if (simd_level_of_cpu() != SimdLevel::kAvx2) GTEST_SKIP() << "no AVX2";
  Random random(15);
  std::vector<std::uint8_t> quarters(10 * 11 * 12);
  for (auto& q : quarters) q = static_cast<std::uint8_t>(random.below(9));
  const detail::FreeGrid grid{quarters.data(), {10, 11, 12}, {9.5F, 11, 12}};
  unsigned touched = 0, tested = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto number = [&](double a, double b) {
      return static_cast<float>(random.uniform(a, b));
    };
    float x[8], y[8], z[8], r[8];
    for (int k = 0; k < 8; ++k) {
      x[k] = number(-1, 1);
      y[k] = number(-1, 1);
      z[k] = number(-1, 1);
      r[k] = number(0, 0.5);
    }
    detail::BlockMap from{}, to{};
    for (detail::BlockMap* map : {&from, &to})
      for (int a = 0; a < 3; ++a) {
        map->offset[a] = number(-4, 15);
        for (int b = 0; b < 3; ++b) map->linear[a][b] = number(-2, 2);
      }
    if (i % 7 == 0) to = from;
    const detail::SphereLanes spheres{x, y, z, i % 2 == 0 ? r : nullptr, random.below(255) + 1};
    const detail::SweptTask task{&from, &to, 1, 0.1F, number(0, 0.3), number(0.3, 1), i % 3 != 0};
    detail::SweptTimes a{}, b{};
    const unsigned one = detail::choose_find_touching(SimdLevel::kBaseline)(grid, spheres, task, a);
    const unsigned two = detail::choose_find_touching(SimdLevel::kAvx2)(grid, spheres, task, b);
    ASSERT_EQ(one, two);
    for (unsigned k = 0; k < 8; ++k) {
      if ((one >> k & 1U) == 0) continue;
      ASSERT_EQ(a.begin[k], b.begin[k]);
      ASSERT_EQ(a.end[k], b.end[k]);
    }
    touched += static_cast<unsigned>(__builtin_popcount(one));
    tested += static_cast<unsigned>(__builtin_popcount(spheres.wanted));
  }
  EXPECT_GT(touched, tested / 10);
  EXPECT_LT(touched, tested * 9 / 10);
}

TEST(ClosestApproach, IsTheLeastOfManyLooks) {
  Random random(16);
  const BrickField field = make_field("gear", 48);
  const double size = length(extent(field.bounds())) / 2, h = field.voxel_size();
  const PointSphereTree tree = make_tree("link", 300, size / 20);
  int clear = 0;
  for (int i = 0; i < 40; ++i) {
    const ShellMotion motion = random_meeting(random, size);
    const ApproachResult got = find_closest_approach(field, tree, motion);
    ASSERT_EQ(got.status, ApproachStatus::kDone);
    EXPECT_LE(got.distance - got.lower_bound, 0.1001 * h);
    ShellPath path;
    compute_shell_path(motion, ball_of(tree), h / 32, path);
    const auto value = [&](std::uint32_t point, double time) {
      return field.value(place_on(path, to_double(tree.point(point)), time));
    };
    EXPECT_EQ(value(got.point, got.time), got.distance);
    for (int k = 0; k < unless_slow(20000, 1000); ++k)
      ASSERT_GE(value(random.below(tree.point_count()), random.uniform()), got.lower_bound - 1e-9);
    clear += got.distance > 0 ? 1 : 0;
  }
  EXPECT_GT(clear, 4);
  EXPECT_LT(clear, 36);
  const ShellMotion across{.shell = {.from = {.translation = {-size, 0, 0}},
                                     .to = {.translation = {size, 0.1 * size, 0}}}};
  const ApproachResult gave_up = find_closest_approach(field, tree, across, {.max_values = 10});
  EXPECT_EQ(gave_up.status, ApproachStatus::kGaveUp);
  EXPECT_LT(gave_up.lower_bound, gave_up.distance);
}

TEST(ClosestApproach, MeasuresOutsideOfTheBox) {
  const BrickField field = make_field("torus", 32);
  const PointSphereTree tree = make_tree("torus", 3000);
  Random random(17);
  for (int i = 0; i < unless_slow(20, 4); ++i) {
    const ShellMotion rest{.shell = at_rest(random_pose(random, 4))};
    const ApproachResult got = find_closest_approach(field, tree, rest, {.field_points = &tree});
    double want = HUGE_VAL;
    for (std::uint32_t a = 0; a < tree.point_count(); a += 3) {
      const Vec3 x = transform_point(rest.shell.from, to_double(tree.point(a)));
      for (std::uint32_t b = 0; b < tree.point_count(); b += 3)
        want = std::min(want, length(x - to_double(tree.point(b))));
    }
    EXPECT_LE(got.lower_bound, want);
    if (got.distance < field.voxel_size() * 6) continue;
    EXPECT_NEAR(got.distance, want, 3 * tree.covering_radius());
  }
}

// A way along a side whose other parts are next to nothing: 0 times the inverse of that was NaN,
// and the sphere leapt over the block.
TEST(Swept, DenormalWaysAreNotLost) {
  DenseGridParts parts{.lattice = {{0, 0, 0}, 1, {64, 64, 64}}};
  for (std::size_t i = 0; i < count(node_counts(parts.lattice)); ++i) {
    const std::size_t x = i % 65;
    parts.samples.push_back(x >= 40 && x <= 42 ? -1.0F : 30.0F);
  }
  const DenseGrid grid(std::move(parts));
  PointShell shell{.points = {{4, -1e-40F, 4}}, .normals = {{0, 1, 0}}, .areas = {1}, .how = "one"};
  const PointSphereTree tree = build_point_sphere_tree(shell, {});
  Tally tally;
  const ShellMotion along{.shell = {.to = {.translation = {146, 1e-40, 0}}}};
  ASSERT_NO_FATAL_FAILURE(compare(grid, tree, std::span(&along, 1), {}, tally));
  EXPECT_EQ(tally.hits, 1U);
}

// Places of bodies far from the origin are differences of large numbers.
TEST(Swept, FarFromTheOriginNothingIsLost) {
  Random random(19);
  const BrickField field = make_field("gear", 32);
  const double size = length(extent(field.bounds())) / 2;
  const PointSphereTree tree = make_tree("link", 300, size / 10);
  for (const double away : {1e8, 1e13, 9e14}) {
    std::vector<ShellMotion> motions;
    for (int i = 0; i < 12; ++i) {
      ShellMotion motion = random_meeting(random, size);
      const Vec3 shift = random.unit_vector() * away;
      for (Pose* pose :
           {&motion.shell.from, &motion.shell.to, &motion.field.from, &motion.field.to})
        pose->translation += shift;
      motions.push_back(motion);
    }
    Tally tally;
    ASSERT_NO_FATAL_FAILURE(compare(field, tree, motions, {.path_tolerance = 2}, tally)) << away;
  }
}

// A point that slides along an analytic ground takes few values.
TEST(Swept, SlidingAlongAGroundIsCheap) {
  const PointSphereTree one = build_point_sphere_tree(
      {.points = {{0, 1e-9F, 0}}, .normals = {{0, 1, 0}}, .areas = {1}, .how = "one"}, {});
  SweptResults r;
  SweptTracer(AnyField{PlaneField{}}, 1e-3)
      .trace(one, {.shell = {.to = {.translation = {0.01, 0, 0}}}}, r);
  EXPECT_LT(r.motions[0].work.tracing.nodes, 100000U);
}

TEST(Swept, RefusesWhatMakesNoSense) {
  const BrickField field = make_field("box", 16);
  const PointSphereTree tree = make_tree("box", 50);
  const double nan = std::nan("");
  EXPECT_THROW(SweptTracer(field, {.margin = nan}), Error);
  EXPECT_THROW(SweptTracer(field, {.path_tolerance = 0}), Error);
  SweptResults results;
  const SweptTracer tracer(field);
  EXPECT_THROW(tracer.trace(tree, {.shell = {.to = {.translation = {nan, 0, 0}}}}, results), Error);
  // Very far away is only slow.
  tracer.trace(
      tree,
      {.shell = {.from = {.translation = {-1e14, 0, 0}}, .to = {.translation = {1e14, 0, 0}}}},
      results);
  EXPECT_EQ(results.motions.size(), 1U);
  tracer.trace(tree, std::span<const ShellMotion>{}, results);
  EXPECT_TRUE(results.motions.empty());
}

}  // namespace
}  // namespace isotact
