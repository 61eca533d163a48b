// The validator of brick fields.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/brick_reader.h"
#include "isotact/field/models/detail/sparse_nodes.h"

namespace isotact {
namespace {

using Flaw = std::optional<std::string>;

Flaw find_flaw_in_header(std::span<const std::byte> buffer) {
  if (buffer.size() < sizeof(BrickFieldHeader))
    return fmt::format("brick field: {} bytes are too few for its header", buffer.size());
  if (reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 != 0)
    return "brick field: its memory is not aligned to 64 bytes";
  const auto& h = *reinterpret_cast<const BrickFieldHeader*>(buffer.data());
  if (std::memcmp(h.magic, "ISOBRICK", sizeof(h.magic)) != 0)
    return "brick field: does not begin with ISOBRICK";
  if (h.version != 1) return fmt::format("brick field: version {} is not 1", h.version);
  if (h.brick_cells != kBrickCells)
    return fmt::format("brick field: bricks of {} cells, expected {}", h.brick_cells, kBrickCells);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(std::abs(h.origin[axis]) <= 1e36)) return "brick field: its origin is not finite";
    if (h.coarse_cells[axis] < 1 || h.coarse_cells[axis] > detail::kMaxCoarse)
      return fmt::format("brick field: {} coarse cells along an axis, expected 1 to {}",
                         h.coarse_cells[axis], detail::kMaxCoarse);
  }
  if (!(h.voxel_size >= 1e-30 && h.voxel_size <= 1e30))
    return "brick field: its voxel size is not between 1e-30 and 1e30";
  for (const float x : {h.step, h.lipschitz, h.near_error, h.far_error, h.band, h.range,
                        h.sample_error, h.shell_offset, h.sparse_from, h.sparse_error})
    if (!(x >= 0 && std::isfinite(x))) return "brick field: a bound is negative or not finite";
  if (h.open > 1) return "brick field: `open` is neither 0 nor 1";
  if (h.plain > 1) return "brick field: `plain` is neither 0 nor 1";
  BrickFieldHeader expected = h;
  detail::lay_out(expected);
  const auto offsets = [](const BrickFieldHeader& b) {
    return std::array{b.coarse_offset, b.block_offset, b.range_offset,
                      b.tree_offset,   b.brick_offset, b.total_bytes};
  };
  if (offsets(expected) != offsets(h) || expected.level_count != h.level_count)
    return "brick field: its parts do not lie where its counts put them";
  for (const std::uint8_t byte : h.unused)
    if (byte != 0) return "brick field: unused bytes of the header are not zero";
  if (h.total_bytes != buffer.size())
    return fmt::format("brick field: {} bytes, but its header says {}", buffer.size(),
                       h.total_bytes);
  return std::nullopt;
}

Flaw find_flaw_in_blocks(std::span<const BrickBlock> blocks, const detail::BrickParts& parts,
                         std::uint32_t brick_count) {
  std::uint64_t bricks = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].first_brick != bricks || blocks[b].unused != 0)
      return fmt::format("brick field: block {} begins at brick {}, expected {}", b,
                         blocks[b].first_brick, bricks);
    const auto nx = static_cast<std::size_t>(parts.blocks[0]);
    const auto ny = static_cast<std::size_t>(parts.blocks[1]);
    const std::size_t at[3] = {b % nx, b / nx % ny, b / nx / ny};
    for (std::uint64_t left = blocks[b].occupied; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      const int in[3] = {bit & 3, bit >> 2 & 3, bit >> 4};
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (static_cast<std::int32_t>(at[axis]) * detail::kBlockCells + in[axis] >=
            parts.coarse_cells[axis])
          return fmt::format("brick field: block {} has a brick outside of the box", b);
    }
    bricks += static_cast<std::uint64_t>(std::popcount(blocks[b].occupied));
  }
  if (bricks != brick_count)
    return fmt::format("brick field: its blocks name {} bricks, its header {}", bricks,
                       brick_count);
  return std::nullopt;
}

Flaw find_flaw_in_ranges(std::span<const ValueRange> ranges, const char* what) {
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!(ranges[i].min <= ranges[i].max && std::isfinite(ranges[i].min) &&
          std::isfinite(ranges[i].max)))
      return fmt::format("brick field: {} {}: min > max", what, i);
  return std::nullopt;
}

