#include "isotact/field/models/brick_field.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/brick_reader.h"
#include "isotact/field/models/detail/sparse_nodes.h"

namespace isotact {
namespace {

// Nodes of a coarse cell from first to last, 0 to 8 along each axis.
struct NodeSpan {
  Index3 first, last;
};

// The values of some of a coarse cell's nodes, to places as in a whole cell. Each is
// interpolated in the order of detail::interpolate. A correction is a small whole number, which
// interpolating it at its own node does not change.
void read_nodes(const float* corner, const std::int8_t* correction, float step,
                const NodeSpan& nodes, float* values) {
  float y0z0[kBrickNodes], y1z0[kBrickNodes], y0z1[kBrickNodes], y1z1[kBrickNodes];
  float z0[kBrickNodes], z1[kBrickNodes];
  const auto fraction = [](std::int32_t local) { return static_cast<float>(local) * 0.125F; };
  for (std::int32_t x = nodes.first[0]; x <= nodes.last[0]; ++x) {
    y0z0[x] = detail::mix(corner[0], corner[1], fraction(x));
    y1z0[x] = detail::mix(corner[2], corner[3], fraction(x));
    y0z1[x] = detail::mix(corner[4], corner[5], fraction(x));
    y1z1[x] = detail::mix(corner[6], corner[7], fraction(x));
  }
  for (std::int32_t y = nodes.first[1]; y <= nodes.last[1]; ++y) {
    for (std::int32_t x = nodes.first[0]; x <= nodes.last[0]; ++x) {
      z0[x] = detail::mix(y0z0[x], y1z0[x], fraction(y));
      z1[x] = detail::mix(y0z1[x], y1z1[x], fraction(y));
    }
    for (std::int32_t z = nodes.first[2]; z <= nodes.last[2]; ++z) {
      const std::int32_t row = (z * kBrickNodes + y) * kBrickNodes;
      for (std::int32_t x = nodes.first[0]; x <= nodes.last[0]; ++x) {
        const float coarse = detail::mix(z0[x], z1[x], fraction(z));
        values[row + x] = correction == nullptr
                              ? coarse
                              : coarse + step * static_cast<float>(correction[row + x]);
      }
    }
  }
}

}  // namespace

BrickField BrickField::from_buffer(std::span<const std::byte> buffer,
                                   std::shared_ptr<const void> owner, Check check) {
  if (const auto flaw = find_flaw_in_brick_field(buffer, check)) throw Error(*flaw);
  BrickField field;
  field.buffer_ = buffer;
  field.owner_ = std::move(owner);
  const BrickFieldHeader& h = field.header();
  const detail::BrickParts parts = detail::find_parts(h);
  field.coarse_cells_ = parts.coarse_cells;
  field.block_counts_ = parts.blocks;
  field.lattice_ = {
      .origin = {h.origin[0], h.origin[1], h.origin[2]},
      .spacing = h.voxel_size,
      .cells = {parts.coarse_cells[0] * kBrickCells, parts.coarse_cells[1] * kBrickCells,
                parts.coarse_cells[2] * kBrickCells}};
  field.cells_per_metre_ = 1 / h.voxel_size;
  field.coarse_ = detail::part_at<float>(buffer, h.coarse_offset, parts.coarse_count);
  field.blocks_ = detail::part_at<BrickBlock>(buffer, h.block_offset, parts.block_count);
  field.ranges_ = detail::part_at<ValueRange>(buffer, h.range_offset, h.brick_count);
  field.tree_ = detail::part_at<ValueRange>(buffer, h.tree_offset, parts.tree_count);
  field.bricks_ = detail::part_at<Brick>(buffer, h.brick_offset, h.brick_count);
  return field;
}

Lattice BrickField::coarse_lattice() const {
  return {
      .origin = lattice_.origin, .spacing = lattice_.spacing * kBrickCells, .cells = coarse_cells_};
}

Index3 BrickField::tree_dims(int level) const { return detail::tree_dims(coarse_cells_, level); }

std::span<const ValueRange> BrickField::tree_level(int level) const {
  std::size_t first = 0;
  for (int below = 1; below < level; ++below) first += count(tree_dims(below));
  return tree_.subspan(first, count(tree_dims(level)));
}

std::uint32_t BrickField::brick_at(const Index3& cell) const {
  return detail::BrickReader(*this).brick_at(cell[0], cell[1], cell[2]);
}

ValueRange BrickField::cell_range(const Index3& cell) const {
  const std::uint32_t brick = brick_at(cell);
  if (brick != kNoBrick) return ranges_[brick];
  float corner[8];
  detail::BrickReader(*this).load_corners(cell[0], cell[1], cell[2], corner);
  ValueRange range{corner[0], corner[0]};
  for (const float c : corner) range = {std::min(range.min, c), std::max(range.max, c)};
  return detail::rounded_out(range);
}

float BrickField::node_value(std::int32_t i, std::int32_t j, std::int32_t k) const {
  const Index3 node{i, j, k};
  detail::BrickSpot spot;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int32_t cell = std::min(node[axis], lattice_.cells[axis] - 1);
    spot.coarse[axis] = cell / kBrickCells;
    spot.cell[axis] = cell % kBrickCells;
    spot.fraction[axis] = static_cast<float>(node[axis] - cell);
  }
  return detail::BrickReader(*this).value(spot);
}

