// The stages of segment_batch.h over a lane type.
#pragma once

#include "isotact/base/lanes.h"
#include "isotact/queries/detail/brick_cells.h"
#include "isotact/queries/detail/cubic.h"
#include "isotact/queries/detail/segment_batch.h"

namespace isotact::detail {

template <typename F>
struct BatchKernel {
  static constexpr unsigned kLanes = F::kWidth;

  // ---- rows to columns ------------------------------------------------------------------------

  // column[k] has number k of each row.
  static ISOTACT_INLINE void load_columns(const float* const* row, F* column) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      __m256 r[8], a[8], b[8];
      for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(row[i]);
      for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
      }
      for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
        b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
      }
      for (int i = 0; i < 4; ++i) {
        column[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        column[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
      }
      return;
    }
#endif
    for (int k = 0; k < 8; ++k) {
      float numbers[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) numbers[lane] = row[lane][k];
      column[k] = load<F>(numbers);
    }
  }

  // The first and the second of each pair.
  static ISOTACT_INLINE void load_byte_pairs(const std::int8_t* pairs, F* result) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      const __m256i words =
          _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs)));
      result[0] = _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(words, 24), 24));
      result[1] = _mm256_cvtepi32_ps(_mm256_srai_epi32(words, 8));
      return;
    }
#endif
    for (unsigned k = 0; k < 2; ++k) {
      std::int8_t bytes[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) bytes[lane] = pairs[2 * lane + k];
      result[k] = load_bytes<F>(bytes);
    }
  }

  // ---- trace ----------------------------------------------------------------------------------

  struct Axis {
    F origin, direction, inverse;
  };

  // The macro cell along an axis in which a path is at a time: the last one entered then or before
  // (CellWalk::move_to). Rounding misplaces it by one at most.
  static ISOTACT_INLINE F find_macro(const Axis& axis, F u, F last) {
    const F zero(0.0F), one(1.0F), side(static_cast<float>(kMacroCells));
    const F at = (axis.origin + u * axis.direction) * F(1.0F / kMacroCells);
    const F i = truncate(lesser(greater(at, zero), last));
    const F low = (i * side - axis.origin) * axis.inverse;
    const F high = ((i + one) * side - axis.origin) * axis.inverse;
    const auto up = axis.inverse >= zero;
    const F enter = select(up, low, high), leave = select(up, high, low);
    const F forth = select(up, one, -one);
    const F moved = i + select(enter > u, -forth, select(leave <= u, forth, zero));
    return lesser(greater(moved, zero), last);
  }

  // Paths on their way, one a lane. A lane whose path has ended takes the next one.
  struct Walkers {
    alignas(32) float path[10][kLanes];  // origin, direction, inverse, times a cell
    alignas(32) float u[kLanes];
    std::uint32_t number[kLanes];
    unsigned live;
  };

  static ISOTACT_INLINE bool take_next(BatchWork& w, Walkers& walkers, unsigned lane,
                                       std::size_t& next) {
    if (next == w.path_count) return false;
    const float* from = w.paths[next].origin;  // all in a row
    for (int k = 0; k < 10; ++k) walkers.path[k][lane] = from[k];
    walkers.u[lane] = 0;
    walkers.number[lane] = static_cast<std::uint32_t>(next++);
    return true;
  }

  static ISOTACT_INLINE void start(BatchWork& w, Walkers& walkers, std::size_t& next) {
    walkers.live = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (auto& row : walkers.path) row[lane] = 1;
      walkers.u[lane] = 0;
      walkers.number[lane] = 0;
      if (take_next(w, walkers, lane, next)) walkers.live |= 1U << lane;
    }
  }

  // Two sets of paths in turns: while one waits for the cache, the other computes.
  static __attribute__((noinline)) void trace(BatchWork& w) {
    Walkers one, two;
    std::size_t next = 0;
    start(w, one, next);
    start(w, two, next);
    while ((one.live | two.live) != 0) {
      if (one.live != 0) advance(w, one, next);
      if (two.live != 0) advance(w, two, next);
    }
  }

  static ISOTACT_INLINE void advance(BatchWork& w, Walkers& walkers, std::size_t& next) {
    const F side(static_cast<float>(kMacroCells)), zero(0.0F), one(1.0F);
    const float last[3] = {static_cast<float>(w.macros[0] - 1), static_cast<float>(w.macros[1] - 1),
                           static_cast<float>(w.macros[2] - 1)};
    const unsigned live = walkers.live;
    Axis axis[3];
    F macro[3], leave(3.0e38F);
    const F time = load<F>(walkers.u);
    for (int a = 0; a < 3; ++a) {
      axis[a] = {load<F>(walkers.path[a]), load<F>(walkers.path[a + 3]),
                 load<F>(walkers.path[a + 6])};
      macro[a] = find_macro(axis[a], time, F(last[a]));
      const F near = select(axis[a].inverse >= zero, macro[a] + one, macro[a]);
      leave = lesser((near * side - axis[a].origin) * axis[a].inverse, leave);
    }
    alignas(32) std::int32_t number[kLanes], free[kLanes];
    find_free(w, macro, number, free);
    const F distance = load_ints(free), away = greater(distance, -distance);
    // Past the macro cell, or past the ball around its exit that nothing is in.
    const F quarter(0.9999F * kMacroCells / 4);
    const F then = leave + greater(away - one, zero) * quarter * load<F>(walkers.path[9]);
    const unsigned first = bits_of(time <= zero) & live, full = bits_of(away <= zero) & live;
    const unsigned stuck = bits_of(then <= time) & live, done = bits_of(then >= one) & live;
    store(then, walkers.u);
    alignas(32) float at[3][kLanes];
    for (int a = 0; a < 3; ++a) store(macro[a] * side, at[a]);
    for (unsigned bits = full; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      w.queues->macros.push({walkers.number[lane],
                             static_cast<std::uint32_t>(number[lane]),
                             {at[0][lane], at[1][lane], at[2][lane]}},
                            w.grow);
    }
    for (unsigned bits = first; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      w.first_side[walkers.number[lane]] = free[lane] > 0 ? 1 : free[lane] < 0 ? -1 : 0;
    }
    for (unsigned bits = stuck | done; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      if ((stuck >> lane & 1U) != 0)
        w.first_side[walkers.number[lane]] = kWalkAlone;  // at the box's side
      if (!take_next(w, walkers, lane, next)) walkers.live &= ~(1U << lane);
    }
  }

  static ISOTACT_INLINE F load_ints(const std::int32_t* from) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8)
      return _mm256_cvtepi32_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
