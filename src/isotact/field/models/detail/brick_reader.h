// How values are read out of a brick field. One place, so that every query gives the same bits.
#pragma once

#include <bit>
#include <cmath>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/trilinear.h"

namespace isotact::detail {

// A point of the box: coarse cell, fine cell in it (0 to 7), and fraction in that (0 to 1).
struct BrickSpot {
  Index3 coarse{};
  Index3 cell{};
  Vec3f fraction{};
};

// The parts of a field that queries read, by value: short-lived, for the inner loops.
class BrickReader {
 public:
  explicit BrickReader(const BrickField& field)
      : coarse_(field.coarse_values().data()),
        blocks_(field.blocks().data()),
        bricks_(field.bricks().data()),
        origin_(field.lattice().origin),
        cells_per_metre_(1 / field.lattice().spacing),
        inverse_(static_cast<float>(cells_per_metre_)),
        step_(field.header().step),
        fine_cells_(field.lattice().cells) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      last_[axis] = static_cast<double>(fine_cells_[axis]);
      const std::int32_t coarse_cells = fine_cells_[axis] / kBrickCells;
      nodes_[axis] = static_cast<std::size_t>(coarse_cells) + 1;
      blocks_of_[axis] = static_cast<std::size_t>((coarse_cells + kBlockCells - 1) / kBlockCells);
    }
  }

  // Points outside count as the nearest point of the box, NaN as its lower end.
  BrickSpot locate(const Vec3& point) const {
    BrickSpot spot;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double t = (point[axis] - origin_[axis]) * cells_per_metre_;
      t = t > 0 ? t : 0;
      t = t < last_[axis] ? t : last_[axis];
      std::int32_t cell = static_cast<std::int32_t>(t);
      cell = cell < fine_cells_[axis] ? cell : fine_cells_[axis] - 1;
      spot.coarse[axis] = cell >> 3;
      spot.cell[axis] = cell & 7;
      spot.fraction[axis] = static_cast<float>(t - static_cast<double>(cell));
    }
    return spot;
  }

  const BrickBlock& block_of(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const std::size_t bx = static_cast<std::size_t>(x) / kBlockCells;
    const std::size_t by = static_cast<std::size_t>(y) / kBlockCells;
    const std::size_t bz = static_cast<std::size_t>(z) / kBlockCells;
    return blocks_[(bz * blocks_of_[1] + by) * blocks_of_[0] + bx];
  }
  static std::uint32_t brick_in(const BrickBlock& block, std::int32_t x, std::int32_t y,
                                std::int32_t z) {
    const unsigned bit = (static_cast<unsigned>(z) & 3U) << 4U |
                         (static_cast<unsigned>(y) & 3U) << 2U | (static_cast<unsigned>(x) & 3U);
    if ((block.occupied >> bit & 1U) == 0) return BrickField::kNoBrick;
    const std::uint64_t before = block.occupied & ((std::uint64_t{1} << bit) - 1);
    return block.first_brick + static_cast<std::uint32_t>(std::popcount(before));
  }
  std::uint32_t brick_at(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return brick_in(block_of(x, y, z), x, y, z);
  }
  const Brick& brick(std::uint32_t number) const { return bricks_[number]; }

  const float* coarse_at(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return coarse_ +
           (static_cast<std::size_t>(z) * nodes_[1] + static_cast<std::size_t>(y)) * nodes_[0] +
           static_cast<std::size_t>(x);
  }
  std::size_t coarse_row() const { return nodes_[0]; }
  std::size_t coarse_slice() const { return nodes_[0] * nodes_[1]; }
  void load_corners(std::int32_t x, std::int32_t y, std::int32_t z, float* corner) const {
    const float* at = coarse_at(x, y, z);
    const std::size_t row = coarse_row(), slice = coarse_slice();
    corner[0] = at[0], corner[1] = at[1], corner[2] = at[row], corner[3] = at[row + 1];
    at += slice;
    corner[4] = at[0], corner[5] = at[1], corner[6] = at[row], corner[7] = at[row + 1];
  }

  // Where the spot lies in its coarse cell, 0 to 1.
  static Vec3f coarse_fraction(const BrickSpot& s) {
    return {(static_cast<float>(s.cell[0]) + s.fraction.x) * 0.125F,
            (static_cast<float>(s.cell[1]) + s.fraction.y) * 0.125F,
            (static_cast<float>(s.cell[2]) + s.fraction.z) * 0.125F};
  }
  static std::size_t first_sample(const BrickSpot& s) {
    return static_cast<std::size_t>((s.cell[2] * kBrickNodes + s.cell[1]) * kBrickNodes +
                                    s.cell[0]);
  }
  static void load_corrections(const Brick& brick, std::size_t first, float* corner) {
    const std::int8_t* at = brick.correction + first;
    constexpr std::size_t kRow = kBrickNodes, kSlice = kBrickNodes * kBrickNodes;
    corner[0] = at[0], corner[1] = at[1], corner[2] = at[kRow], corner[3] = at[kRow + 1];
    at += kSlice;
    corner[4] = at[0], corner[5] = at[1], corner[6] = at[kRow], corner[7] = at[kRow + 1];
  }

  float value(const BrickSpot& spot) const {
    return value(spot, brick_at(spot.coarse[0], spot.coarse[1], spot.coarse[2]));
  }
  float value(const BrickSpot& spot, std::uint32_t number) const {
    float corner[8];
    if (number == BrickField::kNoBrick) {
      load_corners(spot.coarse[0], spot.coarse[1], spot.coarse[2], corner);
      return interpolate(corner, coarse_fraction(spot));
    }
    const Brick& b = bricks_[number];
    load_corrections(b, first_sample(spot), corner);
    return interpolate(b.corner, coarse_fraction(spot)) +
           step_ * interpolate(corner, spot.fraction);
  }

  // The slope is in metres a metre.
  Trilinear sample(const BrickSpot& spot) const {
    return sample(spot, brick_at(spot.coarse[0], spot.coarse[1], spot.coarse[2]));
  }
  Trilinear sample(const BrickSpot& spot, std::uint32_t number) const {
    float corner[8];
    if (number == BrickField::kNoBrick) {
      load_corners(spot.coarse[0], spot.coarse[1], spot.coarse[2], corner);
      const Trilinear t = interpolate_with_slope(corner, coarse_fraction(spot));
      return {t.value, t.slope * (0.125F * inverse_)};
    }
    const Brick& b = bricks_[number];
    load_corrections(b, first_sample(spot), corner);
    return add(interpolate_with_slope(b.corner, coarse_fraction(spot)),
               interpolate_with_slope(corner, spot.fraction));
  }

  // The interpolant of the corners plus that of the corrections.
  Trilinear add(const Trilinear& coarse, const Trilinear& fine) const {
    return {coarse.value + step_ * fine.value,
            (coarse.slope * 0.125F + fine.slope * step_) * inverse_};
  }

 private:
  const float* coarse_;
  const BrickBlock* blocks_;
  const Brick* bricks_;
  Vec3 origin_;
  double cells_per_metre_;
  float inverse_, step_;
  Index3 fine_cells_;
  Vec3 last_{};
  std::size_t nodes_[3]{}, blocks_of_[3]{};
};

}  // namespace isotact::detail
