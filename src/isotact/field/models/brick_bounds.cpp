// Proofs about a brick field: ranges of regions, and bounds of the true distance.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/brick_reader.h"
#include "isotact/field/models/detail/sparse_nodes.h"

namespace isotact::detail {

namespace {

// Walks down the tree: nodes inside the region answer for all below them.
class RangeWalk {
 public:
  RangeWalk(const BrickField& field, const Index3& first, const Index3& last)
      : field_(field), first_(first), last_(last) {}

  ValueRange range() {
    visit(static_cast<int>(field_.header().level_count), {0, 0, 0});
    return range_;
  }

 private:
  // A node of a level spans 2^level coarse cells. The depth of calls is the number of levels.
  void visit(int level, const Index3& node) {  // NOLINT(misc-no-recursion)
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int32_t begin = node[axis] << level;
      const std::int32_t end =
          std::min((node[axis] + 1) << level, field_.coarse_lattice().cells[axis]) - 1;
      if (begin > last_[axis] || end < first_[axis]) return;
      inside = inside && first_[axis] <= begin && end <= last_[axis];
    }
    if (level == 0) {
      range_ = unite(range_, field_.cell_range(node));
      return;
    }
    const Index3 dims = field_.tree_dims(level);
    const ValueRange stored = field_.tree_level(level)[flat_index(dims, node[0], node[1], node[2])];
    if (inside || (range_.min <= stored.min && stored.max <= range_.max)) {
      range_ = unite(range_, stored);
      return;
    }
    const Index3 below = field_.tree_dims(level - 1);
    for (std::int32_t z = 2 * node[2]; z < std::min(2 * node[2] + 2, below[2]); ++z)
      for (std::int32_t y = 2 * node[1]; y < std::min(2 * node[1] + 2, below[1]); ++y)
        for (std::int32_t x = 2 * node[0]; x < std::min(2 * node[0] + 2, below[0]); ++x)
          visit(level - 1, {x, y, z});
  }

  const BrickField& field_;
  Index3 first_, last_;
  ValueRange range_{std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()};
};

// Whether the value at a fine node is a distance: all coarse cells that share it have bricks (where
// one has none, the correction is zero for continuity), and the cube in which it is an own node was
// measured.
bool is_exact(const BrickField& field, const Index3& node) {
  const Index3 cells = field.coarse_lattice().cells;
  Index3 first, last;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    last[axis] = node[axis] / kBrickCells;
    first[axis] = node[axis] % kBrickCells == 0 ? last[axis] - 1 : last[axis];
    if (first[axis] < 0 || last[axis] >= cells[axis]) return false;  // bricks end at the box
  }
  for (std::int32_t z = first[2]; z <= last[2]; ++z)
    for (std::int32_t y = first[1]; y <= last[1]; ++y)
      for (std::int32_t x = first[0]; x <= last[0]; ++x)
        if (field.brick_at({x, y, z}) == BrickField::kNoBrick) return false;
  const Brick& owner = field.bricks()[field.brick_at(last)];
  const unsigned cube =
      static_cast<unsigned>((node[0] & 4) / 4 | (node[1] & 4) / 2 | (node[2] & 4));
  return (owner.exact >> cube & 1U) != 0;
}

// The true distance changes no faster than space: a sample of it, off by at most e, bounds it
// around.
void narrow(Interval& bounds, double sample, double apart, double e) {
  bounds.lower = std::max(bounds.lower, sample - apart - e);
  bounds.upper = std::min(bounds.upper, sample + apart + e);
}

// The samples at the corners of one cell, and where a point lies in it.
struct CellSamples {
  double value[8] = {};  // metres
  double apart[8] = {};  // metres, from the point
  Vec3 fraction{};       // of the point
  double side = 0;       // metres
  double error = 0;      // metres, of a sample
};

