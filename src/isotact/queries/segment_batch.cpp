#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "isotact/base/cpu.h"
#include "isotact/queries/detail/batch_tracer.h"

namespace isotact::detail {
namespace {

constexpr std::uint32_t kNoPath = 0xffffffffU;

void grow_queue(RawQueue& queue) {
  const std::size_t capacity = std::max<std::size_t>(1024, 2 * queue.capacity);
  void* data = std::realloc(queue.data, capacity * queue.item_bytes);
  if (data == nullptr) throw std::bad_alloc();
  queue.data = data;
  queue.capacity = capacity;
}

const BatchKernels& kernels() {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (simd_level() == SimdLevel::kAvx2) return kAvx2BatchKernels;
#endif
  return kBaselineBatchKernels;
}

template <typename Visit>
void for_each_queue(BatchQueues& q, Visit&& visit) {
  visit(q.macros.raw);
  visit(q.visits.raw);
  visit(q.parts.raw);
  visit(q.looks.raw);
  visit(q.corners.raw);
  visit(q.found.raw);
}

}  // namespace

BatchTracer::BatchTracer(const BrickField& field, const SegmentIndex& index, float iso)
    : field_(field), lattice_(field.lattice()), scale_(1 / field.lattice().spacing) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    last_[axis] = static_cast<float>(lattice_.cells[axis]);
  paths_.reserve(kBatchSegments);
  work_.free_distance = index.free_distance.data();
  work_.occupied = index.occupied.data();
  work_.rank = index.rank.data();
  work_.occupied_macros = index.occupied_macros.data();
  work_.cells = index.cells.data();
  for (std::size_t axis = 0; axis < 3; ++axis)
    work_.macros[axis] = static_cast<std::size_t>(index.macros[axis]);
  work_.bricks = field.bricks().data();
  work_.coarse = field.coarse_values().data();
  const Index3 nodes = node_counts(field.coarse_lattice());
  work_.coarse_row = static_cast<std::size_t>(nodes[0]);
  work_.coarse_slice = work_.coarse_row * static_cast<std::size_t>(nodes[1]);
  work_.step = field.header().step;
  work_.iso = iso;
  work_.queues = &queues_;
  work_.grow = grow_queue;
}

BatchTracer::~BatchTracer() {
  for_each_queue(queues_, [](RawQueue& queue) { std::free(queue.data); });
}

// As make_path, which does what is not simple: a segment inside of the box that moves along all
// axes.
bool BatchTracer::add_path(const Segment& segment) {
  const std::size_t n = paths_.size();
  BatchPath p;
  bool simple = true;
  float length_sq = 0, inverse[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double from = (static_cast<double>(segment.from[axis]) - lattice_.origin[axis]) * scale_;
    const double to = (static_cast<double>(segment.to[axis]) - lattice_.origin[axis]) * scale_;
    const double top = static_cast<double>(last_[axis]);
    const float first = static_cast<float>(from), d = static_cast<float>(to) - first;
    simple &= (from >= 0) & (from <= top) & (to >= 0) & (to <= top) & (std::abs(d) > 1e-20F);
    p.origin[axis] = first;
    p.direction[axis] = d;
    inverse[axis] = 1 / d;
    length_sq += d * d;
  }
  begin_[n] = 0;
  end_[n] = 1;
  if (simple) {
    p.inverse_x = inverse[0];
    p.inverse_y = inverse[1];
    p.inverse_z = inverse[2];
    p.times_a_cell = 1 / std::sqrt(length_sq);
  } else {
    const auto path = make_path(lattice_, segment);
    if (!path) return false;
    std::copy(path->origin, path->origin + 3, p.origin);
    std::copy(path->direction, path->direction + 3, p.direction);
    p.inverse_x = path->inverse[0];
    p.inverse_y = path->inverse[1];
    p.inverse_z = path->inverse[2];
    p.times_a_cell = 1 / path->cells_a_time;
    begin_[n] = path->begin;
    end_[n] = path->end;
  }
  paths_.push_back(p);
  return true;
}

