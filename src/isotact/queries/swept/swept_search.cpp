#include "isotact/queries/swept/detail/swept_search.h"

#include <algorithm>
#include <cmath>

#include "isotact/queries/segments/detail/segment_walk.h"
#include "isotact/queries/swept/detail/swept_kernel.h"

namespace isotact::detail {
namespace {

// Rounding: positions are floats of metres and of blocks, after a few operations each, and a trace
// rounds its segment to floats of cells.
constexpr double kRelative = 4e-6;   // Relative to the largest coordinate.
constexpr double kAbsolute = 1e-3;   // Blocks.
constexpr double kBendShare = 0.25;  // Fraction of a sphere's radius by which a range may bend.

BlockMap to_blocks(const AffineMap& map, const Vec3& origin, double blocks_a_metre) {
  BlockMap result{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < 3; ++k)
      result.linear[axis][k] = static_cast<float>(map.linear.rows[axis][k] * blocks_a_metre);
    result.offset[axis] = static_cast<float>((map.offset[axis] - origin[axis]) * blocks_a_metre);
  }
  return result;
}

}  // namespace

SweptSearch::SweptSearch(const FreeSpace& space, const Lattice& lattice)
    : find_touching_(choose_find_touching(simd_level())),
      origin_(lattice.origin),
      block_(lattice.spacing * kFreeBlockCells),
      reach_(space.reach) {
  grid_.quarters = space.quarters.data();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    grid_.blocks[axis] = static_cast<std::uint32_t>(space.blocks[axis]);
    grid_.size[axis] = space.size[axis];
  }
}

SweptSearch::SweptSearch(const AnyField& field, double margin, double block)
    : any_(&field), iso_(margin), block_(block) {}

void SweptSearch::start(const PointSphereTree& tree, const ShellPath& path) {
  tree_ = &tree;
  levels_.clear();
  for (int level = 0; level < tree.level_count(); ++level) levels_.push_back(tree.level(level));
  x_ = tree.x().data();
  y_ = tree.y().data();
  z_ = tree.z().data();

  const double blocks_a_metre = 1 / block_;
  const Spheref ball = tree.bounding_sphere();
  // In the shell.
  const double furthest = length(to_double(ball.center)) + static_cast<double>(ball.radius);
  double largest = 0;
  maps_.clear();
  for (const AffineMap& map : path.maps) {
    maps_.push_back(to_blocks(map, origin_, blocks_a_metre));
    largest = std::max(largest, path.stretch * furthest + length(map.offset));
  }
  largest = (largest + length(origin_)) * blocks_a_metre +
            static_cast<double>(std::max({grid_.size[0], grid_.size[1], grid_.size[2]}));
  blocks_a_metre_ = static_cast<float>(path.stretch * blocks_a_metre * (1 + 1e-6));

  most_halvings_ = 0;
  while ((1 << most_halvings_) < path.piece_count()) ++most_halvings_;
  const double fixed = reach_ + static_cast<double>(kGap) + kAbsolute + kRelative * largest +
                       2 * path.rounding * blocks_a_metre;
  halvings_.assign(levels_.size() + 1, 0);
  margins_.assign(levels_.size() + 1, static_cast<float>(fixed));
  // Vertices of the chain lie on the true path, which deviates from the chord of a range by at most
  // this. So do the chain's straight pieces between them. One piece does not bend.
  const auto bend = [&](unsigned halvings) {
    const double share = static_cast<double>(1U << halvings) / path.piece_count();
    return halvings == 0 ? 0.0 : path.acceleration * share * share / 8 * blocks_a_metre;
  };
  unsigned halvings = most_halvings_;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const auto radius =
        static_cast<double>(tree.header().levels[level].mean_radius) * blocks_a_metre;
    while (halvings > 0 && bend(halvings) > kBendShare * (radius + 1)) --halvings;
    halvings_[level] = halvings;
    margins_[level] = static_cast<float>((fixed + bend(halvings)) * (1 + 1e-6));
  }
}

float SweptSearch::time_of(const Item& item, std::size_t level) const {
  const float ranges = static_cast<float>(1U << (most_halvings_ - halvings_[level]));
  return (static_cast<float>(item.range) + item.begin) / ranges;
}

