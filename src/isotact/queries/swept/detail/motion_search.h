// A search over pairs of boxes and intervals of time, earliest first. A pair is dropped for an
// interval if a plane separates it for all times of the interval.
//
// Why a dropped pair cannot touch. Let n be a unit vector in A's frame. Each point of B moves along
// a path that is at most e away from its chord over the interval (motion_curve.h). On the chord, n
// . x is a linear function of time, so it is least at an end of the interval. At both ends, let all
// of B's box have n . x above all of A's box by more than margin + e. Then every point of B is
// further than the margin from every point of A, at all times between. The same holds for -n. Along
// n the gap of a pair is exact for translations, so bodies that slide along each other are
// separated in one step. For rotations e falls with the square of the interval.
//
// An interval with pairs left is halved, the earlier half first, and both halves go on with the
// pairs that were left. Boxes are opened only as long as they are larger than what they go in the
// interval: smaller ones would not help.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/queries/swept/detail/motion_curve.h"
#include "isotact/queries/swept/detail/motion_parts.h"
#include "isotact/queries/swept/mesh_motion.h"

namespace isotact::detail::mesh_motion {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr int kMostHalvings = 40;
// Pairs are opened in intervals in which they go at most this share of the larger one's radius.
// Pairs of triangles cost more than boxes, so they wait for shorter intervals. Parts that slide
// along each other do not come nearer to a plane that tells them apart. If they go less than the
// last share towards it, they need no shorter interval.
inline constexpr double kBoxShare = 0.5, kTriangleShare = 0.25, kSlidingShare = 0.02;
// Two blocks with more pairs of triangles left than these wait together, unless they go so little.
inline constexpr int kManyPairs = 2;
inline constexpr double kSlowShare = 0.002;

using Corners = std::array<Vec3, 3>;

inline Corners corners_of(const Bvh& bvh, std::uint32_t index) {
  const detail::TriangleBlock& block = bvh.blocks()[index >> 2U];
  const std::uint32_t lane = index & 3U;
  Corners corners;
  for (std::size_t k = 0; k < 3; ++k)
    corners[k] = {double{block.corner[k][0][lane]}, double{block.corner[k][1][lane]},
                  double{block.corner[k][2][lane]}};
  return corners;
}

inline std::uint32_t number_of(const Bvh& bvh, std::uint32_t index) {
  return bvh.blocks()[index >> 2U].triangle[index & 3U];
}

inline Corners move(const AffineMap& map, const Corners& c) {
  return {map * c[0], map * c[1], map * c[2]};
}

struct Range {
  double lower, upper;
};

inline Range range_along(const Vec3& n, const Corners& c) {
  const double x = dot(n, c[0]), y = dot(n, c[1]), z = dot(n, c[2]);
  return {std::min({x, y, z}), std::max({x, y, z})};
}

inline double gap_between(const Range& a, const Range& b0, const Range& b1) {
  return std::max(std::min(b0.lower, b1.lower) - a.upper, a.lower - std::max(b0.upper, b1.upper));
}

inline Vec3 normal_of(const Corners& c) {
  const Vec3 n = cross(c[1] - c[0], c[2] - c[0]);
  const double sq = length_sq(n);
  return sq > 0 ? n * (1 / std::sqrt(sq)) : Vec3{};
}

inline double size_of(const Bvh& bvh) { return length(extent(to_double(bvh.bounds()))); }

inline double furthest_of(const Bvh& bvh) {
  const Aabb box = to_double(bvh.bounds());
  return length(max(box.lower * -1.0, box.upper));
}

struct Span {
  double from, to;  // times
  AffineMap first, last;
  int halvings;
  Vec3 direction;  // unit, or zero: between nearest points at some time about the interval

  double duration() const { return to - from; }
};

// A mesh or a half-space.
struct Ground {
  const Bvh* mesh = nullptr;
  const PlaneField* plane = nullptr;