// For fields whose |value + offset| is the distance d to a closed set: d^2 - |x|^2 is a minimum of
// affine functions and so concave. With trilinear weights w_i of the corners x_i, x = sum w_i x_i,
//   d(x)^2 >= sum w_i d(x_i)^2 - sum w_i |x_i - x|^2.
// The last sum is side^2 (u (1 - u) + v (1 - v) + w (1 - w)). Far from the surface this is much
// better than Lipschitz's bound. If all corners have one sign and the set is further from one of
// them than the point is, the point has this sign, too.
void narrow_by_squares(Interval& bounds, const CellSamples& s, double offset) {
  bool is_sure = false;
  int inside = 0;
  double sum = 0, largest = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const double signed_distance = s.value[i] + offset;
    const double d = std::max(std::abs(signed_distance) - s.error, 0.0);
    inside += signed_distance < 0 ? 1 : 0;
    is_sure = is_sure || s.apart[i] < d;
    double weight = 1;
    for (unsigned axis = 0; axis < 3; ++axis)
      weight *= (i >> axis & 1U) != 0 ? s.fraction[axis] : 1 - s.fraction[axis];
    sum += weight * d * d;
    largest = std::max(largest, d);
  }
  if (!is_sure || (inside != 0 && inside != 8)) return;
  for (std::size_t axis = 0; axis < 3; ++axis)
    sum -= s.side * s.side * s.fraction[axis] * (1 - s.fraction[axis]);
  sum -= 1e-12 * largest * largest;  // more than rounding
  if (!(sum > 0)) return;
  if (inside == 0)
    bounds.lower = std::max(bounds.lower, std::sqrt(sum) - offset);
  else
    bounds.upper = std::min(bounds.upper, -std::sqrt(sum) - offset);
}

}  // namespace

ValueRange compute_range(const BrickField& field, const Index3& first, const Index3& last) {
  return RangeWalk(field, first, last).range();
}

namespace {

class BoundSearch {
 public:
  explicit BoundSearch(const BrickField& field)
      : field_(field),
        header_(field.header()),
        reader_(field),
        coarse_(field.coarse_lattice()),
        fine_(field.lattice()),
        sparse_(field.coarse_values(), node_counts(coarse_), header_.sparse_from),
        coarse_error_(static_cast<double>(header_.sample_error)),
        fine_error_(coarse_error_ + 0.5 * static_cast<double>(header_.step)),
        offset_(static_cast<double>(header_.shell_offset)) {}

  // Of a point in the box.
  Interval compute(const Vec3& point) const {
    const BrickSpot spot = reader_.locate(point);
    Interval bounds{-std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()};
    const Index3 block{spot.coarse[0] / 2, spot.coarse[1] / 2, spot.coarse[2] / 2};
    if (sparse_.is_block_sparse(block)) {  // some of the nodes nearest by are not distances
      narrow_by_coarse(bounds, point, {2 * block[0], 2 * block[1], 2 * block[2]}, 2);
      return bounds;
    }
    narrow_by_coarse(bounds, point, spot.coarse, 1);
    if (reader_.brick_at(spot.coarse[0], spot.coarse[1], spot.coarse[2]) != BrickField::kNoBrick)
      narrow_by_fine(bounds, point, spot);
    const auto range = static_cast<double>(header_.range);
    if (-range < bounds.lower && bounds.upper < range) narrow_by_value(bounds, spot);
    return bounds;
  }

  // The size of the distance at `point` is at most the length of any path to the surface. Tries
  // points on the line to what seems to be the nearest point of it, and samples beside them.
  void narrow_by_descent(Interval& bounds, const Vec3& point) const {
    const Aabb box = field_.bounds();
    const auto clamped = [&](const Vec3& p) { return max(box.lower, min(box.upper, p)); };
    const double h = fine_.spacing;
    const double side = bounds.lower > -offset_ ? 1 : bounds.upper < -offset_ ? -1 : 0;
    if (side == 0) return;  // nothing far from the surface
    // A few steps of projection, sideways first, find the nearest point as far as the field knows.
    Vec3 foot = clamped(point);
    constexpr int kSteps = 4, kProjections = 2;
    for (int step = 0; step < kSteps; ++step) {
      if (step > 0) {
        const Vec3 normal = normal_at(foot);
        const Vec3 away = point - foot;
        foot = clamped(foot + (away - normal * dot(away, normal)) * 0.7);
      }
      for (int i = 0; i < kProjections; ++i) {
        const Vec3 normal = normal_at(foot);
        const double value = static_cast<double>(reader_.value(reader_.locate(foot))) + offset_;
        foot = clamped(foot - normal * value);
      }
      const double length_to = length(point - foot);
      const Vec3 back = length_to > 0 ? (point - foot) * (1 / length_to) : Vec3{};
      for (const double cells : {0.0, 1.5, 3.0}) {
        const Vec3 on_path = foot + back * std::min(cells * h, length_to);
        const BrickSpot spot = reader_.locate(on_path);
        if (reader_.brick_at(spot.coarse[0], spot.coarse[1], spot.coarse[2]) !=
            BrickField::kNoBrick)
          shorten_by_fine(bounds, point, spot, side);
        const Interval there = compute(on_path);
        shorten(bounds,
                std::max(std::abs(there.lower + offset_), std::abs(there.upper + offset_)) +
                    length(point - on_path),
                side);
      }
    }
  }