// A node on an upper side of the cell belongs to the next cell, unless that is outside of the box.
void BrickField::cell_nodes(const Index3& coarse_cell, std::span<float> values) const {
  const detail::BrickReader reader(*this);
  for (std::int32_t part = 0; part < 8; ++part) {
    Index3 cell = coarse_cell;
    NodeSpan nodes{{0, 0, 0}, {kBrickCells - 1, kBrickCells - 1, kBrickCells - 1}};
    std::int32_t shift = 0;  // from places of the other cell's nodes to those of this one's
    bool is_empty = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool is_next = (part >> axis & 1) != 0;
      const bool is_last = coarse_cell[axis] + 1 == coarse_cells_[axis];
      if (!is_next) {
        if (is_last) nodes.last[axis] = kBrickCells;
        continue;
      }
      is_empty = is_empty || is_last;
      ++cell[axis];
      nodes.last[axis] = 0;
      constexpr std::int32_t kPlaces[3] = {1, kBrickNodes, kBrickNodes * kBrickNodes};
      shift += kBrickCells * kPlaces[axis];
    }
    if (is_empty) continue;
    const std::uint32_t number = reader.brick_at(cell[0], cell[1], cell[2]);
    float corner[8];
    if (number == kNoBrick) {
      reader.load_corners(cell[0], cell[1], cell[2], corner);
      read_nodes(corner, nullptr, 0, nodes, values.data() + shift);
    } else {
      const Brick& brick = reader.brick(number);
      read_nodes(brick.corner, brick.correction, header().step, nodes, values.data() + shift);
    }
  }
}

double BrickField::value(const Vec3& point) const {
  const detail::BrickReader reader(*this);
  const detail::BrickSpot spot = reader.locate(point);
  const double inside = static_cast<double>(reader.value(spot));
  const Aabb box = bounds();
  if (contains(box, point)) return inside;
  return extend_outside(inside, std::sqrt(distance_sq(box, point)));
}

namespace {

FieldSample sample_with(const detail::BrickReader& reader, const Aabb& box, const Vec3& point) {
  const detail::Trilinear t = reader.sample(reader.locate(point));
  const FieldSample inside{static_cast<double>(t.value), to_double(t.slope)};
  if (contains(box, point)) return inside;
  return extend_outside(inside, point, max(box.lower, min(box.upper, point)));
}

}  // namespace

FieldSample BrickField::sample(const Vec3& point) const {
  return sample_with(detail::BrickReader(*this), bounds(), point);
}
void BrickField::sample(std::span<const Vec3> points, std::span<FieldSample> samples) const {
  const detail::BrickReader reader(*this);
  const Aabb box = bounds();
  for (std::size_t i = 0; i < points.size(); ++i) samples[i] = sample_with(reader, box, points[i]);
}

Interval BrickField::range(const Aabb& box) const {
  const Aabb all = bounds();
  const Aabb inside{max(all.lower, min(all.upper, box.lower)),
                    max(all.lower, min(all.upper, box.upper))};
  // The cells that the clamped box touches, with a neighbour's layer where it lies on their face.
  Index3 first, last;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double a = (inside.lower[axis] - all.lower[axis]) * cells_per_metre_ / kBrickCells;
    const double b = (inside.upper[axis] - all.lower[axis]) * cells_per_metre_ / kBrickCells;
    const double top = static_cast<double>(coarse_cells_[axis] - 1);
    first[axis] = static_cast<std::int32_t>(std::clamp(std::floor(a - 1e-6), 0.0, top));
    last[axis] = static_cast<std::int32_t>(std::clamp(std::floor(b + 1e-6), 0.0, top));
  }
  const ValueRange r = detail::compute_range(*this, first, last);
  // Outside, values grow with the value on the box and with the distance to it (extend_outside).
  Vec3 furthest{};
  double nearest_sq = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    furthest[axis] =
        std::max({0.0, all.lower[axis] - box.lower[axis], box.upper[axis] - all.upper[axis]});
    const double gap =
        std::max({0.0, all.lower[axis] - box.upper[axis], box.lower[axis] - all.upper[axis]});
    nearest_sq += gap * gap;
  }
  return {extend_outside(static_cast<double>(r.min), std::sqrt(nearest_sq)),
          extend_outside(static_cast<double>(r.max), length(furthest))};
}

