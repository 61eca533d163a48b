#include <algorithm>

#include "isotact/queries/segments/detail/segment_search.h"

namespace isotact::detail {
namespace {

// The axes side by side; nothing moves along the fourth lane.
using Axes = Lanes<float, 4>;

Axes make_axes(const float* xyz, float fourth) {
  const float four[4] = {xyz[0], xyz[1], xyz[2], fourth};
  return load<Axes>(four);
}
Axes make_axes(const std::int16_t* xyz, int side) {
  const float four[4] = {static_cast<float>(xyz[0] * side), static_cast<float>(xyz[1] * side),
                         static_cast<float>(xyz[2] * side), 0};
  return load<Axes>(four);
}
float compute_least(Axes a) { return lesser(lesser(a.v[0], a.v[1]), a.v[2]); }
float compute_largest(Axes a) { return greater(greater(a.v[0], a.v[1]), a.v[2]); }

// Part of a path, in time.
struct Part {
  float from, to;
};

// The part of a path between the planes of a slab. Times are rounded outwards by more than the
// error of their arithmetic: g . x is off by about 2^-20 cells.
struct SlabPart {
  Part part;
  bool is_below, is_above;  // Side of the path's origin.
};
SlabPart clip_to_slab(const SegmentSlab& slab, float shift, const SegmentPath& path,
                      const Part& part) {
  float at = slab.normal[0] * path.origin[0], slope = slab.normal[0] * path.direction[0];
  for (int axis = 1; axis < 3; ++axis) {
    at += slab.normal[axis] * path.origin[axis];
    slope += slab.normal[axis] * path.direction[axis];
  }
  at -= shift;
  SlabPart result{part, at<slab.least, at> slab.most};
  if (std::abs(slope) < kAlongSlab) {
    if (at < slab.least - 1 || at > slab.most + 1) result.part = {1, 0};
    return result;
  }
  const float inverse = 1 / slope;
  const float a = (slab.least - at) * inverse, b = (slab.most - at) * inverse;
  result.part = {std::max(part.from, std::min(a, b)), std::min(part.to, std::max(a, b))};
  return result;
}

// An indexed cell on the path.
struct CellPart {
  const IndexedCell* cell;
  Axes lower;
  Part part;
};

// The corners of fine cells: `block` is the one of the index, `in` the cell in its coarse cell.

struct BrickSource {
  BrickCells cells;
  const SegmentIndex& index;

  const Index3& size() const { return cells.field().lattice().cells; }
  bool load(const IndexedCell& cell, unsigned block, const std::int32_t* in, Axes,
            float* corner) const {
    cells.load_fine(cell, index.blocks[cell.first_block + block], in, corner);
    return true;
  }
  void prefetch(const IndexedCell& cell, unsigned block, Axes) const {
    const SampleBlock* const at = index.blocks.data() + cell.first_block + block;
    __builtin_prefetch(at);
    __builtin_prefetch(at->correction + 64);
  }
};

struct GridSource {
  const DenseGrid& grid;

  const Index3& size() const { return grid.lattice().cells; }
  // The last coarse cells reach beyond the grid, where walks of cells end.
  bool load(const IndexedCell&, unsigned, const std::int32_t*, Axes at, float* corner) const {
    const Index3& size = grid.lattice().cells;
    const Index3 c{static_cast<std::int32_t>(at.v[0]), static_cast<std::int32_t>(at.v[1]),
                   static_cast<std::int32_t>(at.v[2])};
    if (c[0] >= size[0] || c[1] >= size[1] || c[2] >= size[2]) return false;
    load_corners(grid, c, corner);
    return true;
  }
  void prefetch(const IndexedCell&, unsigned, Axes at) const {
    const Index3& size = grid.lattice().cells;
    Index3 c{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      c[axis] = std::clamp(static_cast<std::int32_t>(at.v[axis]), 0, size[axis] - 1);
    const std::size_t nx = static_cast<std::size_t>(size[0]) + 1,
                      plane = nx * (static_cast<std::size_t>(size[1]) + 1);
    const float* const first =
        grid.samples().data() + flat_index(node_counts(grid.lattice()), c[0], c[1], c[2]);
    __builtin_prefetch(first);
    __builtin_prefetch(first + nx);
    __builtin_prefetch(first + plane);
    __builtin_prefetch(first + plane + nx);
  }
};

// Cells wait, and their memory is prefetched; if all intervals are requested, those of a whole
// path.
template <typename Source>
class IndexedWalk {
 public:
  IndexedWalk(const Source& source, const SegmentIndex& index, float shift, const SegmentPath& path,
              const CellSettings& settings, IntervalSink& sink, SegmentWork& counts)
      : source_(source),
        index_(index),
        shift_(shift),
        path_(path),
        lanes_(lanes_of(path)),
        settings_(settings),
        sink_(sink),
        counts_(counts),
        origin_(load<Axes>(path.origin)),
        direction_(load<Axes>(path.direction)),
        inverse_(load<Axes>(path.inverse)) {}

