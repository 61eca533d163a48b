#include "isotact/field/models/dense_grid.h"

#include <cstring>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/csg.h"

#include "field/field_checks.h"
#include "field/models/sphere_csg_oracle.h"

namespace isotact {
namespace {

const SphereField kSmallBall{.center = {0.05, -0.1, 0.02}, .radius = 0.6};
const TorusField kSmallRing{.radius = 0.6, .tube_radius = 0.25};

Lattice cube(int cells) {
  return {.origin = {-1, -1, -1}, .spacing = 2.0 / cells, .cells = {cells, cells, cells}};
}

// Rough data: no distances at all.
DenseGrid random_grid(std::uint64_t seed, float lowest) {
  const Lattice lattice{.origin = {-0.7, 0.2, -0.4}, .spacing = 0.3, .cells = {5, 3, 4}};
  Random random(seed);
  std::vector<float> samples(count(node_counts(lattice)));
  for (float& s : samples) s = static_cast<float>(random.uniform(static_cast<double>(lowest), 1));
  return DenseGrid({.lattice = lattice, .samples = std::move(samples)});
}

constexpr CheckSettings kSampled{.step = 1e-4,
                                 .tolerance = 2e-2,
                                 .smooth_share = 0.9,
                                 .rounding = 1e-6,
                                 .range_is_exact = false};

TEST(DenseGrid, KeepsTheContract) {
  check_field(sample_on_lattice(kSmallBall, cube(17)), kSampled);
  check_field(sample_on_lattice(PlaneField{}, cube(4)), kSampled);  // its box cuts the body
  check_field(random_grid(1, 0), kSampled);
  check_field(random_grid(2, -1), kSampled);
}

TEST(DenseGrid, MeetsItsSamplesAtTheNodes) {
  const DenseGrid grid = random_grid(3, -1);
  const Index3 n = node_counts(grid.lattice());
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i)
        ASSERT_NEAR(grid.value(node_position(grid.lattice(), i, j, k)),
                    static_cast<double>(grid.node_value(i, j, k)), 1e-6);
}

// What the octree rests on, with no allowance for rounding.
TEST(DenseGrid, ValuesNeverLeaveTheRangeOfTheirCell) {
  Random random(51);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const DenseGrid grid = random_grid(seed, seed % 2 == 0 ? -1.0F : 0.9999999F);
    const Aabb box = grid.bounds();
    for (int i = 0; i < 500; ++i) {
      Vec3 p = random.in_box(box.lower, box.upper);
      const CellPoint at = locate(grid.lattice(), p);
      if (i % 2 == 0)  // half of them next to a node
        p = node_position(grid.lattice(), at.cell[0], at.cell[1], at.cell[2]) +
            random.in_unit_ball() * 1e-8;
      p = min(max(p, box.lower), box.upper);
      const ValueRange range = grid.cell_range(locate(grid.lattice(), p).cell);
      ASSERT_GE(grid.value(p), static_cast<double>(range.min));
      ASSERT_LE(grid.value(p), static_cast<double>(range.max));
    }
  }
}

TEST(DenseGrid, IsContinuousAcrossFacesOfCellsAndOfTheBox) {
  Random random(52);
  constexpr double kTiny = 1e-9;
  int on_box = 0;
  for (int i = 0; i < 3000; ++i) {
    const DenseGrid grid = random_grid(static_cast<std::uint64_t>(i % 10), i % 2 == 0 ? -1 : 0);
    const Lattice& l = grid.lattice();
    Vec3 p =
        random.in_box(grid.bounds().lower - Vec3{1, 1, 1}, grid.bounds().upper + Vec3{1, 1, 1});
    const std::size_t axis = random.below(3);
    const auto face = random.below(static_cast<std::uint32_t>(l.cells[axis]) + 1);
    p[axis] = l.origin[axis] + l.spacing * face;
    Vec3 below = p, above = p;
    below[axis] -= kTiny;
    above[axis] += kTiny;
    ASSERT_NEAR(grid.value(below), grid.value(p), 1e-6);
    ASSERT_NEAR(grid.value(above), grid.value(p), 1e-6);
    on_box += face == 0 || face == static_cast<std::uint32_t>(l.cells[axis]) ? 1 : 0;
  }
  EXPECT_GT(on_box, 500);
}

