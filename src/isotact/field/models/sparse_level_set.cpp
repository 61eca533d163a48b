#include "isotact/field/models/sparse_level_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

constexpr std::size_t leaf_index(std::int32_t i, std::int32_t j, std::int32_t k) {
  return static_cast<std::size_t>((i & 7) + 8 * (j & 7) + 64 * (k & 7));
}

template <typename Visit>
void for_each(const Index3& first, const Index3& past, const Visit& visit) {
  for (std::int32_t k = first[2]; k < past[2]; ++k)
    for (std::int32_t j = first[1]; j < past[1]; ++j)
      for (std::int32_t i = first[0]; i < past[0]; ++i) visit(i, j, k);
}

// Which of the coarse cells around the first node of a block have bricks: bit 0 of the place is set
// for the cell before it along x, bit 1 along y, bit 2 along z.
using Around = std::array<bool, 8>;

Around find_bricks_around(const BrickField& field, const Index3& block) {
  const Index3 coarse = field.coarse_lattice().cells;
  Around around{};
  for (std::size_t c = 0; c < around.size(); ++c) {
    const Index3 cell{block[0] - static_cast<std::int32_t>(c & 1U),
                      block[1] - static_cast<std::int32_t>(c >> 1U & 1U),
                      block[2] - static_cast<std::int32_t>(c >> 2U)};
    bool is_cell = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
      is_cell = is_cell && cell[axis] >= 0 && cell[axis] < coarse[axis];
    around[c] = is_cell && field.brick_at(cell) != BrickField::kNoBrick;
  }
  return around;
}

// A node is active where one of the up to eight coarse cells around it has a brick.
bool is_in_brick(const Around& around, std::int32_t x, std::int32_t y, std::int32_t z) {
  // Only nodes on the lower faces of the block touch the cells before it.
  const unsigned reach = (x == 0 ? 1U : 0U) | (y == 0 ? 2U : 0U) | (z == 0 ? 4U : 0U);
  for (unsigned c = 0; c < 8; ++c)
    if ((c & ~reach) == 0 && around[c]) return true;
  return false;
}

void fill_leaf(const BrickField& field, const Index3& block, LevelSetLeaf& leaf) {
  const Index3 last = field.lattice().cells;
  const Around around = find_bricks_around(field, block);
  const float band = field.header().band;
  for_each({0, 0, 0}, {8, 8, 8}, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    const Index3 node{8 * block[0] + x, 8 * block[1] + y, 8 * block[2] + z};
    const bool is_node = node[0] <= last[0] && node[1] <= last[1] && node[2] <= last[2];
    const bool active = is_node && is_in_brick(around, x, y, z);
    const float value = field.node_value(std::min(node[0], last[0]), std::min(node[1], last[1]),
                                         std::min(node[2], last[2]));
    leaf.values[leaf_index(x, y, z)] = active ? value : std::copysign(band, value);
    if (active)
      leaf.active[static_cast<std::size_t>(z)] |= std::uint64_t{1}
                                                  << static_cast<unsigned>(x + 8 * y);
  });
}

}  // namespace

Index3 block_counts(const Lattice& lattice) {
  Index3 counts = node_counts(lattice);
  for (std::int32_t& n : counts) n = (n + kLeafNodes - 1) / kLeafNodes;
  return counts;
}

std::optional<std::string> find_flaw(const SparseLevelSet& level_set) {
  const Lattice& l = level_set.lattice;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (l.cells[axis] < 1 || l.cells[axis] > (1 << 20))
      return fmt::format("level set: {} cells along an axis", l.cells[axis]);
  if (!(l.spacing > 0 && std::isfinite(l.spacing) && is_finite(l.origin)))
    return "level set: its lattice is not finite";
  if (!(level_set.background > 0 && std::isfinite(level_set.background)))
    return "level set: its background is not positive";
  if (level_set.blocks.size() != count(block_counts(l)))
    return fmt::format("level set: {} blocks, expected {}", level_set.blocks.size(),
                       count(block_counts(l)));
  std::size_t next = 0;
  for (std::size_t b = 0; b < level_set.blocks.size(); ++b) {
    if (level_set.blocks[b] == SparseLevelSet::kOutside ||
        level_set.blocks[b] == SparseLevelSet::kInside)
      continue;
    if (level_set.blocks[b] < 0 || static_cast<std::size_t>(level_set.blocks[b]) != next)
      return fmt::format("level set: block {} has leaf {}, expected {}", b, level_set.blocks[b],
                         next);
    ++next;
  }
  if (next != level_set.leaves.size())
    return fmt::format("level set: {} leaves, expected {}", level_set.leaves.size(), next);
  for (std::size_t i = 0; i < level_set.leaves.size(); ++i)
    for (const float v : level_set.leaves[i].values)
      if (!std::isfinite(v))
        return fmt::format("level set: leaf {} has a value that is not finite", i);
  return std::nullopt;
}

