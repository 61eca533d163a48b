#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/swept/detail/swept_front.h"
#include "isotact/queries/swept/detail/swept_lanes.h"
#include "isotact/queries/swept/swept.h"

#include "motions.h"
#include "queries/points/shape_field.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

constexpr int kSteps = kSlowBuild ? 100 : 600;

PointSphereTree make_shell_tree(const char* shape, std::uint32_t points, int cluster_size = 8) {
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

struct MemoryTally {
  int steps = 0, touching = 0;
  std::uint64_t hits = 0, changing = 0, traced = 0, traced_without = 0;
};

void expect_same_step(const SweptResults& with, const SweptResults& without) {
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
             Walk walk, int steps, MemoryTally& tally) {
  SweptScratch of_all, of_first;
  SweptResults with, without;
  for (int i = 0; i < steps; ++i) {
    const ShellMotion motion = walk.next();
    all.trace(tree, motion, without);
    all.trace(tree, motion, with, of_all);
    ASSERT_NO_FATAL_FAILURE(expect_same_step(with, without)) << "step " << i;
    ++tally.steps;
    tally.touching += without.hits.empty() ? 0 : 1;
    tally.hits += without.hits.size();
    for (const SegmentInterval& in : without.intervals)
      tally.changing += in.enter > 0 || in.exit < 1 ? 1U : 0U;
    tally.traced += with.motions[0].work.segments;
    tally.traced_without += without.motions[0].work.segments;
    first.trace(tree, motion, without);
    first.trace(tree, motion, with, of_first);
    ASSERT_NO_FATAL_FAILURE(expect_same_step(with, without)) << "step " << i << ", first";
  }
}

template <typename... Field>
void compare(const PointSphereTree& tree, const Walk& walk, MemoryTally& tally, double margin,
             const Field&... field) {
  const SweptTracer all(field..., SweptSettings{.margin = margin, .threads = {1}});
  const SweptTracer first(field...,
                          SweptSettings{.margin = margin, .mode = Mode::kFirst, .threads = {1}});
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

void expect_worth(const MemoryTally& tally) {
  EXPECT_GT(tally.touching, tally.steps / 5);
  EXPECT_LT(tally.touching, tally.steps);
  EXPECT_GT(tally.changing, tally.hits / 200);
  EXPECT_LT(static_cast<double>(tally.traced), 0.7 * static_cast<double>(tally.traced_without));
}

TEST(SweptScratch, NeverChangesTheAnswerInBricks) {
  MemoryTally tally;
  std::uint64_t seed = 1;
  for (const char* shape : {"gear", "torus", "box", "bowl"}) {
    const BrickField field = make_field(shape, 48);
    const PointSphereTree tree = make_shell_tree(shape, 700, shape[0] == 'b' ? 8 : 13);
    const Walk walk(seed++, resting_on(field, tree), size_of(tree));
    compare(tree, walk, tally, 0, field);
    if (testing::Test::HasFatalFailure()) return;
  }
  expect_worth(tally);
}

TEST(SweptScratch, NeverChangesTheAnswerOfNutAndBolt) {
  MemoryTally tally;
  const BrickField bolt = make_field("bolt", 96);
  const PointSphereTree nut = make_shell_tree("nut", 1500);
  compare(nut, Walk(5, {.translation = {0, 0.03, 0}}, size_of(nut)), tally, 0, bolt);
  compare(nut, Walk(6, {.translation = {0, 0.03, 0}}, 1e-3), tally, -2e-4, bolt);
  compare(nut, Walk(7, {.translation = {0, 0.02, 0}}, 1e-4), tally, 1e-3, bolt);
  expect_worth(tally);
}

TEST(SweptScratch, NeverChangesTheAnswerOfAnalyticFields) {
  MemoryTally tally;
  const PointSphereTree tree = make_shell_tree("gear", 600);
  const double size = size_of(tree);
  const AnyField plane{PlaneField{.normal = {0, 1, 0}}}, ball{SphereField{.radius = size}};
  compare(tree, Walk(8, {.translation = {0, size * 0.1, 0}}, size), tally, 0, plane, 1e-3);
  compare(tree, Walk(9, {.translation = {0, size * 1.05, 0}}, size), tally, 0.01 * size, ball,
          size / 50);
  expect_worth(tally);
}

// No distance at all, and as steep as it likes.
TEST(SweptScratch, NeverChangesTheAnswerInNoise) {
  Random random(10);
  MemoryTally tally;
  const PointSphereTree tree = make_shell_tree("torus", 400);
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
TEST(SweptScratch, ServesWhoeverComes) {
  const BrickField gear = make_field("gear", 32), torus = make_field("torus", 32);
  const PointSphereTree a = make_shell_tree("gear", 300), b = make_shell_tree("torus", 200);
  SweptScratch memory;
  SweptResults with, without;
  Random random(12);
  int touching = 0;
  for (int i = 0; i < 40; ++i) {
    const SweptTracer tracer(i % 3 == 0 ? gear : torus,
                             {.margin = i % 5 == 0 ? 0.01 : 0, .threads = {1}});
    const PointSphereTree& tree = i % 2 == 0 ? a : b;
    Pose pose = random_pose(random, size_of(tree) * 0.5);
    for (int k = 0; k < 3; ++k) {
      ShellMotion motion{.shell = at_rest(pose)};
      pose.translation += random.in_unit_ball() * 1e-4;
      motion.shell.to = pose;
      tracer.trace(tree, motion, without);
      tracer.trace(tree, motion, with, memory);
      ASSERT_NO_FATAL_FAILURE(expect_same_step(with, without));
      touching += with.hits.empty() ? 0 : 1;
    }
    if (i == 20) memory.forget();
  }
  EXPECT_GT(touching, 40);
  EXPECT_LT(touching, 120);
}

// A plane that fails at one of its values, as memory may while a front is looked at.
struct FailingPlane : PlaneField {
  std::shared_ptr<int> left = std::make_shared<int>(-1);
  double value(const Vec3& point) const {
    if (--*left == 0) throw Error("no more");
    return PlaneField::value(point);
  }
};

// Half of a look was taken for the whole, and went on in the next look of any other memory.
TEST(SweptScratch, SurvivesWhatThrows) {
  const PointSphereTree tree = make_shell_tree("torus", 300);
  const FailingPlane plane;
  const SweptTracer tracer(AnyField{plane}, size_of(tree) / 50, {.threads = {1}});
  SweptScratch memory, other;
  SweptResults with, without;
  Random random(16);
  int failures = 0;
  Pose pose{.translation = {0, size_of(tree) * 0.3, 0}};
  for (int i = 0; i < unless_slow(600, 100); ++i) {
    ShellMotion motion{.shell = at_rest(pose)};
    pose.translation += (Vec3{0, i % 100 < 50 ? -0.3 : 0.3, 0} + random.in_unit_ball() * 0.3) *
                        (size_of(tree) * 0.03);
    motion.shell.to = pose;
    tracer.trace(tree, motion, without);
    if (i % 2 == 0) {
      *plane.left = static_cast<int>(1 + random.below(300));
      try {
        tracer.trace(tree, motion, with, memory);
      } catch (const Error&) {
        ++failures;
      }
      *plane.left = -1;
    }
    for (SweptScratch* m : {&other, &memory}) {
      tracer.trace(tree, motion, with, *m);
      ASSERT_NO_FATAL_FAILURE(expect_same_step(with, without)) << i;
    }
  }
  EXPECT_GT(failures, 10);
}

// A body at rest, and one that trembles by less than a hundredth of a cell: next to nothing is
// looked at, but for points that are as near to the surface.
TEST(SweptScratch, SavesTheWork) {
  const BrickField field = make_field("gear", 64);
  const PointSphereTree tree = make_shell_tree("gear", 4000);
  const SweptTracer tracer(field, {.threads = {1}});
  SweptScratch memory;
  SweptResults with, without;
  Random random(13);
  const Pose start = {.translation = resting_on(field, tree).translation -
                                     Vec3{0, field.voxel_size() * 0.5, 0}};
  SweptWork sum, sum_without;
  std::uint64_t hits = 0;
  Pose pose = start;
  for (int i = 0; i < 200; ++i) {
    ShellMotion motion{.shell = at_rest(pose)};
    pose.translation = start.translation + random.in_unit_ball() * (field.voxel_size() * 0.01);
    motion.shell.to = pose;
    tracer.trace(tree, motion, without);
    tracer.trace(tree, motion, with, memory);
    ASSERT_NO_FATAL_FAILURE(expect_same_step(with, without));
    sum += with.motions[0].work;
    sum_without += without.motions[0].work;
    hits += with.hits.size();
  }
  EXPECT_GT(hits, 200U * 100);
  EXPECT_LT(sum.segments * 10, sum_without.segments);
  EXPECT_LT((sum.points + sum.spheres) * 10, sum_without.points + sum_without.spheres);
  EXPECT_GT(memory.memory_bytes(), 0U);
  EXPECT_LT(memory.memory_bytes(), 200U * tree.point_count());
}

TEST(SweptScratch, KernelsAgree) {
  using namespace detail;
  Random random(14);
  std::vector<float> x(60), y(60), z(60);
  for (auto* axis : {&x, &y, &z})
    for (float& a : *axis) a = static_cast<float>(random.uniform(-1, 1));
  std::vector<FrontNodes> nodes(64);
  for (FrontNodes& n : nodes)
    for (std::size_t k = 0; k < 8; ++k) {
      n.x[k] = static_cast<float>(random.uniform(-1, 1));
      n.y[k] = static_cast<float>(random.uniform(-1, 1));
      n.z[k] = static_cast<float>(random.uniform(-1, 1));
      n.room[k] = static_cast<float>(random.uniform(-0.1, 0.4));
    }
  nodes[3].x[4] = std::nanf("");
  std::vector<FrontLeaf> leaves(50);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].first_point = static_cast<std::uint32_t>(i);
    for (float& room : leaves[i].room) room = static_cast<float>(random.uniform(-0.1, 0.4));
  }
  std::vector<Shift> shifts(3);
  for (Shift& s : shifts) {
    for (auto& row : s.linear)
      for (float& a : row) a = static_cast<float>(random.uniform(-0.1, 0.1));
    for (float& a : s.offset) a = static_cast<float>(random.uniform(-0.1, 0.1));
    s.error = 0.01F;
  }
  const ShellPoints points{x.data(), y.data(), z.data()};
  struct Outcome {
    std::vector<std::uint8_t> awake;
    std::vector<float> rooms;
    std::uint64_t count = 0;
    bool operator==(const Outcome&) const = default;
  };
  const auto run = [&](const FrontKernels& k) {
    Outcome out;
    auto n = nodes;
    auto l = leaves;
    out.awake.resize(n.size());
    const FrontShifts all{shifts.data(), shifts.size()};
    const Waking of_nodes = k.wake_nodes(n.data(), n.size(), all, out.awake.data());
    const Waking of_leaves = k.wake_leaves(l.data(), l.size(), points, all);
    out.count = of_nodes.awake + of_leaves.awake;
    out.rooms = {of_nodes.least_room, of_leaves.least_room};
    k.cut_nodes(n.data(), n.size(), shifts[0]);
    k.cut_leaves(l.data(), l.size(), points, shifts[0]);
    for (const FrontNodes& block : n)
      out.rooms.insert(out.rooms.end(), std::begin(block.room), std::end(block.room));
    for (const FrontLeaf& leaf : l) {
      out.awake.push_back(leaf.awake);
      out.rooms.insert(out.rooms.end(), std::begin(leaf.room), std::end(leaf.room));
    }
    return out;
  };
  const Outcome baseline = run(kBaselineFrontKernels),
                wide = run(choose_front_kernels(simd_level()));
  EXPECT_GT(baseline.count, 100U);
  EXPECT_LT(baseline.count, 800U);
  EXPECT_NE(baseline.awake[3] & 16, 0);  // what is not a number is looked at
  EXPECT_EQ(baseline, wide);
}

// Between two places of a block and its neighbours no slope is steeper than is said.
TEST(SweptScratch, SteepnessBoundsDifferences) {
  const BrickField field = make_field("gear", 64);
  const detail::Steepness steepness(&field, nullptr, false);
  Random random(15);
  const Lattice coarse = field.coarse_lattice();
  double nearest = 0, sum = 0;
  const int cases = kSlowBuild ? 5000 : 100000;
  for (int i = 0; i < cases; ++i) {
    Index3 block{};
    Vec3 a{}, b{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      block[axis] =
          static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(coarse.cells[axis])));
      a[axis] = coarse.origin[axis] + (block[axis] + random.uniform(0, 1)) * coarse.spacing;
    }
    const bool same = i % 2 == 0;  // block
    b = a + random.in_unit_ball() * (coarse.spacing * (i % 4 < 2 ? 0.02 : 1));
    if (same)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double lower = coarse.origin[axis] + block[axis] * coarse.spacing;
        b[axis] = std::clamp(b[axis], lower, lower + coarse.spacing);
      }
    const detail::Steepness::Slopes slopes = steepness.find(block);
    const auto slope = static_cast<double>(same ? slopes.here : slopes.around);
    const double change = std::abs(field.value(a) - field.value(b)), most = slope * length(a - b);
    ASSERT_LE(change, most + 1e-6 * field.voxel_size());
    nearest = std::max(nearest, change / most);
    sum += slope;
  }
  EXPECT_GT(nearest, 0.8);
  EXPECT_LT(sum / cases, field.lipschitz() * 0.75);
}