TEST(DenseGrid, GivesTheSameBitsHoweverItIsAsked) {
  const DenseGrid one = sample_on_lattice(kSmallRing, cube(9), {.threads = {1}});
  const DenseGrid many = sample_on_lattice(AnyField{kSmallRing}, cube(9), {.threads = {7}});
  ASSERT_EQ(std::memcmp(one.samples().data(), many.samples().data(), one.memory_bytes()), 0);
  EXPECT_EQ(one.lipschitz(), many.lipschitz());
  EXPECT_EQ(one.parts().sample_error, many.parts().sample_error);
  const AnyField any{many};
  Random random(53);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2});
    ASSERT_EQ(one.value(p), any.value(p));
    ASSERT_EQ(one.sample(p).distance, any.value(p));
    ASSERT_TRUE(contains(one.range({p, p}), one.value(p)));
  }
}

// Near the surface, where both shapes are smooth.
template <Field F>
double largest_error(const F& field, int cells) {
  const DenseGrid grid = sample_on_lattice(field, cube(cells));
  Random random(54);
  double most = 0;
  for (int found = 0; found < 3000;) {
    const Vec3 p = random.in_box({-0.95, -0.95, -0.95}, {0.95, 0.95, 0.95});
    if (std::abs(field.value(p)) > 0.1) continue;
    ++found;
    most = std::max(most, std::abs(grid.value(p) - field.value(p)));
  }
  return most;
}

TEST(DenseGrid, ConvergesWithSecondOrder) {
  const double ball[] = {largest_error(kSmallBall, 16), largest_error(kSmallBall, 32),
                         largest_error(kSmallBall, 64)};
  EXPECT_GT(std::log2(ball[0] / ball[1]), 1.9);
  EXPECT_GT(std::log2(ball[1] / ball[2]), 1.9);
  const double ring[] = {largest_error(kSmallRing, 24), largest_error(kSmallRing, 48),
                         largest_error(kSmallRing, 96)};
  EXPECT_GT(std::log2(ring[0] / ring[1]), 1.9);
  EXPECT_GT(std::log2(ring[1] / ring[2]), 1.9);
}

struct Share {
  int cases = 0, outside_box = 0, inside_body = 0;
};

// Inside of the box the interval is at most as wide as a cell's diagonal and the error.
template <typename Truth>
Share expect_bounds(const DenseGrid& grid, double allowed_width, const Truth& truth) {
  Random random(55);
  Share share;
  for (int i = 0; i < 3000; ++i) {
    const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2});
    const Interval bounds = grid.distance_bounds(p);
    EXPECT_LE(bounds.lower, truth(p));
    EXPECT_GE(bounds.upper, truth(p));
    const bool outside = !contains(grid.bounds(), p);
    EXPECT_TRUE(outside || bounds.upper - bounds.lower <= allowed_width);
    ++share.cases;
    share.outside_box += outside ? 1 : 0;
    share.inside_body += truth(p) < 0 ? 1 : 0;
  }
  return share;
}

TEST(DenseGrid, BoundsHoldTheTrueDistance) {
  const double diagonal = std::sqrt(3.0) * cube(12).spacing;
  const auto near_width = diagonal + 1e-6;  // twice the nearest node, at most half a diagonal away
  Share share = expect_bounds(sample_on_lattice(kSmallRing, cube(12), {.holds_body = true}),
                              near_width, [](const Vec3& p) { return kSmallRing.value(p); });
  EXPECT_GT(share.outside_box, 1000);
  EXPECT_GT(share.inside_body, 10);
  share = expect_bounds(sample_on_lattice(PlaneField{}, cube(12)), near_width,
                        [](const Vec3& p) { return p.y; });
  EXPECT_GT(share.inside_body, 1000);
}

TEST(DenseGrid, BoundsOutsideGrowLikeTheDistanceWhenTheBoxHoldsTheBody) {
  const DenseGrid grid = sample_on_lattice(kSmallBall, cube(12), {.holds_body = true});
  const Vec3 far{0.05, 40, 0.02};
  EXPECT_GT(grid.distance_bounds(far).lower, 38.9);
  EXPECT_LE(grid.distance_bounds(far).lower, kSmallBall.value(far));
  const DenseGrid cut = sample_on_lattice(kSmallBall, cube(12));
  EXPECT_LT(cut.distance_bounds(far).lower, 0);
}