  double furthest() const {
    return plane != nullptr ? std::abs(plane->offset) : furthest_of(*mesh);
  }
  bool is_empty() const { return plane == nullptr && mesh->nodes().empty(); }
};

// Shared by both searches. A pair is of no use if its gap is above cut(). In pairs with a
// half-space its part is the root, and the gap is that along its normal.
class MotionSearch {
 public:
  MotionSearch(const Ground& a, const Bvh& b, const ShellMotion& motion, std::uint64_t max_tests)
      : a_(a),
        b_(b),
        curve_(motion),
        max_tests_(max_tests),
        // Maps have rotations that are rounded, and sums of some twenty products of coordinates.
        rounding_(curve_.rounding() +
                  0x1p-44 * (a.furthest() + 2 * furthest_of(b) + length(curve_.at(0).offset) +
                             length(curve_.at(1).offset))) {}
  virtual ~MotionSearch() = default;
  MotionSearch(const MotionSearch&) = delete;
  MotionSearch& operator=(const MotionSearch&) = delete;

 protected:
  virtual double cut() const = 0;
  // Pairs of an interval that are left, all of triangles if the interval cannot be halved. Returns
  // whether the search is over.
  virtual bool visit(const Span& span, std::size_t begin) = 0;
  virtual bool can_halve(const Span& span) const = 0;
  virtual void leave([[maybe_unused]] double gap) {}
  // Whether pairs are of no use until Pair::until. Not where gaps count that were left.
  virtual bool skips_free_times() const { return false; }

  void search(const Vec3& direction) {
    pairs_.assign(1, {{kRoot, false}, {kRoot, false}, -kInfinity});
    descend({0, 1, curve_.at(0), curve_.at(1), 0, direction}, 0, 1);
  }

  // The pair of triangles that may be nearest.
  const Pair* find_least(std::size_t begin) const {
    const Pair* best = nullptr;
    for (std::size_t i = begin; i < pairs_.size(); ++i)
      if (pairs_[i].b.is_triangle && (best == nullptr || pairs_[i].gap < best->gap))
        best = &pairs_[i];
    return best;
  }

  // Nearest points of a pair of triangles at a time; of a half-space, below the lowest corner.
  TriangleDistance find_nearest(const Pair& pair, const AffineMap& map) const {
    const Corners b = move(map, corners_of(b_, pair.b.index));
    return a_.plane != nullptr ? find_lowest(b)
                               : compute_triangle_distance(corners_of(*a_.mesh, pair.a.index), b);
  }
  TriangleDistance find_lowest(const Corners& b) const {
    TriangleDistance lowest{kInfinity, {}, {}};
    for (const Vec3& c : b)
      if (const double value = a_.plane->value(c); value < lowest.distance)
        lowest = {value, c - a_.plane->normal * value, c};
    lowest.distance = std::max(lowest.distance, 0.0);
    return lowest;
  }
  std::uint32_t number_in_a(const Pair& pair) const {
    return a_.plane != nullptr ? kNoTriangle : number_of(*a_.mesh, pair.a.index);
  }

  const Ground a_;
  const Bvh& b_;
  const detail::MotionCurve curve_;
  const std::uint64_t max_tests_;
  const double rounding_;
  std::vector<Pair> pairs_{};  // of all intervals above this one
  std::uint64_t tests_ = 0;
  bool gave_up_ = false;

