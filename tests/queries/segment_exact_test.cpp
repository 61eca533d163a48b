// Crossings of a field against those of the triangles that it was built from.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/predicates.h"
#include "isotact/geometry/primitives.h"
#include "isotact/queries/exact_segment.h"

namespace isotact {
namespace {

// Every triangle that a segment meets, by exact signs: closed, so that an edge counts for both its
// triangles. A triangle in one plane with the segment is left to its neighbours.
struct Hit {
  double time;
  std::uint32_t triangle;
  int to_inside;  // 1: the segment goes in, -1: out, 0: it only touches, or passes an edge
};
std::vector<Hit> find_hits_slowly(const TriangleMesh& mesh, const Segment& s) {
  std::vector<Hit> hits;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = corners(mesh, t);
    const int begin = orient3d(a, b, c, s.from), end = orient3d(a, b, c, s.to);
    if (begin == end) continue;
    const int ab = orient3d(s.from, s.to, a, b), bc = orient3d(s.from, s.to, b, c),
              ca = orient3d(s.from, s.to, c, a);
    if (std::max({ab, bc, ca}) > 0 && std::min({ab, bc, ca}) < 0) continue;
    const Vec3 da = to_double(a), n = cross(to_double(b) - da, to_double(c) - da);
    const double from = dot(n, to_double(s.from) - da), to = dot(n, to_double(s.to) - da);
    const double time = begin == 0 ? 0 : end == 0 ? 1 : std::clamp(from / (from - to), 0.0, 1.0);
    const bool is_plain = ab != 0 && ab == bc && bc == ca && begin != 0 && end != 0;
    hits.push_back({time, t, is_plain ? begin : 0});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& x, const Hit& y) { return x.time < y.time; });
  return hits;
}

// Where all hits are plain, they alone say on which side each piece lies, since the surface winds
// around each point once or not at all. Elsewhere the exact field says it.
ExactCrossings find_crossings_slowly(const TriangleMesh& mesh, const ExactField& field,
                                     const Segment& s, bool& was_plain) {
  const std::vector<Hit> hits = find_hits_slowly(mesh, s);
  was_plain = std::all_of(hits.begin(), hits.end(), [](const Hit& h) { return h.to_inside != 0; });
  const Vec3 from = to_double(s.from), by = to_double(s.to) - from;
  ExactCrossings result;
  if (was_plain) {
    result.starts_inside = hits.empty() ? field.value(from) < 0 : hits.front().to_inside < 0;
    bool inside = result.starts_inside;
    for (const Hit& h : hits) {
      EXPECT_EQ(h.to_inside > 0, !inside);
      inside = !inside;
      result.crossings.push_back({h.time, h.triangle});
    }
    return result;
  }
  bool inside = false, is_first = true;
  for (std::size_t i = 0; i <= hits.size(); ++i) {
    const double begin = i == 0 ? 0 : hits[i - 1].time, end = i < hits.size() ? hits[i].time : 1;
    if (end - begin <= 1e-7) continue;
    const bool next = field.value(from + by * (0.5 * (begin + end))) < 0;
    if (is_first)
      result.starts_inside = next;
    else if (next != inside)
      result.crossings.push_back({begin, hits[i - 1].triangle});
    inside = next;
    is_first = false;
  }
  return result;
}

// Through the box, short ones at the surface, through two vertices, along an edge.
Segment random_segment(const TriangleMesh& mesh, const Aabb& box, double cell, Random& random) {
  const auto any_corner = [&] {
    const auto count = static_cast<std::uint32_t>(mesh.positions.size());
    return to_double(mesh.positions[random.below(count)]);
  };
  switch (random.below(8)) {
    case 0: {  // through vertices, as far as floats allow
      const Vec3 a = any_corner(), b = any_corner();
      return {to_float(a - (b - a)), to_float(b + (b - a))};
    }
    case 1: {  // close by an edge, which it may graze
      const auto [a, b, c] =
          corners(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())));
      const Vec3 off = random.in_unit_ball() * cell, p = to_double(a), q = to_double(b);
      return {to_float(p - (q - p) + off), to_float(q + (q - p) + off)};
    }
    case 2:
    case 3: {  // short, at the surface
      const Vec3 p = any_corner() + random.in_unit_ball() * (2 * cell);
      return {to_float(p), to_float(p + random.in_unit_ball() * (8 * cell))};
    }
    default:
      return {to_float(random.in_box(box.lower, box.upper)),
              to_float(random.in_box(box.lower, box.upper))};
  }
}

