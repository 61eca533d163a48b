#include "isotact/field/brick_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/field/detail/brick_layout.h"
#include "isotact/field/detail/brick_reader.h"

namespace isotact {
namespace {}  // namespace

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
  const ValueRange r = detail::find_range(*this, first, last);
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
  const Interval on_box = detail::find_distance_bounds(*this, inside);
  const double gap = length(point - inside);
  if (gap == 0) return on_box;
  // Where the box may cut the body, all that is known is that distances change no faster than
  // space.
  if (header().open != 0 || on_box.lower < 0) return {on_box.lower - gap, on_box.upper + gap};
  return {extend_outside(on_box.lower, gap), on_box.upper + gap};
}

}  // namespace isotact
