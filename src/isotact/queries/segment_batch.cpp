#include <algorithm>
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
    : field_(field), lattice_(field.lattice()) {
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

void BatchTracer::run(std::span<const std::optional<SegmentPath>> paths, SegmentCounts& counts) {
  for_each_queue(queues_, [](RawQueue& queue) { queue.size = 0; });
  given_ = paths;
  paths_.clear();
  number_.assign(paths.size(), kNoPath);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i]) continue;
    const SegmentPath& p = *paths[i];
    number_[i] = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({{p.origin[0], p.origin[1], p.origin[2]},
                      {p.direction[0], p.direction[1], p.direction[2]},
                      p.inverse[0],
                      p.inverse[1],
                      p.inverse[2],
                      1 / p.cells_a_time,
                      {}});
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
    std::sort(sorted_.begin() + first_[i], sorted_.begin() + first_[i + 1],
              [](const Found& a, const Found& b) { return a.in < b.in; });
  find_starts();
}

// Where a path starts in a macro cell with the isosurface but does not come near to that: a look at
// its first cell tells the side.
void BatchTracer::find_starts() {
  for_each_queue(queues_, [](RawQueue& queue) { queue.size = 0; });
  const Index3 nodes = node_counts(field_.coarse_lattice());
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const std::uint32_t n = number_[i];
    if (n == kNoPath || side_[n] != 0 || first_[n] < first_[n + 1]) continue;
    const CellWalk walk(*given_[i], lattice_.cells);
    const Index3 c = walk.cell(), coarse{c[0] >> 3, c[1] >> 3, c[2] >> 3};
    const std::uint32_t number = field_.brick_at(coarse);
    const bool fine = number != BrickField::kNoBrick;
    const Index3 lower = fine ? c : Index3{coarse[0] << 3, coarse[1] << 3, coarse[2] << 3};
    const BoxSpan<float> span = walk.span(lower, fine ? 1 : kBrickCells);
    if (!(span.out > span.in)) {
      side_[n] = kWalkAlone;
      continue;
    }
    Look look{.path = n,
              .corners = number,
              .correction = nullptr,
              .lower = {static_cast<float>(lower[0]), static_cast<float>(lower[1]),
                        static_cast<float>(lower[2])},
              .first = {0, 0, 0}};
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

bool BatchTracer::is_sure(std::size_t path) const {
  const std::uint32_t n = number_[path];
  if (n == kNoPath || side_[n] == kWalkAlone) return false;
  return side_[n] != 0 || first_[n] < first_[n + 1];
}

// All before the first cell that was looked at is on one side: the one on which that is entered.
bool BatchTracer::starts_inside(std::size_t path) const {
  const auto cells = found(path);
  return cells.empty() ? side_[number_[path]] < 0 : cells[0].inside;
}

std::span<const Found> BatchTracer::found(std::size_t path) const {
  const std::uint32_t n = number_[path];
  return std::span(sorted_).subspan(first_[n], first_[n + 1] - first_[n]);
}

}  // namespace isotact::detail
