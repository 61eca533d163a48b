// The stages of segment_batch.h from macro cells to parts of paths in bricks, over a lane type.
#pragma once

#include "isotact/queries/detail/batch_trace.h"

namespace isotact::detail {

template <typename F>
struct BatchClip : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Ints = typename L::Ints;
  using L::kLanes;

  // ---- slabs ----------------------------------------------------------------------------------

  struct Clip {
    F from, to;
    unsigned meets, below, above;  // the slab; where the path's origin is
  };

  // As clip_to_slab of segment_fast.cpp.
  static ISOTACT_INLINE Clip clip_to_slab(const F* path, const F* slab, F from, F to) {
    const F one(1.0F);
    F at = slab[0] * path[0], slope = slab[0] * path[3];
    for (int axis = 1; axis < 3; ++axis) {
      at = at + slab[axis] * path[axis];
      slope = slope + slab[axis] * path[3 + axis];
    }
    const auto along = L::absolute(slope) < F(kAlongSlab);
    const F inverse = one / slope;
    const F a = (slab[3] - at) * inverse, b = (slab[4] - at) * inverse;
    const F first = greater(lesser(a, b), from), last = lesser(greater(a, b), to);
    const auto is_near = (at >= slab[3] - one) & (at <= slab[4] + one);
    return {select(along, from, first), select(along, to, last),
            bits_of((along & is_near) | (~along & (first <= last))), bits_of(at < slab[3]),
            bits_of(at > slab[4])};
  }

  // Paths that start on one side of a slab. `inside` has the bits of IndexedCell::inside.
  static ISOTACT_INLINE void set_side(BatchWork& w, std::uint32_t path, bool is_inside) {
    if (w.first_side[path] == 0) w.first_side[path] = is_inside ? -1 : 1;
  }

  // ---- clip -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void find_macros(BatchWork& w) {
    Table<4>& macros = w.tables->macros;
    for (std::size_t i = 0; i < macros.raw.size; ++i) {
      const std::uint32_t n = macros.number(1, i);
      const std::uint64_t before = w.occupied[n / 64] & ((std::uint64_t{1} << n % 64) - 1);
      const std::uint32_t place =
          w.rank[n / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
      __builtin_prefetch(&w.occupied_macros[place]);
      macros.set_number(1, i, place);
    }
    L::pad(w, macros);
  }

