// One segment through the stages of segment_batch.h, over a lane type. Steps of one path would wait
// for each other. But the time at which it crosses a plane depends on the plane alone, and the cell
// that it enters there on the time alone. So lanes are the planes between macro cells that it
// crosses. After that, they are macro cells, coarse cells and fine cells of the path.
#pragma once

#include "isotact/queries/segments/detail/batch_look.h"

namespace isotact::detail {

template <typename F>
struct BatchAlone : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Clip = BatchClip<F, true>;
  using Ints = typename L::Ints;
  using L::kLanes;

  static void run(BatchWork& w) {
    Macros macros;
    trace(w, macros);
    if (w.overflow || w.first_side[0] == kWalkAlone) return;
    clip(w, macros);
    BatchKernel<F>::template look_at_macros<true>(w);
  }

 private:
  static constexpr std::size_t kMostMacros = 64;

  struct Macros {
    std::uint32_t number[kMostMacros + kLanes];  // Then the position in the index.
    std::size_t size = 0;
  };

  // Lists the macro cells with indexed cells. The first one gives the first side, unless it is one
  // of them.
  //
  // The path is in the macro cells that it entered last on each axis (CellWalk). So it enters each
  // but the first through one of the planes between the first and the last. Lengths are macro
  // cells, and there are N on the longest side. The time at a plane is off by 3 * 2^-24 of it. So
  // the position is off by less than 10 * 2^-24 * N < 1e-6 * N, even if planes are compared by
  // their times. If it is not that close to another plane, it gives the macro cell. Otherwise the
  // path is walked: it might enter one macro cell by two planes.
  static ISOTACT_INLINE void trace(BatchWork& w, Macros& macros) {
    using Axes = Lanes<float, 4>;
    const BatchField& field = *w.field;
    const Axes share(1.0F / kMacroCells), side(static_cast<float>(kMacroCells)), none(0.0F),
        unit(1.0F);
    const Axes origin = load<Axes>(w.alone->origin) * share,
               direction = load<Axes>(w.alone->direction) * share,
               inverse = load<Axes>(w.alone->inverse) * side, top = load<Axes>(field.last_macro);
    const auto up = inverse >= none;
    const Axes begin = find_block(origin, direction, inverse, none, unit, top),
               end = find_block(origin, direction, inverse, unit, unit, top);
    const Axes forth = select(up, unit, -unit), crossed = greater((end - begin) * forth, none);
    const Axes plane = begin + select(up, unit, none);  // The first one that it crosses.
    // Planes of x, then those of y, then those of z. They are integers: this is exact.
    const float n0 = crossed.v[0], n1 = n0 + crossed.v[1], n2 = n1 + crossed.v[2];
    const F first[3] = {F(plane.v[0]), F(plane.v[1] - n0 * forth.v[1]),
                        F(plane.v[2] - n1 * forth.v[2])};
    const std::int32_t start = (static_cast<std::int32_t>(begin.v[2]) * field.macros[1] +
                                static_cast<std::int32_t>(begin.v[1])) *
                                   field.macros[0] +
                               static_cast<std::int32_t>(begin.v[0]);
    const unsigned octant = ~bits_of(up) & 7U;
    w.first_side[0] =
        field.free_cubes[static_cast<std::ptrdiff_t>(octant) * field.macro_count + start];
    macros.number[0] = static_cast<std::uint32_t>(start);
    std::size_t size = w.first_side[0] == 0 ? 1 : 0;
    w.nodes += 1 + static_cast<std::uint64_t>(n2);

    const F zero(0.0F), one(1.0F), half(0.5F);
    const F close(1e-6F * (1 + greater(greater(top.v[0], top.v[1]), top.v[2])));
    float lane[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) lane[i] = static_cast<float>(i);
    F item = load<F>(lane);
    unsigned undecided = 0;
    for (auto left = static_cast<std::int32_t>(n2); left > 0;
         left -= static_cast<std::int32_t>(kLanes), item = item + F(kLanes)) {
      const auto on_x = item < F(n0), on_xy = item < F(n1), is_there = item < F(n2);
      F time[3], macro[3], distance = one;
      for (int a = 0; a < 3; ++a)
        time[a] = ((first[a] + item * F(forth.v[a])) - F(origin.v[a])) * F(inverse.v[a]);
      // Lanes without a plane stay at the start.
      const F u = select(is_there, select(on_x, time[0], select(on_xy, time[1], time[2])), zero);
      const F beyond[3] = {select(on_x, half, zero), select(on_x, zero, select(on_xy, half, zero)),
                           select(on_xy, zero, half)};
      for (int a = 0; a < 3; ++a) {
        // Halfway to the next plane on the axis of this one.
        const F at = (F(origin.v[a]) + u * F(direction.v[a])) + beyond[a] * F(forth.v[a]);
        macro[a] = truncate(at);
        const F part = at - macro[a];
        distance = lesser(distance, lesser(part, one - part));
      }
      undecided |= bits_of((distance < close) & is_there);
      const Ints number =
          ((L::to_ints(macro[2]) * field.macros[1] + L::to_ints(macro[1])) * field.macros[0] +
           L::to_ints(macro[0])) &
          (is_there & ~(distance < close));
      const Ints word = load_words(field.occupied, number >> 5) >> (number & 31);
      const unsigned found = bits_of((word & 1) != Ints{}) & bits_of(is_there);
      if (size > kMostMacros) {
        w.overflow = true;
        return;
      }
      store(L::permute(L::bits_as_floats(number), L::load_order(found)), macros.number + size);
      size += static_cast<unsigned>(__builtin_popcount(found));
    }
    if (undecided != 0) w.first_side[0] = kWalkAlone;
    macros.size = size;
  }

