// The arithmetic of FieldTexels in float, written once over a lane type (base/detail/lanes.h):
// sample() and the kernels of queries give the same bits. For kernels; others call sample().
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/detail/lanes.h"

namespace isotact {

struct FieldTexels;

// The data that the arithmetic reads: a view of a FieldTexels, which must outlive it.
struct TexelGrid {
  const std::int16_t* first = nullptr;  // one of both
  const float* zeroth = nullptr;
  float middle[3] = {};  // of the box, metres
  float cells_per_metre = 1;
  float metres_per_cell = 1;
  float half[3] = {};              // of the box, cells
  float cells[3] = {};             // of the box
  float last[3] = {};              // cells - 1
  float b_scale = 1;               // cells a unit of b's integers
  float near = 0, excess = 0;      // NodeBound
  std::size_t row = 0, slice = 0;  // nodes
};
TexelGrid make_texel_grid(const FieldTexels& texels);

namespace detail {

template <typename L>
inline constexpr unsigned kTexelLanes = sizeof(L) / sizeof(float);

ISOTACT_INLINE float truncate(float a) { return static_cast<float>(static_cast<int>(a)); }
ISOTACT_INLINE float square_root(float a) { return __builtin_sqrtf(a); }
ISOTACT_INLINE void store_truncated(float a, std::int32_t* to) { *to = static_cast<int>(a); }

// Functions, not lambdas: those could not be inlined by force, and would then be shared between
// files for different processors.
ISOTACT_INLINE float mix_texel(float p, float q, float t) { return p + (q - p) * t; }
#if defined(__AVX2__)
ISOTACT_INLINE __m256 mix_texel(__m256 p, __m256 q, __m256 t) {
  return _mm256_add_ps(p, _mm256_mul_ps(_mm256_sub_ps(q, p), t));
}
ISOTACT_INLINE __m256 load_two_texels(const std::int16_t* from) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
#endif
#if defined(__SSE4_1__)
ISOTACT_INLINE __m128 mix_texel(__m128 p, __m128 q, __m128 t) {
  return _mm_add_ps(p, _mm_mul_ps(_mm_sub_ps(q, p), t));
}
ISOTACT_INLINE __m128 load_texel(const std::int16_t* from) {
  return _mm_cvtepi32_ps(
      _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}
#endif

// The eight nodes around a place, mixed: along y, then z, then x. g_x g_y g_z b as integers.
ISOTACT_INLINE void fetch_first(const TexelGrid& grid, std::size_t node, float x, float y, float z,
                                float* to) {
  const std::int16_t* const n00 = grid.first + 4 * node;
  const std::int16_t* const n10 = n00 + 4 * grid.row;
  const std::int16_t* const n01 = n00 + 4 * grid.slice;
  const std::int16_t* const n11 = n01 + 4 * grid.row;
#if defined(__AVX2__)
  const __m256 fy = _mm256_set1_ps(y);
  const __m256 low = mix_texel(load_two_texels(n00), load_two_texels(n10), fy);
  const __m256 high = mix_texel(load_two_texels(n01), load_two_texels(n11), fy);
  const __m256 both = mix_texel(low, high, _mm256_set1_ps(z));
  const __m128 x0 = _mm256_castps256_ps128(both), x1 = _mm256_extractf128_ps(both, 1);
  _mm_storeu_ps(to, mix_texel(x0, x1, _mm_set1_ps(x)));
#elif defined(__SSE4_1__)
  const __m128 fy = _mm_set1_ps(y), fz = _mm_set1_ps(z);
  const __m128 low0 = mix_texel(load_texel(n00), load_texel(n10), fy);
  const __m128 high0 = mix_texel(load_texel(n01), load_texel(n11), fy);
  const __m128 low1 = mix_texel(load_texel(n00 + 4), load_texel(n10 + 4), fy);
  const __m128 high1 = mix_texel(load_texel(n01 + 4), load_texel(n11 + 4), fy);
  const __m128 x0 = mix_texel(low0, high0, fz), x1 = mix_texel(low1, high1, fz);
  _mm_storeu_ps(to, mix_texel(x0, x1, _mm_set1_ps(x)));
#else
  float across[8];  // both nodes along x
  for (std::size_t c = 0; c < 8; ++c) {
    const float low = mix_texel(static_cast<float>(n00[c]), static_cast<float>(n10[c]), y);
    const float high = mix_texel(static_cast<float>(n01[c]), static_cast<float>(n11[c]), y);
    across[c] = mix_texel(low, high, z);
  }
  for (std::size_t c = 0; c < 4; ++c) to[c] = mix_texel(across[c], across[c + 4], x);
#endif
}

ISOTACT_INLINE float fetch_zeroth(const TexelGrid& grid, std::size_t node, float x, float y,
                                  float z) {
  const float* const n00 = grid.zeroth + node;
  const float* const n10 = n00 + grid.row;
  const float* const n01 = n00 + grid.slice;
  const float* const n11 = n01 + grid.row;
  const float x0 = mix_texel(mix_texel(n00[0], n10[0], y), mix_texel(n01[0], n11[0], y), z);
  const float x1 = mix_texel(mix_texel(n00[1], n10[1], y), mix_texel(n01[1], n11[1], y), z);
  return mix_texel(x0, x1, x);
}

// Four numbers a lane, one after the other, into lanes.
template <typename L>
ISOTACT_INLINE void transpose_texels(const float* from, L (&to)[4]) {
  constexpr unsigned kLanes = kTexelLanes<L>;
#if defined(__SSE2__)
  if constexpr (kLanes % 4 == 0) {
    alignas(32) float columns[4][kLanes];
    for (unsigned first = 0; first < kLanes; first += 4) {
      __m128 a = _mm_loadu_ps(from + 4 * first), b = _mm_loadu_ps(from + 4 * first + 4);
      __m128 c = _mm_loadu_ps(from + 4 * first + 8), d = _mm_loadu_ps(from + 4 * first + 12);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_store_ps(columns[0] + first, a);
      _mm_store_ps(columns[1] + first, b);
      _mm_store_ps(columns[2] + first, c);
      _mm_store_ps(columns[3] + first, d);
    }
    for (unsigned c = 0; c < 4; ++c) to[c] = load<L>(columns[c]);
    return;
  }
#endif
  float columns[4][kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned c = 0; c < 4; ++c) columns[c][lane] = from[4 * lane + c];
  for (unsigned c = 0; c < 4; ++c) to[c] = load<L>(columns[c]);
}

// Where points are: clamped to the box, in cells.
template <typename L>
struct TexelPlace {
  L at[3];  // in [0, cells]

  // Cells and places in them, lane by lane.
  ISOTACT_INLINE void split(const TexelGrid& grid, std::size_t* node,
                            float (&fraction)[3][kTexelLanes<L>]) const {
    std::int32_t cell[3][kTexelLanes<L>];
    for (int axis = 0; axis < 3; ++axis) {
      const L whole = lesser(truncate(at[axis]), L(grid.last[axis]));
      store_truncated(whole, cell[axis]);
      store(at[axis] - whole, fraction[axis]);
    }
    for (unsigned lane = 0; lane < kTexelLanes<L>; ++lane)
      node[lane] = static_cast<std::uint32_t>(cell[2][lane]) * grid.slice +
                   static_cast<std::uint32_t>(cell[1][lane]) * grid.row +
                   static_cast<std::uint32_t>(cell[0][lane]);
  }
};

template <typename L>
ISOTACT_INLINE L mix_zeroth(const TexelGrid& grid, const TexelPlace<L>& place) {
  std::size_t node[kTexelLanes<L>];
  float fraction[3][kTexelLanes<L>], values[kTexelLanes<L>];
  place.split(grid, node, fraction);
  for (unsigned lane = 0; lane < kTexelLanes<L>; ++lane)
    values[lane] =
        fetch_zeroth(grid, node[lane], fraction[0][lane], fraction[1][lane], fraction[2][lane]);
  return load<L>(values);
}

// In the box: the value in cells, and the gradient.
template <typename L>
ISOTACT_INLINE void mix_texels(const TexelGrid& grid, const TexelPlace<L>& place, L& value,
                               L (&gradient)[3]) {
  if (grid.zeroth != nullptr) {
    // Differences over a cell, half of it on each side; less at the faces of the box.
    value = mix_zeroth(grid, place) * L(grid.cells_per_metre);
    for (int axis = 0; axis < 3; ++axis) {
      TexelPlace<L> lower = place, upper = place;
      lower.at[axis] = greater(place.at[axis] - L(0.5F), L(0.0F));
      upper.at[axis] = lesser(place.at[axis] + L(0.5F), L(grid.cells[axis]));
      const L rise = mix_zeroth(grid, upper) - mix_zeroth(grid, lower);
      gradient[axis] = rise * L(grid.cells_per_metre) / (upper.at[axis] - lower.at[axis]);
    }
    return;
  }
  std::size_t node[kTexelLanes<L>];
  float fraction[3][kTexelLanes<L>], fetched[4 * kTexelLanes<L>];
  place.split(grid, node, fraction);
  for (unsigned lane = 0; lane < kTexelLanes<L>; ++lane)
    fetch_first(grid, node[lane], fraction[0][lane], fraction[1][lane], fraction[2][lane],
                fetched + 4 * lane);
  L mixed[4];
  transpose_texels(fetched, mixed);
  L product(0.0F);
  for (int axis = 0; axis < 3; ++axis) {
    gradient[axis] = mixed[axis] * L(1.0F / 32767.0F);
    product = product + gradient[axis] * (place.at[axis] - L(grid.half[axis]));
  }
  value = mixed[3] * L(grid.b_scale) + L(0.5F) * product;
}

// Metres, and the direction of steepest ascent, of any length. Outside of the box as extend_outside
// (field.h) has it.
template <typename L>
ISOTACT_INLINE void evaluate_texels(const TexelGrid& grid, const L (&point)[3], L& distance,
                                    L (&direction)[3]) {
  TexelPlace<L> place;
  L away[3], gap_sq(0.0F);
  for (int axis = 0; axis < 3; ++axis) {
    const L wanted =
        (point[axis] - L(grid.middle[axis])) * L(grid.cells_per_metre) + L(grid.half[axis]);
    place.at[axis] = lesser(greater(wanted, L(0.0F)), L(grid.cells[axis]));
    away[axis] = wanted - place.at[axis];
    gap_sq = gap_sq + away[axis] * away[axis];
  }
  L value;
  mix_texels(grid, place, value, direction);
  const auto outside = gap_sq > L(0.0F);
  if (bits_of(outside) != 0) {
    const L gap = square_root(gap_sq);
    const auto positive = value > L(0.0F);
    // The gradient on the box counts along axes in which the point does not lie outside.
    const L share = select(positive, value, gap);
    for (int axis = 0; axis < 3; ++axis) {
      const L along = select(away[axis] != L(0.0F), L(0.0F), direction[axis]);
      direction[axis] = select(outside, away[axis] + along * share, direction[axis]);
    }
    const L beyond = select(positive, square_root(gap_sq + value * value), value + gap);
    value = select(outside, beyond, value);
  }
  distance = value * L(grid.metres_per_cell);
}

// A lower bound of the true distance, metres, by the node nearest to the point alone: distances
// change no faster than space. Exact nodes make it better than a mean of the eight around, which is
// off by more than the distance to the nearest one. It also takes an eighth of the memory. But for
// the nodes' own error. Outside of the box, which holds the body: as field.h has it.
template <typename L>
ISOTACT_INLINE L compute_texel_floor(const TexelGrid& grid, const L (&point)[3]) {
  constexpr unsigned kLanes = kTexelLanes<L>;
  L nearest[3], gap_sq(0.0F), offset_sq(0.0F);
  std::int32_t index[3][kLanes];
  for (int axis = 0; axis < 3; ++axis) {
    const L wanted =
        (point[axis] - L(grid.middle[axis])) * L(grid.cells_per_metre) + L(grid.half[axis]);
    const L on_box = lesser(greater(wanted, L(0.0F)), L(grid.cells[axis]));
    nearest[axis] = truncate(on_box + L(0.5F));
    const L away = wanted - on_box, offset = on_box - nearest[axis];
    gap_sq = gap_sq + away * away;
    offset_sq = offset_sq + offset * offset;
    store_truncated(nearest[axis], index[axis]);
  }
  L value;
  if (grid.zeroth != nullptr) {
    float values[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = grid.zeroth[static_cast<std::uint32_t>(index[2][lane]) * grid.slice +
                                 static_cast<std::uint32_t>(index[1][lane]) * grid.row +
                                 static_cast<std::uint32_t>(index[0][lane])];
    value = load<L>(values) * L(grid.cells_per_metre);
  } else {
    float fetched[4 * kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::int16_t* const from =
          grid.first + 4 * (static_cast<std::uint32_t>(index[2][lane]) * grid.slice +
                            static_cast<std::uint32_t>(index[1][lane]) * grid.row +
                            static_cast<std::uint32_t>(index[0][lane]));
      for (unsigned c = 0; c < 4; ++c) fetched[4 * lane + c] = static_cast<float>(from[c]);
    }
    L node[4];
    transpose_texels(fetched, node);
    L product(0.0F);
    for (int axis = 0; axis < 3; ++axis)
      product = product + (node[axis] * L(1.0F / 32767.0F)) * (nearest[axis] - L(grid.half[axis]));
    value = node[3] * L(grid.b_scale) + L(0.5F) * product;
  }
  // NodeBound of field_texels.h; kFirstOrderNear, less what 16 bits round.
  const L far = greater(lesser(value, L(grid.near)), value - L(grid.excess));
  const L sure = select(value > L(3.9F), far, value);
  const L on_box = sure - square_root(offset_sq);
  const L outside = greater(on_box, L(0.0F));
  const L beyond = square_root(gap_sq + outside * outside);
  return select(gap_sq > L(0.0F), beyond, on_box) * L(grid.metres_per_cell);
}

}  // namespace detail
}  // namespace isotact