SparseLevelSet to_level_set(const BrickField& field, Threads threads) {
  SparseLevelSet result{
      .lattice = field.lattice(), .background = field.header().band, .blocks = {}, .leaves = {}};
  const Index3 counts = block_counts(result.lattice);
  result.blocks.reserve(count(counts));
  std::vector<Index3> block_of_leaf;
  for_each({0, 0, 0}, counts, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    const Around around = find_bricks_around(field, {x, y, z});
    if (std::find(around.begin(), around.end(), true) != around.end()) {
      result.blocks.push_back(static_cast<std::int32_t>(block_of_leaf.size()));
      block_of_leaf.push_back({x, y, z});
    } else {
      const bool is_inside = field.node_value(8 * x, 8 * y, 8 * z) < 0;
      result.blocks.push_back(is_inside ? SparseLevelSet::kInside : SparseLevelSet::kOutside);
    }
  });
  result.leaves.resize(block_of_leaf.size());
  parallel_for(result.leaves.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fill_leaf(field, block_of_leaf[i], result.leaves[i]);
  });
  return result;
}

LevelSetField::LevelSetField(SparseLevelSet level_set) : data_(std::move(level_set)) {
  if (const auto flaw = find_flaw(data_)) throw Error(*flaw);
  block_counts_ = block_counts(data_.lattice);
  ranges_.resize(data_.blocks.size());
  all_ = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for_each({0, 0, 0}, block_counts_, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    measure_block({x, y, z});
  });
  // A trilinear interpolant's derivative along an axis is a mean of the differences along the four
  // edges of its cell, so that steepest_ bounds each component. Outside of the box (extend_outside)
  // the slope is at most the larger of 1 and that inside, or the root of 1 plus its square where
  // the body reaches out.
  double slope_sq = 0;
  for (const float s : steepest_) {
    const double slope = static_cast<double>(s) / data_.lattice.spacing;
    slope_sq += slope * slope;
  }
  // What rounding to float in node differences can hide.
  slope_sq *= 1 + 1e-6;
  lipschitz_ = cuts_body_ ? std::sqrt(1 + slope_sq) : std::max(1.0, std::sqrt(slope_sq));
}

float LevelSetField::node_value(std::int32_t i, std::int32_t j, std::int32_t k) const {
  const std::int32_t block = data_.blocks[flat_index(block_counts_, i / 8, j / 8, k / 8)];
  if (block == SparseLevelSet::kOutside) return data_.background;
  if (block == SparseLevelSet::kInside) return -data_.background;
  return data_.leaves[static_cast<std::size_t>(block)].values[leaf_index(i, j, k)];
}

float LevelSetField::cut_value(std::int32_t i, std::int32_t j, std::int32_t k) const {
  return std::clamp(node_value(i, j, k), -data_.background, data_.background);
}

bool LevelSetField::is_active(std::int32_t i, std::int32_t j, std::int32_t k) const {
  const std::int32_t block = data_.blocks[flat_index(block_counts_, i / 8, j / 8, k / 8)];
  if (block < 0) return false;
  const std::uint64_t word =
      data_.leaves[static_cast<std::size_t>(block)].active[static_cast<std::size_t>(k & 7)];
  return (word >> static_cast<unsigned>((i & 7) + 8 * (j & 7)) & 1U) != 0;
}

void LevelSetField::measure_block(const Index3& block) {
  const Index3 nodes = node_counts(data_.lattice);
  Index3 first, past;
  bool is_plain = true;  // it and all blocks that its cells reach into are the same constant
  const std::int32_t kind = data_.blocks[flat_index(block_counts_, block[0], block[1], block[2])];
  Index3 next;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = 8 * block[axis];
    past[axis] = std::min(first[axis] + 9, nodes[axis]);
    next[axis] = std::min(block[axis] + 2, block_counts_[axis]);
  }
  for_each(block, next, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    is_plain = is_plain && kind < 0 && data_.blocks[flat_index(block_counts_, x, y, z)] == kind;
  });
  ValueRange range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  const auto add = [&](float v) { range = {std::min(range.min, v), std::max(range.max, v)}; };
  if (is_plain) {
    add(kind == SparseLevelSet::kInside ? -data_.background : data_.background);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (block[axis] == 0 || past[axis] == nodes[axis]) cuts_body_ = cuts_body_ || range.min < 0;
  } else {
    for_each(first, past, [&](std::int32_t i, std::int32_t j, std::int32_t k) {
      const float v = cut_value(i, j, k);
      add(v);
      const Index3 at{i, j, k};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (at[axis] == 0 || at[axis] == nodes[axis] - 1) cuts_body_ = cuts_body_ || v < 0;
        if (at[axis] + 1 >= past[axis]) continue;
        const float other = cut_value(i + (axis == 0), j + (axis == 1), k + (axis == 2));
        steepest_[axis] = std::max(steepest_[axis], std::abs(other - v));
      }
    });
  }
  ranges_[flat_index(block_counts_, block[0], block[1], block[2])] = range;
  all_ = {std::min(all_.min, range.min), std::max(all_.max, range.max)};
}

