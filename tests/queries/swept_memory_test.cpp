#include "isotact/queries/swept_memory.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/analytic.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives.h"
#include "isotact/queries/detail/front_lanes.h"
#include "isotact/queries/detail/swept_front.h"
#include "isotact/queries/swept.h"

#include "motions.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr int kSteps = kSlowBuild ? 150 : 1200;

BrickField make_field(const char* shape, int resolution) {
  return build_field(make_shape(shape, {}), {.resolution = resolution}).field;
}

PointSphereTree make_tree(const char* shape, std::uint32_t points, int cluster_size = 8) {
  return build_point_sphere_tree(
      sample_by_repulsion(make_shape(shape, {}),
                          {.common = {.covering_tolerance = 1}, .count = points, .rounds = 2}),
      {.cluster_size = cluster_size});
}

double size_of(const PointSphereTree& tree) {
  return static_cast<double>(tree.bounding_sphere().radius);
}

// A body that trembles, slides, turns, jumps, rests and is put elsewhere.
class Walk {
 public:
  Walk(std::uint64_t seed, const Pose& start, double size)
      : random_(seed), size_(size), start_(start), pose_(start) {}

  ShellMotion next() {
    if (random_.below(40) == 0) choose_gait();
    ShellMotion motion{.model = kAllModels[random_.below(32) == 0 ? random_.below(4) : model_]};
    if (random_.below(100) == 0) pose_ = random_pose(random_, size_);  // put there by others
    if (random_.below(100) == 0) pose_ = start_;
    motion.shell.from = pose_;
    Vec3 by = drift_ * step_, turn = spin_ * step_ / size_;
    if (trembles_) {
      by = random_.in_unit_ball() * step_;
      turn = random_.in_unit_ball() * (step_ / size_);
    }
    if (random_.below(150) == 0) by = random_.in_unit_ball() * size_;
    const double angle = length(turn);
    pose_.translation += by;
    if (angle > 0) pose_.rotation = normalized(rotation_about(turn, angle) * pose_.rotation);
    // Who strays comes back.
    if (length(pose_.translation - start_.translation) > size_) drift_ = -drift_;
    motion.shell.to = pose_;
    motion.shell.pivot = random_.in_unit_ball() * size_;
    return motion;
  }

 private:
  void choose_gait() {
    step_ = size_ * std::ldexp(1.0, -static_cast<int>(random_.below(24)));
    if (random_.below(6) == 0) step_ = 0;
    drift_ = random_.in_unit_ball();
    spin_ = random_.below(2) == 0 ? Vec3{} : random_.in_unit_ball();
    trembles_ = random_.below(3) == 0;
    model_ = random_.below(3);  // polynomials stretch
  }

  Random random_;
  double size_, step_ = 0;
  Pose start_, pose_;
  Vec3 drift_{}, spin_{};
  bool trembles_ = false;
  std::uint32_t model_ = 0;
};

struct Tally {
  int steps = 0, touching = 0;
  std::uint64_t hits = 0, changing = 0, traced = 0, traced_without = 0;
};

void expect_same(const SweptResults& with, const SweptResults& without) {
  ASSERT_EQ(with.motions.size(), 1U);
  ASSERT_EQ(with.motions[0].time, without.motions[0].time);
  ASSERT_EQ(with.motions[0].point, without.motions[0].point);
  ASSERT_EQ(with.motions[0].first_hit, without.motions[0].first_hit);
  ASSERT_EQ(with.motions[0].hit_count, without.motions[0].hit_count);
  ASSERT_EQ(with.motions[0].path_error, without.motions[0].path_error);
  ASSERT_EQ(with.hits.size(), without.hits.size());
  for (std::size_t i = 0; i < with.hits.size(); ++i) {
    ASSERT_EQ(with.hits[i].point, without.hits[i].point);
    ASSERT_EQ(with.hits[i].interval_count, without.hits[i].interval_count);
    ASSERT_EQ(with.hits[i].first_interval, without.hits[i].first_interval);
  }
  ASSERT_EQ(with.intervals, without.intervals);
}

// Steps of a walk with memory and without, all points and the first.
void compare(const SweptTracer& all, const SweptTracer& first, const PointSphereTree& tree,
             Walk walk, int steps, Tally& tally) {
  SweptMemory of_all, of_first;
  SweptResults with, without;
  for (int i = 0; i < steps; ++i) {
    const ShellMotion motion = walk.next();
    all.trace(tree, motion, without);
    all.trace(tree, motion, of_all, with);
    ASSERT_NO_FATAL_FAILURE(expect_same(with, without)) << "step " << i;
    ++tally.steps;
    tally.touching += without.hits.empty() ? 0 : 1;
    tally.hits += without.hits.size();
    for (const SegmentInterval& in : without.intervals)
      tally.changing += in.enter > 0 || in.exit < 1 ? 1U : 0U;
    tally.traced += with.motions[0].counts.segments;
    tally.traced_without += without.motions[0].counts.segments;
    first.trace(tree, motion, without);
    first.trace(tree, motion, of_first, with);
    ASSERT_NO_FATAL_FAILURE(expect_same(with, without)) << "step " << i << ", first";
  }
}