void SweptSearch::find_last_nodes(SweptWork& counts) {
  front_.clear();
  test_root(counts, [&](const Item& item) { front_.push_back(item); });
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
    next_.clear();
    for (const Item& item : front_)
      expand(item, level, counts, [&](const Item& child) { next_.push_back(child); });
    front_.swap(next_);
  }
  if (most_halvings_ > 0)
    std::sort(front_.begin(), front_.end(), [](const Item& a, const Item& b) {
      return a.node != b.node ? a.node < b.node : a.range < b.range;
    });
}

unsigned find_touching_baseline(const FreeGrid& grid, const SphereLanes& spheres,
                                const SweptTask& task, SweptTimes& times) {
  return SweptKernel<Lanes<float, 4>>::run(grid, spheres, task, times);
}

FindTouching choose_find_touching([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return find_touching_avx2;
#endif
  return find_touching_baseline;
}

namespace {

constexpr int kHalvings = 23;        // Times are floats.
constexpr double kLeastRise = 1e-3;  // Cells.

// Halves of a segment, until each lies on one side by the field's slope or has the minimal length.
// Values of a convex body are a convex function f of the time: a part is inside if both of its ends
// are. Let m be the middle of a part from b to e, all three outside. Then f is nowhere in [b, m]
// below the line through (m, f(m)) and (e, f(e)), whose value at b is 2 f(m) - f(e). So a point
// that slides along a face takes a few values, not millions.
class Halving {
 public:
  Halving(const AnyTrace& how, const Segment& segment, IntervalSink& sink, SegmentWork& counts)
      : field_(how.field),
        iso_(how.margin),
        least_(kLeastRise * how.cell),
        from_(to_double(segment.from)),
        by_(to_double(segment.to) - to_double(segment.from)),
        rise_(how.field.lipschitz() * length(by_)),
        sink_(sink),
        counts_(counts) {}

  void run() {
    if (field_.is_convex())
      look_convex({0, height(0)}, {1, height(1)}, 0);
    else
      look(0, 1, 0);
    sink_.finish();
  }

 private:
  struct Place {
    double time, height;
  };
  double height(double time) const { return field_.value(from_ + by_ * time) - iso_; }

  // The place of the last side that was set is never later than `begin`.
  void look_convex(const Place& begin, const Place& end, int depth) {
    if (sink_.is_done()) return;
    ++counts_.nodes;
    const double rounding = 1e-6 * least_;
    if (begin.height <= rounding && end.height <= rounding) {
      sink_.set_side(begin.time, true);
      return;
    }
    const double time = (begin.time + end.time) * 0.5;
    const Place middle{time, height(time)};
    const double rise = rise_ * (end.time - begin.time) * 0.5;
    if (std::abs(middle.height) >= rise || rise <= least_ || depth == kHalvings) {
      sink_.set_side(begin.time, middle.height <= rounding);
      return;
    }
    const bool is_out = begin.height > 0 && middle.height > 0 && end.height > 0;
    if (is_out && 2 * middle.height - end.height > 0)
      sink_.set_side(begin.time, false);
    else
      look_convex(begin, middle, depth + 1);
    if (is_out && 2 * middle.height - begin.height > 0)
      sink_.set_side(middle.time, false);
    else
      look_convex(middle, end, depth + 1);
  }

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
  SegmentWork& counts_;
};

// Steps from a time to the first at which the sphere may touch; beyond `end`: never.
float step_on(const AnySpace& space, const Vec3& from, const Vec3& by, double radius, float begin,
              float end) {
  const double speed = std::max(length(by), 1e-20), slope = space.field.lipschitz();
  double time = static_cast<double>(begin);
  for (int step = 0; step < kMostSteps; ++step) {
    const double value = space.field.value((from + by * time) * space.block) - space.margin;
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
                      std::span<SegmentInterval> intervals, SegmentWork& counts) {
  IntervalSink sink(how.mode, intervals);
  Halving(how, segment, sink, counts).run();
  return sink.count();
}

void trace_any(const AnyTrace& how, std::span<const Segment> segments, SegmentResults& results,
               SegmentWork& counts) {
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