Interval BrickField::distance_bounds(const Vec3& point) const {
  const Aabb box = bounds();
  const Vec3 inside = max(box.lower, min(box.upper, point));
  const Interval on_box = detail::compute_distance_bounds(*this, inside);
  const double gap = length(point - inside);
  if (gap == 0) return on_box;
  // Where the box may cut the body, all that is known is that distances change no faster than
  // space.
  if (header().open != 0 || on_box.lower < 0) return {on_box.lower - gap, on_box.upper + gap};
  return {extend_outside(on_box.lower, gap), on_box.upper + gap};
}

// Many points at once. A random point of a large field costs two waits for memory: for its block,
// then for its brick or coarse cell. Points go through in groups, stage by stage, and each stage
// calls for what the next one reads, so that the waits of a group overlap.

namespace {

constexpr std::size_t kGroup = 32;
constexpr std::size_t kGrain = 4096;

using detail::BrickReader;
using detail::BrickSpot;
using detail::Trilinear;

class BatchSampler {
 public:
  explicit BatchSampler(const BrickField& field) : reader_(field), box_(field.bounds()) {}

  void sample(std::span<const Vec3f> points, float* values, Vec3f* gradients) {
    locate(points);
    call_for_samples(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool outside = !contains(box_, to_double(points[i]));
      if (outside) {
        extend(i, points[i], values, gradients);
      } else if (gradients == nullptr) {
        values[i] = value_at(i);
      } else {
        const Trilinear t = sample_at(i);
        if (values != nullptr) values[i] = t.value;
        gradients[i] = t.slope;
      }
    }
  }

 private:
  void locate(std::span<const Vec3f> points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      spots_[i] = reader_.locate(to_double(points[i]));
      const Index3& c = spots_[i].coarse;
      blocks_[i] = &reader_.block_of(c[0], c[1], c[2]);
      __builtin_prefetch(blocks_[i]);
    }
  }

  void call_for_samples(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const Index3& c = spots_[i].coarse;
      numbers_[i] = BrickReader::brick_in(*blocks_[i], c[0], c[1], c[2]);
      if (numbers_[i] == BrickField::kNoBrick) {
        const float* at = reader_.coarse_at(c[0], c[1], c[2]);
        __builtin_prefetch(at);
        __builtin_prefetch(at + reader_.coarse_row());
        __builtin_prefetch(at + reader_.coarse_slice());
        __builtin_prefetch(at + reader_.coarse_slice() + reader_.coarse_row());
      } else {
        const Brick& brick = reader_.brick(numbers_[i]);
        const std::int8_t* at = brick.correction + BrickReader::first_sample(spots_[i]);
        __builtin_prefetch(&brick);
        __builtin_prefetch(at);
        __builtin_prefetch(at + kBrickNodes * kBrickNodes + kBrickNodes);
      }
    }
  }

  float value_at(std::size_t i) const { return reader_.value(spots_[i], numbers_[i]); }
  Trilinear sample_at(std::size_t i) const { return reader_.sample(spots_[i], numbers_[i]); }

  void extend(std::size_t i, const Vec3f& point, float* values, Vec3f* gradients) const {
    const Trilinear t = sample_at(i);
    const Vec3 p = to_double(point);
    const FieldSample s =
        extend_outside(FieldSample{static_cast<double>(t.value), to_double(t.slope)}, p,
                       max(box_.lower, min(box_.upper, p)));
    if (values != nullptr) values[i] = static_cast<float>(s.distance);
    if (gradients != nullptr) gradients[i] = to_float(s.gradient);
  }

  BrickReader reader_;
  Aabb box_;
  std::array<BrickSpot, kGroup> spots_;
  std::array<const BrickBlock*, kGroup> blocks_{};
  std::array<std::uint32_t, kGroup> numbers_{};
};

}  // namespace

void sample_field(const BrickField& field, std::span<const Vec3f> points, std::span<float> values,
                  std::span<Vec3f> gradients, Threads threads) {
  assert(values.empty() || values.size() == points.size());
  assert(gradients.empty() || gradients.size() == points.size());
  if (values.empty() && gradients.empty()) return;
  parallel_for(points.size(), kGrain, threads, [&](std::size_t begin, std::size_t end) {
    BatchSampler sampler(field);
    for (std::size_t at = begin; at < end; at += kGroup) {
      const std::size_t n = std::min(kGroup, end - at);
      sampler.sample(points.subspan(at, n), values.empty() ? nullptr : values.data() + at,
                     gradients.empty() ? nullptr : gradients.data() + at);
    }
  });
}

}  // namespace isotact
