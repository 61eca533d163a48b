#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "isotact/queries/segments/detail/batch_alone.h"
#include "isotact/queries/segments/detail/batch_tracer.h"

namespace isotact::detail {

const BatchKernels kBaselineBatchKernels = {BatchKernel<Lanes<float, 4>>::run,
                                            BatchAlone<Lanes<float, 4>>::run};

namespace {

static_assert(sizeof(Segment) == 6 * sizeof(float));

// Filled with zeros: lanes after a table's end are computed as well.
void grow_table(BatchWork&, RawTable& table) {
  const std::size_t capacity = std::max<std::size_t>(2 * kBatchSegments, 2 * table.capacity);
  auto* data = static_cast<float*>(std::calloc(capacity * table.columns, sizeof(float)));
  if (data == nullptr) throw std::bad_alloc();
  for (std::size_t k = 0; k < table.columns; ++k)
    if (table.size > 0)
      std::memcpy(data + k * capacity, table.data + k * table.capacity, table.size * sizeof(float));
  std::free(table.data);
  table.data = data;
  table.capacity = capacity;
}

void grow_found(BatchWork&, FoundList& list, std::size_t needed) {
  const std::size_t capacity = std::max({2 * kBatchSegments, 2 * list.capacity, needed});
  void* data = std::realloc(list.data, capacity * sizeof(Found));
  if (data == nullptr) throw std::bad_alloc();
  list.data = static_cast<Found*>(data);
  list.capacity = capacity;
}

const BatchKernels& kernels_for([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2BatchKernels;
#endif
  return kBaselineBatchKernels;
}

template <typename Visit>
void for_each_table(BatchTables& t, Visit&& visit) {
  visit(t.active.raw);
  visit(t.waiting.raw);
  visit(t.macros.raw);
  visit(t.near_macros.raw);
  visit(t.cells.raw);
  visit(t.parts.raw);
  visit(t.coarse.raw);
  visit(t.looks.raw);
  visit(t.cubics.raw);
}

}  // namespace

BatchField make_batch_field(const BrickField& field, const SegmentIndex& index, float margin) {
  BatchField result{};
  result.free_cubes = index.free_cubes.data();
  result.occupied = index.occupied.data();
  result.rank = index.rank.data();
  result.occupied_macros = index.occupied_macros.data();
  result.masks = index.masks.data();
  result.cells = index.cells.data();
  result.blocks = index.blocks.data();
  const Lattice& lattice = field.lattice();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.macros[axis] = index.macros[axis];
    result.top[axis] = static_cast<float>(lattice.cells[axis]);
    result.last_macro[axis] = static_cast<float>(index.macros[axis] - 1);
  }
  result.macro_count = static_cast<std::int32_t>(count(index.macros));
  result.step = field.header().step;
  result.margin = margin;
  result.shift = compute_slab_shift(index, field.voxel_size(), static_cast<double>(margin));
  for (std::size_t i = 0; i < 12; ++i) result.origin[i] = lattice.origin[i % 3];
  result.scale = 1 / lattice.spacing;
  return result;
}

BatchTracer::BatchTracer(const BrickField& field, const SegmentIndex& index, float margin,
                         SimdLevel level)
    : lattice_(field.lattice()),
      kernels_(kernels_for(level)),
      field_(make_batch_field(field, index, margin)) {
  work_.field = &field_;
  work_.places = places_;
  work_.paths = paths_;
  work_.make_path = make_path;
  work_.context = this;
  work_.first_side = side_;
  work_.tables = &tables_;
  work_.grow = grow_table;
  work_.grow_found = grow_found;
}

BatchTracer::~BatchTracer() {
  for_each_table(tables_, [](RawTable& table) { std::free(table.data); });
  std::free(tables_.found.data);
}

bool BatchTracer::make_path(BatchWork& work, std::size_t segment) {
  auto& self = *static_cast<BatchTracer*>(work.context);
  const auto path = detail::make_path(self.lattice_, self.segments_[segment]);
  self.kind_[segment] = path ? kClipped : kNone;
  if (!path) return false;
  std::copy(path->origin, path->origin + 3, self.paths_[segment].origin);
  std::copy(path->direction, path->direction + 3, self.paths_[segment].direction);
  self.begin_[segment] = path->begin;
  self.end_[segment] = path->end;
  return true;
}

void BatchTracer::run(std::span<const Segment> segments, Mode mode, SegmentWork& counts) {
  for_each_table(tables_, [](RawTable& table) { table.size = 0; });
  tables_.found.size = 0;
  segments_ = segments;
  std::fill(kind_, kind_ + segments.size(), kSimple);
  // Whole groups of lanes are computed.
  std::fill_n(places_ + 6 * segments.size(), kMostLanes, 0.0F);
  std::fill_n(paths_ + segments.size(), kMostLanes, BatchPath{});
  work_.segments = &segments[0].from[0];
  work_.count = segments.size();
  work_.done = mode == Mode::kAll ? nullptr : done_;
  std::fill(done_, done_ + segments.size(), std::uint8_t{0});
  work_.nodes = work_.looks = work_.cubics = 0;
  kernels_.run(work_);
  counts += {work_.nodes, work_.looks, work_.cubics};
  sort_found();
}

// Sorts by segment, then by time. Those of a segment are nearly in order.
void BatchTracer::sort_found() {
  const std::span<const Found> found(tables_.found.data, tables_.found.size);
  const std::size_t n = segments_.size();
  std::fill(first_, first_ + n + 2, 0U);
  for (const Found& f : found) ++first_[f.path + 2];
  for (std::size_t i = 2; i < n + 2; ++i) first_[i] += first_[i - 1];
  if (order_.size() < found.size()) order_.resize(2 * found.size());
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    const std::uint32_t begin = first_[found[i].path + 1]++;
    order_[begin] = i;
  }
  for (std::size_t s = 0; s < n; ++s)
    for (std::uint32_t i = first_[s] + 1; i < first_[s + 1]; ++i)
      for (std::uint32_t k = i; k > first_[s] && found[order_[k]].in < found[order_[k - 1]].in; --k)
        std::swap(order_[k], order_[k - 1]);
}

