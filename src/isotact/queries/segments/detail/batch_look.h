// The stages of segment_batch.h in cells, over a lane type.
#pragma once

#include "isotact/queries/segments/detail/batch_clip.h"
#include "isotact/queries/segments/detail/brick_cells.h"
#include "isotact/queries/segments/detail/cubic.h"

namespace isotact::detail {

template <typename F, bool kAlone = false>
struct BatchLook : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Clip = BatchClip<F, kAlone>;
  using Ints = typename L::Ints;
  using L::kLanes;

  // ---- step -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void step(BatchWork& w) {
    const Table<9>& parts = w.tables->parts;
    const F zero(0.0F), two(2.0F), side(static_cast<float>(kIndexBlockCells)),
        across(static_cast<float>(kBlockNodes));
    std::size_t done = 0;
    for (std::size_t begin = 0; begin < parts.raw.size; begin += kLanes) {
      const F path = load<F>(parts.column(0) + begin), of = load<F>(parts.column(1) + begin),
              first_block = load<F>(parts.column(7) + begin);
      const Ints masks = L::bits_as_ints(load<F>(parts.column(8) + begin));
      const auto visit = [&](const F* cell, const F* at, F in, F, unsigned visited)
          __attribute__((always_inline)) {
        // One of the 2^3 blocks, and the position in it.
        F block[3], part[3];
        for (int axis = 0; axis < 3; ++axis) {
          block[axis] = truncate(cell[axis] * F(1.0F / kIndexBlockCells));
          part[axis] = cell[axis] - block[axis] * side;
        }
        const Ints sample = L::to_ints((part[2] * across + part[1]) * across + part[0]);
        // Finished lanes may be anywhere.
        const Ints number = L::to_ints((block[2] * two + block[1]) * two + block[0]) & 7;
        const Ints bit = (Ints{} + 1) << number, zeros{};
        const unsigned there = bits_of((masks & bit) != zeros);
        unsigned starts = visited & ~there & bits_of(in <= zero);
        for (; starts != 0; starts &= starts - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(starts));
          Clip::set_side(w, parts.number(0, begin + lane), (masks[lane] >> 8 & bit[lane]) != 0);
        }
        const F found[8] = {path,
                            of,
                            at[0],
                            at[1],
                            at[2],
                            L::bits_as_floats(sample),
                            L::bits_as_floats(masks & (bit - 1) & 255),  // Blocks before it.
                            first_block};
        L::push(w, w.tables->looks, visited & there, found);
        if constexpr (kAlone) done = find_blocks(w, done);
      };
      Clip::walk_blocks(w, parts, begin, 1, kBrickCells - 1, visit);
    }
    find_blocks(w, done);
    L::pad(w, w.tables->looks);
  }

  // As BatchClip::find_cells.
  static ISOTACT_INLINE std::size_t find_blocks(BatchWork& w, std::size_t first) {
    Table<8>& looks = w.tables->looks;
    for (std::size_t i = first; i < looks.raw.size; ++i) {
      const std::uint32_t block =
          looks.number(7, i) + static_cast<std::uint32_t>(__builtin_popcount(looks.number(6, i)));
      looks.set_number(6, i, block);
      const std::int8_t* from = w.field->blocks[block].correction + looks.number(5, i);
      __builtin_prefetch(from);
      __builtin_prefetch(from + kBlockCornerSample[7]);
    }
    return looks.raw.size;
  }

  // ---- read -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void look(BatchWork& w) {
    const Table<8>& looks = w.tables->looks;
    w.looks += looks.raw.size;
    for (std::size_t begin = 0; begin < looks.raw.size; begin += kLanes) {
      const float* corner_row[kLanes];
      const std::int8_t* sample[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        corner_row[lane] = w.field->cells[looks.number(1, begin + lane)].corner;
        sample[lane] = w.field->blocks[looks.number(6, begin + lane)].correction +
                       looks.number(5, begin + lane);
      }
      F path[8], coarse[8], corner[8], low[3], from[3], to[3];
      Clip::load_paths(w, looks, begin, path);
      L::load_columns(corner_row, coarse);
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = load<F>(looks.column(static_cast<std::size_t>(2 + axis)) + begin);
        const F part = low[axis] * F(0.125F);  // Exact, as all of these.
        from[axis] = part - truncate(part);
        to[axis] = from[axis] + F(0.125F);
      }
      compute_sub_box(coarse, from, to, corner);
      const F step(w.field->step), margin(w.field->margin);
      F correction[8];
      L::load_corner_bytes(sample, correction);
      for (int k = 0; k < 8; ++k) corner[k] = (corner[k] + step * correction[k]) - margin;
      look_at(w, path, low, 1.0F, corner, load<F>(looks.column(0) + begin),
              L::live_lanes(looks.raw.size, begin));
    }
  }

  // The same for coarse cells without brick.
  static __attribute__((noinline)) void look_coarse(BatchWork& w) {
    const Table<5>& looks = w.tables->coarse;
    w.looks += looks.raw.size;
    for (std::size_t begin = 0; begin < looks.raw.size; begin += kLanes) {
      const float* corner_row[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        corner_row[lane] = w.field->cells[looks.number(1, begin + lane)].corner;
      F path[8], corner[8], low[3];
      Clip::load_paths(w, looks, begin, path);
      L::load_columns(corner_row, corner);
      for (int k = 0; k < 8; ++k) corner[k] = corner[k] - F(w.field->margin);
      for (std::size_t axis = 0; axis < 3; ++axis)
        low[axis] = load<F>(looks.column(2 + axis) + begin);
      const unsigned live = L::live_lanes(looks.raw.size, begin);
      const Ends ends =
          look_at(w, path, low, kBrickCells, corner, load<F>(looks.column(0) + begin), live);
      // Rounding may see the next cell on another side: see walk_indexed.
      F largest(0.0F);
      for (int k = 0; k < 8; ++k) largest = greater(largest, L::absolute(corner[k]));
      const F limit = largest * F(kDoubtful);
      const auto doubtful = (L::absolute(ends.first) < limit) | (L::absolute(ends.last) < limit);
      for (unsigned bits = bits_of(doubtful) & live; bits != 0; bits &= bits - 1)
        w.first_side[looks.number(0, begin + static_cast<unsigned>(__builtin_ctz(bits)))] =
            kWalkAlone;
    }
  }

  struct Ends {
    F first, last;  // Values.
  };

  // For cells of any side, whose corners are given less margin.
  static ISOTACT_INLINE Ends look_at(BatchWork& w, const F* path, const F* low, float side,
                                     const F* corner, F number, unsigned live) {
    const F zero(0.0F);
    PathLanes<F> lanes;
    F high[3], b[4];
    for (int axis = 0; axis < 3; ++axis) {
      lanes.origin[axis] = path[axis];
      lanes.direction[axis] = path[3 + axis];
      lanes.inverse[axis] = Clip::load_inverse(w, path, axis);
      high[axis] = low[axis] + F(side);
    }
    const BoxSpan<F> span = compute_box_span(lanes, low, high, F(1 / side));
    compute_cubic(corner, span, b);
    F least = corner[0], most = corner[0];
    for (int k = 1; k < 8; ++k) {
      least = lesser(least, corner[k]);
      most = greater(most, corner[k]);
    }
    const unsigned mixed = bits_of(least <= zero) & ~bits_of(most <= zero) & live;
    w.cubics += static_cast<std::uint64_t>(__builtin_popcount(mixed));
    unsigned in_b[4];
    for (int k = 0; k < 4; ++k) in_b[k] = bits_of(b[k] <= zero);
    const unsigned starts = bits_of(span.in <= zero) & live;
    for (unsigned bits = starts; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      Clip::set_side(w, static_cast<std::uint32_t>(L::bits_as_ints(number)[lane]),
                     (in_b[0] >> lane & 1U) != 0);
    }
    // One change of side among the coefficients means one root.
    const auto c0 = (b[0] <= zero) ^ (b[1] <= zero), c1 = (b[1] <= zero) ^ (b[2] <= zero),
               c2 = (b[2] <= zero) ^ (b[3] <= zero);
    const auto several = (c0 & c1) | (c0 & c2) | (c1 & c2);
    const F cubic[8] = {b[0],    b[1],     b[2],   b[3],
                        span.in, span.out, number, L::bits_as_floats(several)};
    L::push(w, w.tables->cubics, bits_of(c0 | c1 | c2) & mixed, cubic);
    return {b[0], b[3]};
  }

  // ---- solve ----------------------------------------------------------------------------------

  static __attribute__((noinline)) void solve(BatchWork& w) {
    Table<8>& cubics = w.tables->cubics;
    L::pad(w, cubics);
    FoundList& list = w.tables->found;
    const std::size_t first = list.size;
    if (list.capacity < first + cubics.raw.size) w.grow_found(w, list, first + cubics.raw.size);
    if (w.overflow) return;
    list.size = first + cubics.raw.size;
    for (std::size_t begin = 0; begin < cubics.raw.size; begin += kLanes) {
      F b[4];
      for (std::size_t k = 0; k < 4; ++k) b[k] = load<F>(cubics.column(k) + begin);
      const F in = load<F>(cubics.column(4) + begin), out = load<F>(cubics.column(5) + begin);
      const F root = find_cubic_root(b, F(0.0F), b[0], F(1.0F), b[3]);
      alignas(32) float time[kLanes];
      store(in + root * (out - in), time);
      for (std::size_t i = begin; i < cubics.raw.size && i < begin + kLanes; ++i) {
        Found& found = list.data[first + i];
        found = {cubics.number(6, i),
                 1,
                 cubics.column(0)[i] <= 0,
                 cubics.column(4)[i],
                 {time[i - begin], 0, 0}};
        if (cubics.number(7, i) != 0) solve_several(cubics, i, found);
        if (w.done != nullptr && (found.inside || found.crossings > 0)) w.done[found.path] = 1;
      }
    }
  }

  static ISOTACT_INLINE void solve_several(const Table<8>& cubics, std::size_t i, Found& found) {
    const float b[4] = {cubics.column(0)[i], cubics.column(1)[i], cubics.column(2)[i],
                        cubics.column(3)[i]};
    const float in = cubics.column(4)[i], out = cubics.column(5)[i];
    float s[3] = {0, 0, 0};
    found.crossings = static_cast<std::uint16_t>(find_crossings(b, s));
    for (int k = 0; k < 3; ++k) found.time[k] = in + s[k] * (out - in);
  }
};

