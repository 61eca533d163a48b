#include "isotact/queries/detail/swept_search.h"

#include <algorithm>
#include <cmath>

namespace isotact::detail {
namespace {

// Rounding: places are floats of metres and of blocks, after a few operations each, and a trace
// rounds its segment to floats of cells.
constexpr double kRelative = 4e-6;   // of the largest coordinate
constexpr double kAbsolute = 1e-3;   // blocks
constexpr double kBendShare = 0.25;  // of a sphere's radius, that a range may bend

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

SweptSearch::SweptSearch(const AnyField& field, double iso, double block)
    : any_(&field), iso_(iso), block_(block) {}

void SweptSearch::start(const PointSphereTree& tree, const ShellPath& path) {
  tree_ = &tree;
  levels_.clear();
  for (int level = 0; level < tree.level_count(); ++level) levels_.push_back(tree.level(level));
  x_ = tree.x().data();
  y_ = tree.y().data();
  z_ = tree.z().data();

  const double blocks_a_metre = 1 / block_;
  const Spheref ball = tree.bounding_sphere();
  const double furthest =
      length(to_double(ball.center)) + static_cast<double>(ball.radius);  // in the shell
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
  // Vertices of the chain lie on the true path, which bends from the chord of a range by no more
  // than this, and so do the chain's straight pieces between them. One piece does not bend.
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

void SweptSearch::find_last_nodes(SweptCounts& counts) {
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

}  // namespace isotact::detail
