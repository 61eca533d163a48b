#include "isotact/field/models/first_order_field.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/field/models/detail/first_order_layout.h"

namespace isotact {

namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// As locate(), but with the place in the cell in double: differences of values are then smooth down
// to the rounding of the position itself.
struct PlaceInCell {
  Index3 cell{};
  Vec3 at{};
};

PlaceInCell find_place(const Lattice& lattice, const Vec3& point) {
  PlaceInCell place;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double last = lattice.cells[axis];
    const double t = std::clamp((point[axis] - lattice.origin[axis]) / lattice.spacing, 0.0, last);
    const double cell = std::min(std::floor(t), last - 1);
    place.cell[axis] = static_cast<std::int32_t>(cell);
    place.at[axis] = t - cell;
  }
  return place;
}

// By the spans of the field, not by its header: that may lie in a mapped file, which others may
// change after it was checked.
detail::TexelView view(const FirstOrderField& field) {
  return {.texels = field.storage() == FirstOrderStorage::kHalf
                        ? std::as_bytes(field.half_texels()).data()
                        : std::as_bytes(field.float_texels()).data(),
          .storage = field.storage(),
          .nodes = node_counts(field.lattice())};
}

double value_in_box(const FirstOrderField& field, const Vec3& point) {
  const PlaceInCell place = find_place(field.lattice(), point);
  return detail::evaluate(view(field).cell(place.cell), place.at) * field.lattice().spacing;
}

// The true distance at a point of the box. Distances change no faster than space, so every corner
// of the cell bounds it; all hold at once.
Interval distance_bounds_in_box(const FirstOrderField& field, const Vec3& point) {
  const PlaceInCell place = find_place(field.lattice(), point);
  const detail::FirstOrderCell cell = view(field).cell(place.cell);
  const double h = field.lattice().spacing;
  Interval bounds{-kNoBound, kNoBound};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const Vec3 foot{static_cast<double>(corner & 1U), static_cast<double>(corner >> 1U & 1U),
                    static_cast<double>(corner >> 2U)};
    const double f = cell.f[corner];
    const double error =
        std::fabs(f) <= kFirstOrderNear ? field.header().near_error : field.header().far_error;
    const double reach = h * length(place.at - foot) * (1 + 1e-12) + error;
    bounds.lower = std::max(bounds.lower, f * h - reach);
    bounds.upper = std::min(bounds.upper, f * h + reach);
  }
  return bounds;
}

}  // namespace

FirstOrderField FirstOrderField::from_buffer(std::span<const std::byte> buffer,
                                             std::shared_ptr<const void> owner, Check check) {
  if (const auto flaw = find_flaw_in_first_order_field(buffer, check == Check::kDeep))
    throw Error("first-order field: " + *flaw);
  return adopt(buffer, std::move(owner));
}

FirstOrderField FirstOrderField::adopt(std::span<const std::byte> buffer,
                                       std::shared_ptr<const void> owner) {
  FirstOrderField field;
  field.buffer_ = buffer;
  field.owner_ = std::move(owner);
  FirstOrderHeader header;  // read once
  std::memcpy(&header, buffer.data(), sizeof header);
  field.lattice_ = {.origin = {header.origin[0], header.origin[1], header.origin[2]},
                    .spacing = header.spacing,
                    .cells = {header.cells[0], header.cells[1], header.cells[2]}};
  field.storage_ = static_cast<FirstOrderStorage>(header.storage);
  const std::size_t components = 4 * count(node_counts(field.lattice_));
  const std::byte* const texels = buffer.data() + header.texel_offset;
  if (field.storage_ == FirstOrderStorage::kHalf)
    field.half_ = {reinterpret_cast<const std::uint16_t*>(texels), components};
  else
    field.float_ = {reinterpret_cast<const float*>(texels), components};
  const auto layout = detail::compute_first_order_layout(field.lattice_.cells, field.storage_);
  field.tree_ = {reinterpret_cast<const detail::FloatRange*>(buffer.data() + header.tree_offset),
                 layout.tree_nodes};
  return field;
}

std::array<float, 4> FirstOrderField::texel(std::int32_t i, std::int32_t j, std::int32_t k) const {
  return view(*this).at(flat_index(node_counts(lattice_), i, j, k));
}

double FirstOrderField::value(const Vec3& point) const {
  const Vec3 on_box = clamp_to(bounds(), point);
  const double value = value_in_box(*this, on_box);
  const double gap = length(point - on_box);
  return gap > 0 ? extend_outside(value, gap) : value;
}