  // Returns false if it is uncertain, and all cells must be walked.
  bool run() {
    const Axes zero(0.0F), one(1.0F), side(static_cast<float>(kMacroCells));
    const Index3& m = index_.macros;
    const float last_macro[3] = {static_cast<float>(m[0] - 1), static_cast<float>(m[1] - 1),
                                 static_cast<float>(m[2] - 1)};
    const Axes last = make_axes(last_macro, 0);
    const std::int8_t* cubes =
        index_.free_cubes.data() + (bits_of(inverse_ < zero) & 7U) * count(index_.macros);
    for (float u = 0; u < 1;) {
      const Axes macro = find_block(origin_, direction_, inverse_, Axes(u), side, last);
      const auto at = __builtin_convertvector(macro.v, decltype(macro.v < macro.v));
      const std::size_t number = flat_index(m, at[0], at[1], at[2]);
      const int free = cubes[number];
      const float size = static_cast<float>(std::max(std::abs(free), 1));
      const Axes plane = macro + select(inverse_ >= zero, Axes(size), Axes(1 - size));
      const float leave = compute_least((plane * side - origin_) * inverse_);
      ++counts_.nodes;
      if (leave <= u) {  // At the box's side.
        if (u < find_exit() || !is_started_) return false;
        break;
      }
      if (free == 0)
        walk_macro(index_.place_of(number), {u, std::min(leave, 1.0F)});
      else if (u <= 0)
        set_first_side(free < 0);
      // Some modes need only the first, and the side of the first one must be known.
      if (!is_started_ || sink_.mode() != Mode::kAll) look_at_waiting();
      if (sink_.is_done()) return !is_doubtful_;
      if (!is_started_) return false;
      u = leave;
    }
    look_at_waiting();
    return !is_doubtful_;
  }

 private:
  // The time at which a walk of cells leaves the lattice.
  float find_exit() const {
    const Index3& cells = source_.size();
    const float top[3] = {static_cast<float>(cells[0]), static_cast<float>(cells[1]),
                          static_cast<float>(cells[2])};
    return compute_least((select(inverse_ >= Axes(0.0F), make_axes(top, 0), Axes(0.0F)) - origin_) *
                         inverse_);
  }

  void set_first_side(bool inside) {
    if (is_started_) return;
    is_started_ = true;
    sink_.set_side(time_of(path_, 0), inside);
  }

  // The path starts on one side of a slab.
  void set_first_side(const Part& part, const SlabPart& slab, unsigned inside) {
    if (part.from > 0 || !(slab.is_below || slab.is_above)) return;
    set_first_side((inside >> (slab.is_above ? 1U : 0U) & 1U) != 0);
  }

  void walk_macro(std::uint32_t place, const Part& whole) {
    const IndexedMacro& macro = index_.occupied_macros[place];
    const SlabPart slab = clip_to_slab(macro.slab, shift_, path_, whole);
    if (!is_started_) set_first_side(whole, slab, macro.inside);
    if (!(slab.part.from <= slab.part.to) || sink_.is_done()) return;
    const MacroMasks& masks = index_.masks[place];
    walk_block(make_axes(macro.at, kMacroCells), kBrickCells, kMacroSide - 1, slab.part,
               [&](Axes cell, Axes at, const Part& in) {
                 const auto bit =
                     std::uint64_t{1} << static_cast<unsigned>(
                         (cell.v[2] * kMacroSide + cell.v[1]) * kMacroSide + cell.v[0]);
                 if ((masks.indexed & bit) == 0) {
                   if (in.from <= 0) set_first_side((masks.inside & bit) != 0);
                   return;
                 }
                 const auto before =
                     static_cast<unsigned>(__builtin_popcountll(masks.indexed & (bit - 1)));
                 const IndexedCell* next = &index_.cells[macro.first + before];
                 __builtin_prefetch(next);
                 if (waiting_count_ == std::size(waiting_)) look_at_waiting();
                 waiting_[waiting_count_++] = {
                     next, at, {std::max(in.from, slab.part.from), std::min(in.to, slab.part.to)}};
               });
  }

  // Walks through the cells of a block in the given part of the path. Calls visit(cell, its lower
  // corner, its part) for those in which the path spends some time.
  template <typename Visit>
  ISOTACT_INLINE void walk_block(Axes lower, float width, float last_cell, const Part& part,
                                 const Visit& visit) {
    const Axes zero(0.0F), one(1.0F), last(last_cell), side(width);
    const Axes forth = select(inverse_ >= zero, one, -one);
    Axes cell =
        find_cell_in_block(origin_, direction_, inverse_, Axes(part.from), lower, last, side);
    while (!sink_.is_done()) {
      const Axes at = lower + cell * side;
      const Axes a = (at - origin_) * inverse_, b = ((at + side) - origin_) * inverse_;
      const Axes leave = greater(a, b);
      const float in = greater(compute_largest(lesser(a, b)), 0.0F),
                  out = lesser(compute_least(leave), 1.0F);
      if (out > in) visit(cell, at, Part{in, out});
      if (out > part.to || out >= 1) return;
      cell = cell + select(leave <= Axes(out), forth, zero);
      if (bits_of((cell >= zero) & (cell <= last)) != 15U) return;
    }
  }

