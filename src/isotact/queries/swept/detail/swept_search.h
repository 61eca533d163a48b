// One motion of a shell through free space: the points that are left to be traced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isotact/field/any_field.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/swept/detail/free_space.h"
#include "isotact/queries/swept/detail/swept_lanes.h"
#include "isotact/queries/swept/swept.h"

namespace isotact::detail {

// Segments and spheres through a field of any kind, of which only values and a bound on its slope
// are known.

// As find_touching (swept_lanes.h), one after the other. A position whose value is v above margin
// is at least v / slope from all positions at or below it.
struct AnySpace {
  const AnyField& field;
  double margin;
  double block;  // Metres.
};
unsigned find_touching_any(const AnySpace& space, const SphereLanes& spheres, const SweptTask& task,
                           SweptTimes& times);

// As SegmentTracer::trace. Parts of a segment that stay nearer to the isosurface than a thousandth
// of a cell are not resolved. A segment that slides along it would take as many values as there are
// floats.
struct AnyTrace {
  const AnyField& field;
  double margin;
  double cell;  // Metres.
  Mode mode;
};
std::size_t trace_any(const AnyTrace& how, const Segment& segment,
                      std::span<SegmentInterval> intervals, SegmentWork& counts);
void trace_any(const AnyTrace& how, std::span<const Segment> segments, SegmentResults& results,
               SegmentWork& counts);

// A point on one piece of its path.
struct PieceOfPoint {
  std::uint32_t point, piece;

  friend auto operator<=>(const PieceOfPoint&, const PieceOfPoint&) = default;
};

// Number of pieces listed at a time, and a few more.
inline constexpr std::size_t kPiecesAtOnce = std::size_t{1} << 18U;

// Time is halved repeatedly, as far as spheres are small. A range of a level of the tree is one of
// 2^s pieces, which count as one straight path plus their deviation from it.
class SweptSearch {
 public:
  SweptSearch(const FreeSpace& space, const Lattice& lattice);
  // For a field without a grid, by its slope; lengths are then in `block`.
  SweptSearch(const AnyField& field, double margin, double block);

  // Keeps references to all until the next call.
  void start(const PointSphereTree& tree, const ShellPath& path);

  // Finds all that may touch, in order. Calls use(pieces) for the pieces of some points at a time.
  template <typename Use>
  void find_all(std::vector<PieceOfPoint>& pieces, SweptWork& counts, Use&& use);

  // Visits points in the order of the earliest time at which they may touch, and by point for equal
  // times. `trace` returns the true time, or kNever. Points that can only touch later than the
  // earliest such time, or at the same time as a lower point, are left out.
  template <typename Trace>
  void find_first(Trace&& trace, SweptWork& counts);

  // Visits in the order of `judge` of a position, lowest first, less the radius of a sphere. Ends
  // with the first point that touches according to `trace`. A node's position is that of its
  // representative.
  template <typename Judge, typename Trace>
  void find_any(Judge&& judge, Trace&& trace, SweptWork& counts);

 private:
  struct Item {
    std::uint32_t node, range;
    float begin, end;  // The range: 0 to 1.
  };
  // A node, or a point, that waits.
  struct Waiting {
    float time;           // Or its judgement.
    std::uint32_t point;  // The lowest below.
    std::uint32_t level;
    Item item;
  };

  bool is_point(std::size_t level) const { return level == levels_.size(); }
  float time_of(const Item& item, std::size_t level) const;
  // Calls visit(item) for each child, or point, that may touch.
  template <typename Visit>
  void expand(const Item& item, std::size_t level, SweptWork& counts, Visit&& visit);
  template <typename Visit>
  void test(const SphereLanes& spheres, std::uint32_t first, std::uint32_t range, float begin,
            float end, std::size_t level, Visit&& visit);
  template <typename Visit>
  void test_root(SweptWork& counts, Visit&& visit);
  // Leaves the nodes of the last level that may touch in front_, in order.
  void find_last_nodes(SweptWork& counts);

  FreeGrid grid_{};
  FindTouching find_touching_ = nullptr;
  const AnyField* any_ = nullptr;  // Instead of the grid.
  double iso_ = 0;
  Vec3 origin_{};     // Origin of the grid, metres.
  double block_ = 1;  // Metres.
  double reach_ = 0;  // Blocks.

  const PointSphereTree* tree_ = nullptr;
  std::vector<ShellLevel> levels_;
  const float *x_ = nullptr, *y_ = nullptr, *z_ = nullptr;
  std::vector<BlockMap> maps_;
  std::vector<unsigned> halvings_;  // Per level, and for points: s.
  std::vector<float> margins_;      // Likewise, blocks.
  unsigned most_halvings_ = 0;
  float blocks_a_metre_ = 0;
  std::vector<Item> front_, next_;
  std::vector<Waiting> heap_;
};

template <typename Visit>
void SweptSearch::test(const SphereLanes& spheres, std::uint32_t first, std::uint32_t range,
                       float begin, float end, std::size_t level, Visit&& visit) {
  const std::size_t pieces = std::size_t{1} << halvings_[level];
  const SweptTask task{&maps_[range * pieces],
                       &maps_[(range + 1) * pieces],
                       blocks_a_metre_,
                       margins_[level],
                       begin,
                       end,
                       !is_point(level)};
  SweptTimes times;
  unsigned touching = any_ == nullptr
                          ? find_touching_(grid_, spheres, task, times)
                          : find_touching_any({*any_, iso_, block_}, spheres, task, times);
  for (; touching != 0; touching &= touching - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(touching));
    visit(Item{first + lane, range, times.begin[lane], times.end[lane]});
  }
}

