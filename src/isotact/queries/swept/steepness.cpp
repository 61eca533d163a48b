#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "isotact/queries/swept/detail/free_space.h"
#include "isotact/queries/swept/detail/swept_front.h"

namespace isotact::detail {
namespace {

constexpr float kSlack = 1.001F;  // More than the accumulated rounding of values over a cell.

std::uint16_t round_up(float slope) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(slope) + 0xffffU) >> 16U);
}
float to_slope(std::uint16_t stored) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16U);
}

// Values at the nodes of some cells, x fastest.
struct Nodes {
  std::size_t cells[3];
  const float* values;
};

// Returns the square of the steepest cell's bound, times that of its side.
float compute_steepest_sq(const Nodes& n) {
  const std::size_t row = n.cells[0] + 1, slice = row * (n.cells[1] + 1);
  float most = 0;
  for (std::size_t z = 0; z < n.cells[2]; ++z)
    for (std::size_t y = 0; y < n.cells[1]; ++y)
      for (std::size_t x = 0; x < n.cells[0]; ++x) {
        const float* v = n.values + z * slice + y * row + x;
        const auto steepest = [v](std::size_t along, std::size_t a, std::size_t b) {
          const auto edge = [&](std::size_t at) { return std::abs(v[at + along] - v[at]); };
          return std::max(std::max(edge(0), edge(a)), std::max(edge(b), edge(a + b)));
        };
        const float dx = steepest(1, row, slice), dy = steepest(row, 1, slice),
                    dz = steepest(slice, 1, row);
        most = std::max(most, dx * dx + dy * dy + dz * dz);
      }
  return most;
}

float mix(float a, float b, float t) { return a + (b - a) * t; }

void find_nodes(const Brick& brick, float step, float* values) {
  const float* c = brick.corner;
  std::size_t at = 0;
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y) {
      const float v = static_cast<float>(y) / kBrickCells, w = static_cast<float>(z) / kBrickCells;
      const float first = mix(mix(c[0], c[2], v), mix(c[4], c[6], v), w);
      const float last = mix(mix(c[1], c[3], v), mix(c[5], c[7], v), w);
      for (int x = 0; x < kBrickNodes; ++x, ++at)
        values[at] = mix(first, last, static_cast<float>(x) / kBrickCells) +
                     step * static_cast<float>(brick.correction[at]);
    }
}

float measure_bricks(const BrickField& field, const Index3& block) {
  const auto cell = static_cast<float>(field.voxel_size());
  const std::uint32_t number = field.brick_at(block);
  if (number != BrickField::kNoBrick) {
    float values[kBrickSamples];
    find_nodes(field.bricks()[number], field.header().step, values);
    return std::sqrt(compute_steepest_sq({{kBrickCells, kBrickCells, kBrickCells}, values})) / cell;
  }
  float corner[8];
  const Index3 nodes = node_counts(field.coarse_lattice());
  for (std::int32_t k = 0; k < 8; ++k)
    corner[k] = field.coarse_values()[flat_index(nodes, block[0] + (k & 1), block[1] + (k >> 1 & 1),
                                                 block[2] + (k >> 2))];
  return std::sqrt(compute_steepest_sq({{1, 1, 1}, corner})) / (cell * kBrickCells);
}

float measure_grid(const DenseGrid& grid, const Index3& block) {
  const Lattice& lattice = grid.lattice();
  const Index3 nodes = node_counts(lattice);
  Nodes part{};
  Index3 first{}, last{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = block[axis] * kFreeBlockCells;
    last[axis] = std::min(first[axis] + kFreeBlockCells, lattice.cells[axis]);
    part.cells[axis] = static_cast<std::size_t>(last[axis] - first[axis]);
  }
  float values[kBrickSamples];
  std::size_t n = 0;
  for (std::int32_t z = first[2]; z <= last[2]; ++z)
    for (std::int32_t y = first[1]; y <= last[1]; ++y)
      for (std::int32_t x = first[0]; x <= last[0]; ++x)
        values[n++] = grid.samples()[flat_index(nodes, x, y, z)];
  part.values = values;
  return std::sqrt(compute_steepest_sq(part)) / static_cast<float>(lattice.spacing);
}

}  // namespace

Steepness::Steepness(const BrickField* bricks, const DenseGrid* grid, bool open)
    : bricks_(bricks),
      grid_(grid),
      open_(open),
      steepest_(static_cast<float>(bricks != nullptr ? bricks->lipschitz() : grid->lipschitz()) *
                kSlack) {
  const Lattice& lattice = bricks != nullptr ? bricks->lattice() : grid->lattice();
  for (std::size_t axis = 0; axis < 3; ++axis)
    blocks_[axis] = (lattice.cells[axis] + kFreeBlockCells - 1) / kFreeBlockCells;
}

void Steepness::make_room() const {
  here_ = std::make_unique<Stored[]>(count(blocks_));
  around_ = std::make_unique<Stored[]>(count(blocks_));
}

// Outside the box the extension is no steeper than 1 or than the field on the box, unless that is
// negative there.
float Steepness::measure(const Index3& block) const {
  float slope = bricks_ != nullptr ? measure_bricks(*bricks_, block) : measure_grid(*grid_, block);
  slope = std::max(slope * kSlack, 1.0F);
  return std::min(open_ ? std::sqrt(1 + slope * slope) : slope, std::max(steepest_, 1.0F));
}

// Threads that measure the same block find the same value.
float Steepness::find_here(const Index3& block) const {
  Stored& stored = here_[flat_index(blocks_, block[0], block[1], block[2])];
  std::uint16_t slope = stored.load(std::memory_order_relaxed);
  if (slope == 0) {
    slope = round_up(measure(block));
    stored.store(slope, std::memory_order_relaxed);
  }
  return to_slope(slope);
}

Steepness::Slopes Steepness::find(const Index3& block) const {
  std::call_once(made_, [this] { make_room(); });
  Stored& stored = around_[flat_index(blocks_, block[0], block[1], block[2])];
  const std::uint16_t known = stored.load(std::memory_order_relaxed);
  if (known != 0) return {find_here(block), to_slope(known)};
  float around = 0;
  Index3 first{}, last{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = std::max(block[axis] - 1, 0);
    last[axis] = std::min(block[axis] + 1, blocks_[axis] - 1);
  }
  for (std::int32_t z = first[2]; z <= last[2]; ++z)
    for (std::int32_t y = first[1]; y <= last[1]; ++y)
      for (std::int32_t x = first[0]; x <= last[0]; ++x)
        around = std::max(around, find_here({x, y, z}));
  stored.store(round_up(around), std::memory_order_relaxed);
  return {find_here(block), around};
}

}  // namespace isotact::detail
