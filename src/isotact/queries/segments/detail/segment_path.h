// A segment inside a lattice's box, and its part in one cell. Everything here is a function of the
// segment and of the cell alone, so that it does not depend on the search that reached the cell.
//
// Lengths are cells. Time u runs from 0 to 1 over the part of the segment in the box. A plane
// between cells is crossed at u = (plane - origin) * inverse. These times are monotonic in the
// plane, so cells follow each other without gap or overlap. Cells that a segment only touches have
// an interval of zero length and are skipped.
#pragma once

#include <cstdint>

#include "isotact/base/detail/lanes.h"

namespace isotact::detail {

// The fourth number of each row is that of an axis along which nothing moves.
struct alignas(16) SegmentPath {
  float origin[4];
  float direction[4];
  float inverse[4];   // 1 / direction, at most 1e30.
  double begin, end;  // Times along the whole segment at which u is 0 and 1.
};

inline constexpr float kLargestInverse = 1e30F;

ISOTACT_INLINE double time_of(const SegmentPath& path, float u) {
  return path.begin + static_cast<double>(u) * (path.end - path.begin);
}

template <typename F>
struct PathLanes {
  F origin[3], direction[3], inverse[3];
};

// The part of a path in a box of cells.
template <typename F>
struct BoxSpan {
  F in, out;            // Times.
  F first[3], last[3];  // Entry and exit, 0 to 1 along each side of the box.
};

template <typename F>
struct BoxTimes {
  F in, out;
  F enter[3], leave[3];  // Per axis.
};

template <typename F>
ISOTACT_INLINE BoxTimes<F> compute_box_times(const PathLanes<F>& path, const F* lower,
                                             const F* upper) {
  BoxTimes<F> t;
  t.in = F(0.0F);
  t.out = F(1.0F);
  for (int axis = 0; axis < 3; ++axis) {
    const F a = (lower[axis] - path.origin[axis]) * path.inverse[axis];
    const F b = (upper[axis] - path.origin[axis]) * path.inverse[axis];
    t.enter[axis] = lesser(a, b);
    t.leave[axis] = greater(a, b);
    t.in = greater(t.in, t.enter[axis]);
    t.out = lesser(t.out, t.leave[axis]);
  }
  return t;
}

// At the crossing of a side of the box, the path is exactly on it: two cells that share the side
// then see the same position.
template <typename F>
ISOTACT_INLINE BoxSpan<F> compute_box_span(const PathLanes<F>& path, const F* lower, const F* upper,
                                           F cells_inverse) {
  const BoxTimes<F> t = compute_box_times(path, lower, upper);
  const F zero(0.0F), one(1.0F);
  BoxSpan<F> span;
  span.in = t.in;
  span.out = t.out;
  for (int axis = 0; axis < 3; ++axis) {
    const auto up = path.inverse[axis] >= zero;
    const F near = select(up, zero, one), far = select(up, one, zero);
    const F at_in =
        ((path.origin[axis] + t.in * path.direction[axis]) - lower[axis]) * cells_inverse;
    const F at_out =
        ((path.origin[axis] + t.out * path.direction[axis]) - lower[axis]) * cells_inverse;
    span.first[axis] = select(t.enter[axis] >= t.in, near, lesser(greater(at_in, zero), one));
    span.last[axis] = select(t.leave[axis] <= t.out, far, lesser(greater(at_out, zero), one));
  }
  return span;
}

// Returns the cell of a path along an axis at a time. It is the last one, between the block's first
// at `lower` and its last, that is entered then or before (CellWalk::move_to). Cells are counted
// from the first and are `side` wide. The position at that time is rounded, but by far less than
// half a cell. Only for the nearest plane is it uncertain whether the path has crossed it.
template <typename F>
ISOTACT_INLINE F find_cell_in_block(F origin, F direction, F inverse, F u, F lower, F last,
                                    F side = F(1.0F)) {
  const F zero(0.0F), one(1.0F);
  const F at = ((origin + u * direction) - lower) * (one / side);
  const F plane = truncate(greater(at, zero) + F(0.5F));
  const F time = ((lower + plane * side) - origin) * inverse;
  const F before = plane - one;
  const F up = select(time <= u, plane, before), down = select(time <= u, before, plane);
  return lesser(greater(select(inverse >= zero, up, down), zero), last);
}
template <typename F>
ISOTACT_INLINE F find_block(F origin, F direction, F inverse, F u, F side, F last) {
  return find_cell_in_block(origin, direction, inverse, u, F(0.0F), last, side);
}

// Returns exactly a at 0 and exactly b at 1.
template <typename F>
ISOTACT_INLINE F blend(F a, F b, F t) {
  return a * (F(1.0F) - t) + b * t;
}

// Returns the values of a trilinear function at the corners of a box inside its cell. Bit 0 of the
// index is x, bit 1 y, bit 2 z.
template <typename F>
ISOTACT_INLINE void compute_sub_box(const F* corner, const F* first, const F* last, F* result) {
  F x[8], y[8];
  for (int i = 0; i < 8; i += 2) {
    x[i] = blend(corner[i], corner[i + 1], first[0]);
    x[i + 1] = blend(corner[i], corner[i + 1], last[0]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      y[i + k] = blend(x[i + k], x[i + 2 + k], first[1]);
      y[i + 2 + k] = blend(x[i + k], x[i + 2 + k], last[1]);
    }
  for (int i = 0; i < 4; ++i) {
    result[i] = blend(y[i], y[i + 4], first[2]);
    result[i + 4] = blend(y[i], y[i + 4], last[2]);
  }
}

// Returns the field along the path through a cell, in Bernstein form over its span. A trilinear
// function is linear in each coordinate, so its polar form is given by the corners of the box
// between the two ends. Corners are given less margin. Blends of numbers on one side of zero stay
// there, so that a cell with corners on one side never appears to be entered.
template <typename F>
ISOTACT_INLINE void compute_cubic(const F* corner, const BoxSpan<F>& span, F* b) {
  F g[8];
  compute_sub_box(corner, span.first, span.last, g);
  const F third(1.0F / 3.0F);
  b[0] = g[0];
  b[1] = ((g[1] + g[2]) + g[4]) * third;
  b[2] = ((g[3] + g[5]) + g[6]) * third;
  b[3] = g[7];
}

}  // namespace isotact::detail