Flaw find_flaw_in_padding(std::span<const std::byte> buffer, const BrickFieldHeader& h,
                          const detail::BrickParts& parts) {
  const auto check = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      if (buffer[i] != std::byte{}) return false;
    return true;
  };
  const std::uint64_t bricks = h.brick_count;
  if (!check(h.coarse_offset + parts.coarse_count * sizeof(float), h.block_offset) ||
      !check(h.block_offset + parts.block_count * sizeof(BrickBlock), h.range_offset) ||
      !check(h.range_offset + bricks * sizeof(ValueRange), h.tree_offset) ||
      !check(h.tree_offset + parts.tree_count * sizeof(ValueRange), h.brick_offset))
    return "brick field: bytes between its parts are not zero";
  return std::nullopt;
}

// The tree's nodes must hold what lies below them.
Flaw find_flaw_in_tree(const BrickField& field) {
  for (int level = 1; level <= static_cast<int>(field.header().level_count); ++level) {
    const Index3 dims = field.tree_dims(level), below = field.tree_dims(level - 1);
    const auto nodes = field.tree_level(level);
    const auto children = level == 1 ? std::span<const ValueRange>{} : field.tree_level(level - 1);
    for (std::int32_t z = 0; z < below[2]; ++z)
      for (std::int32_t y = 0; y < below[1]; ++y)
        for (std::int32_t x = 0; x < below[0]; ++x) {
          const ValueRange child =
              level == 1 ? field.cell_range({x, y, z}) : children[flat_index(below, x, y, z)];
          const ValueRange& node = nodes[flat_index(dims, x / 2, y / 2, z / 2)];
          if (!(node.min <= child.min && child.max <= node.max))
            return fmt::format(
                "brick field: tree level {}, node {} {} {}: its range does not hold "
                "its child's",
                level, x / 2, y / 2, z / 2);
        }
  }
  return std::nullopt;
}

// Whether the samples of one row lie in the range. `first` and `last` are the coarse interpolant at
// its ends. Ranges are wider than rounding (rounded_out), so the order of operations does not
// matter.
bool is_row_in_range(const std::int8_t* correction, float first, float last, float step,
                     const ValueRange& range) {
  const float slope = (last - first) * 0.125F;
  bool is_in = true;  // no early end, so that compilers work on the row at once; NaN is not in
  for (int x = 0; x < kBrickNodes; ++x) {
    const float value =
        first + slope * static_cast<float>(x) + step * static_cast<float>(correction[x]);
    is_in &= (range.min <= value) & (value <= range.max) & (correction[x] != -128);
  }
  return is_in;
}

Flaw find_flaw_in_brick(const BrickField& field, const detail::BrickReader& reader,
                        const Index3& cell, std::uint32_t number) {
  const Brick& brick = field.bricks()[number];
  float corner[8];
  reader.load_corners(cell[0], cell[1], cell[2], corner);
  if (!std::equal(std::begin(corner), std::end(corner), std::begin(brick.corner)))
    return fmt::format("brick field: brick {}: its corners differ from the coarse level", number);
  for (const std::int8_t byte : brick.unused)
    if (byte != 0) return fmt::format("brick field: brick {}: unused bytes are not zero", number);
  const ValueRange range = field.brick_ranges()[number];
  const float step = field.header().step;
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y) {
      const float ty = static_cast<float>(y) * 0.125F, tz = static_cast<float>(z) * 0.125F;
      if (!is_row_in_range(brick.correction + (z * kBrickNodes + y) * kBrickNodes,
                           detail::interpolate(corner, {0, ty, tz}),
                           detail::interpolate(corner, {1, ty, tz}), step, range))
        return fmt::format(
            "brick field: brick {}: its range does not hold the samples of row {} {}, or one of "
            "them "
            "is -128",
            number, y, z);
    }
  return std::nullopt;
}

// The corrections on a face of a brick: those at `first` and on, in steps along the two other axes.
struct Face {
  const std::int8_t* first;  // nullptr: a cell without brick, where all are 0
  std::ptrdiff_t along_a, along_b;
};
bool are_equal(const Face& one, const Face& other) {
  for (int a = 0; a < kBrickNodes; ++a)
    for (int b = 0; b < kBrickNodes; ++b) {
      const std::ptrdiff_t at = a * one.along_a + b * one.along_b;
      if (one.first[at] != (other.first == nullptr ? 0 : other.first[at])) return false;
    }
  return true;
}

