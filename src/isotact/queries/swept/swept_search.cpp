#include "isotact/queries/detail/any_trace.h"

#include <algorithm>
#include <cmath>

#include "isotact/queries/detail/segment_walk.h"

namespace isotact::detail {
namespace {

constexpr int kHalvings = 23;        // times are floats
constexpr double kLeastRise = 1e-3;  // cells

// Halves of a segment, until each lies on one side by the field's slope or is as short as it gets.
class Halving {
 public:
  Halving(const AnyTrace& how, const Segment& segment, IntervalSink& sink, SegmentCounts& counts)
      : field_(how.field),
        iso_(how.iso),
        least_(kLeastRise * how.cell),
        from_(to_double(segment.from)),
        by_(to_double(segment.to) - to_double(segment.from)),
        rise_(how.field.lipschitz() * length(by_)),
        sink_(sink),
        counts_(counts) {}

  void run() {
    look(0, 1, 0);
    sink_.finish();
  }

 private:
  void look(double begin, double end, int depth) {
    if (sink_.is_done()) return;
    ++counts_.nodes;
    const double middle = (begin + end) * 0.5;
    const double above = field_.value(from_ + by_ * middle) - iso_;
    const double rise = rise_ * (end - begin) * 0.5;
    if (std::abs(above) >= rise || rise <= least_ || depth == kHalvings) {
      sink_.set_side(begin, above <= 0);
      return;
    }
    look(begin, middle, depth + 1);
    look(middle, end, depth + 1);
  }

  const AnyField& field_;
  double iso_, least_;
  Vec3 from_, by_;
  double rise_;
  IntervalSink& sink_;
  SegmentCounts& counts_;
};

// Steps on from a time to the first at which the sphere may touch; beyond `end`: never.
float step_on(const AnySpace& space, const Vec3& from, const Vec3& by, double radius, float begin,
              float end) {
  const double speed = std::max(length(by), 1e-20), slope = space.field.lipschitz();
  double time = static_cast<double>(begin);
  for (int step = 0; step < kMostSteps; ++step) {
    const double value = space.field.value((from + by * time) * space.block) - space.iso;
    const double free = value / (slope * space.block) - radius;
    if (free <= 0) return static_cast<float>(time);
    time += std::max(free, static_cast<double>(kGap)) / speed;
    if (time > static_cast<double>(end)) return HUGE_VALF;
  }
  return static_cast<float>(time);
}

Vec3 apply(const BlockMap& map, const SphereLanes& s, unsigned lane) {
  const auto x = static_cast<double>(s.x[lane]), y = static_cast<double>(s.y[lane]),
             z = static_cast<double>(s.z[lane]);
  Vec3 result;
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = static_cast<double>(map.linear[axis][0]) * x +
                   static_cast<double>(map.linear[axis][1]) * y +
                   static_cast<double>(map.linear[axis][2]) * z +
                   static_cast<double>(map.offset[axis]);
  return result;
}

}  // namespace

unsigned find_touching_any(const AnySpace& space, const SphereLanes& spheres, const SweptTask& task,
                           SweptTimes& times) {
  unsigned touching = 0;
  for (unsigned left = spheres.wanted; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const Vec3 from = apply(*task.from, spheres, lane), to = apply(*task.to, spheres, lane);
    double radius = static_cast<double>(task.margin);
    if (spheres.radius != nullptr)
      radius +=
          static_cast<double>(spheres.radius[lane]) * static_cast<double>(task.blocks_a_metre);
    const float begin = step_on(space, from, to - from, radius, task.begin, task.end);
    if (begin > task.end) continue;
    float end = task.end;
    if (task.shrink_end) {
      const float back = step_on(space, to, from - to, radius, 1 - task.end, 1 - begin);
      if (back > 1 - begin) continue;
      end = 1 - back;
    }
    touching |= 1U << lane;
    times.begin[lane] = begin;
    times.end[lane] = end;
  }
  return touching;
}

std::size_t trace_any(const AnyTrace& how, const Segment& segment,
                      std::span<SegmentInterval> intervals, SegmentCounts& counts) {
  IntervalSink sink(how.mode, intervals);
  Halving(how, segment, sink, counts).run();
  return sink.count();
}

void trace_any(const AnyTrace& how, std::span<const Segment> segments, SegmentResults& results,
               SegmentCounts& counts) {
  results.first.assign(1, 0);
  results.intervals.clear();
  std::vector<SegmentInterval> room(16);
  for (const Segment& segment : segments) {
    std::size_t n = trace_any(how, segment, room, counts);
    if (n > room.size()) {
      room.resize(n);
      n = trace_any(how, segment, room, counts);
    }
    results.intervals.insert(results.intervals.end(), room.begin(),
                             room.begin() + static_cast<std::ptrdiff_t>(n));
    results.first.push_back(results.intervals.size());
  }
}

}  // namespace isotact::detail
