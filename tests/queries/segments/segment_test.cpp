#include "isotact/queries/segments/segment.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "queries/points/shape_field.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

DenseGrid make_grid(const BrickField& field) {
  const Lattice& l = field.lattice();
  const Index3 n = node_counts(l);
  DenseGridParts parts{.lattice = l, .holds_body = true};
  for (std::int32_t z = 0; z < n[2]; ++z)
    for (std::int32_t y = 0; y < n[1]; ++y)
      for (std::int32_t x = 0; x < n[0]; ++x) parts.samples.push_back(field.node_value(x, y, z));
  return DenseGrid(std::move(parts));
}

Segment random_segment(const Aabb& box, Random& random) {
  const Vec3 middle = center(box), half = extent(box) * 0.5;
  const auto at = [&](double grown) { return middle + random.in_box(-half, half) * grown; };
  switch (random.below(6)) {
    case 0: {  // short
      const Vec3 p = at(1);
      return {to_float(p), to_float(p + random.in_unit_ball() * (0.02 * length(half)))};
    }
    case 1: {  // along an axis, from node to node
      const Vec3f p = to_float(at(1));
      Vec3f q = p;
      q[random.below(3)] = to_float(at(1))[0];
      return {p, q};
    }
    case 2:  // from far away
      return {to_float(at(6)), to_float(at(3))};
    default:
      return {to_float(at(1)), to_float(at(1))};
  }
}

// Values along the segment, against the intervals found.
template <typename F>
void check_values(const F& field, const Segment& s, double margin,
                  std::span<const SegmentInterval> found, double cell) {
  const Vec3 from = to_double(s.from), by = to_double(s.to) - from;
  const double slack =
      field.lipschitz() * (1e-3 * cell + 1e-6 * length(by)) + 1e-6 * std::abs(margin);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(found[i].enter, found[i].exit);
    if (i > 0) {
      ASSERT_LE(found[i - 1].exit, found[i].enter);
    }
  }
  constexpr int kSteps = 60;
  for (int k = 0; k <= kSteps; ++k) {
    const double t = static_cast<double>(k) / kSteps;
    const double v = field.value(from + by * t);
    if (std::abs(v - margin) <= slack) continue;
    bool inside = false;
    for (const SegmentInterval& in : found)
      inside = inside || (static_cast<double>(in.enter) <= t && t <= static_cast<double>(in.exit));
    ASSERT_EQ(inside, v <= margin) << "at " << t << ", value " << v << ", margin " << margin;
  }
}