LevelSetField::Corners LevelSetField::corners_of(const Index3& cell) const {
  Corners corners{.value = {}, .all_known = true};
  for (std::size_t c = 0; c < 8; ++c) {
    const auto i = cell[0] + static_cast<std::int32_t>(c & 1U);
    const auto j = cell[1] + static_cast<std::int32_t>(c >> 1U & 1U);
    const auto k = cell[2] + static_cast<std::int32_t>(c >> 2U);
    corners.value[c] = cut_value(i, j, k);
    corners.all_known =
        corners.all_known && is_active(i, j, k) && std::abs(corners.value[c]) < data_.background;
  }
  return corners;
}

FieldSample LevelSetField::sample_inside(const Vec3& point) const {
  const CellPoint at = locate(data_.lattice, point);
  const Corners corners = corners_of(at.cell);
  std::array<double, 8> c;
  for (std::size_t i = 0; i < 8; ++i) c[i] = static_cast<double>(corners.value[i]);
  const Vec3 t = to_double(at.fraction);
  const auto mix = [](double a, double b, double s) { return a + (b - a) * s; };
  const double x00 = mix(c[0], c[1], t.x), x10 = mix(c[2], c[3], t.x);
  const double x01 = mix(c[4], c[5], t.x), x11 = mix(c[6], c[7], t.x);
  const double low = mix(x00, x10, t.y), high = mix(x01, x11, t.y);
  const Vec3 slope{mix(mix(c[1] - c[0], c[3] - c[2], t.y), mix(c[5] - c[4], c[7] - c[6], t.y), t.z),
                   mix(x10 - x00, x11 - x01, t.z), high - low};
  return {mix(low, high, t.z), slope / data_.lattice.spacing};
}

double LevelSetField::value(const Vec3& point) const { return sample(point).distance; }

FieldSample LevelSetField::sample(const Vec3& point) const {
  const Aabb box = bounds();
  const FieldSample inside = sample_inside(point);
  const Vec3 nearest = max(box.lower, min(box.upper, point));
  return nearest == point ? inside : extend_outside(inside, point, nearest);
}

Interval LevelSetField::range(const Aabb& box) const {
  const Aabb all = bounds();
  const Vec3 lower = max(all.lower, min(all.upper, box.lower));
  const Vec3 upper = max(all.lower, min(all.upper, box.upper));
  Index3 first = locate(data_.lattice, lower).cell, past = locate(data_.lattice, upper).cell;
  Vec3 nearest{}, furthest{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // A cell more on each side: rounding may put a point beside a face on either.
    first[axis] = std::max(first[axis] - 1, 0) / 8;
    past[axis] = std::min(past[axis] + 1, data_.lattice.cells[axis]) / 8 + 1;
    nearest[axis] =
        std::max({0.0, all.lower[axis] - box.upper[axis], box.lower[axis] - all.upper[axis]});
    furthest[axis] =
        std::max({0.0, all.lower[axis] - box.lower[axis], box.upper[axis] - all.upper[axis]});
  }
  ValueRange r = all_;
  constexpr std::size_t kMostBlocks = 4096;
  if (count({past[0] - first[0], past[1] - first[1], past[2] - first[2]}) <= kMostBlocks) {
    r = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    for_each(first, past, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
      const ValueRange& block = ranges_[flat_index(block_counts_, x, y, z)];
      r = {std::min(r.min, block.min), std::max(r.max, block.max)};
    });
  }
  // Outside, values grow with the value on the box and with the distance to it. The slack is more
  // than what rounding of interpolation in double can add.
  const double slack =
      1e-12 * (std::abs(static_cast<double>(r.min)) + std::abs(static_cast<double>(r.max)));
  const double low = static_cast<double>(r.min) - slack, high = static_cast<double>(r.max) + slack;
  return {extend_outside(low, length(nearest)), extend_outside(high, length(furthest))};
}

// The mean of the corners' distances d_i with weights w_i is off by at most sum w_i |x - x_i|,
// which is at most half a diagonal (brick_field.h). Where a corner is not active its distance is
// known on one side only: then so is that of the point. The band that reaches over the box's face
// is that of the nearest point of the box.
Interval LevelSetField::distance_bounds(const Vec3& point) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Aabb box = bounds();
  const Vec3 nearest = max(box.lower, min(box.upper, point));
  const Corners corners = corners_of(locate(data_.lattice, nearest).cell);
  const double slack = 0.8661 * data_.lattice.spacing;
  const double inside = sample_inside(nearest).distance;
  Interval known{inside - slack, inside + slack};
  if (!corners.all_known) {
    const auto [low, high] = std::minmax_element(corners.value.begin(), corners.value.end());
    if (*high > 0) known.upper = kInfinity;
    if (*low < 0) known.lower = -kInfinity;
  }
  const double gap = length(point - nearest);
  if (gap == 0) return known;
  // Of two bounds from below, the better one: the right angle of extend_outside, where the box is
  // known to hold the surface, or that distances change no faster than space.
  const double lower =
      cuts_body_ || !(known.lower > 0) ? known.lower - gap : extend_outside(known.lower, gap);
  return {lower, known.upper + gap};
}

}  // namespace isotact
