#include "isotact/queries/detail/segment_fast.h"

namespace isotact::detail {
namespace {

// Part of a path, in time.
struct Part {
  float from, to;
};

// The part of a path through a coarse cell in which it is between the planes of the slab. Times are
// rounded outwards by more than their arithmetic loses: g . x is off by some 2^-20 cells.
Part clip_to_slab(const IndexedCell& cell, const PathLanes<float>& path, const Part& part) {
  float at = 0, slope = 0;
  for (int axis = 0; axis < 3; ++axis) {
    at += cell.normal[axis] * path.origin[axis];
    slope += cell.normal[axis] * path.direction[axis];
  }
  if (std::abs(slope) < 1e-6F) return at < cell.least - 1 || at > cell.most + 1 ? Part{1, 0} : part;
  const float inverse = 1 / slope;
  const float a = (cell.least - at) * inverse, b = (cell.most - at) * inverse;
  return {std::max(part.from, std::min(a, b)), std::min(part.to, std::max(a, b))};
}

class IndexedWalk {
 public:
  IndexedWalk(const BrickField& field, const SegmentIndex& index, const SegmentPath& path,
              const CellSettings& settings, IntervalSink& sink, SegmentCounts& counts)
      : cells_(field),
        index_(index),
        path_(path),
        settings_(settings),
        sink_(sink),
        counts_(counts),
        walk_(path, field.lattice().cells) {}

  // False where it cannot be sure, and all cells must be walked.
  bool run() {
    if (!set_first_side()) return !is_doubtful_;
    bool goes_on = true;
    while (goes_on && !sink_.is_done()) {
      const Index3 macro{walk_.cell()[0] / kMacroCells, walk_.cell()[1] / kMacroCells,
                         walk_.cell()[2] / kMacroCells};
      const std::size_t number = flat_index(index_.macros, macro[0], macro[1], macro[2]);
      const auto free = static_cast<std::int32_t>(index_.free_at(number));
      ++counts_.nodes;
      goes_on = free == 0 ? walk_macro(macro, index_.macro_at(number)) : skip(macro, free);
    }
    return !is_doubtful_;
  }

 private:
  Index3 lower_of(const Index3& macro) const {
    return {macro[0] * kMacroCells, macro[1] * kMacroCells, macro[2] * kMacroCells};
  }
  Index3 upper_of(const Index3& macro) const {
    const Index3& n = cells_.field().lattice().cells;
    return {std::min((macro[0] + 1) * kMacroCells, n[0]),
            std::min((macro[1] + 1) * kMacroCells, n[1]),
            std::min((macro[2] + 1) * kMacroCells, n[2])};
  }

  // Past the macro cell, or past the ball around its exit that nothing is in.
  bool skip(const Index3& macro, std::int32_t free) {
    const Index3 lower = lower_of(macro), upper = upper_of(macro);
    const float cells = static_cast<float>((std::abs(free) - 1) * (kMacroCells / 4));
    if (cells <= 0) return walk_.leave(lower, upper);
    const BoxTimes<float> t = walk_.times(lower, upper);
    return walk_.skip_to(t.out + cells * 0.9999F / path_.cells_a_time);
  }

  // As the walk through all cells would find it in the first one.
  bool set_first_side() {
    const Index3 macro{walk_.cell()[0] / kMacroCells, walk_.cell()[1] / kMacroCells,
                       walk_.cell()[2] / kMacroCells};
    const auto free = static_cast<std::int32_t>(
        index_.free_at(flat_index(index_.macros, macro[0], macro[1], macro[2])));
    if (free != 0) {
      sink_.set_side(walk_.time(0), free < 0);
      return !sink_.is_done();
    }
    // In the first cell that the path has some time in.
    CellWalk first = walk_;
    for (;;) {
      const Index3 c = first.cell(), coarse{c[0] >> 3, c[1] >> 3, c[2] >> 3};
      const std::uint32_t number = cells_.field().brick_at(coarse);
      const bool fine = number != BrickField::kNoBrick;
      const Index3 lower = fine ? c : Index3{coarse[0] << 3, coarse[1] << 3, coarse[2] << 3};
      const std::int32_t size = fine ? 1 : kBrickCells;
      const BoxSpan<float> span = first.span(lower, size);
      if (!(span.out > span.in)) {
        if (!first.leave(lower, {lower[0] + size, lower[1] + size, lower[2] + size})) return false;
        continue;
      }
      float corner[8], b[4];
      if (fine)
        cells_.load_fine(cells_.field().bricks()[number], c, corner);
      else
        cells_.load_coarse(coarse, corner);
      for (float& x : corner) x -= settings_.iso;
      find_cubic(corner, span, b);
      sink_.set_side(walk_.time(span.in), b[0] <= 0);
      return !sink_.is_done();
    }
  }

