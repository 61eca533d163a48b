#include "isotact/gpu/segment_tracer.h"

#include <string>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives.h"

#include "gpu_fixture.h"
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

struct Share {
  std::size_t segments = 0, hits = 0, several = 0, unsure = 0;
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

TEST_F(GpuSegments, GiveTheBitsOfTheCpu) {
  Share share;
  for (const char* shape : {"gear", "knot", "terrain"}) {
    const BrickField field = make_field(shape, 64);
    const std::vector<Segment> segments =
        make_segments(field.bounds(), unless_slow(3000, 300), 11);
    for (const double cells : {0.0, -1.0, 2.5, 9.0, 40.0})
      for (const SegmentMode mode :
           {SegmentMode::kIntervals, SegmentMode::kFirst, SegmentMode::kAny}) {
        GpuSegmentTracer gpu(field, {.iso = cells * field.voxel_size(), .mode = mode});
        ASSERT_NO_FATAL_FAILURE(compare(gpu, segments, share))
            << shape << ", iso " << cells << ", mode " << static_cast<int>(mode);
      }
  }
  EXPECT_GT(share.hits, share.segments / 2);
  EXPECT_GT(share.several, share.segments / 50);
}

}  // namespace
}  // namespace isotact