template <typename... Field>
void compare(const PointSphereTree& tree, const Walk& walk, Tally& tally, double iso,
             const Field&... field) {
  const SweptTracer all(field..., SweptSettings{.iso = iso, .threads = {1}});
  const SweptTracer first(field...,
                          SweptSettings{.iso = iso, .mode = SweptMode::kFirst, .threads = {1}});
  compare(all, first, tree, walk, kSteps, tally);
}

// Where the top of the field's body is, and the shell just touches it from above.
Pose resting_on(const BrickField& field, const PointSphereTree& tree) {
  double highest = -HUGE_VAL, lowest = HUGE_VAL;
  for (std::uint32_t i = 0; i < tree.point_count(); ++i)
    lowest = std::min(lowest, static_cast<double>(tree.y()[i]));
  const Aabb box = field.bounds();
  const Vec3 c = center(box);
  for (double y = box.lower.y; y < box.upper.y; y += field.voxel_size() * 0.1)
    for (const double x : {-0.2, 0.0, 0.2})
      if (field.value({c.x + x * extent(box).x, y, c.z}) <= 0) highest = std::max(highest, y);
  return {.translation = {0, highest - lowest, 0}};
}

void expect_worth(const Tally& tally) {
  EXPECT_GT(tally.touching, tally.steps / 5);
  EXPECT_LT(tally.touching, tally.steps);
  EXPECT_GT(tally.changing, tally.hits / 200);
  EXPECT_LT(tally.traced * 2, tally.traced_without);
}

TEST(SweptMemory, NeverChangesTheAnswerInBricks) {
  Tally tally;
  std::uint64_t seed = 1;
  for (const char* shape : {"gear", "torus", "box", "bowl"}) {
    const BrickField field = make_field(shape, 48);
    const PointSphereTree tree = make_tree(shape, 700, shape[0] == 'b' ? 8 : 13);
    const Walk walk(seed++, resting_on(field, tree), size_of(tree));
    compare(tree, walk, tally, 0, field);
    if (testing::Test::HasFatalFailure()) return;
  }
  expect_worth(tally);
}

TEST(SweptMemory, NeverChangesTheAnswerOfNutAndBolt) {
  Tally tally;
  const BrickField bolt = make_field("bolt", 96);
  const PointSphereTree nut = make_tree("nut", 1500);
  compare(nut, Walk(5, {.translation = {0, 0.03, 0}}, size_of(nut)), tally, 0, bolt);
  compare(nut, Walk(6, {.translation = {0, 0.03, 0}}, 1e-3), tally, -2e-4, bolt);
  compare(nut, Walk(7, {.translation = {0, 0.02, 0}}, 1e-4), tally, 1e-3, bolt);
  expect_worth(tally);
}

TEST(SweptMemory, NeverChangesTheAnswerOfAnalyticFields) {
  Tally tally;
  const PointSphereTree tree = make_tree("gear", 600);
  const double size = size_of(tree);
  const AnyField plane{PlaneField{.normal = {0, 1, 0}}}, ball{SphereField{.radius = size}};
  compare(tree, Walk(8, {.translation = {0, size * 0.1, 0}}, size), tally, 0, plane, 1e-3);
  compare(tree, Walk(9, {.translation = {0, size * 1.05, 0}}, size), tally, 0.01 * size, ball,
          size / 50);
  expect_worth(tally);
}

// No distance at all, and as steep as it likes.
TEST(SweptMemory, NeverChangesTheAnswerInNoise) {
  Random random(10);
  Tally tally;
  const PointSphereTree tree = make_tree("torus", 400);
  const double size = size_of(tree);
  const int cells = 12;
  DenseGridParts parts{
      .lattice = {Vec3{-size, -size, -size}, 2 * size / cells, {cells, cells, cells}}};
  for (std::size_t i = 0; i < count(node_counts(parts.lattice)); ++i)
    parts.samples.push_back(static_cast<float>(random.uniform(-1, 3) * size));
  const DenseGrid grid(std::move(parts));
  compare(tree, Walk(11, {.translation = {0, size, 0}}, size), tally, 0, grid);
  EXPECT_GT(tally.touching, tally.steps / 5);
  EXPECT_GT(tally.changing, tally.hits / 50);
}