 private:
  void narrow_by_coarse(Interval& bounds, const Vec3& point, const Index3& first,
                        std::int32_t stride) const {
    CellSamples s{.side = coarse_.spacing * stride, .error = coarse_error_};
    const Vec3 corner = node_position(coarse_, first[0], first[1], first[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      s.fraction[axis] = std::clamp((point[axis] - corner[axis]) / s.side, 0.0, 1.0);
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 c{first[0] + stride * (i & 1), first[1] + stride * (i >> 1 & 1),
                     first[2] + stride * (i >> 2)};
      const auto at = static_cast<std::size_t>(i);
      s.value[at] = static_cast<double>(*reader_.coarse_at(c[0], c[1], c[2]));
      s.apart[at] = length(point - node_position(coarse_, c[0], c[1], c[2]));
      narrow(bounds, s.value[at], s.apart[at], s.error);
    }
    if (header_.plain != 0) narrow_by_squares(bounds, s, offset_);
  }

  Index3 fine_node(const BrickSpot& spot, std::int32_t corner) const {
    return {spot.coarse[0] * kBrickCells + spot.cell[0] + (corner & 1),
            spot.coarse[1] * kBrickCells + spot.cell[1] + (corner >> 1 & 1),
            spot.coarse[2] * kBrickCells + spot.cell[2] + (corner >> 2)};
  }

  void narrow_by_fine(Interval& bounds, const Vec3& point, const BrickSpot& spot) const {
    CellSamples s{.side = fine_.spacing, .error = fine_error_};
    const Index3 first = fine_node(spot, 0);
    const Vec3 corner = node_position(fine_, first[0], first[1], first[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      s.fraction[axis] = std::clamp((point[axis] - corner[axis]) / s.side, 0.0, 1.0);
    bool are_exact = true;
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 n = fine_node(spot, i);
      if (!is_exact(field_, n)) {
        are_exact = false;
        continue;
      }
      const auto at = static_cast<std::size_t>(i);
      s.value[at] = static_cast<double>(field_.node_value(n[0], n[1], n[2]));
      s.apart[at] = length(point - node_position(fine_, n[0], n[1], n[2]));
      narrow(bounds, s.value[at], s.apart[at], s.error);
    }
    if (!are_exact) return;
    narrow_by_value(bounds, spot);
    if (header_.plain != 0) narrow_by_squares(bounds, s, offset_);
  }

  // Where the interpolant is off by near_error at most.
  void narrow_by_value(Interval& bounds, const BrickSpot& spot) const {
    narrow(bounds, static_cast<double>(reader_.value(spot)), 0,
           static_cast<double>(header_.near_error));
  }

  // An upper bound of the distance to the set. The sign is known.
  void shorten(Interval& bounds, double size, double side) const {
    if (side > 0)
      bounds.upper = std::min(bounds.upper, size - offset_);
    else
      bounds.lower = std::max(bounds.lower, -size - offset_);
  }

  void shorten_by_fine(Interval& bounds, const Vec3& point, const BrickSpot& spot,
                       double side) const {
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 n = fine_node(spot, i);
      if (!is_exact(field_, n)) continue;
      shorten(bounds,
              std::abs(static_cast<double>(field_.node_value(n[0], n[1], n[2])) + offset_) +
                  fine_error_ + length(point - node_position(fine_, n[0], n[1], n[2])),
              side);
    }
  }

  Vec3 normal_at(const Vec3& point) const {
    const Vec3 slope = to_double(reader_.sample(reader_.locate(point)).slope);
    const double size = length(slope);
    return size > 1e-6 ? slope * (1 / size) : Vec3{};
  }

  const BrickField& field_;
  const BrickFieldHeader& header_;
  BrickReader reader_;
  Lattice coarse_, fine_;
  SparseNodes sparse_;
  double coarse_error_, fine_error_, offset_;
};

}  // namespace

Interval compute_distance_bounds(const BrickField& field, const Vec3& point) {
  return BoundSearch(field).compute(point);
}

}  // namespace isotact::detail

namespace isotact {

void sample_bounds(const BrickField& field, std::span<const Vec3> points,
                   std::span<Interval> bounds, Threads threads) {
  assert(points.size() == bounds.size());
  const bool is_plain = field.header().plain != 0;
  parallel_for(points.size(), 256, threads, [&](std::size_t begin, std::size_t end) {
    const detail::BoundSearch search(field);
    for (std::size_t i = begin; i < end; ++i) {
      bounds[i] = field.distance_bounds(points[i]);
      if (is_plain) search.narrow_by_descent(bounds[i], points[i]);
    }
  });
}

}  // namespace isotact
