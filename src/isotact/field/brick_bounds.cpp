// What can be proved about a brick field: ranges of regions, and bounds of the true distance.
#include <algorithm>
#include <limits>

#include "isotact/field/detail/brick_layout.h"
#include "isotact/field/detail/brick_reader.h"
#include "isotact/field/detail/sparse_nodes.h"

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

}  // namespace

ValueRange find_range(const BrickField& field, const Index3& first, const Index3& last) {
  return RangeWalk(field, first, last).range();
}

Interval find_distance_bounds(const BrickField& field, const Vec3& point) {
  const BrickFieldHeader& h = field.header();
  const BrickReader reader(field);
  const BrickSpot spot = reader.locate(point);
  Interval bounds{-std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::infinity()};
  const Lattice coarse = field.coarse_lattice();
  const Lattice& fine = field.lattice();
  const double coarse_error = static_cast<double>(h.sample_error);
  const double fine_error = coarse_error + 0.5 * static_cast<double>(h.step);
  const SparseNodes sparse(field.coarse_values(), node_counts(coarse), h.sparse_from);
  const Index3 block{spot.coarse[0] / 2, spot.coarse[1] / 2, spot.coarse[2] / 2};
  if (sparse.is_block_sparse(block)) {  // some of the nodes nearest by are not distances
    for (std::int32_t corner = 0; corner < 8; ++corner) {
      const Index3 c{2 * (block[0] + (corner & 1)), 2 * (block[1] + (corner >> 1 & 1)),
                     2 * (block[2] + (corner >> 2))};
      narrow(bounds, static_cast<double>(*reader.coarse_at(c[0], c[1], c[2])),
             length(point - node_position(coarse, c[0], c[1], c[2])), coarse_error);
    }
    return bounds;
  }
  const bool refined = field.brick_at(spot.coarse) != BrickField::kNoBrick;
  for (std::int32_t corner = 0; corner < 8; ++corner) {
    const Index3 by{corner & 1, corner >> 1 & 1, corner >> 2};
    const Index3 c{spot.coarse[0] + by[0], spot.coarse[1] + by[1], spot.coarse[2] + by[2]};
    narrow(bounds, static_cast<double>(*reader.coarse_at(c[0], c[1], c[2])),
           length(point - node_position(coarse, c[0], c[1], c[2])), coarse_error);
    if (!refined) continue;
    Index3 n;
    for (std::size_t axis = 0; axis < 3; ++axis)
      n[axis] = spot.coarse[axis] * kBrickCells + spot.cell[axis] + by[axis];
    if (is_exact(field, n))
      narrow(bounds, static_cast<double>(field.node_value(n[0], n[1], n[2])),
             length(point - node_position(fine, n[0], n[1], n[2])), fine_error);
  }
  return bounds;
}

}  // namespace isotact::detail
