// Values of a brick field at many points of a shell, over a lane type. It works in stages, like
// sample_field: positions, blocks, bricks, values; each prefetches the memory of the next.
#pragma once

#include <cstring>

#include "isotact/base/detail/lanes.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/queries/points/detail/shell_view.h"

namespace isotact::detail {

// A field as pointers. Positions are in fine cells from the corner of the box.
struct BrickView {
  const float* coarse;
  const BrickBlock* blocks;
  const Brick* bricks;
  std::uint32_t cells[3];      // Fine cells.
  std::size_t nodes[2];        // Coarse nodes along x and y.
  std::size_t block_count[2];  // Along x and y.
  float step, cell;            // Metres.
};

template <typename F>
struct BrickKernel {
  static constexpr unsigned kLanes = F::kWidth;
  static constexpr unsigned kBatch = 32;

  struct Batch {
    float fraction[3][kBatch];     // In the fine cell.
    std::int32_t fine[3][kBatch];  // Cell.
    float outside_sq[kBatch];      // Square cells.
    const BrickBlock* block[kBatch];
    const float* corner[kBatch];            // Corners of a brick, or of the coarse grid.
    const std::int8_t* correction[kBatch];  // Null: no brick.
  };

  static ISOTACT_INLINE void locate(const BrickView& view, const ShellMap& map, const float* x,
                                    const float* y, const float* z, unsigned first, Batch& batch) {
    const F px = load<F>(x + first), py = load<F>(y + first), pz = load<F>(z + first);
    const F zero(0.0F);
    F outside_sq(zero);
    for (int axis = 0; axis < 3; ++axis) {
      const F at = ((F(map.linear[axis][0]) * px + F(map.linear[axis][1]) * py) +
                    F(map.linear[axis][2]) * pz) +
                   F(map.offset[axis]);
      const F size(static_cast<float>(view.cells[axis]));
      const F in_box = lesser(greater(at, zero), size);
      outside_sq = outside_sq + (at - in_box) * (at - in_box);
      const F cell = truncate(lesser(in_box, size - F(1.0F)));
      store_truncated(cell, batch.fine[axis] + first);
      store(in_box - cell, batch.fraction[axis] + first);
    }
    store(outside_sq, batch.outside_sq + first);
  }

  static ISOTACT_INLINE void find_block(const BrickView& view, Batch& batch, unsigned i) {
    const auto x = static_cast<std::uint32_t>(batch.fine[0][i]) >> 5U;
    const auto y = static_cast<std::uint32_t>(batch.fine[1][i]) >> 5U;
    const auto z = static_cast<std::uint32_t>(batch.fine[2][i]) >> 5U;
    batch.block[i] =
        view.blocks + (std::size_t{z} * view.block_count[1] + y) * view.block_count[0] + x;
    __builtin_prefetch(batch.block[i]);
  }

  static ISOTACT_INLINE void find_samples(const BrickView& view, Batch& batch, unsigned i) {
    const auto x = static_cast<std::uint32_t>(batch.fine[0][i]);
    const auto y = static_cast<std::uint32_t>(batch.fine[1][i]);
    const auto z = static_cast<std::uint32_t>(batch.fine[2][i]);
    const std::uint32_t bit = (z >> 3U & 3U) << 4U | (y >> 3U & 3U) << 2U | (x >> 3U & 3U);
    const BrickBlock& block = *batch.block[i];
    if ((block.occupied >> bit & 1U) == 0) {
      batch.correction[i] = nullptr;
      batch.corner[i] = view.coarse +
                        (std::size_t{z >> 3U} * view.nodes[1] + (y >> 3U)) * view.nodes[0] +
                        (x >> 3U);
      __builtin_prefetch(batch.corner[i]);
      __builtin_prefetch(batch.corner[i] + view.nodes[0] * view.nodes[1]);
      return;
    }
    const std::uint64_t before = block.occupied & ((std::uint64_t{1} << bit) - 1);
    const Brick& brick =
        view.bricks[block.first_brick + static_cast<std::uint32_t>(__builtin_popcountll(before))];
    batch.corner[i] = brick.corner;
    batch.correction[i] =
        brick.correction + ((z & 7U) * kBrickNodes + (y & 7U)) * kBrickNodes + (x & 7U);
    __builtin_prefetch(brick.corner);
    __builtin_prefetch(batch.correction[i]);
    __builtin_prefetch(batch.correction[i] + 90);
  }

