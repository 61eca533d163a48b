// Sizes of the parts of a brick field's buffer.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "isotact/field/models/brick_field.h"

namespace isotact::detail {

inline constexpr int kBlockCells = 4;             // coarse cells per axis of a BrickBlock
inline constexpr std::int32_t kMaxCoarse = 8192;  // coarse cells per axis: 65,536 fine ones

struct BrickParts {
  Index3 coarse_cells{}, blocks{};
  std::size_t coarse_count = 0, block_count = 0, tree_count = 0;
  int level_count = 0;  // levels above the coarse cells, up to one root
};

// Level 0 is the coarse cells; each level above has half as many an axis, rounded up.
constexpr Index3 tree_dims(const Index3& coarse_cells, int level) {
  Index3 dims = coarse_cells;
  for (int l = 0; l < level; ++l)
    for (std::int32_t& n : dims) n = (n + 1) / 2;
  return dims;
}

constexpr BrickParts find_parts(const Index3& coarse_cells) {
  BrickParts parts{.coarse_cells = coarse_cells};
  std::size_t nodes = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    parts.blocks[axis] = (coarse_cells[axis] + kBlockCells - 1) / kBlockCells;
    nodes *= static_cast<std::size_t>(coarse_cells[axis]) + 1;
  }
  parts.coarse_count = nodes;
  parts.block_count = count(parts.blocks);
  Index3 dims = coarse_cells;
  do {
    ++parts.level_count;
    dims = tree_dims(dims, 1);
    parts.tree_count += count(dims);
  } while (dims != Index3{1, 1, 1});
  return parts;
}

// n elements of a buffer that was checked to hold them, aligned.
template <typename T>
std::span<const T> part_at(std::span<const std::byte> buffer, std::uint64_t offset, std::size_t n) {
  return {reinterpret_cast<const T*>(buffer.data() + offset), n};
}

constexpr BrickParts find_parts(const BrickFieldHeader& h) {
  return find_parts(Index3{h.coarse_cells[0], h.coarse_cells[1], h.coarse_cells[2]});
}

// Sets the offsets and total_bytes of a header whose cells and brick_count are set.
void lay_out(BrickFieldHeader& header);

// A range widened by more than rounding can make of any value between its ends.
constexpr ValueRange rounded_out(const ValueRange& r) {
  const float low = r.min < 0 ? -r.min : r.min, high = r.max < 0 ? -r.max : r.max;
  const float slack = (low > high ? low : high) * 0x1p-20F;
  return {r.min - slack, r.max + slack};
}

// The value that Brick::slope stands for.
inline float slope_of(std::uint16_t stored) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16U);
}

// The range of the coarse cells from first to last, both included.
ValueRange compute_range(const BrickField& field, const Index3& first, const Index3& last);
// The bounds at a point in the box, from the exact samples around it.
Interval compute_distance_bounds(const BrickField& field, const Vec3& point);

}  // namespace isotact::detail