  bool walk_macro(const Index3& macro, const IndexedMacro& entry) {
    while (!sink_.is_done()) {
      const Index3 coarse{walk_.cell()[0] >> 3, walk_.cell()[1] >> 3, walk_.cell()[2] >> 3};
      const unsigned bit =
          static_cast<unsigned>((coarse[0] & 1) | (coarse[1] & 1) << 1 | (coarse[2] & 1) << 2);
      const Index3 lower{coarse[0] << 3, coarse[1] << 3, coarse[2] << 3};
      if ((entry.cells >> bit & 1U) != 0) {
        const unsigned before = entry.cells & ((1U << bit) - 1);
        look_at(index_.cells[entry.first + static_cast<unsigned>(__builtin_popcount(before))],
                lower);
      }
      if (!walk_.leave(lower, {lower[0] + 8, lower[1] + 8, lower[2] + 8})) return false;
      if (walk_.cell()[0] / kMacroCells != macro[0] || walk_.cell()[1] / kMacroCells != macro[1] ||
          walk_.cell()[2] / kMacroCells != macro[2])
        return true;
    }
    return false;
  }

  // Cells that were passed over are proved to lie on one side in the way they compute it. A coarse
  // cell beside a brick computes the values of their common face in another way: where those are
  // all but zero, it may see the other side there.
  void check_ends(const Index3& lower, const float* corner) {
    float above[8], largest = 0, b[4];
    for (int i = 0; i < 8; ++i) {
      above[i] = corner[i] - settings_.iso;
      largest = std::max(largest, std::abs(above[i]));
    }
    find_cubic(above, walk_.span(lower, kBrickCells), b);
    is_doubtful_ = is_doubtful_ || std::abs(b[0]) < largest * kDoubtful ||
                   std::abs(b[3]) < largest * kDoubtful;
  }

  void look_at(const IndexedCell& cell, const Index3& lower) {
    float corner[8];
    ++counts_.nodes;
    if (cell.brick == BrickField::kNoBrick) {
      cells_.load_coarse({lower[0] >> 3, lower[1] >> 3, lower[2] >> 3}, corner);
      check_ends(lower, corner);
      look_at_cell(walk_, walk_.span(lower, kBrickCells), corner, settings_, sink_, counts_);
      return;
    }
    const Index3 upper{lower[0] + 8, lower[1] + 8, lower[2] + 8};
    const BoxTimes<float> t = walk_.times(lower, upper);
    const Part part = clip_to_slab(cell, walk_.lanes(), {t.in, t.out});
    if (!(part.from <= part.to)) return;
    const Brick& brick = cells_.field().bricks()[cell.brick];
    CellWalk fine = walk_;
    fine.move_within(part.from, lower, upper);
    while (!sink_.is_done()) {
      const Index3 c = fine.cell();
      const BoxSpan<float> span = fine.span(c, 1);
      cells_.load_fine(brick, c, corner);
      look_at_cell(fine, span, corner, settings_, sink_, counts_);
      if (span.out > part.to || !fine.leave_cell()) return;
      const Index3& next = fine.cell();
      if (next[0] >> 3 != c[0] >> 3 || next[1] >> 3 != c[1] >> 3 || next[2] >> 3 != c[2] >> 3)
        return;
    }
  }

  BrickCells cells_;
  const SegmentIndex& index_;
  const SegmentPath& path_;
  const CellSettings& settings_;
  IntervalSink& sink_;
  SegmentCounts& counts_;
  CellWalk walk_;
  bool is_doubtful_ = false;
};

}  // namespace

void walk_indexed(const BrickField& field, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentCounts& counts) {
  const IntervalSink before = sink;
  if (IndexedWalk(field, index, path, settings, sink, counts).run()) return;
  sink = before;
  walk_brick_tree(field, path, settings, sink, counts);
}

}  // namespace isotact::detail