TEST(Segments, EveryTraversalGivesTheSameAnswer) {
  int segments = 0, hits = 0, several = 0;
  for (const char* shape : {"gear", "knot", "bowl"}) {
    const BrickField field = make_field(shape, 64);
    const DenseGrid grid = make_grid(field);
    const double h = field.voxel_size();
    for (const double cells : {0.0, -2.0, 0.7, 5.0, 20.0}) {
      const double margin = cells * h;
      std::vector<SegmentTracer> on_bricks, on_grid;
      for (const Traversal traversal :
           {Traversal::kUniform, Traversal::kOctree, Traversal::kFast}) {
        on_bricks.emplace_back(field, SegmentSettings{.margin = margin, .traversal = traversal});
        on_grid.emplace_back(grid, SegmentSettings{.margin = margin, .traversal = traversal});
      }
      Random random(7);
      for (int i = 0; i < unless_slow(400, 100); ++i, ++segments) {
        const Segment s = random_segment(field.bounds(), random);
        SegmentInterval want[64], got[64];
        for (const auto* tracers : {&on_bricks, &on_grid}) {
          const std::size_t n = (*tracers)[0].trace(s, want);
          ASSERT_LE(n, 64U);
          const std::span<const SegmentInterval> found(want, n);
          if (tracers == &on_bricks)
            ASSERT_NO_FATAL_FAILURE(check_values(field, s, margin, found, h));
          else
            ASSERT_NO_FATAL_FAILURE(check_values(grid, s, margin, found, h));
          for (std::size_t other = 1; other < 3; ++other) {
            const std::size_t m = (*tracers)[other].trace(s, got);
            ASSERT_EQ(n, m) << shape << " margin " << cells << " way " << other << " segment " << i;
            for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(want[k], got[k]);
          }
          hits += n > 0 ? 1 : 0;
          several += n > 1 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(hits, segments / 2);
  EXPECT_GT(several, segments / 20);
}

// One by one and in batches, for any number of threads.
TEST(Segments, BatchesGiveTheSameAnswer) {
  std::size_t hits = 0, all = 0;
  for (const char* shape : {"gear", "knot", "terrain"}) {
    const BrickField field = make_field(shape, unless_slow(96, 64));
    for (const double cells : {0.0, -1.0, 2.5, 9.0, 40.0}) {
      Random random(11);
      std::vector<Segment> segments;
      for (int i = 0; i < unless_slow(3000, 300); ++i)
        segments.push_back(random_segment(field.bounds(), random));
      segments[7].to = segments[7].from;
      for (const Mode mode : {Mode::kAll, Mode::kFirst, Mode::kAny}) {
        const double margin = cells * field.voxel_size();
        const SegmentTracer slow(
            field, {.margin = margin, .mode = mode, .traversal = Traversal::kUniform});
        const SegmentTracer one(field, {.margin = margin, .mode = mode, .threads = {1}});
        const SegmentTracer two(field, {.margin = margin, .mode = mode, .threads = {2}});
        SegmentResults a, b;
        one.trace(segments, a);
        two.trace(segments, b);
        ASSERT_EQ(a.first, b.first);
        ASSERT_EQ(a.intervals, b.intervals);
        for (std::size_t i = 0; i < segments.size(); ++i) {
          SegmentInterval want[64];
          const std::size_t n = slow.trace(segments[i], want);
          ASSERT_EQ(a.first[i + 1] - a.first[i], n) << shape << " " << cells << " " << i;
          for (std::size_t k = 0; k < n; ++k)
            ASSERT_EQ(a.intervals[a.first[i] + k], want[k]) << shape << " " << cells << " " << i;
          hits += n > 0 ? 1 : 0;
          ++all;
        }
      }
    }
  }
  EXPECT_GT(hits, all / 3);
  EXPECT_LT(hits, all);
}

// Paths of an octree take turns in a batch. Noise has more intervals than a turn has space for.
TEST(Segments, BatchesOfAnOctreeGiveTheSameAnswer) {
  DenseGridParts noise{.lattice = {{-1, -1, -1}, 2.0 / 72, {72, 72, 72}}};
  noise.samples.resize(count(node_counts(noise.lattice)));
  Random random(31);
  for (float& sample : noise.samples) sample = static_cast<float>(random.uniform(-0.02, 0.02));
  std::size_t hits = 0, many = 0, all = 0;
  for (const DenseGrid& grid : {make_grid(make_field("gear", 80)), DenseGrid(std::move(noise))}) {
    std::vector<Segment> segments;
    for (int i = 0; i < unless_slow(1000, 100); ++i)
      segments.push_back(random_segment(bounds(grid.lattice()), random));
    segments[7].to = segments[7].from;
    for (const bool store_leaves : {false, true}) {
      const MinMaxOctree octree(grid, {.store_leaves = store_leaves});
      for (const double cells : {0.0, -1.0, 9.0}) {
        for (const Mode mode : {Mode::kAll, Mode::kFirst, Mode::kAny}) {
          SegmentSettings settings{.margin = cells * grid.lattice().spacing, .mode = mode};
          settings.traversal = Traversal::kUniform;
          const SegmentTracer slow(grid, settings);
          settings.traversal = Traversal::kOctree;
          SegmentResults results;
          SegmentTracer(octree, settings).trace(segments, results);
          for (std::size_t i = 0; i < segments.size(); ++i) {
            SegmentInterval want[512];
            const std::size_t n = slow.trace(segments[i], want);
            ASSERT_LE(n, std::size(want));
            ASSERT_EQ(results.first[i + 1] - results.first[i], n) << cells << " " << i;
            for (std::size_t k = 0; k < n; ++k)
              ASSERT_EQ(results.intervals[results.first[i] + k], want[k]) << cells << " " << i;
            hits += n > 0 ? 1 : 0;
            many += n > 8 ? 1 : 0;
            ++all;
          }
        }
      }
    }
  }
  EXPECT_GT(hits, all / 3);
  EXPECT_LT(hits, all);
  EXPECT_GT(many, all / 50);
}

// A field that is the distance to the plane y = 0.5, on a lattice whose nodes lie on it.
DenseGrid make_plane() {
  DenseGridParts parts{.lattice = {.origin = {0, 0, 0}, .spacing = 0.125, .cells = {8, 8, 8}}};
  for (int z = 0; z <= 8; ++z)
    for (int y = 0; y <= 8; ++y)
      for (int x = 0; x <= 8; ++x) parts.samples.push_back(static_cast<float>(y) * 0.125F - 0.5F);
  return DenseGrid(std::move(parts));
}

TEST(Segments, EveryPositionIsDefined) {
  const DenseGrid grid = make_plane();
  struct Case {
    const char* name;
    Segment segment;
    std::vector<SegmentInterval> want;
  };
  const Case cases[] = {
      {"through", {{0.3F, 1, 0.3F}, {0.3F, 0, 0.3F}}, {{0.5F, 1}}},
      {"starts inside", {{0.3F, 0, 0.3F}, {0.4F, 1, 0.3F}}, {{0, 0.5F}}},
      {"all inside", {{0.1F, 0.1F, 0.1F}, {0.9F, 0.4F, 0.8F}}, {{0, 1}}},
      {"all outside", {{0.1F, 0.6F, 0.1F}, {0.9F, 0.9F, 0.8F}}, {}},
      {"along the surface", {{0.1F, 0.5F, 0.1F}, {0.9F, 0.5F, 0.1F}}, {{0, 1}}},
      {"along the surface on a plane of nodes",
       {{0.125F, 0.5F, 0.25F}, {0.75F, 0.5F, 0.25F}},
       {{0, 1}}},
      {"no length, on the surface", {{0.3F, 0.5F, 0.3F}, {0.3F, 0.5F, 0.3F}}, {{0, 1}}},
      {"no length, outside", {{0.3F, 0.6F, 0.3F}, {0.3F, 0.6F, 0.3F}}, {}},
      {"ends on the surface", {{0.3F, 1, 0.3F}, {0.3F, 0.5F, 0.3F}}, {{1, 1}}},
      {"along a side of the box", {{0, 1, 0}, {0, 0, 0}}, {{0.5F, 1}}},
      {"along the last side", {{1, 1, 1}, {1, 0, 1}}, {{0.5F, 1}}},
      {"through corners of cells", {{1, 1, 1}, {0, 0, 0}}, {{0.5F, 1}}},
  };
  for (const Case& c : cases)
    for (const Traversal traversal : {Traversal::kUniform, Traversal::kOctree, Traversal::kFast}) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << name(traversal));
      const SegmentTracer tracer(grid, {.traversal = traversal});
      SegmentInterval found[8];
      const std::size_t n = tracer.trace(c.segment, found);
      if (c.want == std::vector<SegmentInterval>{{1, 1}} && n == 0) continue;  // touches only
      ASSERT_EQ(n, c.want.size());
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_FLOAT_EQ(found[i].enter, c.want[i].enter);
        EXPECT_FLOAT_EQ(found[i].exit, c.want[i].exit);
      }
    }
}

// Two roots in one cell: the paper's search finds none.
// A way that begins on a side of the box and leaves it goes on outside; and one that only ends in
// it is inside there. (Both were taken for places once.)
TEST(Segments, WaysThatLeaveFromASideAreFollowed) {
  DenseGridParts parts{.lattice = {{0, 0, 0}, 0.125, {8, 8, 8}}};
  for (int z = 0; z <= 8; ++z)
    for (int y = 0; y <= 8; ++y)
      for (int x = 0; x <= 8; ++x) parts.samples.push_back(1 - 0.125F * static_cast<float>(y));
  const DenseGrid grid(std::move(parts));
  for (const Traversal traversal : {Traversal::kUniform, Traversal::kOctree, Traversal::kFast}) {
    const SegmentTracer tracer(grid, {.margin = 0.3, .traversal = traversal});
    SegmentInterval got[4], beside[4];
    ASSERT_EQ(tracer.trace({{1, 0.1F, 0.5F}, {1.1F, 0.9F, 0.5F}}, got), 1U);
    ASSERT_EQ(tracer.trace({{0.9999F, 0.1F, 0.5F}, {1.1F, 0.9F, 0.5F}}, beside), 1U);
    EXPECT_NEAR(got[0].enter, beside[0].enter, 1e-3);
    EXPECT_EQ(got[0].exit, 1);
    ASSERT_EQ(tracer.trace({{1, 0.9F, 0.5F}, {3, 0.9F, 0.5F}}, got), 1U);
    EXPECT_LT(got[0].exit, 0.2);
    ASSERT_EQ(tracer.trace({{1e18F, 0.9F, 0.5F}, {1, 0.9F, 0.5F}}, got), 1U);
    EXPECT_EQ(got[0].exit, 1);
  }
}

// Slabs of steep fields: rounding grows with the slope.
TEST(Segments, SteepBricksLoseNothing) {
  Random random(23);
  for (const double slope : {1.0, 40.0, 1e3, 1e4}) {
    const Vec3 n = random.unit_vector();
    const AnyField plane{
        PlaneField{.normal = n * slope, .offset = slope * dot(n, Vec3{0.5, 0.5, 0.5})}};
    const BrickField field =
        bake_field(plane, {.lattice = make_brick_lattice({{0, 0, 0}, {1, 1, 1}}, 1.0 / 256, 0)})
            .field;
    const SegmentTracer fast(field), octree(field, {.traversal = Traversal::kOctree});
    std::vector<Segment> segments;
    for (int i = 0; i < unless_slow(4000, 400); ++i)
      segments.push_back(random_segment(field.bounds(), random));
    SegmentResults batch, want;
    fast.trace(segments, batch);
    octree.trace(segments, want);
    EXPECT_EQ(batch.first, want.first) << slope;
    EXPECT_EQ(batch.intervals, want.intervals) << slope;
  }
}

TEST(Segments, FindsTwoRootsInACell) {
  DenseGridParts parts{.lattice = {.origin = {0, 0, 0}, .spacing = 1, .cells = {1, 1, 1}}};
  // A saddle: positive at two opposite edges, negative between them.
  parts.samples = {1, -2, -2, 1, 1, -2, -2, 1};
  const DenseGrid grid(std::move(parts));
  const Segment diagonal{{0, 0, 0.5F}, {1, 1, 0.5F}};
  SegmentInterval found[4];
  const SegmentTracer all(grid, {.traversal = Traversal::kUniform});
  ASSERT_EQ(all.trace(diagonal, found), 1U);
  EXPECT_NEAR(found[0].enter, (6 - std::sqrt(12.0)) / 12, 1e-6);
  EXPECT_NEAR(found[0].exit, (6 + std::sqrt(12.0)) / 12, 1e-6);
  const SegmentTracer paper(grid, {.traversal = Traversal::kUniform, .roots = RootSearch::kPaper});
  EXPECT_EQ(paper.trace(diagonal, found), 0U);
}

// A ball's isosurfaces far outside of the box.
TEST(Segments, FollowsTheIsosurfaceOutOfTheBox) {
  const BrickField field =
      build_field(make_sphere({.radius = 0.5, .frequency = 16}), {.resolution = 48}).field;
  Random random(3);
  int hits = 0;
  for (const double margin : {0.2, 0.5, 2.0}) {
    const SegmentTracer tracer(field, {.margin = margin});
    for (int i = 0; i < 500; ++i) {
      const Segment s{to_float(random.in_unit_ball() * 5.0), to_float(random.in_unit_ball() * 5.0)};
      SegmentInterval found[8];
      const std::size_t n = tracer.trace(s, found);
      ASSERT_NO_FATAL_FAILURE(
          check_values(field, s, margin, std::span(found, n), field.voxel_size()));
      hits += n > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 200);
}

}  // namespace
}  // namespace isotact