// Inside, min(a, b) only bounds the depth from one side; the grid passes that on.
TEST(DenseGrid, PassesOnWhatIsNotKnown) {
  const SphereField a{.center = {-0.2, 0, 0}, .radius = 0.5},
      b{.center = {0.3, 0, 0}, .radius = 0.5};
  const DenseGrid grid = sample_on_lattice(Union{a, b}, cube(10), {.holds_body = true});
  EXPECT_EQ(grid.parts().sample_error.lower, -std::numeric_limits<double>::infinity());
  EXPECT_LT(grid.parts().sample_error.upper, 1e-6);
  const Share share =
      expect_bounds(grid, std::numeric_limits<double>::infinity(),
                    [&](const Vec3& p) { return *true_distance(SphereCsg::kUnion, a, b, p); });
  EXPECT_GT(share.inside_body, 30);
}

TEST(DenseGrid, SpeaksWhileItSamplesAndStopsWhenTold) {
  CancelToken cancel;
  std::uint64_t last = 0, total = 0, cancel_at = 1000;
  const SampleSettings settings{.threads = {3},
                                .monitor = {.on_progress =
                                                [&](const ProgressReport& r) {
                                                  EXPECT_GT(r.done, last);
                                                  last = r.done;
                                                  total = r.total;
                                                  if (last >= cancel_at) cancel.cancel();
                                                },
                                            .cancel = &cancel}};
  sample_on_lattice(kSmallBall, cube(16), settings);
  EXPECT_EQ(last, 17U * 17U);
  EXPECT_EQ(total, last);
  last = 0;
  cancel_at = 100;
  EXPECT_THROW(sample_on_lattice(kSmallBall, cube(16), settings), Cancelled);
  EXPECT_LT(last, 17U * 17U);
}

TEST(DenseGrid, RefusesGiantsBeforeAllocating) {
  // By default the machine's memory is the limit: 4 * 32768^3 bytes are 141 TB.
  EXPECT_THROW(sample_on_lattice(kSmallBall, cube(32767)), Error);
  try {
    sample_on_lattice(kSmallBall, cube(99), {.max_memory = 3'000'000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4.0 MB"), std::string::npos) << error.what();
  }

  EXPECT_THROW(sample_on_lattice(kSmallBall, cube(1 << 20)), Error);
  EXPECT_THROW(sample_on_lattice(kSmallBall, cube(16), {.max_memory = 17 * 17 * 17 * 4 - 1}),
               Error);
  EXPECT_NO_THROW(sample_on_lattice(kSmallBall, cube(16), {.max_memory = 17 * 17 * 17 * 4}));
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_THROW(sample_on_lattice(kSmallBall, {.cells = {kMost, kMost, kMost}}), Error);
  EXPECT_THROW(sample_on_lattice(kSmallBall, {.cells = {kMost, 1, 1}}), Error);
}

TEST(DenseGrid, NamesWhatIsWrong) {
  EXPECT_FALSE(find_flaw(random_grid(1, -1)));
  const DenseGridParts good = sample_on_lattice(kSmallBall, cube(3), {.holds_body = true}).parts();
  EXPECT_FALSE(find_flaw(good));
  const auto expect_flaw = [&](const auto& change) {
    DenseGridParts parts = good;
    change(parts);
    EXPECT_TRUE(find_flaw(parts));
    EXPECT_THROW(DenseGrid{parts}, Error);
  };
  expect_flaw([](DenseGridParts& p) { p.samples.pop_back(); });
  expect_flaw([](DenseGridParts& p) { p.samples[5] = std::nanf(""); });
  expect_flaw([](DenseGridParts& p) { p.samples[5] = -0.1F; });  // on the rim
  expect_flaw([](DenseGridParts& p) { p.lattice.spacing = 0; });
  expect_flaw([](DenseGridParts& p) { p.lattice.cells[1] = 0; });
  expect_flaw([](DenseGridParts& p) { p.lattice.origin.x = 1e300; });
  expect_flaw([](DenseGridParts& p) { p.sample_error = {1, -1}; });
}

}  // namespace
}  // namespace isotact