void BatchTracer::run(std::span<const Segment> segments, SegmentCounts& counts) {
  for_each_queue(queues_, [](RawQueue& queue) { queue.size = 0; });
  paths_.clear();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto n = static_cast<std::uint32_t>(paths_.size());
    number_[i] = add_path(segments[i]) ? n : kNoPath;
  }
  side_.assign(paths_.size(), 0);
  work_.paths = paths_.data();
  work_.path_count = paths_.size();
  work_.first_side = side_.data();
  work_.nodes = work_.looks = work_.cubics = 0;
  kernels().run(work_);
  counts += {work_.nodes, work_.looks, work_.cubics};
  // By path; within one, by time.
  first_.assign(paths_.size() + 1, 0);
  for (const Found& f : queues_.found) {
    ++first_[f.path + 1];
    if (f.is_doubtful) side_[f.path] = kWalkAlone;
  }
  for (std::size_t i = 0; i < paths_.size(); ++i) first_[i + 1] += first_[i];
  sorted_.resize(queues_.found.raw.size);
  std::vector<std::uint32_t>& next = next_;
  next.assign(first_.begin(), first_.end() - 1);
  for (const Found& f : queues_.found) sorted_[next[f.path]++] = f;
  for (std::size_t i = 0; i < paths_.size(); ++i)
    if (first_[i + 1] - first_[i] > 1)
      std::sort(sorted_.begin() + first_[i], sorted_.begin() + first_[i + 1],
                [](const Found& a, const Found& b) { return a.in < b.in; });
  find_starts();
}

// Where a path starts in a macro cell with the isosurface but does not come near to that: a look at
// its first cell tells the side.
void BatchTracer::find_starts() {
  for_each_queue(queues_, [](RawQueue& queue) { queue.size = 0; });
  const Index3 nodes = node_counts(field_.coarse_lattice());
  for (std::uint32_t n = 0; n < paths_.size(); ++n) {
    if (side_[n] != 0 || first_[n] < first_[n + 1]) continue;
    const BatchPath& p = paths_[n];
    const SegmentPath path{{p.origin[0], p.origin[1], p.origin[2]},
                           {p.direction[0], p.direction[1], p.direction[2]},
                           {p.inverse_x, p.inverse_y, p.inverse_z},
                           0,
                           1,
                           0};
    const CellWalk walk(path, lattice_.cells);
    const Index3 c = walk.cell(), coarse{c[0] >> 3, c[1] >> 3, c[2] >> 3};
    const std::uint32_t number = field_.brick_at(coarse);
    const bool fine = number != BrickField::kNoBrick;
    const Index3 lower = fine ? c : Index3{coarse[0] << 3, coarse[1] << 3, coarse[2] << 3};
    const BoxSpan<float> span = walk.span(lower, fine ? 1 : kBrickCells);
    if (!(span.out > span.in)) {
      side_[n] = kWalkAlone;
      continue;
    }
    Look look{.lower = {static_cast<float>(lower[0]), static_cast<float>(lower[1]),
                        static_cast<float>(lower[2])},
              .first = {0, 0, 0},
              .side = fine ? 1.0F : static_cast<float>(kBrickCells),
              .width = fine ? 0.125F : 1.0F,
              .correction = nullptr,
              .path = n,
              .corners = number};
    if (fine) {
      const std::int32_t in[3] = {c[0] & 7, c[1] & 7, c[2] & 7};
      look.correction = field_.bricks()[number].correction + first_sample(in[0], in[1], in[2]);
      for (int axis = 0; axis < 3; ++axis) look.first[axis] = static_cast<float>(in[axis]) * 0.125F;
      __builtin_prefetch(look.correction);
      __builtin_prefetch(field_.bricks()[number].corner);
    } else {
      look.corners = static_cast<std::uint32_t>(queues_.corners.raw.size);
      CoarseCorners corners{};
      for (std::int32_t k = 0; k < 8; ++k)
        corners.value[k] = field_.coarse_values()[flat_index(
            nodes, coarse[0] + (k & 1), coarse[1] + (k >> 1 & 1), coarse[2] + (k >> 2))];
      queues_.corners.push(corners, grow_queue);
    }
    queues_.looks.push(look, grow_queue);
  }
  if (queues_.looks.raw.size == 0) return;
  work_.are_starts = true;
  kernels().look(work_);
  work_.are_starts = false;
}

bool BatchTracer::is_sure(std::size_t segment) const {
  const std::uint32_t n = number_[segment];
  return n != kNoPath && side_[n] != kWalkAlone;
}

}  // namespace isotact::detail
