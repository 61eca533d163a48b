// One segment at a time through the cells of a field.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "isotact/field/lattice.h"
#include "isotact/field/models/min_max_octree.h"
#include "isotact/queries/segments/detail/cubic.h"
#include "isotact/queries/segments/detail/segment_path.h"
#include "isotact/queries/segments/segment.h"

namespace isotact::detail {

// Returns the part of a segment in a lattice's box, or none if it has zero length or they do not
// meet.
std::optional<SegmentPath> make_path(const Lattice& lattice, const Segment& segment);
inline PathLanes<float> lanes_of(const SegmentPath& p) {
  return {{p.origin[0], p.origin[1], p.origin[2]},
          {p.direction[0], p.direction[1], p.direction[2]},
          {p.inverse[0], p.inverse[1], p.inverse[2]}};
}

// Joins changes of side to intervals. Times are those of the whole segment.
class IntervalSink {
 public:
  IntervalSink(Mode mode, std::span<SegmentInterval> to) : mode_(mode), to_(to) {}

  // Sets the side from a time on. The first call, at time 0, starts.
  void set_side(double time, bool inside) {
    if (inside == inside_) return;
    inside_ = inside;
    const float t = static_cast<float>(time);
    if (inside) {
      entered_ = t;
      if (mode_ != Mode::kAll) add({t, t});
    } else if (mode_ == Mode::kAll) {
      add({entered_, t});
    }
  }
  void finish() {
    if (mode_ == Mode::kAll) set_side(1, false);
  }
  // Returns true if no later change matters.
  bool is_done() const { return mode_ != Mode::kAll && count_ > 0; }
  bool is_inside() const { return inside_; }
  Mode mode() const { return mode_; }
  std::size_t count() const { return count_; }

 private:
  void add(const SegmentInterval& interval) {
    if (is_done()) return;
    if (count_ < to_.size()) to_[count_] = interval;
    ++count_;
  }

  Mode mode_;
  std::span<SegmentInterval> to_;
  std::size_t count_ = 0;
  float entered_ = 0;
  bool inside_ = false;
};

// The walk itself: its cell, and the step to the next cell.
class CellWalk {
 public:
  CellWalk(const SegmentPath& path, const Index3& cells)
      : path_(path), lanes_(lanes_of(path)), cells_(cells) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float o = path.origin[axis];
      const float first = is_up(axis) ? std::floor(o) : std::ceil(o) - 1;
      cell_[axis] = std::clamp(static_cast<std::int32_t>(first), 0, cells[axis] - 1);
    }
  }

  const Index3& cell() const { return cell_; }
  const PathLanes<float>& lanes() const { return lanes_; }
  const SegmentPath& path() const { return path_; }
  bool is_up(std::size_t axis) const { return path_.inverse[axis] >= 0; }

  BoxTimes<float> times(const Index3& lower, const Index3& upper) const {
    const float a[3] = {static_cast<float>(lower[0]), static_cast<float>(lower[1]),
                        static_cast<float>(lower[2])};
    const float b[3] = {static_cast<float>(upper[0]), static_cast<float>(upper[1]),
                        static_cast<float>(upper[2])};
    return compute_box_times(lanes_, a, b);
  }
  BoxSpan<float> span(const Index3& lower, std::int32_t size) const {
    const float a[3] = {static_cast<float>(lower[0]), static_cast<float>(lower[1]),
                        static_cast<float>(lower[2])};
    const float side = static_cast<float>(size);
    const float b[3] = {a[0] + side, a[1] + side, a[2] + side};
    return compute_box_span(lanes_, a, b, 1 / side);
  }

  // Moves to the cell after a block of cells around this one (upper excluded). Returns false if the
  // path or the lattice ends.
  bool leave(const Index3& lower, const Index3& upper) {
    const BoxTimes<float> t = times(lower, upper);
    if (t.out >= 1) return false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (t.leave[axis] <= t.out) {
        cell_[axis] = is_up(axis) ? upper[axis] : lower[axis] - 1;
        if (cell_[axis] < 0 || cell_[axis] >= cells_[axis]) return false;
      } else {
        move_to(axis, t.out, lower[axis], upper[axis]);
      }
    }
    return true;
  }
  bool leave_cell() { return leave(cell_, {cell_[0] + 1, cell_[1] + 1, cell_[2] + 1}); }
  // Moves to the cell at a time at which the path is in the block.
  void move_within(float u, const Index3& lower, const Index3& upper) {
    for (std::size_t axis = 0; axis < 3; ++axis) move_to(axis, u, lower[axis], upper[axis]);
  }
  // Moves to the cell at a later time u. Returns false if the path ends.
  bool skip_to(float u) {
    if (u >= 1) return false;
    for (std::size_t axis = 0; axis < 3; ++axis) move_to(axis, u, 0, cells_[axis]);
    return true;
  }

 private:
  // Moves to the last cell between lower and upper that is entered at u or before.
  void move_to(std::size_t axis, float u, std::int32_t lower, std::int32_t upper) {
    const float o = path_.origin[axis], inverse = path_.inverse[axis];
    const auto plane_time = [&](std::int32_t plane) {
      return (static_cast<float>(plane) - o) * inverse;
    };
    const float at = o + u * path_.direction[axis];
    std::int32_t i = std::clamp(static_cast<std::int32_t>(at), lower, upper - 1);
    if (is_up(axis)) {
      while (i > lower && plane_time(i) > u) --i;
      while (i + 1 < upper && plane_time(i + 1) <= u) ++i;
    } else {
      while (i + 1 < upper && plane_time(i + 1) > u) ++i;
      while (i > lower && plane_time(i) <= u) --i;
    }
    cell_[axis] = i;
  }

  const SegmentPath& path_;
  PathLanes<float> lanes_;
  Index3 cells_;
  Index3 cell_{};
};

struct CellSettings {
  float margin;
  RootSearch roots;
};

// Finds the crossings in one cell. Values that are all on one side need no search.
inline void look_at_cell(const SegmentPath& path, const BoxSpan<float>& span, const float* corner,
                         const CellSettings& settings, IntervalSink& sink, SegmentWork& counts) {
  if (!(span.out > span.in)) return;
  float above[8];
  int inside = 0;
  for (int i = 0; i < 8; ++i) {
    above[i] = corner[i] - settings.margin;
    inside += above[i] <= 0 ? 1 : 0;
  }
  ++counts.cells;
  if (inside == 0 || inside == 8) {
    sink.set_side(time_of(path, span.in), inside == 8);
    return;
  }
  ++counts.cubics;
  float b[4], s[3] = {0, 0, 0};
  compute_cubic(above, span, b);
  bool side = b[0] <= 0;
  sink.set_side(time_of(path, span.in), side);
  const int n =
      settings.roots == RootSearch::kAll
          ? find_crossings(b, s)
          : find_crossing_of_paper(b, s, [&](float at) { return evaluate_cubic(b, at).value; });
  for (int i = 0; i < n; ++i) {
    side = !side;
    sink.set_side(time_of(path, span.in + s[i] * (span.out - span.in)), side);
  }
}

}  // namespace isotact::detail