FieldSample FirstOrderField::sample(const Vec3& point) const {
  const Vec3 on_box = clamp_to(bounds(), point);
  const PlaceInCell place = find_place(lattice_, on_box);
  const detail::FirstOrderCell cell = view(*this).cell(place.cell);
  const FieldSample inside{detail::evaluate(cell, place.at) * lattice_.spacing,
                           detail::evaluate_gradient(cell, place.at)};
  return extend_outside(inside, point, on_box);
}

// Reads the finest level at which the box spans few nodes.
Interval FirstOrderField::range_in_box(const Aabb& part) const {
  const Index3 first = find_place(lattice_, part.lower).cell;
  const Index3 last = find_place(lattice_, part.upper).cell;
  const auto span_at = [&](unsigned shift) {
    std::int32_t span = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      span = std::max(span, (last[axis] >> shift) - (first[axis] >> shift) + 1);
    return span;
  };
  constexpr std::int32_t kMaxSpan = 4;
  unsigned level = 0;            // 0: the cells themselves
  std::size_t level_offset = 0;  // in the tree
  for (; span_at(level == 0 ? 0 : level + 1) > kMaxSpan; ++level)
    if (level > 0) level_offset += count(detail::first_order_tree_dims(lattice_.cells, level));

  const detail::TexelView texels = view(*this);
  const Index3 dims = detail::first_order_tree_dims(lattice_.cells, level);
  const auto node_range = [&](std::int32_t i, std::int32_t j, std::int32_t k) -> Interval {
    if (level == 0)
      return detail::compute_range(detail::compute_control_net(texels.cell({i, j, k})));
    const detail::FloatRange node = tree_[level_offset + flat_index(dims, i, j, k)];
    return {static_cast<double>(node[0]), static_cast<double>(node[1])};
  };
  const unsigned shift = level == 0 ? 0 : level + 1;
  Interval found{kNoBound, -kNoBound};
  for (std::int32_t k = first[2] >> shift; k <= last[2] >> shift; ++k)
    for (std::int32_t j = first[1] >> shift; j <= last[1] >> shift; ++j)
      for (std::int32_t i = first[0] >> shift; i <= last[0] >> shift; ++i)
        found = unite(found, node_range(i, j, k));
  return {found.lower * lattice_.spacing, found.upper * lattice_.spacing};
}

// The stored ranges and the Lipschitz bound around the middle hold every value in the box: so does
// what they have in common. Outside, extend_outside grows with the value on the box and with the
// gap, so that the ends go with the ends.
Interval FirstOrderField::range(const Aabb& box) const {
  if (is_empty(box)) return {kNoBound, -kNoBound};
  const Aabb all = bounds();
  const Aabb part{clamp_to(all, box.lower), clamp_to(all, box.upper)};
  Interval found = range_in_box(part);
  const double middle = value_in_box(*this, center(part));
  const double slack = detail::kCellRounding * (lattice_.spacing + std::fabs(middle));
  const double reach = 0.5 * length(extent(part)) * lipschitz() * (1 + 1e-12) + slack;
  found = {std::max(found.lower, middle - reach), std::min(found.upper, middle + reach)};

  const Vec3 nearest = max(max(all.lower - box.upper, box.lower - all.upper), Vec3{});
  const Vec3 furthest = max(max(all.lower - box.lower, box.upper - all.upper), Vec3{});
  const double near_gap = length(nearest), far_gap = length(furthest);
  if (!(far_gap > 0)) return found;
  if (near_gap > 0) found.lower = extend_outside(found.lower, near_gap);
  found.upper = extend_outside(found.upper, far_gap);
  constexpr double kRootRounding = 1e-15;  // of the gap and of the root
  return {found.lower - kRootRounding * std::fabs(found.lower),
          found.upper + kRootRounding * std::fabs(found.upper)};
}

Interval FirstOrderField::distance_bounds(const Vec3& point) const {
  const Vec3 on_box = clamp_to(bounds(), point);
  const double gap = length(point - on_box);
  const Interval there = distance_bounds_in_box(*this, on_box);
  if (!(gap > 0)) return there;
  if (header().holds_body == 0) return {there.lower - gap, there.upper + gap};
  return {extend_outside(std::max(there.lower, 0.0), gap), there.upper + gap};
}

}  // namespace isotact