// All stages of segment_batch.h over a lane type.
template <typename F>
struct BatchKernel {
  static void run(BatchWork& w) {
    BatchTrace<F>::find_places(w);
    if (w.done == nullptr) {
      BatchTrace<F>::template start<false>(w);
      BatchTrace<F>::template trace<false>(w);
      look_at_macros<false>(w);
      return;
    }
    BatchTrace<F>::template start<true>(w);
    for (;;) {
      BatchTrace<F>::template trace<true>(w);
      if (w.tables->macros.raw.size == 0) return;
      look_at_macros<false>(w);
      BatchTables& t = *w.tables;
      t.macros.raw.size = t.near_macros.raw.size = t.cells.raw.size = t.parts.raw.size = 0;
      t.coarse.raw.size = t.looks.raw.size = t.cubics.raw.size = 0;
      BatchTrace<F>::resume(w);
    }
  }

  // From the macro cells of the table to the crossings.
  template <bool kAlone>
  static ISOTACT_INLINE void look_at_macros(BatchWork& w) {
    using Clip = BatchClip<F, kAlone>;
    if constexpr (!kAlone) {
      Clip::find_macros(w);
      Clip::clip(w);
      w.nodes += w.tables->macros.raw.size;
    }
    Clip::open(w);
    if (w.overflow) return;
    look_at_cells<kAlone>(w);
  }

  // From the indexed cells of the table to the crossings.
  template <bool kAlone>
  static ISOTACT_INLINE void look_at_cells(BatchWork& w) {
    using Clip = BatchClip<F, kAlone>;
    using Look = BatchLook<F, kAlone>;
    Clip::refine(w);
    Look::step(w);
    if (w.overflow) return;
    Look::look(w);
    Look::look_coarse(w);
    Look::solve(w);
    w.nodes += w.tables->cells.raw.size;
  }
};

}  // namespace isotact::detail
