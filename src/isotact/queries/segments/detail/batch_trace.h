// The first stage of segment_batch.h over a lane type: paths from segments, and through the macro
// cells.
#pragma once

#include "isotact/queries/segments/detail/batch_lanes.h"

namespace isotact::detail {

template <typename F>
struct BatchTrace : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Ints = typename L::Ints;
  using L::kLanes;

  // ---- paths ----------------------------------------------------------------------------------

  // As make_path computes them, in doubles.
  static __attribute__((noinline)) void find_places(BatchWork& w) {
    using D = Lanes<double, F::kWidth / 2>;
    constexpr std::size_t kWide = D::kWidth;
    const D scale(w.field->scale);
    const std::size_t n = 6 * w.count;
    std::size_t i = 0;
    for (; i + 12 <= n; i += 12)
      for (std::size_t k = 0; k < 12; k += kWide) {
        const D at = (load_wide<D>(w.segments + i + k) - load<D>(w.field->origin + k)) * scale;
        store_narrow(at, w.places + i + k);
      }
    for (; i < n; ++i)
      w.places[i] = static_cast<float>(
          (static_cast<double>(w.segments[i]) - w.field->origin[i % 12]) * w.field->scale);
  }

  template <typename D>
  static ISOTACT_INLINE void store_narrow(D a, float* to) {
#if defined(__AVX2__)
    if constexpr (sizeof(D) == 32) {
      _mm_storeu_ps(to, _mm256_cvtpd_ps(a.v));
      return;
    }
#endif
    for (int i = 0; i < D::kWidth; ++i) to[i] = static_cast<float>(a.v[i]);
  }

  struct Paths {
    F origin[3], direction[3], inverse[3];
    unsigned live;
  };