 private:
  // Returns whether the search is over.
  bool descend(const Span& span, std::size_t begin, std::size_t end) {  // NOLINT(misc-no-recursion)
    const std::size_t mine = pairs_.size();
    for (std::size_t i = begin; i < end && !gave_up_; ++i) refine(span, pairs_[i]);
    if (gave_up_) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) leave(pairs_[i].gap);
      for (const Pair& pair : open_) leave(pair.gap);
      return true;
    }
    const std::size_t count = pairs_.size();
    bool is_over = false;
    if (count > mine) {
      is_over = visit(span, mine);
      if (!is_over && can_halve(span)) {
        const double from = compute_end_of_freedom(span, mine);
        const double middle = (from + span.to) / 2;
        const AffineMap first = from > span.from ? curve_.at(from) : span.first;
        const AffineMap at = curve_.at(middle);
        const int halvings = span.halvings + 1;
        const Vec3 near = compute_direction(span, mine);
        is_over = descend({from, middle, first, at, halvings, near}, mine, count) ||
                  descend({middle, span.to, at, span.last, halvings, near}, mine, count);
      }
    }
    if (!is_over) pairs_.resize(mine);
    return is_over;
  }

  // Until when no pair of the interval touches.
  double compute_end_of_freedom(const Span& span, std::size_t begin) const {
    if (!skips_free_times()) return span.from;
    double end = span.to;
    for (std::size_t i = begin; i < pairs_.size(); ++i) end = std::min(end, pairs_[i].until);
    return std::max(end, span.from);
  }

  double until_between(const Span& span, const Range& a, const Range& b0, const Range& b1,
                       double slack) const {
    if (!skips_free_times()) return span.from;
    return std::max(until_of(span, b0.lower - a.upper, b1.lower - a.upper, slack),
                    until_of(span, a.lower - b0.upper, a.lower - b1.upper, slack));
  }

  // A gap along one direction is at least that of the chords, which is linear in time, less the
  // slack. `first`, `last`: its values at the ends. The time until which it is above cut(). Axes of
  // boxes are unit vectors but for 2^-22.
  double until_of(const Span& span, double first, double last, double slack) const {
    const double over = (first - slack) * (1 - 0x1p-20) - cut();
    if (!(over > 0) || !(first > last)) return span.from;
    return span.from + span.duration() * std::min(over / (first - last), 1.0) * (1 - 0x1p-40);
  }

  // The direction of the pair that is nearest as far as is known. Its boxes and those beside them
  // are separated along this direction better than along the lines between their middles.
  Vec3 compute_direction(const Span& span, std::size_t begin) const {
    const Pair* best = find_least(begin);
    if (best == nullptr || a_.plane != nullptr) return span.direction;
    const Corners b = corners_of(b_, best->b.index);
    const Corners b0 = move(span.first, b), b1 = move(span.last, b);
    const TriangleDistance near =
        compute_triangle_distance(corners_of(*a_.mesh, best->a.index), middle_of(b0, b1));
    if (!(near.distance > rounding_)) return span.direction;
    return normalized(near.point_on_b - near.point_on_a);
  }

  static Corners middle_of(const Corners& b0, const Corners& b1) {
    return {(b0[0] + b1[0]) * 0.5, (b0[1] + b1[1]) * 0.5, (b0[2] + b1[2]) * 0.5};
  }

  // Appends what is left of a pair, in parts.
  void refine(const Span& span, Pair pair) {  // by value: the list grows
    open_.clear();
    open_.push_back(pair);
    const bool to_the_end = !can_halve(span);
    while (!open_.empty()) {
      pair = open_.back();
      open_.pop_back();
      if (pair.gap > cut()) {
        leave(pair.gap);
        continue;
      }
      if (pair.until >= span.to && skips_free_times()) continue;
      if (max_tests_ > 0 && tests_ >= max_tests_) {
        gave_up_ = true;
        open_.push_back(pair);
        return;
      }
      ++tests_;
      if (pair.b.is_triangle) {
        pair.gap = std::max(pair.gap, compute_triangle_gap(span, pair));
        keep_or_leave(pair);
        continue;
      }
      const Box b = box_of(b_, pair.b), a = a_.plane != nullptr ? Box{.child = detail::kBlockBit}
                                                                : box_of(*a_.mesh, pair.a);
      const double bend = bend_of(span, length(b.center - curve_.pivot()) + b.radius() + b.slack);
      const BoxGap found = compute_box_gap(span, a, b, bend);
      pair.gap = std::max(pair.gap, found.gap);
      pair.until = std::max(pair.until, found.until);
      if (pair.gap > cut()) {
        leave(pair.gap);
        continue;
      }
      const Vec3 goes = span.last * b.center - span.first * b.center;
      const double travel = length(goes) + bend, towards = std::abs(dot(found.axis, goes)) + bend;
      const double size_a = a.radius(), size_b = b.radius(), larger = std::max(size_a, size_b);
      const double share = a.is_block() && b.is_block() ? kTriangleShare : kBoxShare;
      const bool slides = travel <= larger && towards <= kSlidingShare * larger;
      // Gaps of boxes are rounded by a share of them: shorter intervals do not help points, and
      // triangles that are small beside the margin.
      const bool is_rounded = larger == 0 || travel <= 0x1p-16 * cut();
      if (!to_the_end && travel > share * larger && !slides && !is_rounded)
        pairs_.push_back(pair);
      else if (a_.plane != nullptr)
        open_beside_plane(pair, b);
      else if (a.is_block() && b.is_block())
        open_blocks(span, pair, a, b, bend, found.axis,
                    to_the_end || travel <= kSlowShare * larger);
      else if (!b.is_block() && (a.is_block() || size_b > size_a))
        open_moving(span, pair, a, b, bend, found.axis);
      else
        open_resting(span, pair, a, b, bend, found.axis);
    }
  }

  void keep_or_leave(const Pair& pair) {
    if (pair.gap > cut())
      leave(pair.gap);
    else
      pairs_.push_back(pair);
  }

  // Most pairs of triangles are dropped here.
  void open_blocks(const Span& span, const Pair& pair, const Box& a, const Box& b, double bend,
                   const Vec3& axis, bool to_the_end) {
    const std::uint32_t block_a = a.child & ~detail::kBlockBit,
                        block_b = b.child & ~detail::kBlockBit;
    const double needed = cut() + bend + rounding_;
    BlockFilter filter({a_.mesh->blocks()[block_a], a.center, a.radius() + a.slack},
                       {b_.blocks()[block_b], b.center, b.radius() + b.slack}, span.first,
                       span.last, needed);
    const unsigned all = filter.left();
    for (const Vec3& n : {span.direction, last_direction_, axis})
      if (length_sq(n) > 0 && filter.left() != 0) filter.drop_along(n);
    if (filter.left() != 0) filter.drop_along_normals();
    if (!to_the_end && __builtin_popcount(filter.left()) > kManyPairs) {
      pairs_.push_back(pair);
      return;
    }
    if (filter.left() != all) leave(std::max(pair.gap, cut()));
    for (unsigned left = filter.left(); left != 0; left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(__builtin_ctz(left));
      open_.push_back(
          {{4 * block_a + bit / 4, true}, {4 * block_b + bit % 4, true}, pair.gap, pair.until});
    }
  }

  void open_beside_plane(const Pair& pair, const Box& b) {
    if (b.is_block()) {
      const std::uint32_t block_b = b.child & ~detail::kBlockBit;
      const auto& of_b = b_.blocks()[block_b].triangle;
      for (std::uint32_t k = 0; k < detail::kBlockWidth && of_b[k] != kNoTriangle; ++k)
        open_.push_back({pair.a, {4 * block_b + k, true}, pair.gap, pair.until});
    } else {
      const std::uint32_t count = b_.oriented_nodes()[b.child].child_count;
      for (std::uint32_t i = 0; i < count; ++i)
        open_.push_back({pair.a, {8 * b.child + i, false}, pair.gap, pair.until});
    }
  }

  static double reach_along(const Vec3& n, const Box& box) {
    double reach = 0;
    for (int k = 0; k < 3; ++k) reach += std::abs(dot(n, box.axis[k])) * box.half[k];
    return reach;
  }
  static Vec3 axis_of(const detail::OrientedNode& node, std::size_t k) {
    return {double{node.axes[k][0]}, double{node.axes[k][1]}, double{node.axes[k][2]}};
  }
  static Vec3 origin_of(const detail::OrientedNode& node) {
    return {double{node.origin[0]}, double{node.origin[1]}, double{node.origin[2]}};
  }
  static Vec3 turn_to_middle(const Span& span, const Vec3& axis) {
    const Vec3 n = span.first.linear * axis + span.last.linear * axis;
    const double sq = length_sq(n);
    return sq > 0 ? n * (1 / std::sqrt(sq)) : Vec3{};
  }

  // B's box against the children of A's node.
  void open_resting(const Span& span, const Pair& pair, const Box& a, const Box& b, double bend,
                    const Vec3& axis) {
    const detail::OrientedNode& node = a_.mesh->oriented_nodes()[a.child];
    const AffineMap* const maps[2] = {&span.first, &span.last};
    const Vec3 middle[2] = {span.first * b.center - origin_of(node),
                            span.last * b.center - origin_of(node)};
    const double distance = std::max(length(middle[0]), length(middle[1])) + 2 * b.radius();
    ChildFilter filter(node, cut() + bend + rounding_ + b.slack, distance);
    const auto drop_along = [&](const Vec3& n) {
      ChildFilter::Range range[2];
      for (std::size_t e = 0; e < 2; ++e) {
        const double at = dot(n, middle[e]), reach = reach_along(transpose(maps[e]->linear) * n, b);
        range[e] = {at - reach, at + reach};
      }
      filter.drop_along({n, n}, range);
    };
    drop_by_axes(span, filter, drop_along, axis, [&](std::size_t k) {
      return k < 3 ? axis_of(node, k) : turn_to_middle(span, b.axis[k - 3]);
    });
    push_children(pair, filter.left(), node.child_count, 8 * a.child, false);
  }

  // A's box against the children of B's node.
  void open_moving(const Span& span, const Pair& pair, const Box& a, const Box& b, double bend,
                   const Vec3& axis) {
    const detail::OrientedNode& node = b_.oriented_nodes()[b.child];
    const AffineMap* const maps[2] = {&span.first, &span.last};
    const Vec3 middle[2] = {a.center - span.first * origin_of(node),
                            a.center - span.last * origin_of(node)};
    const double distance = std::max(length(middle[0]), length(middle[1])) + 2 * a.radius();
    ChildFilter filter(node, cut() + bend + rounding_ + a.slack, distance);
    const auto drop_along = [&](const Vec3& n) {
      const double reach = reach_along(n, a);
      Vec3 turned[2];
      ChildFilter::Range range[2];
      for (std::size_t e = 0; e < 2; ++e) {
        turned[e] = transpose(maps[e]->linear) * n;
        const double at = dot(n, middle[e]);
        range[e] = {at - reach, at + reach};
      }
      filter.drop_along(turned, range);
    };
    drop_by_axes(span, filter, drop_along, axis, [&](std::size_t k) {
      return k < 3 ? turn_to_middle(span, axis_of(node, k)) : a.axis[k - 3];
    });
    push_children(pair, filter.left(), node.child_count, 8 * b.child, true);
  }

  // Along directions that have separated parts before, and along the axes of both parts.
  template <typename Drop, typename AxisAt>
  void drop_by_axes(const Span& span, const ChildFilter& filter, Drop&& drop_along,
                    const Vec3& axis, AxisAt&& axis_at) {
    for (const Vec3& n : {span.direction, last_direction_, axis})
      if (length_sq(n) > 0 && filter.left() != 0) drop_along(n);
    for (std::size_t k = 0; k < 6 && filter.left() != 0; ++k) drop_along(axis_at(k));
  }

  void push_children(const Pair& pair, unsigned left, std::uint32_t count, std::uint32_t first,
                     bool of_b) {
    if (left != (1U << count) - 1) leave(std::max(pair.gap, cut()));
    for (; left != 0; left &= left - 1) {
      const Part part{first + static_cast<std::uint32_t>(__builtin_ctz(left)), false};
      open_.push_back({of_b ? pair.a : part, of_b ? part : pair.b, pair.gap, pair.until});
    }
  }

  double bend_of(const Span& span, double radius) const {
    return curve_.bend(radius) * span.duration() * span.duration() / 8;
  }

  struct BoxGap {
    double gap;
    Vec3 axis;  // along which it is
    double until;
  };

  // Along the line of centres and the axes of both boxes.
  BoxGap compute_box_gap(const Span& span, const Box& a, const Box& b, double bend) const {
    const Vec3 b0 = span.first * b.center, b1 = span.last * b.center;
    const double slack = bend + rounding_ + a.slack + b.slack;
    BoxGap best{-kInfinity, {}, span.from};
    const Vec3 line = (b0 + b1) * 0.5 - a.center;
    const double line_sq = length_sq(line);
    const double enough = cut();
    const auto test = [&](const Vec3& n) {
      const double at_a = dot(n, a.center);
      double reach_a = 0;
      for (int k = 0; k < 3; ++k) reach_a += std::abs(dot(n, a.axis[k])) * a.half[k];
      const auto side = [&](const AffineMap& map, const Vec3& middle) {
        double reach = 0;
        const Vec3 turned = transpose(map.linear) * n;
        for (int k = 0; k < 3; ++k) reach += std::abs(dot(turned, b.axis[k])) * b.half[k];
        const double at = dot(n, middle);
        return Range{at - reach, at + reach};
      };
      const Range of_a{at_a - reach_a, at_a + reach_a}, first = side(span.first, b0),
                                                        last = side(span.last, b1);
      const double gap = gap_between(of_a, first, last);
      best.until = std::max(best.until, until_between(span, of_a, first, last, slack));
      // Axes of boxes are unit vectors but for 2^-22.
      const double kept = (gap - slack) * (gap > slack ? 1 - 0x1p-20 : 1);
      if (kept > best.gap) {
        best.gap = kept;
        best.axis = n;
      }
      return best.gap > enough;
    };
    if (a_.plane != nullptr) {
      const double d = a_.plane->offset;
      const double first = side_of(span.first, b, b0).lower - d,
                   last = side_of(span.last, b, b1).lower - d;
      return {std::min(first, last) - slack, a_.plane->normal,
              skips_free_times() ? until_of(span, first, last, slack) : span.from};
    }
    if (length_sq(span.direction) > 0 && test(span.direction)) return best;
    if (line_sq > 0 && test(line * (1 / std::sqrt(line_sq)))) return best;
    for (const Vec3& axis : a.axis)
      if (test(axis)) return best;
    for (const Vec3& axis : b.axis) {
      const Vec3 n = span.first.linear * axis + span.last.linear * axis;
      const double sq = length_sq(n);
      if (sq > 0 && test(n * (1 / std::sqrt(sq)))) return best;
    }
    return best;
  }

  // A box of B along the half-space's normal.
  Range side_of(const AffineMap& map, const Box& b, const Vec3& middle) const {
    const Vec3 turned = transpose(map.linear) * a_.plane->normal;
    double reach = 0;
    for (int k = 0; k < 3; ++k) reach += std::abs(dot(turned, b.axis[k])) * b.half[k];
    const double at = dot(a_.plane->normal, middle);
    return {at - reach, at + reach};
  }

  // Along both normals and the line between the nearest points at the middle of both chords.
  double compute_triangle_gap(const Span& span, Pair& pair) {
    const Corners b = corners_of(b_, pair.b.index);
    const Corners b0 = move(span.first, b), b1 = move(span.last, b);
    double radius_sq = 0;
    for (const Vec3& c : b) radius_sq = std::max(radius_sq, length_sq(c - curve_.pivot()));
    const double slack = bend_of(span, std::sqrt(radius_sq)) + rounding_;
    if (a_.plane != nullptr) {
      const Vec3& n = a_.plane->normal;
      const double first = range_along(n, b0).lower - a_.plane->offset,
                   last = range_along(n, b1).lower - a_.plane->offset;
      if (skips_free_times()) pair.until = std::max(pair.until, until_of(span, first, last, slack));
      return std::min(first, last) - slack;
    }
    const Corners a = corners_of(*a_.mesh, pair.a.index);
    double best = -kInfinity;
    const double enough = cut();
    const auto test = [&](const Vec3& n) {
      const Range of_a = range_along(n, a), first = range_along(n, b0), last = range_along(n, b1);
      best = std::max(best, gap_between(of_a, first, last) - slack);
      pair.until = std::max(pair.until, until_between(span, of_a, first, last, slack));
      return best > enough;
    };
    if (length_sq(span.direction) > 0 && test(span.direction)) return best;
    if (length_sq(last_direction_) > 0 && test(last_direction_)) return best;
    if (test(normal_of(a))) return best;
    const Corners middle = middle_of(b0, b1);
    if (test(normal_of(middle))) return best;
    const TriangleDistance near = compute_triangle_distance(a, middle);
    if (near.distance > 0) {
      const Vec3 line = normalized(near.point_on_b - near.point_on_a);
      if (test(line)) {
        last_direction_ = line;
        return best;
      }
    }
    // A line between points that are nearly one has no precise direction. Triangles that are apart
    // are so along a normal, a cross product of edges, or, in one plane, across an edge.
    constexpr int kManyHalvings = 16;
    if (span.halvings < kManyHalvings) return best;
    const auto test_axis = [&](const Vec3& n) {
      const double sq = length_sq(n);
      return sq > 0 && test(n * (1 / std::sqrt(sq)));
    };
    const Vec3 across_a = normal_of(a), across_b = normal_of(middle);
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 of_a = a[(i + 1) % 3] - a[i], of_b = middle[(i + 1) % 3] - middle[i];
      if (test_axis(cross(across_a, of_a)) || test_axis(cross(across_b, of_b))) return best;
      for (std::size_t k = 0; k < 3; ++k)
        if (test_axis(cross(of_a, middle[(k + 1) % 3] - middle[k]))) return best;
    }
    return best;
  }

  std::vector<Pair> open_{};
  Vec3 last_direction_{};  // that separated triangles where their normals did not
};

}  // namespace isotact::detail::mesh_motion
