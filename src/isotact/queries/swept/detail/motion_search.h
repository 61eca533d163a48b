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
#include "isotact/queries/swept/mesh_motion.h"

namespace isotact::detail::mesh_motion {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr int kMostHalvings = 40;
// Pairs are opened in intervals in which they go at most this share of the larger one's radius.
// Pairs of triangles cost more than boxes, so they wait for shorter intervals. Parts that slide
// along each other do not come nearer to a plane that tells them apart. If they go less than the
// last share towards it, they need no shorter interval.
inline constexpr double kBoxShare = 0.5, kTriangleShare = 0.25, kSlidingShare = 0.02;

// A part of a hierarchy: the root, a child of a node, or a triangle.
struct Part {
  std::uint32_t index;  // kRoot, 8 * node + child, or 4 * block + lane
  bool is_triangle;
};
inline constexpr std::uint32_t kRoot = 0xffffffffU;

struct Pair {
  Part a, b;
  double gap;  // metres: they have at least this distance in the interval; perhaps negative
};

struct Box {
  Vec3 center{}, axis[3]{};  // unit but for rounding
  double half[3]{};
  double slack = 0;  // metres: all points are as near to the box
  std::uint32_t child = 0;

  bool is_block() const { return (child & detail::kBlockBit) != 0; }
  double radius() const {
    return std::sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  }
};

inline Box root_box(const Bvh& bvh) {
  const Aabb bounds = to_double(bvh.bounds());
  const Vec3 half = extent(bounds) * 0.5;
  return {.center = center(bounds),
          .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
          .half = {half.x, half.y, half.z},
          .slack = 0,
          .child = 0};
}

// The sides enclose the exact local coordinates of triangles. Axes are orthonormal to 2^-22, which
// moves points by less than 2^-20 of their local coordinates.
inline Box child_box(const Bvh& bvh, std::uint32_t index) {
  const detail::OrientedNode& node = bvh.oriented_nodes()[index >> 3U];
  const unsigned c = index & 7U;
  Box box;
  box.center = {double{node.origin[0]}, double{node.origin[1]}, double{node.origin[2]}};
  box.slack = 0;
  for (int i = 0; i < 3; ++i) {
    const double step = double{node.step[i]};
    const double lower = node.lower[i][c] * step, upper = node.upper[i][c] * step;
    box.axis[i] = {double{node.axes[i][0]}, double{node.axes[i][1]}, double{node.axes[i][2]}};
    box.center += box.axis[i] * ((lower + upper) * 0.5);
    box.half[i] = (upper - lower) * 0.5;
    box.slack += step * (128 * 0x1p-20);
  }
  box.child = node.child[c];
  return box;
}

inline Box box_of(const Bvh& bvh, const Part& part) {
  return part.index == kRoot ? root_box(bvh) : child_box(bvh, part.index);
}

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
        const double middle = (span.from + span.to) / 2;
        const AffineMap at = curve_.at(middle);
        const int halvings = span.halvings + 1;
        const Vec3 near = compute_direction(span, mine);
        is_over = descend({span.from, middle, span.first, at, halvings, near}, mine, count) ||
                  descend({middle, span.to, at, span.last, halvings, near}, mine, count);
      }
    }
    if (!is_over) pairs_.resize(mine);
    return is_over;
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
      if (pair.gap > cut()) {
        leave(pair.gap);
        continue;
      }
      const Vec3 goes = span.last * b.center - span.first * b.center;
      const double travel = length(goes) + bend, towards = std::abs(dot(found.axis, goes)) + bend;
      const double size_a = a.radius(), size_b = b.radius(), larger = std::max(size_a, size_b);
      const double share = a.is_block() && b.is_block() ? kTriangleShare : kBoxShare;
      const bool slides = travel <= larger && towards <= kSlidingShare * larger;
      if (!to_the_end && travel > share * larger && !slides)
        pairs_.push_back(pair);
      else
        open(pair, a, b, size_b > size_a);
    }
  }

  void keep_or_leave(const Pair& pair) {
    if (pair.gap > cut())
      leave(pair.gap);
    else
      pairs_.push_back(pair);
  }

  void open(const Pair& pair, const Box& a, const Box& b, bool b_is_larger) {
    if (a_.plane != nullptr && b.is_block()) {
      const std::uint32_t block_b = b.child & ~detail::kBlockBit;
      const auto& of_b = b_.blocks()[block_b].triangle;
      for (std::uint32_t k = 0; k < detail::kBlockWidth && of_b[k] != kNoTriangle; ++k)
        open_.push_back({pair.a, {4 * block_b + k, true}, pair.gap});
    } else if (a.is_block() && b.is_block()) {
      const std::uint32_t block_a = a.child & ~detail::kBlockBit,
                          block_b = b.child & ~detail::kBlockBit;
      const auto &of_a = a_.mesh->blocks()[block_a].triangle, &of_b = b_.blocks()[block_b].triangle;
      for (std::uint32_t i = 0; i < detail::kBlockWidth && of_a[i] != kNoTriangle; ++i)
        for (std::uint32_t k = 0; k < detail::kBlockWidth && of_b[k] != kNoTriangle; ++k)
          open_.push_back({{4 * block_a + i, true}, {4 * block_b + k, true}, pair.gap});
    } else if (!b.is_block() && (a.is_block() || b_is_larger)) {
      const std::uint32_t count = b_.oriented_nodes()[b.child].child_count;
      for (std::uint32_t i = 0; i < count; ++i)
        open_.push_back({pair.a, {8 * b.child + i, false}, pair.gap});
    } else {
      const std::uint32_t count = a_.mesh->oriented_nodes()[a.child].child_count;
      for (std::uint32_t i = 0; i < count; ++i)
        open_.push_back({{8 * a.child + i, false}, pair.b, pair.gap});
    }
  }

  double bend_of(const Span& span, double radius) const {
    return curve_.bend(radius) * span.duration() * span.duration() / 8;
  }

  struct BoxGap {
    double gap;
    Vec3 axis;  // along which it is
  };

  // Along the line of centres and the axes of both boxes.
  BoxGap compute_box_gap(const Span& span, const Box& a, const Box& b, double bend) const {
    const Vec3 b0 = span.first * b.center, b1 = span.last * b.center;
    const double slack = bend + rounding_ + a.slack + b.slack;
    BoxGap best{-kInfinity, {}};
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
      const double gap =
          gap_between({at_a - reach_a, at_a + reach_a}, side(span.first, b0), side(span.last, b1));
      // Axes of boxes are unit vectors but for 2^-22.
      const double kept = (gap - slack) * (gap > slack ? 1 - 0x1p-20 : 1);
      if (kept > best.gap) best = {kept, n};
      return best.gap > enough;
    };
    if (a_.plane != nullptr) {
      const double d = a_.plane->offset;
      const double gap =
          std::min(side_of(span.first, b, b0).lower, side_of(span.last, b, b1).lower) - d - slack;
      return {gap, a_.plane->normal};
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
  double compute_triangle_gap(const Span& span, const Pair& pair) const {
    const Corners b = corners_of(b_, pair.b.index);
    const Corners b0 = move(span.first, b), b1 = move(span.last, b);
    double radius_sq = 0;
    for (const Vec3& c : b) radius_sq = std::max(radius_sq, length_sq(c - curve_.pivot()));
    const double slack = bend_of(span, std::sqrt(radius_sq)) + rounding_;
    if (a_.plane != nullptr) {
      const Vec3& n = a_.plane->normal;
      return std::min(range_along(n, b0).lower, range_along(n, b1).lower) - a_.plane->offset -
             slack;
    }
    const Corners a = corners_of(*a_.mesh, pair.a.index);
    double best = -kInfinity;
    const double enough = cut();
    const auto test = [&](const Vec3& n) {
      const double gap = gap_between(range_along(n, a), range_along(n, b0), range_along(n, b1));
      best = std::max(best, gap - slack);
      return best > enough;
    };
    if (length_sq(span.direction) > 0 && test(span.direction)) return best;
    if (test(normal_of(a))) return best;
    const Corners middle = middle_of(b0, b1);
    if (test(normal_of(middle))) return best;
    const TriangleDistance near = compute_triangle_distance(a, middle);
    if (near.distance > 0 && test(normalized(near.point_on_b - near.point_on_a))) return best;
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
};

}  // namespace isotact::detail::mesh_motion
