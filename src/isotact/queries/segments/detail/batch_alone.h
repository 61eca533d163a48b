// One segment through the stages of segment_batch.h, over a lane type. Steps of one path wait for
// each other, so its time is cut into one section per lane, which all advance at once. After that,
// lanes are macro cells, coarse cells and fine cells of the path.
#pragma once

#include "isotact/queries/segments/detail/batch_look.h"

namespace isotact::detail {

template <typename F>
struct BatchAlone : BatchLanes<F> {
  using L = BatchLanes<F>;
  using Ints = typename L::Ints;
  using L::kLanes;

  static void run(BatchWork& w) {
    trace(w);
    if (w.first_side[0] == kWalkAlone || w.overflow) return;
    BatchKernel<F>::template look_at_macros<true>(w);
  }

 private:
  // Lengths are macro cells, 2^5 cells: the same bits of all times.
  struct State {
    F origin[3], direction[3], inverse[3], last[3];
    Ints is_down[3];
    F u;
  };
  struct Step {
    F macro[3], leave;
    Ints number, cubes;
  };

  // As BatchTrace::advance.
  static ISOTACT_INLINE Step find_step(const BatchWork& w, const State& s, Ints octant) {
    const F zero(0.0F), one(1.0F);
    Step step;
    for (int a = 0; a < 3; ++a) {  // As find_block.
      const F at = s.origin[a] + s.u * s.direction[a];
      const F plane = truncate(greater(at, zero) + F(0.5F));
      const F time = (plane - s.origin[a]) * s.inverse[a];
      // Before the plane: not passed yet on the way up, or passed on the way down.
      const Ints is_before = (time <= s.u) ^ ~s.is_down[a];
      const F cell = plane - L::bits_as_floats(is_before & L::bits_as_ints(one));
      step.macro[a] = lesser(greater(cell, zero), s.last[a]);
    }
    const std::int32_t* const n = w.field->macros;
    step.number = (L::to_ints(step.macro[2]) * n[1] + L::to_ints(step.macro[1])) * n[0] +
                  L::to_ints(step.macro[0]);
    step.cubes = BatchTrace<F>::load_cubes(w, step.number + octant);
    const F ahead = greater(L::absolute(L::to_floats(step.cubes)), one), behind = one - ahead;
    F leave[3];
    for (int a = 0; a < 3; ++a)
      leave[a] =
          ((step.macro[a] + select(s.is_down[a], behind, ahead)) - s.origin[a]) * s.inverse[a];
    step.leave = lesser(leave[0], lesser(leave[1], leave[2]));
    return step;
  }

  // Lists the macro cells with indexed cells. A macro cell belongs to the section in which the path
  // enters it. The section that starts inside of one leaves it out: the one before comes to it,
  // since it advances until it passes its own end.
  static ISOTACT_INLINE void trace(BatchWork& w) {
    const F zero(0.0F), one(1.0F), side(static_cast<float>(kMacroCells)), share(1.0F / kMacroCells);
    float first[kLanes], last[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      first[lane] = static_cast<float>(lane) / kLanes;
      last[lane] = static_cast<float>(lane + 1) / kLanes;
    }
    State s;
    F exit(3.0e38F);
    Ints octant{};
    for (int a = 0; a < 3; ++a) {
      s.origin[a] = F(w.paths[0].origin[a]) * share;
      s.direction[a] = F(w.paths[0].direction[a]) * share;
      s.inverse[a] = F(w.inverse[a]) * side;
      s.last[a] = F(static_cast<float>(w.field->macros[a] - 1));
      s.is_down[a] = s.inverse[a] < zero;
      octant += s.is_down[a] & (w.field->macro_count << a);
      const F plane = select(s.is_down[a], zero, F(w.field->top[a]) * share);
      exit = lesser((plane - s.origin[a]) * s.inverse[a], exit);
    }
    s.u = load<F>(first);
    const F end = load<F>(last);
    Step step = find_step(w, s, octant);
    w.first_side[0] = step.cubes[0];
    F enter(-3.0e38F);
    for (int a = 0; a < 3; ++a)
      enter = greater(
          ((step.macro[a] + select(s.is_down[a], one, zero)) - s.origin[a]) * s.inverse[a], enter);
    unsigned skipped = bits_of(enter < s.u) & ~1U;
    for (unsigned live = L::kAll;;) {
      const unsigned entered = bits_of(step.cubes == Ints{}) & live & ~skipped;
      const F found[4] = {zero, L::bits_as_floats(step.number), s.u, lesser(step.leave, one)};
      L::push(w, w.tables->macros, entered, found);
      w.nodes += static_cast<std::uint64_t>(__builtin_popcount(live));
      const unsigned stuck = bits_of(step.leave <= s.u) & live;  // At the box's side.
      if ((stuck & ~bits_of(s.u >= exit)) != 0) w.first_side[0] = kWalkAlone;
      live &= bits_of(step.leave < end) & ~stuck;
      if (live == 0) return;
      skipped = 0;
      s.u = step.leave;
      step = find_step(w, s, octant);
    }
  }
};

}  // namespace isotact::detail
