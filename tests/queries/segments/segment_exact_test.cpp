// Crossings of a field against those of the triangles that it was built from.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/mesh/predicates.h"
#include "isotact/geometry/primitives/primitives.h"

#include "mdl06/exact_segment.h"

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

// On which side a stretch without hits lies, by its place furthest from the surface.
bool is_stretch_inside(const ExactField& field, const Segment& s, double begin, double end) {
  double furthest = 0;
  for (int k = 1; k < 16; ++k) {
    const double t = begin + (end - begin) * k / 16;
    const double d = field.value(lerp(to_double(s.from), to_double(s.to), t));
    if (std::abs(d) > std::abs(furthest)) furthest = d;
  }
  return furthest < 0;
}

// Where all hits are plain, they alone say on which side each piece lies, since the surface winds
// around each point once or not at all. Elsewhere the exact field says it.
ExactCrossings find_crossings_slowly(const TriangleMesh& mesh, const ExactField& field,
                                     const Segment& s, bool& was_plain) {
  const std::vector<Hit> hits = find_hits_slowly(mesh, s);
  was_plain = std::all_of(hits.begin(), hits.end(), [](const Hit& h) { return h.to_inside != 0; });
  ExactCrossings result;
  if (was_plain) {
    result.starts_inside =
        hits.empty() ? is_stretch_inside(field, s, 0, 1) : hits.front().to_inside < 0;
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
    const bool next = is_stretch_inside(field, s, begin, end);
    if (is_first)
      result.starts_inside = next;
    else if (next != inside)
      result.crossings.push_back({begin, hits[i - 1].triangle});
    inside = next;
    is_first = false;
  }
  return result;
}

bool is_inside(const ExactCrossings& c, double time) {
  const auto passed = std::count_if(c.crossings.begin(), c.crossings.end(),
                                    [&](const SurfaceCrossing& x) { return x.time <= time; });
  return c.starts_inside != (passed % 2 != 0);
}

// Two oracles put a point on the same side, unless it is nearer to the surface than floats can
// tell.
void check_sides(const ExactField& field, const Segment& s, const ExactCrossings& a,
                 const ExactCrossings& b) {
  const Vec3 from = to_double(s.from), to = to_double(s.to);
  for (double t = 0.005; t < 1; t += 0.01) {
    if (is_inside(a, t) == is_inside(b, t)) continue;
    EXPECT_LE(std::abs(field.value(lerp(from, to, t))), 1e-6 * (length(from) + length(to)));
  }
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
      {"bowl",
       make_bowl({.radius = 0.1, .thickness = 0.004, .foot_radius = 0.02, .segments = 24}),
       {32, 96}});
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
  int plain = 0, segments = 0;
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

        ExactCrossings fast;
        exact_tracer.trace(s, fast);
        check_sides(exact_tracer.field(), s, slow, fast);
      }
      EXPECT_TRUE(account.adds_up());
      furthest = std::max(furthest, account.largest_distance / cell);
      all += account;
    }
  EXPECT_TRUE(all.adds_up());
  std::printf(
      "  %d segments: %lu crossings of the triangles, %lu of the field; %lu the same, %lu shifted; "
      "grazes of one alone: %lu + %lu; %lu features lost; %lu cut by an end; furthest %.2f cells\n",
      segments, all.exact_crossings, all.field_crossings, all.same, all.shifted, all.exact_grazes,
      all.field_grazes, all.lost_features, all.exact_cut + all.field_cut + all.cut, furthest);
  EXPECT_GT(plain, segments * 8 / 10);
  EXPECT_LT(plain, segments);  // there were edges and vertices to decide about, too
  EXPECT_GT(all.matched(), all.exact_crossings * 8 / 10);
  EXPECT_GT(all.lost_features, 50U);
  EXPECT_GT(all.exact_grazes, 5U);
  EXPECT_GT(all.field_grazes, 5U);
}

// Answers that are wrong by more than the error are not explained away.
TEST(SegmentsAgainstTriangles, WrongAnswersAreNotExplained) {
  const TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 5});
  const FieldSettings settings{.resolution = 48};
  const Lattice lattice = plan_lattice(mesh, settings);
  const Surface surface = prepare_surface(mesh, {.voxel_size = lattice.spacing});
  const BrickField field = build_field(surface, lattice, settings).field;
  const ExactSegmentTracer exact_tracer(surface);
  const SegmentTracer grown(field, {.margin = 1.5 * lattice.spacing});
  CrossingAccount account, blind;
  Random random(5);
  ExactCrossings exact;
  for (int i = 0; i < 100; ++i) {
    const Vec3 from = random.unit_vector();
    const Segment s{to_float(from), to_float(random.in_unit_ball() * 0.4 - from)};
    exact_tracer.trace(s, exact);
    SegmentInterval intervals[8];
    const std::size_t n = grown.trace(s, intervals);
    account_for_differences(field, exact_tracer, s, exact, {intervals, n}, account);
    account_for_differences(field, exact_tracer, s, exact, {}, blind);
  }
  ASSERT_GT(account.exact_crossings, 150U);
  EXPECT_TRUE(account.adds_up());
  EXPECT_GE(account.unexplained, account.exact_crossings * 9 / 10);
  EXPECT_TRUE(blind.adds_up());
  EXPECT_GE(blind.unexplained, blind.exact_crossings / 2 * 9 / 10);
}

}  // namespace
}  // namespace isotact
