#include "isotact/gpu/segments/segment_tracer.h"

#include <string>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "gpu/gpu_fixture.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using GpuSegments = GpuTest;

BrickField make_field(const std::string& shape, int resolution) {
  return build_field(make_shape(shape), {.resolution = resolution}).field;
}

Segment random_segment(const Aabb& box, Random& random) {
  const Vec3 middle = center(box), half = extent(box) * 0.5;
  const auto at = [&](double grown) { return middle + random.in_box(-half, half) * grown; };
  switch (random.below(6)) {
    case 0: {  // short
      const Vec3 p = at(1);
      return {to_float(p), to_float(p + random.in_unit_ball() * (0.02 * length(half)))};
    }
    case 1: {  // along an axis
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

std::vector<Segment> make_segments(const Aabb& box, int n, std::uint64_t seed) {
  Random random(seed);
  std::vector<Segment> segments;
  for (int i = 0; i < n; ++i) segments.push_back(random_segment(box, random));
  segments[7].to = segments[7].from;
  return segments;
}

// What the batches were like.
struct Share {
  std::size_t segments = 0, hits = 0, several = 0;
};

void compare(GpuSegmentTracer& gpu, std::span<const Segment> segments, Share& share) {
  SegmentResults want, got;
  gpu.cpu().trace(segments, want);
  gpu.trace(segments, got);
  ASSERT_EQ(want.first.size(), got.first.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::size_t n = want.first[i + 1] - want.first[i];
    ASSERT_EQ(n, got.first[i + 1] - got.first[i]) << "segment " << i;
    for (std::size_t k = 0; k < n; ++k)
      ASSERT_EQ(want.intervals[want.first[i] + k], got.intervals[got.first[i] + k])
          << "segment " << i << ", interval " << k;
    share.hits += n > 0 ? 1U : 0U;
    share.several += n > 1 ? 1U : 0U;
  }
  share.segments += segments.size();
}

// How many the GPU left to the CPU.
std::uint32_t count_undecided(GpuSegmentTracer& gpu, std::span<const Segment> segments) {
  const GpuBuffer buffer(segments);
  GpuSegmentResults results;
  const auto n = static_cast<std::uint32_t>(segments.size());
  gpu.trace(buffer, n, n, results);
  GpuSegmentNotes notes;
  results.notes.read(std::span<GpuSegmentNotes>(&notes, 1));
  return notes.undecided_count;
}

TEST_F(GpuSegments, GiveTheBitsOfTheCpu) {
  Share all, first;
  const GpuSegmentTracer lender(make_field("sphere", 16));
  for (const char* shape : {"gear", "knot", "terrain"}) {
    const BrickField field = make_field(shape, unless_slow(64, 40));
    const std::vector<Segment> segments = make_segments(field.bounds(), unless_slow(2000, 300), 11);
    for (const double cells : {0.0, -1.0, 2.5, 9.0, 40.0})
      for (const Mode mode : {Mode::kAll, Mode::kFirst, Mode::kAny}) {
        if (mode == Mode::kAny && cells > 0) continue;  // as kFirst
        GpuSegmentTracer gpu(field, {.margin = cells * field.voxel_size(), .mode = mode}, &lender);
        ASSERT_NO_FATAL_FAILURE(compare(gpu, segments, mode == Mode::kAll ? all : first))
            << shape << ", margin " << cells << ", mode " << static_cast<int>(mode);
      }
  }
  EXPECT_GT(all.hits, all.segments / 2);
  EXPECT_GT(all.several, all.segments / 60);
  EXPECT_GT(first.hits, first.segments / 3);
}

// Else the test above would hold one side of the CPU against the other.
TEST_F(GpuSegments, LeaveFewToTheCpu) {
  const BrickField field = make_field("knot", unless_slow(64, 48));
  const std::vector<Segment> segments = make_segments(field.bounds(), 1000, 12);
  const GpuSegmentTracer lender(field);
  for (const double cells : {0.0, -1.0, 1.5}) {
    GpuSegmentTracer gpu(field, {.margin = cells * field.voxel_size()}, &lender);
    EXPECT_LT(count_undecided(gpu, segments), 30U) << "margin " << cells;
  }
  // Where margin is reached outside of the box: those that leave it.
  GpuSegmentTracer gpu(field, {.margin = 40 * field.voxel_size()}, &lender);
  const std::uint32_t undecided = count_undecided(gpu, segments);
  EXPECT_GT(undecided, 100U);
  EXPECT_LT(undecided, 400U);
}

// Along a bolt's axis, under the crests of its thread: more crossings than a group's list holds, so
// that groups take fewer segments at a time.
TEST_F(GpuSegments, FindMoreIntervalsThanThereIsRoom) {
  const BrickField field = make_field("bolt", unless_slow(128, 96));
  const Aabb box = field.bounds();
  Random random(5);
  std::vector<Segment> segments;
  for (int i = 0; i < unless_slow(4000, 400); ++i) {
    const Vec3 at = random.in_box(box.lower, box.upper);
    const auto slant = [&](double y) {
      return to_float(Vec3{at.x, y, at.z} + random.in_unit_ball() * (0.01 * length(extent(box))));
    };
    segments.push_back({slant(box.lower.y), slant(box.upper.y)});
  }
  GpuSegmentTracer gpu(field);
  Share share;
  ASSERT_NO_FATAL_FAILURE(compare(gpu, segments, share));
  SegmentResults results;
  gpu.trace(segments, results);
  std::size_t many = 0;
  for (std::size_t i = 0; i < segments.size(); ++i)
    many += results.first[i + 1] - results.first[i] > 4 ? 1U : 0U;
  EXPECT_GT(many, segments.size() / 50);

  // A list that is too short: what fits is right, nothing is written behind it.
  const GpuBuffer buffer{std::span<const Segment>(segments)};
  GpuSegmentResults kept;
  const auto n = static_cast<std::uint32_t>(segments.size());
  constexpr std::uint32_t kShort = 100;
  gpu.trace(buffer, n, kShort, kept);
  std::uint32_t wanted = 0;
  kept.notes.read(std::span(&wanted, 1));
  EXPECT_EQ(wanted, results.intervals.size());
  std::vector<GpuSegmentSpan> spans(n);
  std::vector<SegmentInterval> intervals(kShort);
  kept.spans.read(std::span(spans));
  kept.intervals.read(std::span(intervals));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (spans[i].count == kUnsureSegment || spans[i].first + spans[i].count > kShort) continue;
    for (std::uint32_t k = 0; k < spans[i].count; ++k, ++compared)
      ASSERT_EQ(intervals[spans[i].first + k], results.intervals[results.first[i] + k]);
  }
  EXPECT_GT(compared, kShort / 2);
}

// More crossings of one segment than a group's list holds.
TEST_F(GpuSegments, LeaveTheLongestToTheCpu) {
  constexpr int kBoxes = 60;
  const TriangleMesh box = make_box({});
  TriangleMesh row;
  for (int i = 0; i < kBoxes; ++i) {
    const auto first = static_cast<std::uint32_t>(row.positions.size());
    for (const Vec3f& p : box.positions)
      row.positions.push_back({p[0] + 2.0F * static_cast<float>(i), p[1], p[2]});
    for (const Triangle& t : box.triangles)
      row.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  const BrickField field = build_field(row, {.resolution = 4 * kBoxes}).field;
  const Aabb bounds = field.bounds();
  const Vec3 middle = center(bounds), half = extent(bounds) * 0.5;
  std::vector<Segment> segments = make_segments(bounds, 200, 21);
  for (std::size_t i = 0; i < segments.size(); i += 9) {
    const Vec3 aside{0, 0.001 * static_cast<double>(i), 0};
    segments[i] = {to_float(middle - Vec3{half.x, 0, 0} + aside),
                   to_float(middle + Vec3{half.x, 0, 0} - aside)};
  }
  GpuSegmentTracer gpu(field);
  Share share;
  ASSERT_NO_FATAL_FAILURE(compare(gpu, segments, share));
  SegmentResults results;
  gpu.trace(segments, results);
  EXPECT_EQ(results.first[1], kBoxes);
  EXPECT_GE(count_undecided(gpu, segments), segments.size() / 9);
  EXPECT_LT(count_undecided(gpu, segments), segments.size() / 4);
}

TEST_F(GpuSegments, TakeNoneAndEmptyFields) {
  const BrickField field = make_field("sphere", 32);
  GpuSegmentTracer gpu(field);
  SegmentResults results;
  gpu.trace(std::span<const Segment>(), results);
  EXPECT_EQ(results.first, std::vector<std::uint64_t>{0});
  EXPECT_GT(gpu.memory_bytes(), 0U);
  // An margin that nothing reaches.
  GpuSegmentTracer nowhere(field, {.margin = -10}, &gpu);
  Share share;
  ASSERT_NO_FATAL_FAILURE(compare(nowhere, make_segments(field.bounds(), 300, 3), share));
  EXPECT_EQ(share.hits, 0U);
  EXPECT_THROW((void)GpuSegmentTracer(field, {.roots = RootSearch::kPaper}), Error);
}

}  // namespace
}  // namespace isotact