template <typename Visit>
void SweptSearch::expand(const Item& item, std::size_t level, SweptWork& counts, Visit&& visit) {
  const ShellNode& node = levels_[level].nodes[item.node];
  const std::size_t below = level + 1;
  const unsigned shift = halvings_[level] - halvings_[below];
  const std::uint32_t parts = 1U << shift;
  const float scale = static_cast<float>(parts);
  const auto first_part = static_cast<std::uint32_t>(item.begin * scale);
  const auto last_part = static_cast<std::uint32_t>(item.end * scale);
  for (std::uint32_t part = first_part; part <= std::min(last_part, parts - 1); ++part) {
    const float before = static_cast<float>(part);
    const float begin = std::max(item.begin * scale - before, 0.0F);
    const float end = std::min(item.end * scale - before, 1.0F);
    const std::uint32_t range = (item.range << shift) + part;
    std::uint32_t left = node.child_count;
    for (std::uint32_t at = node.first_child; left > 0;) {
      if (is_point(below)) {
        const std::uint32_t n = std::min(left, 8U);
        counts.points += n;
        test({x_ + at, y_ + at, z_ + at, nullptr, (1U << n) - 1}, at, range, begin, end, below,
             visit);
        at += n;
        left -= n;
      } else {
        const SphereGroup& group = levels_[below].groups[at / 8];
        const std::uint32_t n = std::min(left, 8 - at % 8);
        counts.spheres += n;
        test({group.x, group.y, group.z, group.radius, ((1U << n) - 1) << at % 8}, at - at % 8,
             range, begin, end, below, visit);
        at += n;
        left -= n;
      }
    }
  }
}

template <typename Visit>
void SweptSearch::test_root(SweptWork& counts, Visit&& visit) {
  const SphereGroup& group = levels_[0].groups[0];
  const std::uint32_t ranges = 1U << (most_halvings_ - halvings_[0]);
  for (std::uint32_t range = 0; range < ranges; ++range) {
    ++counts.spheres;
    test({group.x, group.y, group.z, group.radius, 1}, 0, range, 0, 1, 0, visit);
  }
}

template <typename Use>
void SweptSearch::find_all(std::vector<PieceOfPoint>& pieces, SweptWork& counts, Use&& use) {
  find_last_nodes(counts);
  const std::size_t last = levels_.size() - 1;
  pieces.clear();
  for (std::size_t i = 0; i < front_.size();) {
    const std::uint32_t node = front_[i].node;
    const auto first = static_cast<std::ptrdiff_t>(pieces.size());
    for (; i < front_.size() && front_[i].node == node; ++i)
      expand(front_[i], last, counts, [&](const Item& point) {
        pieces.push_back({point.node, point.range});
      });
    // If a node has several ranges, each has its points.
    if (most_halvings_ > 0) std::sort(pieces.begin() + first, pieces.end());
    if (pieces.size() < kPiecesAtOnce && i < front_.size()) continue;
    use(std::as_const(pieces));
    pieces.clear();
  }
}

template <typename Trace>
void SweptSearch::find_first(Trace&& trace, SweptWork& counts) {
  const auto later = [](const Waiting& a, const Waiting& b) {
    return a.time != b.time ? a.time > b.time : a.point > b.point;
  };
  heap_.clear();
  const auto push = [&](const Item& item, std::size_t level) {
    const std::uint32_t point =
        is_point(level) ? item.node : levels_[level].nodes[item.node].first_point;
    heap_.push_back({time_of(item, level), point, static_cast<std::uint32_t>(level), item});
    std::push_heap(heap_.begin(), heap_.end(), later);
  };
  test_root(counts, [&](const Item& item) { push(item, 0); });
  Waiting best{kNever, kNoPoint, 0, {}};
  while (!heap_.empty() && later(best, heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Waiting now = heap_.back();
    heap_.pop_back();
    if (is_point(now.level)) {
      const Waiting found{trace(PieceOfPoint{now.item.node, now.item.range}), now.point, 0, {}};
      if (later(best, found)) best = found;
    } else {
      expand(now.item, now.level, counts, [&](const Item& item) { push(item, now.level + 1); });
    }
  }
}

template <typename Judge, typename Trace>
void SweptSearch::find_any(Judge&& judge, Trace&& trace, SweptWork& counts) {
  const auto worse = [](const Waiting& a, const Waiting& b) { return a.time > b.time; };
  heap_.clear();
  const auto push = [&](const Item& item, std::size_t level) {
    const std::uint32_t pieces = 1U << halvings_[level];
    const float radius = is_point(level) ? 0 : sphere(levels_[level], item.node).radius;
    const std::uint32_t point =
        is_point(level) ? item.node : levels_[level].nodes[item.node].representative;
    const float value = judge(point, item.range * pieces, pieces, item.begin);
    heap_.push_back({value - radius, point, static_cast<std::uint32_t>(level), item});
    std::push_heap(heap_.begin(), heap_.end(), worse);
  };
  test_root(counts, [&](const Item& item) { push(item, 0); });
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const Waiting now = heap_.back();
    heap_.pop_back();
    if (!is_point(now.level))
      expand(now.item, now.level, counts, [&](const Item& item) { push(item, now.level + 1); });
    else if (trace(PieceOfPoint{now.item.node, now.item.range}))
      return;
  }
}

}  // namespace isotact::detail