  void look_at_waiting() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting_count_; ++i) {
      CellPart next = waiting_[i];
      ++counts_.nodes;
      const SlabPart slab = clip_to_slab(next.cell->slab, shift_, path_, next.part);
      if (!is_started_ && kept == 0) set_first_side(next.part, slab, next.cell->inside);
      if (!(slab.part.from <= slab.part.to)) continue;
      next.part = slab.part;
      call_for_block(next);
      waiting_[kept++] = next;
    }
    waiting_count_ = 0;
    for (std::size_t i = 0; i < kept && !sink_.is_done(); ++i)
      look_at(*waiting_[i].cell, waiting_[i].lower, waiting_[i].part);
  }

  // Prefetches the first block of the part.
  void call_for_block(const CellPart& next) const {
    const IndexedCell& cell = *next.cell;
    if (cell.first_block == IndexedCell::kNoBlocks) return;
    const Axes in = ((origin_ + Axes(next.part.from) * direction_) - next.lower) *
                    Axes(1.0F / kIndexBlockCells);
    const unsigned bit = 1U << (bits_of(in >= Axes(1.0F)) & 7U);
    source_.prefetch(cell, static_cast<unsigned>(__builtin_popcount(cell.blocks & (bit - 1))),
                     origin_ + Axes(next.part.from) * direction_);
  }

  void look_at(const IndexedCell& cell, Axes lower, const Part& part) {
    if (cell.first_block != IndexedCell::kNoBlocks) {
      walk_block(lower, 1, kBrickCells - 1, part,
                 [&](Axes in, Axes at, const Part& time) { look_at_fine(cell, in, at, time); });
      return;
    }
    is_started_ = true;
    const BoxSpan<float> span = compute_span(lower, kBrickCells);
    check_ends(span, cell.corner);
    look_at_cell(path_, span, cell.corner, settings_, sink_, counts_);
  }

  void look_at_fine(const IndexedCell& cell, Axes in, Axes at, const Part& part) {
    const std::int32_t c[3] = {static_cast<std::int32_t>(in.v[0]),
                               static_cast<std::int32_t>(in.v[1]),
                               static_cast<std::int32_t>(in.v[2])};
    const auto bit = 1U << static_cast<unsigned>((c[0] >> 2) | (c[1] >> 2) << 1 | (c[2] >> 2) << 2);
    if ((cell.blocks & bit) == 0) {
      if (part.from <= 0) set_first_side((cell.inside_blocks & bit) != 0);
      return;
    }
    const auto before = static_cast<unsigned>(__builtin_popcount(cell.blocks & (bit - 1)));
    float corner[8];
    if (!source_.load(cell, before, c, at, corner)) return;
    is_started_ = true;  // The test of the first cell gives the side.
    look_at_cell(path_, compute_span(at, 1), corner, settings_, sink_, counts_);
  }

  BoxSpan<float> compute_span(Axes lower, float side) const {
    const float low[3] = {lower.v[0], lower.v[1], lower.v[2]};
    const float high[3] = {low[0] + side, low[1] + side, low[2] + side};
    return compute_box_span(lanes_, low, high, 1 / side);
  }

  // Skipped cells are proved to lie on one side with their own arithmetic. A coarse cell beside a
  // brick computes the values of their common face with other operations. If those are almost zero,
  // it may see the other side there.
  void check_ends(const BoxSpan<float>& span, const float* corner) {
    float above[8], largest = 0, b[4];
    for (int i = 0; i < 8; ++i) {
      above[i] = corner[i] - settings_.margin;
      largest = std::max(largest, std::abs(above[i]));
    }
    compute_cubic(above, span, b);
    is_doubtful_ = is_doubtful_ || std::abs(b[0]) < largest * kDoubtful ||
                   std::abs(b[3]) < largest * kDoubtful;
  }

  const Source& source_;
  const SegmentIndex& index_;
  float shift_;
  const SegmentPath& path_;
  PathLanes<float> lanes_;
  const CellSettings& settings_;
  IntervalSink& sink_;
  SegmentWork& counts_;
  Axes origin_, direction_, inverse_;
  bool is_started_ = false, is_doubtful_ = false;
  std::size_t waiting_count_ = 0;
  CellPart waiting_[32];
};

}  // namespace

void walk_indexed(const BrickField& field, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentWork& counts) {
  const IntervalSink before = sink;
  const BrickSource source{BrickCells(field), index};
  const float shift = compute_slab_shift(index, field.voxel_size(), settings.margin);
  if (IndexedWalk(source, index, shift, path, settings, sink, counts).run()) return;
  sink = before;
  walk_brick_tree(field, {}, path, settings, sink, counts);
}

void walk_indexed(const DenseGrid& grid, const SegmentIndex& index, const SegmentPath& path,
                  const CellSettings& settings, IntervalSink& sink, SegmentWork& counts) {
  const IntervalSink before = sink;
  const GridSource source{grid};
  const float shift = compute_slab_shift(index, grid.lattice().spacing, settings.margin);
  if (IndexedWalk(source, index, shift, path, settings, sink, counts).run()) return;
  sink = before;
  walk_dense(grid, path, settings, sink, counts);
}

}  // namespace isotact::detail