struct Trial {
  const char* name;
  TriangleMesh mesh;
  std::vector<int> resolutions;
};
std::vector<Trial> make_trials() {
  std::vector<Trial> trials;
  trials.push_back({"ball", make_sphere({.radius = 0.5, .frequency = 5}), {16, 48}});
  trials.push_back({"box", make_box({.size_x = 1, .size_y = 0.6, .size_z = 0.3}), {24, 64}});
  // Thinner than a cell, then as thick as one or two.
  trials.push_back(
      {"plate", make_box({.size_x = 1, .size_y = 0.02, .size_z = 0.7}), {24, 64, 128}});
  trials.push_back(
      {"bowl", make_bowl({.radius = 0.1, .thickness = 0.004, .foot_radius = 0.02, .segments = 24}), {32, 96}});
  trials.push_back({"gear",
                    make_gear({.teeth = 9,
                               .bore_radius = 0.008,
                               .flank_segments = 2,
                               .tip_segments = 1,
                               .root_segments = 1,
                               .width_segments = 1}),
                    {32, 80}});
  trials.push_back(
      {"knot", make_knot({.tube_radius = 0.03, .segments = 72, .tube_segments = 7}), {40}});
  return trials;
}

TEST(SegmentsAgainstTriangles, DifferOnlyWithinTheStoredError) {
  CrossingAccount all;
  int plain = 0, segments = 0, oracle_differs = 0;
  double furthest = 0;  // cells
  for (const Trial& trial : make_trials())
    for (const int resolution : trial.resolutions) {
      SCOPED_TRACE(testing::Message() << trial.name << " at " << resolution);
      const FieldSettings settings{.resolution = resolution};
      const Lattice lattice = plan_lattice(trial.mesh, settings);
      const Surface surface = prepare_surface(trial.mesh, {.voxel_size = lattice.spacing});
      const BrickField field = build_field(surface, lattice, settings).field;
      const SegmentTracer tracer(field, {.threads = {1}});
      const ExactSegmentTracer exact_tracer(surface);
      const double cell = field.voxel_size();
      CrossingAccount account;
      Random random(29, static_cast<std::uint64_t>(resolution));
      for (int i = 0; i < 300; ++i, ++segments) {
        const Segment s = random_segment(surface.mesh, field.bounds(), cell, random);
        SegmentInterval intervals[64];
        const std::size_t n = tracer.trace(s, intervals);
        ASSERT_LE(n, 64U);
        bool was_plain = false;
        const ExactCrossings slow =
            find_crossings_slowly(surface.mesh, exact_tracer.field(), s, was_plain);
        plain += was_plain ? 1 : 0;
        account_for_differences(field, exact_tracer, s, slow, {intervals, n}, account);
        ASSERT_EQ(account.unexplained, 0U) << "segment " << i;

        // The tracer that uses the hierarchy sees the same, but for what floats cannot tell.
        ExactCrossings fast;
        exact_tracer.trace(s, fast);
        if (fast.crossings.size() != slow.crossings.size()) {
          ++oracle_differs;
          continue;
        }
        EXPECT_EQ(fast.starts_inside, slow.starts_inside);
        for (std::size_t k = 0; k < fast.crossings.size(); ++k)
          EXPECT_NEAR(fast.crossings[k].time, slow.crossings[k].time, 1e-6);
      }
      EXPECT_TRUE(account.adds_up());
      furthest = std::max(furthest, account.largest_distance / cell);
      all += account;
      std::printf(
          "  %s at %d: %lu exact, %lu field, %lu same, %lu shifted, %lu+%lu grazes, %lu lost, "
          "%lu+%lu+%lu cut, furthest %.3f cells\n",
          trial.name, resolution, account.exact_crossings, account.field_crossings, account.same,
          account.shifted, account.exact_grazes, account.field_grazes, account.lost_features,
          account.exact_cut, account.field_cut, account.cut, account.largest_distance / cell);
    }
  EXPECT_TRUE(all.adds_up());
  std::printf(
      "  %d segments: %lu crossings of the triangles, %lu of the field; %lu the same, %lu shifted; "
      "grazes of one alone: %lu + %lu; %lu features lost; %lu cut by an end; furthest %.2f cells\n",
      segments, all.exact_crossings, all.field_crossings, all.same, all.shifted, all.exact_grazes,
      all.field_grazes, all.lost_features, all.exact_cut + all.field_cut + all.cut, furthest);
  EXPECT_GT(plain, segments * 8 / 10);
  EXPECT_LT(plain, segments);  // there were edges and vertices to decide about, too
  EXPECT_LE(oracle_differs, segments / 100);
  EXPECT_GT(all.matched(), all.exact_crossings * 8 / 10);
  EXPECT_GT(all.lost_features, 50U);
  EXPECT_GT(all.exact_grazes, 5U);
  EXPECT_GT(all.field_grazes, 5U);
}

}  // namespace
}  // namespace isotact