// A memory that meets another tree or tracer starts anew, also where the old one is gone.
TEST(SweptMemory, ServesWhoeverComes) {
  const BrickField gear = make_field("gear", 32), torus = make_field("torus", 32);
  const PointSphereTree a = make_tree("gear", 300), b = make_tree("torus", 200);
  SweptMemory memory;
  SweptResults with, without;
  Random random(12);
  int touching = 0;
  for (int i = 0; i < 40; ++i) {
    const SweptTracer tracer(i % 3 == 0 ? gear : torus,
                             {.iso = i % 5 == 0 ? 0.01 : 0, .threads = {1}});
    const PointSphereTree& tree = i % 2 == 0 ? a : b;
    Pose pose = random_pose(random, size_of(tree) * 0.5);
    for (int k = 0; k < 3; ++k) {
      ShellMotion motion{.shell = at_rest(pose)};
      pose.translation += random.in_unit_ball() * 1e-4;
      motion.shell.to = pose;
      tracer.trace(tree, motion, without);
      tracer.trace(tree, motion, memory, with);
      ASSERT_NO_FATAL_FAILURE(expect_same(with, without));
      touching += with.hits.empty() ? 0 : 1;
    }
    if (i == 20) memory.forget();
  }
  EXPECT_GT(touching, 40);
  EXPECT_LT(touching, 120);
}

// A body at rest, and one that trembles by less than a hundredth of a cell: next to nothing is
// looked at, but for points that are as near to the surface.
TEST(SweptMemory, SavesTheWork) {
  const BrickField field = make_field("gear", 64);
  const PointSphereTree tree = make_tree("gear", 4000);
  const SweptTracer tracer(field, {.threads = {1}});
  SweptMemory memory;
  SweptResults with, without;
  Random random(13);
  const Pose start = {.translation = resting_on(field, tree).translation -
                                     Vec3{0, field.voxel_size() * 0.5, 0}};
  SweptCounts sum, sum_without;
  std::uint64_t hits = 0;
  Pose pose = start;
  for (int i = 0; i < 200; ++i) {
    ShellMotion motion{.shell = at_rest(pose)};
    pose.translation = start.translation + random.in_unit_ball() * (field.voxel_size() * 0.01);
    motion.shell.to = pose;
    tracer.trace(tree, motion, without);
    tracer.trace(tree, motion, memory, with);
    ASSERT_NO_FATAL_FAILURE(expect_same(with, without));
    sum += with.motions[0].counts;
    sum_without += without.motions[0].counts;
    hits += with.hits.size();
  }
  EXPECT_GT(hits, 200U * 100);
  EXPECT_LT(sum.segments * 10, sum_without.segments);
  EXPECT_LT((sum.points + sum.spheres) * 10, sum_without.points + sum_without.spheres);
  EXPECT_GT(memory.memory_bytes(), 0U);
  EXPECT_LT(memory.memory_bytes(), 200U * tree.point_count());
}

#if defined(__x86_64__)
TEST(SweptMemory, KernelsAgree) {
  using namespace detail;
  Random random(14);
  std::vector<FrontBlock> blocks(64);
  for (FrontBlock& b : blocks)
    for (std::size_t k = 0; k < 8; ++k) {
      b.x[k] = static_cast<float>(random.uniform(-1, 1));
      b.y[k] = static_cast<float>(random.uniform(-1, 1));
      b.z[k] = static_cast<float>(random.uniform(-1, 1));
      b.room[k] = static_cast<float>(random.uniform(-0.1, 0.4));
    }
  blocks[3].x[4] = std::nanf("");
  std::vector<Shift> shifts(3);
  for (Shift& s : shifts) {
    for (auto& row : s.linear)
      for (float& x : row) x = static_cast<float>(random.uniform(-0.1, 0.1));
    for (float& x : s.offset) x = static_cast<float>(random.uniform(-0.1, 0.1));
    s.error = 0.01F;
  }
  std::vector<std::uint8_t> a(blocks.size()), b(blocks.size());
  const std::uint64_t n =
      find_awake_baseline(blocks.data(), blocks.size(), shifts.data(), shifts.size(), a.data());
  EXPECT_GT(n, 50U);
  EXPECT_LT(n, 500U);
  EXPECT_NE(a[3] & 16, 0);
  const FindAwake wide = choose_find_awake(simd_level());
  EXPECT_EQ(n, wide(blocks.data(), blocks.size(), shifts.data(), shifts.size(), b.data()));
  EXPECT_EQ(a, b);
}
#endif

}  // namespace
}  // namespace isotact
