#include "mdl06/exact_segment.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "isotact/geometry/bvh/bvh.h"

namespace isotact {
namespace {

constexpr double kSamePlace = 0x1p-22;  // In time.

std::vector<RayHit> find_hits(const Bvh& bvh, const Segment& s) {
  const Ray ray{.origin = s.from, .direction = s.to - s.from, .t_min = 0, .t_max = 1};
  std::vector<RayHit> hits(64);
  AllHits all = find_all_hits(bvh, ray, hits);
  if (all.status == AllHitsStatus::kBufferTooSmall) {
    hits.resize(all.found);
    all = find_all_hits(bvh, ray, hits);
  }
  hits.resize(all.hits.size());
  return hits;
}

// Returns the side of an interval without hits. Its middle may touch the surface without a hit and
// then decides nothing: the position furthest from the surface decides.
bool is_stretch_inside(const ExactField& field, const Segment& s, double begin, double end) {
  const Vec3 from = to_double(s.from), to = to_double(s.to);
  const double clear = 0x1p-20 * (length(from) + length(to));
  double furthest = 0;
  for (const double part : {0.5, 0.25, 0.75, 0.125, 0.875}) {
    const double d = field.value(lerp(from, to, begin + (end - begin) * part));
    if (std::abs(d) > std::abs(furthest)) furthest = d;
    if (std::abs(d) > clear) break;
  }
  return furthest < 0;
}

}  // namespace

ExactSegmentTracer::ExactSegmentTracer(const Surface& surface, Threads threads)
    : mesh_(surface.mesh), field_(surface, threads) {
  assert(surface.report.method != SignMethod::kUnsigned);
}

Vec3 ExactSegmentTracer::normal(std::uint32_t triangle) const {
  const auto [a, b, c] = corners(mesh_, triangle);
  const Vec3 da = to_double(a), n = cross(to_double(b) - da, to_double(c) - da);
  const double size = length(n);
  return size > 0 ? n * (1 / size) : Vec3{};
}

void ExactSegmentTracer::trace(const Segment& segment, ExactCrossings& result) const {
  result.crossings.clear();
  const std::vector<RayHit> hits = find_hits(field_.tree().bvh(), segment);
  const auto is_inside = [&](double a, double b) {
    return is_stretch_inside(field_, segment, a, b);
  };
  const auto time = [&](std::size_t i) {
    return i < hits.size() ? static_cast<double>(hits[i].t) : 1.0;
  };
  bool inside = false;
  double begin = 0;  // Start of the interval without hits.
  std::size_t last_hit = hits.size();
  bool is_first = true;
  for (std::size_t i = 0; i <= hits.size(); ++i) {
    if (time(i) - begin > kSamePlace || (i == hits.size() && is_first)) {
      const bool next = is_inside(begin, time(i));
      if (is_first)
        result.starts_inside = next;
      else if (next != inside)
        result.crossings.push_back({begin, hits[last_hit].triangle});
      inside = next;
      is_first = false;
    }
    if (i < hits.size()) {
      begin = time(i);
      last_hit = i;
    }
  }
}

}  // namespace isotact