  static __attribute__((noinline)) void clip(BatchWork& w) {
    Table<4>& macros = w.tables->macros;
    for (std::size_t begin = 0; begin < macros.raw.size; begin += kLanes) {
      const float *path_row[kLanes], *macro_row[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        path_row[lane] = w.paths[macros.number(0, begin + lane)].origin;
        macro_row[lane] = w.occupied_macros[macros.number(1, begin + lane)].slab.normal;
      }
      F path[8], macro[8], number[4];
      L::load_columns(path_row, path);
      L::load_columns(macro_row, macro);
      for (std::size_t k = 0; k < 4; ++k) number[k] = load<F>(macros.column(k) + begin);
      const unsigned live = L::live_lanes(macros.raw.size, begin);
      const Clip c = clip_to_slab(path, macro, number[2], number[3]);
      const unsigned starts = bits_of(number[2] <= F(0.0F)) & live & (c.below | c.above);
      for (unsigned bits = starts; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        const unsigned sides = w.slab_sides[macros.number(1, begin + lane)];
        set_side(w, macros.number(0, begin + lane), (sides >> (c.above >> lane & 1U) & 1U) != 0);
      }
      number[2] = c.from;
      number[3] = c.to;
      L::push(w, w.tables->near_macros, c.meets & live, number);
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
    const Table<4>& near = w.tables->near_macros;
    Table<4>& cells = w.tables->cells;
    for (std::size_t i = 0; i < near.raw.size; ++i) {
      const std::uint32_t path = near.number(0, i);
      const BatchPath& p = w.paths[path];
      const IndexedMacro& macro = w.occupied_macros[near.number(1, i)];
      const float begin = near.column(2)[i], end = near.column(3)[i];
      F in[kParts], out[kParts];
      for (unsigned part = 0; part < kParts; ++part) {
        in[part] = F(0.0F);
        out[part] = F(1.0F);
      }
      for (int axis = 0; axis < 3; ++axis) {
        const F lowest(static_cast<float>(int{macro.at[axis]} * kMacroCells));
        const F origin(p.origin[axis]);
        const F inverse = BatchTrace<F>::find_inverse(F(p.direction[axis]));
        for (unsigned part = 0; part < kParts; ++part) {
          const F lower = lowest + load<F>(kLower[axis] + part * kLanes);
          const F a = (lower - origin) * inverse, b = ((lower + F(kSide)) - origin) * inverse;
          in[part] = greater(lesser(a, b), in[part]);
          out[part] = lesser(greater(a, b), out[part]);
        }
      }
      alignas(32) float from[8], to[8];
      unsigned hit = 0, meets = 0, starts = 0;
      for (unsigned part = 0; part < kParts; ++part) {
        const F first = greater(in[part], F(begin)), last = lesser(out[part], F(end));
        const unsigned shift = part * kLanes;
        hit |= bits_of(out[part] > in[part]) << shift;
        meets |= bits_of(first <= last) << shift;
        starts |= bits_of(in[part] <= F(0.0F)) << shift;
        store(first, from + shift);
        store(last, to + shift);
      }
      const unsigned free_start = starts & hit & ~unsigned{macro.cells};
      if (free_start != 0) set_side(w, path, (macro.free_cells & free_start) != 0);
      for (unsigned bits = hit & meets & macro.cells; bits != 0; bits &= bits - 1) {
        const unsigned cell = static_cast<unsigned>(__builtin_ctz(bits));
        const std::uint32_t number =
            macro.first +
            static_cast<std::uint32_t>(__builtin_popcount(macro.cells & ((1U << cell) - 1)));
        __builtin_prefetch(&w.cells[number]);
        if (cells.raw.size == cells.raw.capacity) w.grow(cells.raw);
        const std::size_t place = cells.raw.size++;
        cells.set_number(0, place, path);
        cells.set_number(1, place, number);
        cells.column(2)[place] = from[cell];
        cells.column(3)[place] = to[cell];
      }
    }
    L::pad(w, cells);
  }

  // ---- refine ---------------------------------------------------------------------------------

  static __attribute__((noinline)) void refine(BatchWork& w) {
    Table<4>& cells = w.tables->cells;
    for (std::size_t begin = 0; begin < cells.raw.size; begin += kLanes) {
      const float *path_row[kLanes], *cell_row[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        path_row[lane] = w.paths[cells.number(0, begin + lane)].origin;
        cell_row[lane] = w.cells[cells.number(1, begin + lane)].slab.normal;
      }
      F path[8], cell[8];
      L::load_columns(path_row, path);
      L::load_columns(cell_row, cell);
      const F from = load<F>(cells.column(2) + begin);
      const unsigned live = L::live_lanes(cells.raw.size, begin);
      const Clip c = clip_to_slab(path, cell, from, load<F>(cells.column(3) + begin));
      const unsigned starts = bits_of(from <= F(0.0F)) & live & (c.below | c.above);
      for (unsigned bits = starts; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        const unsigned sides = w.cells[cells.number(1, begin + lane)].inside;
        set_side(w, cells.number(0, begin + lane), (sides >> (c.above >> lane & 1U) & 1U) != 0);
      }
      // Of an indexed cell's row: a brick, three places of 16 bits.
      const Ints brick = L::bits_as_ints(cell[5]), two = L::bits_as_ints(cell[6]);
      const Ints x = (two << 16) >> 16, y = two >> 16, z = (L::bits_as_ints(cell[7]) << 16) >> 16;
      const F side(static_cast<float>(kBrickCells));
      const F numbers = load<F>(cells.column(0) + begin);
      const F part[7] = {numbers,
                         cell[5],
                         c.from,
                         c.to,
                         L::to_floats(x) * side,
                         L::to_floats(y) * side,
                         L::to_floats(z) * side};
      const unsigned coarse =
          bits_of(brick == static_cast<std::int32_t>(BrickField::kNoBrick)) & c.meets & live;
      std::size_t place = w.tables->parts.raw.size;
      L::push(w, w.tables->parts, c.meets & live & ~coarse, part);
      for (; place < w.tables->parts.raw.size; ++place)
        __builtin_prefetch(&w.bricks[w.tables->parts.number(1, place)]);
      if (coarse == 0) continue;
      const F whole[2] = {numbers, load<F>(cells.column(1) + begin)};
      L::push(w, w.tables->coarse, coarse, whole);
    }
    L::pad(w, w.tables->parts);
    L::pad(w, w.tables->coarse);
  }
};

}  // namespace isotact::detail