  static ISOTACT_INLINE Paths take_paths(BatchWork& w, std::size_t begin) {
    const unsigned live = L::live_lanes(w.count, begin);
    const float* row[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      row[lane] = w.places + 6 * (begin + lane < w.count ? begin + lane : w.count - 1);
    F place[8];
    L::load_columns(row, place);
    const F zero(0.0F), one(1.0F), least(1e-20F);
    Paths p;
    auto simple = zero < one;
    F column[8];
    for (int axis = 0; axis < 3; ++axis) {
      const F from = place[axis], to = place[3 + axis], top(w.field->top[axis]), d = to - from;
      // A coordinate that rounds to a position between the sides lies there.
      simple &= (from > zero) & (from < top) & (to > zero) & (to < top) & (L::absolute(d) > least);
      column[axis] = p.origin[axis] = from;
      column[3 + axis] = p.direction[axis] = d;
      p.inverse[axis] = one / d;
    }
    column[6] = column[7] = zero;
    L::store_rows(column, w.paths[begin].origin);
    p.live = live;
    const unsigned special = live & ~bits_of(simple);
    if (special == 0) return p;
    for (unsigned bits = special; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      if (!w.make_path(w, begin + lane)) p.live &= ~(1U << lane);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) row[lane] = w.paths[begin + lane].origin;
    L::load_columns(row, column);
    for (int axis = 0; axis < 3; ++axis) {
      p.origin[axis] = column[axis];
      p.direction[axis] = column[3 + axis];
      p.inverse[axis] = compute_inverse(p.direction[axis]);
    }
    return p;
  }

  static ISOTACT_INLINE F compute_inverse(F direction) {
    return select(direction != F(0.0F), F(1.0F) / direction, F(kLargestInverse));
  }

  // ---- trace ----------------------------------------------------------------------------------

  // Loads the signed byte at each address. Four bytes are read for each.
  static ISOTACT_INLINE Ints load_cubes(const BatchWork& w, Ints place) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      const __m256i words = _mm256_i32gather_epi32(
          reinterpret_cast<const int*>(w.field->free_cubes), reinterpret_cast<__m256i>(place), 1);
      return reinterpret_cast<Ints>(_mm256_srai_epi32(_mm256_slli_epi32(words, 24), 24));
    }
#endif
    Ints cubes;
    for (unsigned lane = 0; lane < kLanes; ++lane) cubes[lane] = w.field->free_cubes[place[lane]];
    return cubes;
  }

  // Starts all paths. kStops: those that start inside are done.
  template <bool kStops>
  static __attribute__((noinline)) void start(BatchWork& w) {
    for (std::size_t begin = 0; begin < w.count; begin += kLanes) {
      const Paths p = take_paths(w, begin);
      F state[12];
      Ints octant{}, number{};
      for (unsigned lane = 0; lane < kLanes; ++lane)
        number[lane] = static_cast<std::int32_t>(begin + lane);
      for (int axis = 0; axis < 3; ++axis) {
        state[axis] = p.origin[axis];
        state[3 + axis] = p.direction[axis];
        state[6 + axis] = p.inverse[axis];
        octant += (p.inverse[axis] < F(0.0F)) & (w.field->macro_count << axis);
      }
      state[9] = F(0.0F);
      state[10] = L::bits_as_floats(number);
      state[11] = L::bits_as_floats(octant);
      advance<true, kStops>(w, state, p.live, begin);
    }
  }

  // Advances all active paths by one step, round after round, to their end or, if kStops, to the
  // next macro cell with the isosurface. Steps of a round do not depend on each other, so that
  // their waits for the cache overlap.
  template <bool kStops>
  static __attribute__((noinline)) void trace(BatchWork& w) {
    Table<12>& active = w.tables->active;
    while (active.raw.size != 0) {
      const std::size_t n = active.raw.size;
      active.raw.size = 0;  // Packed anew in place: overwritten entries have been read.
      for (std::size_t begin = 0; begin < n; begin += kLanes) {
        F state[12];
        const float* from = active.raw.data + begin;
        const std::size_t stride = active.raw.capacity;
        for (std::size_t k = 0; k < 12; ++k, from += stride) state[k] = load<F>(from);
        advance<false, kStops>(w, state, L::live_lanes(n, begin), 0);
      }
    }
  }

  // Lets paths that wait go on, unless they are done.
  static __attribute__((noinline)) void resume(BatchWork& w) {
    Table<12>& waiting = w.tables->waiting;
    for (std::size_t begin = 0; begin < waiting.raw.size; begin += kLanes) {
      unsigned going = L::live_lanes(waiting.raw.size, begin);
      for (unsigned bits = going; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        const std::uint32_t path = waiting.number(10, begin + lane);
        // Inside at its start, or to be walked alone.
        const bool done =
            w.done[path] != 0 || w.first_side[path] < 0 || w.first_side[path] == kWalkAlone;
        if (done) going &= ~(1U << lane);
      }
      F state[12];
      for (std::size_t k = 0; k < 12; ++k) state[k] = load<F>(waiting.column(k) + begin);
      L::push(w, w.tables->active, going, state);
    }
    waiting.raw.size = 0;
  }

  // The time at which a walk of cells leaves the lattice.
  static ISOTACT_INLINE F find_exit(const BatchWork& w, const F* state) {
    const F zero(0.0F);
    F exit(3.0e38F);
    for (int a = 0; a < 3; ++a) {
      const F plane = select(state[6 + a] >= zero, F(w.field->top[a]), zero);
      exit = lesser((plane - state[a]) * state[6 + a], exit);
    }
    return exit;
  }

  // Advances past the macro cell, or past the empty cube.
  template <bool kIsFirst, bool kStops>
  static ISOTACT_INLINE void advance(BatchWork& w, F* state, unsigned live, std::size_t first) {
    const F side(static_cast<float>(kMacroCells)), zero(0.0F), one(1.0F);
    const F u = state[9];
    F macro[3];
    for (int a = 0; a < 3; ++a)
      macro[a] = find_block(state[a], state[3 + a], state[6 + a], u, side,
                            F(static_cast<float>(w.field->macros[a] - 1)));
    const Ints number =
        (L::to_ints(macro[2]) * w.field->macros[1] + L::to_ints(macro[1])) * w.field->macros[0] +
        L::to_ints(macro[0]);
    const Ints cubes = load_cubes(w, number + L::bits_as_ints(state[11]));
    if constexpr (kIsFirst) __builtin_memcpy(w.first_side + first, &cubes, sizeof(cubes));
    const F size = L::absolute(L::to_floats(cubes)), ahead = greater(size, one),
            behind = one - ahead;
    F leave(3.0e38F);
    for (int a = 0; a < 3; ++a) {
      const F plane = macro[a] + select(state[6 + a] >= zero, ahead, behind);
      leave = lesser((plane * side - state[a]) * state[6 + a], leave);
    }
    const F found[4] = {state[10], L::bits_as_floats(number), u, lesser(leave, one)};
    const unsigned entered = bits_of(size <= zero) & live;
    L::push(w, w.tables->macros, entered, found);
    const unsigned stuck = bits_of(leave <= u) & live;  // At the box's side.
    const unsigned ended = stuck == 0 ? 0U : stuck & bits_of(u >= find_exit(w, state));
    for (unsigned bits = stuck & ~ended; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      w.first_side[L::bits_as_ints(state[10])[lane]] = kWalkAlone;
    }
    state[9] = leave;
    unsigned going = bits_of(leave < one) & live & ~stuck;
    if constexpr (kStops) {
      L::push(w, w.tables->waiting, going & entered, state);
      going &= ~entered;
      if constexpr (kIsFirst) going &= ~bits_of(cubes < Ints{});
    }
    L::push(w, w.tables->active, going, state);
  }
};

}  // namespace isotact::detail