// A pair that was not followed for a motion kept the bound of the pose before it, and a world
// skipped a contact.
TEST(SweptScratch, TheFreeMoveIsThatOfTheLastMotion) {
  const PointSphereTree tree = make_shell_tree("gear", 400);
  const BrickField field = make_field("torus", 32);
  const SweptTracer tracer(field);
  const double size = size_of(tree);
  Walk walk(test_seed(5), {.translation = {1.5 * size, 0, 0}}, size);
  Random random(test_seed(6));
  SweptScratch scratch;
  SweptResults results;
  const int steps = test_cases(kSlowBuild ? 1000 : 6000);
  int free = 0;
  for (int k = 0; k < steps; ++k) {
    const ShellMotion motion = walk.next();
    tracer.trace(tree, motion, results, scratch);
    const double move = scratch.compute_free_move();
    if (!(move > 0)) continue;
    ++free;
    const Pose& end = motion.shell.to;
    const Vec3 way = random.below(2) == 0 ? random.unit_vector() : normalized(-end.translation);
    ShellMotion rest;
    rest.shell.from = rest.shell.to = {end.rotation, end.translation + way * (0.999 * move)};
    tracer.trace(tree, rest, results);
    ASSERT_TRUE(results.hits.empty()) << k << " " << move;
  }
  EXPECT_GT(free, steps / 20);
  EXPECT_LT(free, steps);

  // From far away, where the free move is large, to a place beside the body: too fast to follow.
  const auto touches = [&](const Quat& turn, const Vec3& place) {
    ShellMotion rest;
    rest.shell.from = rest.shell.to = {turn, place};
    tracer.trace(tree, rest, results);
    return !results.hits.empty();
  };
  const double far = field.bounds().upper.x + 3 * size;
  int fast = 0;
  for (int k = 0; k < 50; ++k) {
    const Vec3 way = random.unit_vector();
    const Quat turn = random.rotation();
    double near = far, inside = far;
    while (inside > 0 && !touches(turn, way * inside)) inside -= 0.2 * size;
    if (inside <= 0) continue;  // Through the hole of the torus.
    for (int i = 0; i < 20; ++i) {
      const double middle = 0.5 * (near + inside);
      (touches(turn, way * middle) ? inside : near) = middle;
    }
    ShellMotion motion;
    motion.shell.from = motion.shell.to = {turn, way * far};
    for (int i = 0; i < 3; ++i) tracer.trace(tree, motion, results, scratch);
    if (!(scratch.compute_free_move() > 0.1 * size)) continue;
    motion.shell.to.translation = way * (near + 0.001 * size);
    tracer.trace(tree, motion, results, scratch);
    const double move = scratch.compute_free_move();
    for (const double share : {0.002, 0.01, 0.05})
      ASSERT_FALSE(touches(turn, motion.shell.to.translation -
                                     way * std::min(0.999 * move, share * size)))
          << k << " " << move;
    ++fast;
  }
  EXPECT_GT(fast, 10);
}

}  // namespace
}  // namespace isotact