std::size_t BatchTracer::append(std::size_t segment, Mode mode,
                                std::vector<SegmentInterval>& to) const {
  const std::uint32_t begin = first_[segment], end = first_[segment + 1];
  if (begin == end && side_[segment] > 0) return 0;
  const std::size_t before = to.size();
  bool inside = false;
  float entered = 0;
  const auto set_side = [&](float u, bool side) {
    if (side == inside) return;
    inside = side;
    const float t = time(segment, u);
    if (side)
      entered = t;
    else
      to.push_back({entered, t});
  };
  // Everything before the first tested cell is on one side: the one on which that cell is entered.
  set_side(0, begin < end ? tables_.found.data[order_[begin]].inside : side_[segment] < 0);
  for (std::uint32_t i = begin; i < end; ++i) {
    const Found& cell = tables_.found.data[order_[i]];
    bool side = cell.inside;
    set_side(cell.in, side);
    for (unsigned k = 0; k < cell.crossings; ++k) {
      side = !side;
      set_side(cell.time[k], side);
    }
  }
  if (inside)
    to.push_back({entered, kind_[segment] == kSimple ? 1.0F : static_cast<float>(end_[segment])});
  if (mode != Mode::kAll && to.size() > before) {
    to.resize(before + 1);
    to.back().exit = to.back().enter;
  }
  return to.size() - before;
}

namespace {

// Tables of fixed size on the stack: a search for one segment does not allocate.
struct SmallTables {
  static constexpr std::size_t kFew = 64, kSome = 128, kMany = 256;

  alignas(64) float few[kFew * (7 + 5 + 8)], some[kSome * (8 + 9)], many[kMany * 8];
  Found found[kFew];

  BatchTables view() {
    return {.active = {},
            .waiting = {},
            .macros = {},
            .near_macros = {{few, 0, kFew, 7}},
            .cells = {{some, 0, kSome, 8}},
            .parts = {{some + 8 * kSome, 0, kSome, 9}},
            .coarse = {{few + 7 * kFew, 0, kFew, 5}},
            .looks = {{many, 0, kMany, 8}},
            .cubics = {{few + 12 * kFew, 0, kFew, 8}},
            .found = {found, 0, kFew}};
  }
};

void drop_items(BatchWork& work, RawTable& table) {
  table.size = 0;
  work.overflow = true;
}
void drop_found(BatchWork& work, FoundList&, std::size_t) { work.overflow = true; }

}  // namespace

bool trace_alone(const BatchField& field, const SegmentPath& path, IntervalSink& sink,
                 SegmentWork& counts, SimdLevel level) {
  SmallTables small;
  BatchTables tables = small.view();
  std::int32_t side[1] = {0};
  BatchWork work{};
  work.field = &field;
  work.alone = &path;
  work.first_side = side;
  work.tables = &tables;
  work.grow = drop_items;
  work.grow_found = drop_found;
  kernels_for(level).run_alone(work);
  const std::span<Found> found(small.found, tables.found.size);
  if (work.overflow || side[0] == kWalkAlone || (side[0] == 0 && found.empty())) return false;
  // They are nearly in order.
  for (std::size_t i = 1; i < found.size(); ++i)
    for (std::size_t k = i; k > 0 && found[k].in < found[k - 1].in; --k)
      std::swap(found[k], found[k - 1]);
  counts += {work.nodes, work.looks, work.cubics};
  // As BatchTracer::append.
  sink.set_side(time_of(path, 0), found.empty() ? side[0] < 0 : found[0].inside);
  for (const Found& cell : found) {
    bool inside = cell.inside;
    sink.set_side(time_of(path, cell.in), inside);
    for (unsigned k = 0; k < cell.crossings; ++k) {
      inside = !inside;
      sink.set_side(time_of(path, cell.time[k]), inside);
    }
  }
  return true;
}

}  // namespace isotact::detail