  // Loads words of 32 bits: they are little endian, as those of 64 bits in the index.
  static ISOTACT_INLINE Ints load_words(const void* from, Ints place) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8)
      return reinterpret_cast<Ints>(_mm256_i32gather_epi32(static_cast<const int*>(from),
                                                           reinterpret_cast<__m256i>(place), 4));
#endif
    Ints words;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::int32_t word;
      __builtin_memcpy(&word, static_cast<const char*>(from) + 4 * place[lane], sizeof(word));
      words[lane] = word;
    }
    return words;
  }

  // As BatchClip::clip, with the times of the macro cell.
  static __attribute__((noinline)) void clip(BatchWork& w, Macros& macros) {
    const BatchField& field = *w.field;
    w.nodes += macros.size;
    for (std::size_t i = 0; i < macros.size; ++i) {
      const std::uint32_t n = macros.number[i];
      const std::uint64_t before = field.occupied[n / 64] & ((std::uint64_t{1} << n % 64) - 1);
      macros.number[i] =
          field.rank[n / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
      __builtin_prefetch(&field.masks[macros.number[i]]);
    }
    Table<7>& near = w.tables->near_macros;
    const F zero(0.0F), one(1.0F);
    F path[6];
    Clip::load_paths(w, near, 0, path);
    for (std::size_t begin = 0; begin < macros.size; begin += kLanes) {
      const unsigned live = L::live_lanes(macros.size, begin);
      const float* row[kLanes];
      std::uint32_t place[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        place[lane] = macros.number[begin + lane < macros.size ? begin + lane : begin];
        row[lane] = field.occupied_macros[place[lane]].slab.normal;
      }
      F column[8], lower[3], in = zero, out = one;
      L::load_columns(row, column);
      Clip::find_corner(column, lower);
      for (int a = 0; a < 3; ++a) {
        const F inverse(w.alone->inverse[a]);
        const F s = (lower[a] - path[a]) * inverse,
                t = ((lower[a] + F(static_cast<float>(kMacroCells))) - path[a]) * inverse;
        in = greater(in, lesser(s, t));
        out = lesser(out, greater(s, t));
      }
      const auto clipped = Clip::clip_to_slab(path, column, F(field.shift), in, out);
      const unsigned starts = bits_of(in <= zero) & live & (clipped.below | clipped.above);
      if (starts != 0) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(starts));
        const unsigned sides = field.occupied_macros[place[lane]].inside;
        Clip::set_side(w, 0, (sides >> (clipped.above >> lane & 1U) & 1U) != 0);
      }
      const F kept[7] = {zero,         load<F>(reinterpret_cast<const float*>(place)),
                         clipped.from, clipped.to,
                         lower[0],     lower[1],
                         lower[2]};
      L::push(w, near, clipped.meets & live & bits_of(out > in), kept);
    }
    L::pad(w, near);
  }
};

}  // namespace isotact::detail
