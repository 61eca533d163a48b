#include "isotact/queries/segment.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives.h"

namespace isotact {
namespace {

BrickField make_field(const char* shape, int resolution) {
  return build_field(make_shape(shape, {}), {.resolution = resolution}).field;
}
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
void check_values(const F& field, const Segment& s, double iso,
                  std::span<const SegmentInterval> found, double cell) {
  const Vec3 from = to_double(s.from), by = to_double(s.to) - from;
  const double slack = field.lipschitz() * (1e-3 * cell + 1e-6 * length(by)) + 1e-6 * std::abs(iso);
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
    if (std::abs(v - iso) <= slack) continue;
    bool inside = false;
    for (const SegmentInterval& in : found)
      inside = inside || (static_cast<double>(in.enter) <= t && t <= static_cast<double>(in.exit));
    ASSERT_EQ(inside, v <= iso) << "at " << t << ", value " << v << ", iso " << iso;
  }
}

TEST(Segments, EveryTraversalGivesTheSameAnswer) {
  int segments = 0, hits = 0, several = 0;
  for (const char* shape : {"gear", "knot", "bowl"}) {
    const BrickField field = make_field(shape, 64);
    const DenseGrid grid = make_grid(field);
    const double h = field.voxel_size();
    for (const double cells : {0.0, -2.0, 0.7, 5.0, 20.0}) {
      const double iso = cells * h;
      std::vector<SegmentTracer> on_bricks, on_grid;
      for (const Traversal way : {Traversal::kUniform, Traversal::kOctree, Traversal::kFast}) {
        on_bricks.emplace_back(field, SegmentSettings{.iso = iso, .traversal = way});
        on_grid.emplace_back(grid, SegmentSettings{.iso = iso, .traversal = way});
      }
      Random random(7);
      for (int i = 0; i < 400; ++i, ++segments) {
        const Segment s = random_segment(field.bounds(), random);
        SegmentInterval want[64], got[64];
        for (const auto* tracers : {&on_bricks, &on_grid}) {
          const std::size_t n = (*tracers)[0].trace(s, want);
          ASSERT_LE(n, 64U);
          const std::span<const SegmentInterval> found(want, n);
          if (tracers == &on_bricks)
            ASSERT_NO_FATAL_FAILURE(check_values(field, s, iso, found, h));
          else
            ASSERT_NO_FATAL_FAILURE(check_values(grid, s, iso, found, h));
          for (std::size_t other = 1; other < 3; ++other) {
            const std::size_t m = (*tracers)[other].trace(s, got);
            ASSERT_EQ(n, m) << shape << " iso " << cells << " way " << other << " segment " << i;
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

}  // namespace
}  // namespace isotact
