// The stages of segment_batch.h from macro cells to parts of paths in bricks, over a lane type.
#pragma once

#include "isotact/queries/segments/detail/batch_trace.h"

namespace isotact::detail {

// kAlone: all items belong to the first path.
template <typename F, bool kAlone = false>
struct BatchClip : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Ints = typename L::Ints;
  using L::kLanes;

  // ---- paths ----------------------------------------------------------------------------------

  // Loads origins and directions of the paths that a table has in its first column.
  template <typename Table>
  static ISOTACT_INLINE void load_paths(const BatchWork& w, const Table& table, std::size_t begin,
                                        F* path) {
    if constexpr (kAlone) {
      for (int k = 0; k < 3; ++k) {
        path[k] = F(w.alone->origin[k]);
        path[3 + k] = F(w.alone->direction[k]);
      }
      return;
    }
    const float* row[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = w.paths[table.number(0, begin + lane)].origin;
    L::load_columns(row, path);
  }
  static ISOTACT_INLINE F load_inverse(const BatchWork& w, const F* path, int axis) {
    if constexpr (kAlone) return F(w.alone->inverse[axis]);
    return BatchTrace<F>::compute_inverse(path[3 + axis]);
  }

  // ---- slabs ----------------------------------------------------------------------------------

  struct Clip {
    F from, to;
    unsigned meets, below, above;  // Meets the slab; sides of the path's origin.
  };

  // As clip_to_slab of segment_fast.cpp.
  static ISOTACT_INLINE Clip clip_to_slab(const F* path, const F* slab, F shift, F from, F to) {
    const F one(1.0F);
    F at = slab[0] * path[0], slope = slab[0] * path[3];
    for (int axis = 1; axis < 3; ++axis) {
      at = at + slab[axis] * path[axis];
      slope = slope + slab[axis] * path[3 + axis];
    }
    at = at - shift;
    const auto along = L::absolute(slope) < F(kAlongSlab);
    const F inverse = one / slope;
    const F a = (slab[3] - at) * inverse, b = (slab[4] - at) * inverse;
    const F first = greater(lesser(a, b), from), last = lesser(greater(a, b), to);
    const auto is_near = (at >= slab[3] - one) & (at <= slab[4] + one);
    return {select(along, from, first), select(along, to, last),
            bits_of((along & is_near) | (~along & (first <= last))), bits_of(at < slab[3]),
            bits_of(at > slab[4])};
  }

  // Sets the side of a path's start, if it is not known yet.
  static ISOTACT_INLINE void set_side(BatchWork& w, std::uint32_t path, bool is_inside) {
    if (w.first_side[path] == 0) w.first_side[path] = is_inside ? -1 : 1;
  }

  // ---- clip -----------------------------------------------------------------------------------

  static __attribute__((noinline)) void find_macros(BatchWork& w) {
    Table<4>& macros = w.tables->macros;
    for (std::size_t i = 0; i < macros.raw.size; ++i) {
      const std::uint32_t n = macros.number(1, i);
      const std::uint64_t before = w.field->occupied[n / 64] & ((std::uint64_t{1} << n % 64) - 1);
      const std::uint32_t place =
          w.field->rank[n / 64] + static_cast<std::uint32_t>(__builtin_popcountll(before));
      __builtin_prefetch(&w.field->occupied_macros[place]);
      macros.set_number(1, i, place);
    }
    L::pad(w, macros);
  }

  // Lanes of a table of visits (path, number; from, to), and the first eight numbers of the visited
  // rows: a slab and the values that follow.
  struct Visits {
    unsigned live;
    F number[2];
    Clip clip;
    F row[8];
  };
  template <typename Table, typename Row>
  static ISOTACT_INLINE Visits visit(BatchWork& w, const Table& table, std::size_t begin,
                                     const Row* rows) {
    const float* row[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = rows[table.number(1, begin + lane)].slab.normal;
    F path[8];
    Visits v;
    load_paths(w, table, begin, path);
    L::load_columns(row, v.row);
    v.live = L::live_lanes(table.raw.size, begin);
    for (std::size_t k = 0; k < 2; ++k) v.number[k] = load<F>(table.column(k) + begin);
    const F from = load<F>(table.column(2) + begin), to = load<F>(table.column(3) + begin);
    v.clip = clip_to_slab(path, v.row, F(w.field->shift), from, to);
    // Paths that start on one side of the slab.
    unsigned starts = bits_of(from <= F(0.0F)) & v.live & (v.clip.below | v.clip.above);
    for (; starts != 0; starts &= starts - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(starts));
      const unsigned sides = rows[table.number(1, begin + lane)].inside;
      set_side(w, table.number(0, begin + lane), (sides >> (v.clip.above >> lane & 1U) & 1U) != 0);
    }
    return v;
  }

  // The lower corner of a macro cell, from three coordinates of 16 bits in its row.
  static ISOTACT_INLINE void find_corner(const F* row, F* lower) {
    const Ints two = L::bits_as_ints(row[6]), last = L::bits_as_ints(row[7]);
    const Ints at[3] = {(two << 16) >> 16, two >> 16, (last << 16) >> 16};
    for (int axis = 0; axis < 3; ++axis)
      lower[axis] = L::to_floats(at[axis]) * F(static_cast<float>(kMacroCells));
  }

  static __attribute__((noinline)) void clip(BatchWork& w) {
    const Table<4>& macros = w.tables->macros;
    Table<7>& near = w.tables->near_macros;
    for (std::size_t begin = 0; begin < macros.raw.size; begin += kLanes) {
      const Visits v = visit(w, macros, begin, w.field->occupied_macros);
      F lower[3];
      find_corner(v.row, lower);
      const F kept[7] = {v.number[0], v.number[1], v.clip.from, v.clip.to,
                         lower[0],    lower[1],    lower[2]};
      std::size_t place = near.raw.size;
      L::push(w, near, v.clip.meets & v.live, kept);
      for (; place < near.raw.size; ++place)
        __builtin_prefetch(&w.field->masks[near.number(1, place)]);
    }
    L::pad(w, near);
  }

  // ---- open -----------------------------------------------------------------------------------

  // As CellWalk, with one block of cells per lane: those of a table's visits, whose columns from 4
  // on are the block's lower corner. Calls visit(cell, its lower corner, in, out, lanes that spend
  // some time in it).
  template <typename Visits, typename Visit>
  static ISOTACT_INLINE void walk_blocks(BatchWork& w, const Visits& visits, std::size_t begin,
                                         float width, float last_cell, const Visit& visit) {
    const F zero(0.0F), one(1.0F), side(width), last(last_cell);
    F path[8], inverse[3], cell[3], lower[3], forth[3];
    load_paths(w, visits, begin, path);
    const F u = load<F>(visits.column(2) + begin), end = load<F>(visits.column(3) + begin);
    for (int axis = 0; axis < 3; ++axis) {
      inverse[axis] = load_inverse(w, path, axis);
      lower[axis] = load<F>(visits.column(static_cast<std::size_t>(4 + axis)) + begin);
      forth[axis] = select(inverse[axis] >= zero, one, -one);
      cell[axis] =
          find_cell_in_block(path[axis], path[3 + axis], inverse[axis], u, lower[axis], last, side);
    }
    for (unsigned live = L::live_lanes(visits.raw.size, begin); live != 0;) {
      F in = zero, out = one, leave[3], at[3];
      for (int axis = 0; axis < 3; ++axis) {
        at[axis] = lower[axis] + cell[axis] * side;
        const F a = (at[axis] - path[axis]) * inverse[axis];
        const F b = ((at[axis] + side) - path[axis]) * inverse[axis];
        leave[axis] = greater(a, b);
        in = greater(in, lesser(a, b));
        out = lesser(out, leave[axis]);
      }
      visit(cell, at, in, out, live & bits_of(out > in));
      live &= ~bits_of((out > end) | (out >= one));
      for (int axis = 0; axis < 3; ++axis) {
        cell[axis] = cell[axis] + select(leave[axis] <= out, forth[axis], zero);
        live &= bits_of((cell[axis] >= zero) & (cell[axis] <= last));
      }
    }
  }

  static __attribute__((noinline)) void open(BatchWork& w) {
    const Table<7>& near = w.tables->near_macros;
    const F zero(0.0F), across(static_cast<float>(kMacroSide));
    std::size_t done = 0;
    for (std::size_t begin = 0; begin < near.raw.size; begin += kLanes) {
      Ints low_mask, high_mask;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t mask = w.field->masks[near.number(1, begin + lane)].indexed;
        low_mask[lane] = static_cast<std::int32_t>(mask);
        high_mask[lane] = static_cast<std::int32_t>(mask >> 32U);
      }
      const F path = load<F>(near.column(0) + begin), macro = load<F>(near.column(1) + begin);
      const F first = load<F>(near.column(2) + begin), end = load<F>(near.column(3) + begin);
      const auto visit = [&](const F* cell, const F* at, F in, F out, unsigned visited)
          __attribute__((always_inline)) {
        const Ints number = L::to_ints((cell[2] * across + cell[1]) * across + cell[0]);
        const Ints zeros{}, mask = number < 32 ? low_mask : high_mask;
        const unsigned there = bits_of((mask >> (number & 31) & 1) != zeros);
        unsigned starts = visited & ~there & bits_of(in <= zero);
        for (; starts != 0; starts &= starts - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(starts));
          const std::uint64_t inside = w.field->masks[near.number(1, begin + lane)].inside;
          set_side(w, near.number(0, begin + lane), (inside >> number[lane] & 1U) != 0);
        }
        const F found[8] = {path,  macro, greater(in, first),       lesser(out, end), at[0],
                            at[1], at[2], L::bits_as_floats(number)};
        L::push(w, w.tables->cells, visited & there, found);
        if constexpr (kAlone) done = find_cells(w, done);
      };
      walk_blocks(w, near, begin, kBrickCells, kMacroSide - 1, visit);
    }
    find_cells(w, done);
    L::pad(w, w.tables->cells);
  }

  // Replaces macro cells by indexed cells, from an item on, and returns the number of items. For
  // many paths, it is called once: loops of a few rounds are mispredicted. For one path, it is
  // called at once: the memory is needed soon.
  static ISOTACT_INLINE std::size_t find_cells(BatchWork& w, std::size_t first) {
    Table<8>& cells = w.tables->cells;
    for (std::size_t i = first; i < cells.raw.size; ++i) {
      const std::uint32_t macro = cells.number(1, i);
      const std::uint64_t before = (std::uint64_t{1} << cells.number(7, i)) - 1;
      const std::uint32_t cell =
          w.field->occupied_macros[macro].first +
          static_cast<std::uint32_t>(__builtin_popcountll(w.field->masks[macro].indexed & before));
      __builtin_prefetch(&w.field->cells[cell]);
      cells.set_number(1, i, cell);
    }
    return cells.raw.size;
  }

  // ---- refine ---------------------------------------------------------------------------------

  static __attribute__((noinline)) void refine(BatchWork& w) {
    const Table<8>& cells = w.tables->cells;
    for (std::size_t begin = 0; begin < cells.raw.size; begin += kLanes) {
      const Visits v = visit(w, cells, begin, w.field->cells);
      const unsigned kept = v.clip.meets & v.live;
      const auto whole =
          L::bits_as_ints(v.row[5]) == static_cast<std::int32_t>(IndexedCell::kNoBlocks);
      const unsigned coarse = bits_of(whole) & kept;
      F lower[3];
      for (std::size_t k = 0; k < 3; ++k) lower[k] = load<F>(cells.column(4 + k) + begin);
      const F part[9] = {v.number[0], v.number[1], v.clip.from, v.clip.to, lower[0],
                         lower[1],    lower[2],    v.row[5],    v.row[6]};
      L::push(w, w.tables->parts, kept & ~coarse, part);
      if (coarse == 0) continue;
      const F look[5] = {v.number[0], v.number[1], lower[0], lower[1], lower[2]};
      L::push(w, w.tables->coarse, coarse, look);
    }
    L::pad(w, w.tables->parts);
    L::pad(w, w.tables->coarse);
  }
};

}  // namespace isotact::detail