  static ISOTACT_INLINE F mix(F a, F b, F t) { return a + (b - a) * t; }
  static ISOTACT_INLINE F interpolate(const F* c, F x, F y, F z) {
    const F low = mix(mix(c[0], c[1], x), mix(c[2], c[3], x), y);
    const F high = mix(mix(c[4], c[5], x), mix(c[6], c[7], x), y);
    return mix(low, high, z);
  }

  static ISOTACT_INLINE F value(const BrickView& view, const Batch& batch, unsigned first) {
    float coarse[8][kLanes];
    std::int8_t fine[8][kLanes < 8 ? 8 : kLanes];
    const std::size_t row = view.nodes[0], slice = view.nodes[0] * view.nodes[1];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float* c = batch.corner[first + lane];
      if (const std::int8_t* d = batch.correction[first + lane]) {
        for (unsigned k = 0; k < 8; ++k) coarse[k][lane] = c[k];
        fine[0][lane] = d[0], fine[1][lane] = d[1], fine[2][lane] = d[9], fine[3][lane] = d[10];
        fine[4][lane] = d[81], fine[5][lane] = d[82], fine[6][lane] = d[90], fine[7][lane] = d[91];
      } else {
        for (unsigned k = 0; k < 8; ++k) {
          coarse[k][lane] = c[(k & 1U) + (k >> 1U & 1U) * row + (k >> 2U) * slice];
          fine[k][lane] = 0;
        }
      }
    }
    F corner[8], correction[8], fraction[3], in_coarse[3];
    for (unsigned k = 0; k < 8; ++k) {
      corner[k] = load<F>(coarse[k]);
      correction[k] = load_bytes<F>(fine[k]);
    }
    for (unsigned axis = 0; axis < 3; ++axis) {
      fraction[axis] = load<F>(batch.fraction[axis] + first);
      float cell[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        cell[lane] = static_cast<float>(batch.fine[axis][first + lane] & 7);
      in_coarse[axis] = (load<F>(cell) + fraction[axis]) * F(0.125F);
    }
    const F v = interpolate(corner, in_coarse[0], in_coarse[1], in_coarse[2]) +
                F(view.step) * interpolate(correction, fraction[0], fraction[1], fraction[2]);
    // extend_outside
    const F gap_sq = load<F>(batch.outside_sq + first) * F(view.cell * view.cell);
    const F outside = select(v < F(0.0F), square_root(gap_sq) + v, square_root(gap_sq + v * v));
    return select(gap_sq > F(0.0F), outside, v);
  }

  // Positions are those of the shell, mapped to cells.
  static void measure(const BrickView& view, const ShellMap& map, const ShellView& shell,
                      const std::uint32_t* points, std::size_t count, float* distances) {
    Batch batch;
    float x[kBatch]{}, y[kBatch]{}, z[kBatch]{}, values[kBatch];
    for (std::size_t at = 0; at < count; at += kBatch) {
      const auto n = static_cast<unsigned>(count - at < kBatch ? count - at : kBatch);
      const unsigned full = (n + kLanes - 1) / kLanes * kLanes;
      for (unsigned i = 0; i < n; ++i) {
        const std::uint32_t p = points[at + i];
        x[i] = shell.x[p], y[i] = shell.y[p], z[i] = shell.z[p];
      }
      for (unsigned i = n; i < full; ++i) x[i] = x[n - 1], y[i] = y[n - 1], z[i] = z[n - 1];
      for (unsigned i = 0; i < full; i += kLanes) locate(view, map, x, y, z, i, batch);
      for (unsigned i = 0; i < full; ++i) find_block(view, batch, i);
      for (unsigned i = 0; i < full; ++i) find_samples(view, batch, i);
      for (unsigned i = 0; i < full; i += kLanes) store(value(view, batch, i), values + i);
      std::memcpy(distances + at, values, n * sizeof(float));
    }
  }
};

}  // namespace isotact::detail
