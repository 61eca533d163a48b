// Cells of a brick field for segments: fine ones in bricks, coarse ones elsewhere.
#pragma once

#include "isotact/field/models/brick_field.h"
#include "isotact/queries/segments/detail/segment_path.h"
#include "isotact/queries/segments/detail/segment_slab.h"

namespace isotact::detail {

// Computes corners of a fine cell (0 to 7 along each axis) of a brick, over any lanes, from coarse
// corners and corrections. All bricks that share a face compute the same values at its nodes.
template <typename F>
ISOTACT_INLINE void compute_fine_corners(const F* coarse, const F* cell, const F* correction,
                                         F step, F* corner) {
  F first[3], last[3];
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = cell[axis] * F(0.125F);
    last[axis] = (cell[axis] + F(1.0F)) * F(0.125F);
  }
  compute_sub_box(coarse, first, last, corner);
  for (int i = 0; i < 8; ++i) corner[i] = corner[i] + step * correction[i];
}

inline constexpr std::size_t kCornerSample[8] = {0,  1,  kBrickNodes,      kBrickNodes + 1,
                                                 81, 82, 81 + kBrickNodes, 82 + kBrickNodes};
ISOTACT_INLINE constexpr std::size_t first_sample(std::int32_t x, std::int32_t y, std::int32_t z) {
  return static_cast<std::size_t>((z * kBrickNodes + y) * kBrickNodes + x);
}

// The same in a block of an index: rows of five.
inline constexpr std::size_t kBlockCornerSample[8] = {0,
                                                      1,
                                                      kBlockNodes,
                                                      kBlockNodes + 1,
                                                      kBlockNodes* kBlockNodes,
                                                      kBlockNodes* kBlockNodes + 1,
                                                      kBlockNodes* kBlockNodes + kBlockNodes,
                                                      kBlockNodes* kBlockNodes + kBlockNodes + 1};
ISOTACT_INLINE constexpr std::size_t first_block_sample(std::int32_t x, std::int32_t y,
                                                        std::int32_t z) {
  return static_cast<std::size_t>(((z & 3) * kBlockNodes + (y & 3)) * kBlockNodes + (x & 3));
}

inline void load_corners(const DenseGrid& grid, const Index3& c, float* corner) {
  for (std::int32_t i = 0; i < 8; ++i)
    corner[i] = grid.node_value(c[0] + (i & 1), c[1] + (i >> 1 & 1), c[2] + (i >> 2));
}

class BrickCells {
 public:
  explicit BrickCells(const BrickField& field)
      : field_(field), nodes_(node_counts(field.coarse_lattice())), step_(field.header().step) {}

  void load_coarse(const Index3& cell, float* corner) const {
    const auto values = field_.coarse_values();
    for (std::int32_t i = 0; i < 8; ++i)
      corner[i] =
          values[flat_index(nodes_, cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2))];
  }
  // A fine cell by its number in the whole lattice.
  void load_fine(const Brick& brick, const Index3& cell, float* corner) const {
    const std::int32_t in[3] = {cell[0] & 7, cell[1] & 7, cell[2] & 7};
    const float at[3] = {static_cast<float>(in[0]), static_cast<float>(in[1]),
                         static_cast<float>(in[2])};
    const std::int8_t* from = brick.correction + first_sample(in[0], in[1], in[2]);
    float correction[8];
    for (std::size_t i = 0; i < 8; ++i) correction[i] = static_cast<float>(from[kCornerSample[i]]);
    compute_fine_corners(brick.corner, at, correction, step_, corner);
  }
  // The same for a block of an index (0 to 7 along each axis of its cell).
  void load_fine(const IndexedCell& cell, const SampleBlock& block, const std::int32_t* in,
                 float* corner) const {
    const float at[3] = {static_cast<float>(in[0]), static_cast<float>(in[1]),
                         static_cast<float>(in[2])};
    const std::int8_t* from = block.correction + first_block_sample(in[0], in[1], in[2]);
    float correction[8];
    for (std::size_t i = 0; i < 8; ++i)
      correction[i] = static_cast<float>(from[kBlockCornerSample[i]]);
    compute_fine_corners(cell.corner, at, correction, step_, corner);
  }
  const BrickField& field() const { return field_; }

 private:
  const BrickField& field_;
  Index3 nodes_;
  float step_;
};

}  // namespace isotact::detail