// Towards its upper neighbours, and towards lower ones without brick, a brick must agree.
Flaw find_flaw_between(const BrickField& field, const detail::BrickReader& reader,
                       const Index3& cell, std::uint32_t number) {
  constexpr std::array<std::ptrdiff_t, 3> kStride = {1, kBrickNodes, kBrickNodes * kBrickNodes};
  const Index3 counts = field.coarse_lattice().cells;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const std::int32_t direction : {-1, 1}) {
      Index3 at = cell;
      at[axis] += direction;
      if (at[axis] < 0 || at[axis] >= counts[axis]) continue;
      const std::uint32_t neighbour = reader.brick_at(at[0], at[1], at[2]);
      if (direction < 0 && neighbour != BrickField::kNoBrick) continue;
      const std::ptrdiff_t a = kStride[(axis + 1) % 3], b = kStride[(axis + 2) % 3];
      const std::ptrdiff_t far = direction > 0 ? kBrickCells * kStride[axis] : 0;
      const Face mine{field.bricks()[number].correction + far, a, b};
      const Face its{
          neighbour == BrickField::kNoBrick ? nullptr : field.bricks()[neighbour].correction, a, b};
      if (!are_equal(mine, its))
        return fmt::format("brick field: brick {} and its neighbour differ on their common face",
                           number);
    }
  return std::nullopt;
}

Flaw find_flaw_in_bricks(const BrickField& field) {
  const Index3 counts = field.coarse_lattice().cells;
  const detail::BrickReader reader(field);
  for (std::int32_t z = 0; z < counts[2]; ++z)
    for (std::int32_t y = 0; y < counts[1]; ++y)
      for (std::int32_t x = 0; x < counts[0]; ++x) {
        const std::uint32_t number = reader.brick_at(x, y, z);
        if (number == BrickField::kNoBrick) continue;
        if (Flaw flaw = find_flaw_in_brick(field, reader, {x, y, z}, number)) return flaw;
        if (Flaw flaw = find_flaw_between(field, reader, {x, y, z}, number)) return flaw;
      }
  return std::nullopt;
}

// Nodes that count as interpolated must be.
Flaw find_flaw_in_sparse_nodes(const BrickField& field) {
  const Index3 nodes = node_counts(field.coarse_lattice());
  const auto coarse = field.coarse_values();
  const detail::SparseNodes sparse(coarse, nodes, field.header().sparse_from);
  if (field.header().sparse_from == 0) return std::nullopt;
  for (std::int32_t z = 0; z < nodes[2]; ++z)
    for (std::int32_t y = 0; y < nodes[1]; ++y)
      for (std::int32_t x = 0; x < nodes[0]; ++x)
        if (sparse.is_interpolated({x, y, z}) &&
            std::abs(coarse[flat_index(nodes, x, y, z)]) != sparse.interpolate({x, y, z}))
          return fmt::format("brick field: node {} {} {} is not the mean of those around it", x, y,
                             z);
  return std::nullopt;
}

}  // namespace

Flaw find_flaw_in_brick_field(std::span<const std::byte> buffer, Check check) {
  if (Flaw flaw = find_flaw_in_header(buffer)) return flaw;
  const auto& h = *reinterpret_cast<const BrickFieldHeader*>(buffer.data());
  const detail::BrickParts parts = detail::find_parts(h);
  if (Flaw flaw = find_flaw_in_blocks(
          detail::part_at<BrickBlock>(buffer, h.block_offset, parts.block_count), parts,
          h.brick_count))
    return flaw;
  if (check == Check::kHeader) return std::nullopt;
  const auto coarse = detail::part_at<float>(buffer, h.coarse_offset, parts.coarse_count);
  for (std::size_t i = 0; i < coarse.size(); ++i)
    if (!std::isfinite(coarse[i]))
      return fmt::format("brick field: coarse value {} is not finite", i);
  if (Flaw flaw = find_flaw_in_ranges(
          detail::part_at<ValueRange>(buffer, h.range_offset, h.brick_count), "range of brick"))
    return flaw;
  if (Flaw flaw = find_flaw_in_ranges(
          detail::part_at<ValueRange>(buffer, h.tree_offset, parts.tree_count), "tree node"))
    return flaw;
  if (Flaw flaw = find_flaw_in_padding(buffer, h, parts)) return flaw;
  if (check == Check::kShallow) return std::nullopt;
  const BrickField field = BrickField::from_buffer(buffer, nullptr, Check::kHeader);
  if (Flaw flaw = find_flaw_in_sparse_nodes(field)) return flaw;
  if (Flaw flaw = find_flaw_in_tree(field)) return flaw;
  return find_flaw_in_bricks(field);
}

}  // namespace isotact