#endif
    float numbers[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) numbers[lane] = static_cast<float>(from[lane]);
    return load<F>(numbers);
  }

  // Numbers of macro cells and their free distances. Four bytes are read for each.
  static ISOTACT_INLINE void find_free(const BatchWork& w, const F* macro, std::int32_t* number,
                                       std::int32_t* free) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      const __m256i x = _mm256_cvttps_epi32(macro[0].v), y = _mm256_cvttps_epi32(macro[1].v),
                    z = _mm256_cvttps_epi32(macro[2].v);
      const __m256i nx = _mm256_set1_epi32(static_cast<int>(w.macros[0])),
                    ny = _mm256_set1_epi32(static_cast<int>(w.macros[1]));
      const __m256i n = _mm256_add_epi32(
          _mm256_mullo_epi32(_mm256_add_epi32(_mm256_mullo_epi32(z, ny), y), nx), x);
      const __m256i words =
          _mm256_i32gather_epi32(reinterpret_cast<const int*>(w.free_distance), n, 1);
      _mm256_store_si256(reinterpret_cast<__m256i*>(number), n);
      _mm256_store_si256(reinterpret_cast<__m256i*>(free),
                         _mm256_srai_epi32(_mm256_slli_epi32(words, 24), 24));
      return;
    }
#endif
    alignas(32) float at[3][kLanes];
    for (int axis = 0; axis < 3; ++axis) store(macro[axis], at[axis]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      number[lane] = (static_cast<std::int32_t>(at[2][lane]) * static_cast<int>(w.macros[1]) +
                      static_cast<std::int32_t>(at[1][lane])) *
                         static_cast<int>(w.macros[0]) +
                     static_cast<std::int32_t>(at[0][lane]);
      free[lane] = static_cast<std::int32_t>(w.free_distance[number[lane]]);
    }
  }

  // ---- open -----------------------------------------------------------------------------------

  // The 2^3 coarse cells of a macro cell at once: three planes an axis cut the path, and each cell
  // lies between two of them.
  static __attribute__((noinline)) void open(BatchWork& w) {
    constexpr float kSide = kBrickCells;
    alignas(32) static constexpr float kLower[3][8] = {{0, kSide, 0, kSide, 0, kSide, 0, kSide},
                                                       {0, 0, kSide, kSide, 0, 0, kSide, kSide},
                                                       {0, 0, 0, 0, kSide, kSide, kSide, kSide}};
    constexpr unsigned kParts = 8 / kLanes;
    for (const MacroVisit& visit : w.queues->macros) {
      const BatchPath& p = w.paths[visit.path];
      const std::uint64_t word = w.occupied[visit.macro / 64];
      const std::uint64_t before = word & ((std::uint64_t{1} << visit.macro % 64) - 1);
      const IndexedMacro& macro =
          w.occupied_macros[w.rank[visit.macro / 64] +
                            static_cast<std::uint32_t>(__builtin_popcountll(before))];
      const float inverse[3] = {p.inverse_x, p.inverse_y, p.inverse_z};
      F in[kParts], out[kParts];
      for (unsigned part = 0; part < kParts; ++part) {
        in[part] = F(0.0F);
        out[part] = F(1.0F);
        for (int axis = 0; axis < 3; ++axis) {
          const F lower = F(visit.lower[axis]) + load<F>(kLower[axis] + part * kLanes);
          const F a = (lower - F(p.origin[axis])) * F(inverse[axis]);
          const F b = ((lower + F(kSide)) - F(p.origin[axis])) * F(inverse[axis]);
          in[part] = greater(lesser(a, b), in[part]);
          out[part] = lesser(greater(a, b), out[part]);
        }
      }
      alignas(32) float from[8], to[8];
      unsigned hit = 0;
      for (unsigned part = 0; part < kParts; ++part) {
        hit |= bits_of(out[part] > in[part]) << (part * kLanes);
        store(in[part], from + part * kLanes);
        store(out[part], to + part * kLanes);
      }
      for (unsigned bits = hit & macro.cells; bits != 0; bits &= bits - 1) {
        const unsigned cell = static_cast<unsigned>(__builtin_ctz(bits));
        const std::uint32_t number =
            macro.first +
            static_cast<std::uint32_t>(__builtin_popcount(macro.cells & ((1U << cell) - 1)));
        __builtin_prefetch(&w.cells[number]);
        w.queues->visits.push({visit.path, number, from[cell], to[cell]}, w.grow);
      }
    }
  }

  // ---- clip -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void clip(BatchWork& w) {
    const CellVisit* visits = w.queues->visits.begin();
    const std::size_t count = w.queues->visits.raw.size;
    const F one(1.0F);
    for (std::size_t begin = 0; begin < count; begin += kLanes) {
      const float *path_row[kLanes], *cell_row[kLanes];
      alignas(32) float from[kLanes], to[kLanes];
      unsigned coarse = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const CellVisit& visit = visits[begin + lane < count ? begin + lane : count - 1];
        const IndexedCell& cell = w.cells[visit.cell];
        path_row[lane] = w.paths[visit.path].origin;
        cell_row[lane] = cell.normal;
        from[lane] = visit.from;
        to[lane] = visit.to;
        coarse |= (cell.brick == BrickField::kNoBrick ? 1U : 0U) << lane;
      }
      F path[8], cell[8];
      load_columns(path_row, path);
      load_columns(cell_row, cell);
      F at = cell[0] * path[0], slope = cell[0] * path[3];
      for (int axis = 1; axis < 3; ++axis) {
        at = at + cell[axis] * path[axis];
        slope = slope + cell[axis] * path[3 + axis];
      }
      const F size = greater(slope, -slope);
      const auto is_along = size < F(1e-6F);
      const F inverse = one / slope;
      const F a = (cell[3] - at) * inverse, b = (cell[4] - at) * inverse;
      const F first = load<F>(from), last = load<F>(to);
      const F new_first = greater(lesser(a, b), first), new_last = lesser(greater(a, b), last);
      const auto near_enough = (at >= cell[3] - one) & (at <= cell[4] + one);
      const unsigned along = bits_of(is_along), near = bits_of(near_enough),
                     cut = bits_of(new_first <= new_last);
      store(new_first, from);
      store(new_last, to);
      const std::size_t n = count - begin < kLanes ? count - begin : kLanes;
      for (unsigned bits = coarse | (along & near) | (cut & ~along); bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        if (lane >= n) break;
        CellVisit part = visits[begin + lane];
        if (((coarse | along) >> lane & 1U) == 0) {
          part.from = from[lane];
          part.to = to[lane];
        }
        const std::uint32_t brick = w.cells[part.cell].brick;
        if (brick != BrickField::kNoBrick) __builtin_prefetch(&w.bricks[brick]);
        w.queues->parts.push(part, w.grow);
      }
    }
  }

  // ---- step -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void step(BatchWork& w) {
    const CellVisit* parts = w.queues->parts.begin();
    const std::size_t count = w.queues->parts.raw.size;
    for (std::size_t begin = 0; begin < count; begin += kLanes) {
      const CellVisit* of[kLanes];
      unsigned live = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        of[lane] = &parts[begin + lane < count ? begin + lane : count - 1];
        if (begin + lane >= count) continue;
        const IndexedCell& cell = w.cells[of[lane]->cell];
        if (cell.brick == BrickField::kNoBrick)
          add_coarse(w, of[lane]->path, cell);
        else
          live |= 1U << lane;
      }
      if (live != 0) walk_bricks(w, of, live);
    }
  }

  static ISOTACT_INLINE void add_coarse(BatchWork& w, std::uint32_t path, const IndexedCell& cell) {
    const float* from = w.coarse + static_cast<std::size_t>(cell.at[2]) * w.coarse_slice +
                        static_cast<std::size_t>(cell.at[1]) * w.coarse_row +
                        static_cast<std::size_t>(cell.at[0]);
    const std::size_t row = w.coarse_row, slice = w.coarse_slice;
    const auto place = static_cast<std::uint32_t>(w.queues->corners.raw.size);
    w.queues->corners.push({{from[0], from[1], from[row], from[row + 1], from[slice],
                             from[slice + 1], from[slice + row], from[slice + row + 1]}},
                           w.grow);
    w.queues->looks.push({{static_cast<float>(int{cell.at[0]} * kBrickCells),
                           static_cast<float>(int{cell.at[1]} * kBrickCells),
                           static_cast<float>(int{cell.at[2]} * kBrickCells)},
                          {0, 0, 0},
                          kBrickCells,
                          1,
                          nullptr,
                          path,
                          place},
                         w.grow);
  }

  // As CellWalk, each between the planes of a brick of its own.
  static ISOTACT_INLINE void walk_bricks(BatchWork& w, const CellVisit* const* of, unsigned live) {
    const float *path_row[kLanes], *path_rest[kLanes];
    alignas(32) float corner[3][kLanes], from[kLanes], to[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      path_row[lane] = w.paths[of[lane]->path].origin;
      path_rest[lane] = &w.paths[of[lane]->path].inverse_z;
      from[lane] = of[lane]->from;
      to[lane] = of[lane]->to;
      for (int axis = 0; axis < 3; ++axis)
        corner[axis][lane] =
            static_cast<float>(int{w.cells[of[lane]->cell].at[axis]} * kBrickCells);
    }
    F row[8], rest[8];
    load_columns(path_row, row);
    load_columns(path_rest, rest);
    const F inverse[3] = {row[6], row[7], rest[0]};
    const F zero(0.0F), one(1.0F), last_cell(kBrickCells - 1.0F), end = load<F>(to);
    F cell[3], lower[3], forth[3];  // cells from the brick's first corner
    for (int axis = 0; axis < 3; ++axis) {
      const F u = load<F>(from);
      lower[axis] = load<F>(corner[axis]);
      const auto up = inverse[axis] >= zero;
      forth[axis] = select(up, one, -one);
      const F at = (row[axis] + u * row[3 + axis]) - lower[axis];
      const F i = truncate(lesser(greater(at, zero), last_cell));
      const F low = ((lower[axis] + i) - row[axis]) * inverse[axis];
      const F high = ((lower[axis] + i + one) - row[axis]) * inverse[axis];
      const F enter = select(up, low, high), leave = select(up, high, low);
      const F moved = i + select(enter > u, -forth[axis], select(leave <= u, forth[axis], zero));
      cell[axis] = lesser(greater(moved, zero), last_cell);
    }
    while (live != 0) {
      F in = zero, out = one, leave[3];
      for (int axis = 0; axis < 3; ++axis) {
        const F at = lower[axis] + cell[axis];
        const F a = (at - row[axis]) * inverse[axis], b = ((at + one) - row[axis]) * inverse[axis];
        leave[axis] = greater(a, b);
        in = greater(in, lesser(a, b));
        out = lesser(out, leave[axis]);
      }
      alignas(32) float at[3][kLanes], first[3][kLanes], sample[kLanes];
      const F nine(static_cast<float>(kBrickNodes));
      store((cell[2] * nine + cell[1]) * nine + cell[0], sample);
      for (int axis = 0; axis < 3; ++axis) {
        store(lower[axis] + cell[axis], at[axis]);
        store(cell[axis] * F(0.125F), first[axis]);
      }
      for (unsigned bits = live & bits_of(out > in); bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        const std::uint32_t brick = w.cells[of[lane]->cell].brick;
        const std::int8_t* corrections =
            w.bricks[brick].correction + static_cast<int>(sample[lane]);
        __builtin_prefetch(corrections);
        __builtin_prefetch(corrections + 81 + kBrickNodes + 1);
        w.queues->looks.push({{at[0][lane], at[1][lane], at[2][lane]},
                              {first[0][lane], first[1][lane], first[2][lane]},
                              1,
                              0.125F,
                              corrections,
                              of[lane]->path,
                              brick},
                             w.grow);
      }
      live &= ~bits_of((out > end) | (out >= one));
      if (live == 0) return;
      for (int axis = 0; axis < 3; ++axis) {
        cell[axis] = cell[axis] + select(leave[axis] <= out, forth[axis], zero);
        live &= bits_of((cell[axis] >= zero) & (cell[axis] <= last_cell));
      }
    }
  }

  // ---- look -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void look(BatchWork& w) {
    const Look* looks = w.queues->looks.begin();
    const std::size_t count = w.queues->looks.raw.size;
    w.looks += count;
    for (std::size_t begin = 0; begin < count; begin += kLanes) {
      const Look* of[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        of[lane] = &looks[begin + lane < count ? begin + lane : count - 1];
      look_at(w, of, count - begin < kLanes ? count - begin : kLanes);
    }
  }

  static ISOTACT_INLINE void look_at(BatchWork& w, const Look* const* of, std::size_t n) {
    static constexpr std::int8_t kNone[128] = {};
    const float *path_row[kLanes], *path_rest[kLanes], *corner_row[kLanes], *look_row[kLanes];
    alignas(32) std::int8_t pairs[4][2 * kLanes];  // neighbours along x, lane after lane
    unsigned coarse_cells = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Look& look = *of[lane];
      path_row[lane] = w.paths[look.path].origin;
      path_rest[lane] = &w.paths[look.path].inverse_z;
      look_row[lane] = look.lower;
      const bool fine = look.correction != nullptr;
      coarse_cells |= (fine ? 0U : 1U) << lane;
      corner_row[lane] =
          fine ? w.bricks[look.corners].corner : w.queues->corners.begin()[look.corners].value;
      const std::int8_t* from = fine ? look.correction : kNone;
      for (int k = 0; k < 8; k += 2)
        __builtin_memcpy(&pairs[k / 2][2 * lane], from + kCornerSample[k], 2);
    }
    F row[8], rest[8], place[8], coarse[8], corner[8];
    load_columns(path_row, row);
    load_columns(path_rest, rest);
    load_columns(look_row, place);
    load_columns(corner_row, coarse);
    PathLanes<F> path;
    F low[3], high[3], from[3], to[3];
    const F sides = place[6], widths = place[7];
    for (int axis = 0; axis < 3; ++axis) {
      path.origin[axis] = row[axis];
      path.direction[axis] = row[3 + axis];
      low[axis] = place[axis];
      high[axis] = low[axis] + sides;
      from[axis] = place[3 + axis];
      to[axis] = from[axis] + widths;
    }
    path.inverse[0] = row[6];
    path.inverse[1] = row[7];
    path.inverse[2] = rest[0];
    const BoxSpan<F> span = find_box_span(path, low, high, F(1.0F) / sides);
    find_sub_box(coarse, from, to, corner);
    const F zero(0.0F), step(w.step), iso(w.iso);
    F largest(0.0F);
    for (int k = 0; k < 8; k += 2) {
      F correction[2];
      load_byte_pairs(pairs[k / 2], correction);
      for (int i = 0; i < 2; ++i) {
        corner[k + i] = (corner[k + i] + step * correction[i]) - iso;
        largest = greater(largest, greater(corner[k + i], -corner[k + i]));
      }
    }
    F b[4];
    find_cubic(corner, span, b);
    unsigned in_corner[8], in_b[4];
    for (int k = 0; k < 8; ++k) in_corner[k] = bits_of(corner[k] <= zero);
    for (int k = 0; k < 4; ++k) in_b[k] = bits_of(b[k] <= zero);
    unsigned all = in_corner[0], any = in_corner[0];
    for (int k = 1; k < 8; ++k) {
      all &= in_corner[k];
      any |= in_corner[k];
    }
    if (w.are_starts) {
      for (unsigned lane = 0; lane < n; ++lane)
        w.first_side[of[lane]->path] = (in_b[0] >> lane & 1U) != 0 ? -1 : 1;
      return;
    }
    const unsigned mixed = any & ~all;
    // One change of side among the coefficients: one root.
    const unsigned c0 = in_b[0] ^ in_b[1], c1 = in_b[1] ^ in_b[2], c2 = in_b[2] ^ in_b[3];
    const unsigned changes = c0 | c1 | c2;
    const unsigned several = (c0 & c1) | (c0 & c2) | (c1 & c2);
    const F limit = largest * F(kDoubtful);
    const F end0 = greater(b[0], -b[0]), end3 = greater(b[3], -b[3]);
    const unsigned doubtful = bits_of((end0 < limit) | (end3 < limit));
    alignas(32) float root[kLanes], in[kLanes], out[kLanes], coefficient[4][kLanes];
    store(span.in, in);
    store(span.out, out);
    for (int k = 0; k < 4; ++k) store(b[k], coefficient[k]);
    if ((changes & ~several & mixed) != 0)
      store(find_cubic_root(b, F(0.0F), b[0], F(1.0F), b[3]), root);
    w.cubics += static_cast<std::uint64_t>(__builtin_popcount(mixed & ((1U << n) - 1)));
    // What is not crossed tells nothing, but for the ends of coarse cells.
    for (unsigned bits = mixed & (changes | coarse_cells) & ((1U << n) - 1); bits != 0;
         bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      Found found{of[lane]->path,
                  0,
                  (in_b[0] >> lane & 1U) != 0,
                  of[lane]->correction == nullptr && (doubtful >> lane & 1U) != 0,
                  in[lane],
                  {}};
      float s[3] = {0, 0, 0};
      if ((several >> lane & 1U) != 0) {
        const float one[4] = {coefficient[0][lane], coefficient[1][lane], coefficient[2][lane],
                              coefficient[3][lane]};
        found.crossings = static_cast<std::uint16_t>(find_crossings(one, s));
      } else if ((changes >> lane & 1U) != 0) {
        found.crossings = 1;
        s[0] = root[lane];
      }
      for (unsigned i = 0; i < found.crossings; ++i)
        found.time[i] = in[lane] + s[i] * (out[lane] - in[lane]);
      w.queues->found.push(found, w.grow);
    }
  }

  static void look_only(BatchWork& w) { look(w); }

  static void run(BatchWork& w) {
    trace(w);
    open(w);
    w.nodes += w.queues->macros.raw.size + w.queues->visits.raw.size;
    clip(w);
    step(w);
    look(w);
  }
};

}  // namespace isotact::detail
