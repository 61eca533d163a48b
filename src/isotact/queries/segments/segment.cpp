#include "isotact/queries/segments/segment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/queries/segments/detail/batch_tracer.h"
#include "isotact/queries/segments/detail/segment_search.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact {
namespace {

constexpr std::size_t kSegmentGrain = 16 * detail::kBatchSegments;

}  // namespace

std::string_view name(Traversal traversal) {
  switch (traversal) {
    case Traversal::kUniform:
      return "uniform";
    case Traversal::kOctree:
      return "octree";
    case Traversal::kFast:
      return "fast";
  }
  return "";
}

struct SegmentTracer::State {
  SegmentSettings settings{};
  std::optional<BrickField> bricks{};
  std::optional<DenseGrid> grid{};
  std::optional<MinMaxOctree> octree{};
  std::shared_ptr<const std::vector<detail::BrickTree>> brick_trees{};  // For bricks and kOctree.
  Lattice lattice{};
  detail::Rim rim{};
  std::shared_ptr<const SegmentIndex> index{};   // For kFast.
  std::optional<detail::BatchField> prepared{};  // If segments pass through the stages of batches.

  // Makes what the settings need and is not there yet.
  void prepare() {
    if (bricks) {
      lattice = bricks->lattice();
      rim = detail::find_rim(bricks->coarse_lattice(), bricks->coarse_values());
    } else {
      lattice = grid->lattice();
      rim = detail::find_rim(lattice, grid->samples());
    }
    const Traversal traversal = settings.traversal;
    if (!bricks && traversal == Traversal::kOctree && !octree)
      octree.emplace(*grid, OctreeSettings{.store_leaves = false, .threads = settings.threads});
    if (bricks && traversal == Traversal::kOctree && !brick_trees)
      brick_trees = std::make_shared<const std::vector<detail::BrickTree>>(
          detail::build_brick_trees(*bricks, settings.threads));
    if (traversal != Traversal::kFast) {
      index.reset();
    } else if (!index || !index->serves(settings.margin)) {
      index = std::make_shared<const SegmentIndex>(make_index());
    }
    prepared.reset();
    if (bricks && index && settings.roots == RootSearch::kAll &&
        count(index->macros) < detail::kMostBatchMacros)
      prepared = detail::make_batch_field(*bricks, *index, static_cast<float>(settings.margin));
  }

  SegmentIndex make_index() const {
    if (!bricks) return detail::build_segment_index(*grid, settings.margin, settings.threads);
    SegmentIndexSettings needed{.threads = settings.threads};
    if (std::abs(settings.margin) > kIndexReach * bricks->voxel_size()) {
      needed.center = settings.margin;
      needed.reach = 0;
    }
    return build_segment_index(*bricks, needed);
  }

  double value(const Vec3& p) const { return bricks ? bricks->value(p) : grid->value(p); }

  void walk(const detail::SegmentPath& path, detail::IntervalSink& sink,
            SegmentWork& counts) const {
    const detail::CellSettings cell{static_cast<float>(settings.margin), settings.roots};
    const Traversal traversal = settings.traversal;
    // A search that ends early is faster step by step.
    if (prepared && settings.mode == Mode::kAll &&
        detail::trace_alone(*prepared, path, sink, counts))
      return;
    if (bricks && traversal == Traversal::kUniform)
      detail::walk_bricks(*bricks, path, cell, sink, counts);
    else if (bricks && traversal == Traversal::kFast)
      detail::walk_indexed(*bricks, *index, path, cell, sink, counts);
    else if (bricks)
      detail::walk_brick_tree(*bricks, *brick_trees, path, cell, sink, counts);
    else if (traversal == Traversal::kUniform)
      detail::walk_dense(*grid, path, cell, sink, counts);
    else if (traversal == Traversal::kFast)
      detail::walk_indexed(*grid, *index, path, cell, sink, counts);
    else
      detail::walk_octree(*octree, path, cell, sink, counts);
  }

  std::size_t trace(const Segment& segment, std::span<SegmentInterval> to,
                    SegmentWork& counts) const {
    detail::IntervalSink sink(settings.mode, to);
    if (const auto path = detail::make_path(lattice, segment)) {
      detail::walk_outside(rim, segment, 0, path->begin, settings.margin, sink);
      if (!sink.is_done()) walk(*path, sink, counts);
      if (!sink.is_done()) detail::walk_outside(rim, segment, path->end, 1, settings.margin, sink);
    } else {
      trace_off_the_box(segment, sink);
    }
    sink.finish();
    return sink.count();
  }

  // For zero length in the box: a position in it, or a path that at most begins or ends on it.
  void trace_off_the_box(const Segment& segment, detail::IntervalSink& sink) const {
    const Aabb box = bounds(lattice);
    const Vec3 from = to_double(segment.from), to = to_double(segment.to);
    if (from == to || (contains(box, from) && contains(box, to))) {
      sink.set_side(0, value(from) <= settings.margin);
      return;
    }
    detail::walk_outside(rim, segment, 0, 1, settings.margin, sink);
    if (contains(box, to) && !sink.is_done()) sink.set_side(1, value(to) <= settings.margin);
  }

  void add_alone(const Segment& segment, std::vector<SegmentInterval>& to, std::uint64_t& n,
                 SegmentWork& counts) const {
    SegmentInterval some[16];
    n = trace(segment, some, counts);
    if (n <= std::size(some)) {
      to.insert(to.end(), some, some + n);
      return;
    }
    const std::size_t first = to.size();
    to.resize(first + n);
    trace(segment, std::span(to).subspan(first), counts);
  }

  // Paths of an octree take turns: the memory of a fine tree is far.
  void trace_octree(std::span<const Segment> segments, std::vector<SegmentInterval>& to,
                    std::uint64_t* n, SegmentWork& counts) const {
    constexpr std::size_t kTurns = 32, kFew = 8;
    const detail::CellSettings cell{static_cast<float>(settings.margin), settings.roots};
    struct Place {
      std::optional<detail::SegmentPath> path{};
      std::optional<detail::OctreeWalk> walk{};
      SegmentInterval found[kFew];
    };
    std::vector<Place> places(std::min(kTurns, segments.size()));
    for (std::size_t begin = 0; begin < segments.size(); begin += kTurns) {
      const std::size_t size = std::min(kTurns, segments.size() - begin);
      std::size_t turn[kTurns], going = 0;
      for (std::size_t i = 0; i < size; ++i) {
        Place& p = places[i];
        p.walk.reset();
        p.path = detail::make_path(lattice, segments[begin + i]);
        if (!p.path) continue;
        detail::IntervalSink sink(settings.mode, p.found);
        detail::walk_outside(rim, segments[begin + i], 0, p.path->begin, settings.margin, sink);
        if (sink.is_done()) continue;
        p.walk.emplace(*octree, *p.path, sink);
        turn[going++] = i;
      }
      while (going > 0) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < going; ++k) {
          turn[kept] = turn[k];
          kept += places[turn[k]].walk->step(cell, counts) ? 1U : 0U;
        }
        going = kept;
      }
      for (std::size_t i = 0; i < size; ++i) {
        Place& p = places[i];
        std::uint64_t& number = n[begin + i];
        number = kFew + 1;
        if (p.walk) {
          detail::IntervalSink sink = p.walk->sink();
          if (!sink.is_done())
            detail::walk_outside(rim, segments[begin + i], p.path->end, 1, settings.margin, sink);
          sink.finish();
          number = sink.count();
        }
        if (number <= kFew)
          to.insert(to.end(), p.found, p.found + static_cast<std::ptrdiff_t>(number));
        else
          add_alone(segments[begin + i], to, number, counts);
      }
    }
  }

  // Appends the intervals and sets the number of each segment.
  void trace_many(std::span<const Segment> segments, std::vector<SegmentInterval>& to,
                  std::uint64_t* n, SegmentWork& counts) const {
    if (!bricks && settings.traversal == Traversal::kOctree) {
      trace_octree(segments, to, n, counts);
      return;
    }
    if (!prepared) {
      for (std::size_t i = 0; i < segments.size(); ++i) add_alone(segments[i], to, n[i], counts);
      return;
    }
    detail::BatchTracer tracer(*bricks, *index, static_cast<float>(settings.margin));
    for (std::size_t begin = 0; begin < segments.size(); begin += detail::kBatchSegments) {
      const std::size_t end = std::min(begin + detail::kBatchSegments, segments.size());
      tracer.run(segments.subspan(begin, end - begin), settings.mode, counts);
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t k = i - begin;
        // Beyond the box it is outside, or it is walked alone.
        const bool sure = tracer.is_sure(k) && (rim.least > settings.margin || tracer.is_whole(k));
        if (sure)
          n[i] = tracer.append(k, settings.mode, to);
        else
          add_alone(segments[i], to, n[i], counts);
      }
    }
  }
};

SegmentTracer::SegmentTracer(std::unique_ptr<State> state) {
  state->prepare();
  state_ = std::move(state);
}

SegmentTracer::SegmentTracer(const BrickField& field, const SegmentSettings& settings)
    : SegmentTracer(std::make_unique<State>(State{.settings = settings, .bricks = field})) {}

SegmentTracer::SegmentTracer(const BrickField& field, std::shared_ptr<const SegmentIndex> index,
                             const SegmentSettings& settings) {
  if (settings.traversal != Traversal::kFast)
    throw Error(fmt::format("the traversal {} uses no index: leave the index out, or choose fast",
                            name(settings.traversal)));
  if (!index || !belongs_to(*index, field, Check::kHeader))
    throw Error("the index is not that of this field: build one with build_segment_index");
  if (!index->serves(settings.margin))
    throw Error(fmt::format(
        "the margin is {} m, and the index serves those from {} to {}: build one around the margin "
        "with build_segment_index",
        settings.margin, index->center - index->reach, index->center + index->reach));
  auto state = std::make_unique<State>();
  state->settings = settings;
  state->bricks = field;
  state->index = std::move(index);
  state->prepare();
  state_ = std::move(state);
}

SegmentTracer::SegmentTracer(const DenseGrid& grid, const SegmentSettings& settings)
    : SegmentTracer(std::make_unique<State>(State{.settings = settings, .grid = grid})) {}

SegmentTracer::SegmentTracer(const MinMaxOctree& octree, const SegmentSettings& settings)
    : SegmentTracer(std::make_unique<State>(
          State{.settings = settings, .grid = octree.grid(), .octree = octree})) {}

SegmentTracer SegmentTracer::with(const SegmentSettings& settings) const {
  auto state = std::make_unique<State>(*state_);
  state->settings = settings;
  return SegmentTracer(std::move(state));
}

SegmentTracer SegmentTracer::after_edit(const BrickField& field, const EditReport& edit) const {
  if (!state_->bricks || !(state_->lattice == field.lattice()) ||
      hash_bytes(state_->bricks->buffer().first(sizeof(BrickFieldHeader))) != edit.header_before)
    throw Error("the tracer is not that of the brick field before the edit: make a new one");
  auto state = std::make_unique<State>();
  state->settings = state_->settings;
  state->bricks = field;
  const Threads threads = state->settings.threads;
  if (state_->index)
    state->index = std::make_shared<const SegmentIndex>(
        update_segment_index(field, edit, *state_->index, threads));
  if (state_->brick_trees && !edit.full_rebuild)
    state->brick_trees =
        std::make_shared<const std::vector<detail::BrickTree>>(detail::update_brick_trees(
            field, *state_->bricks, *state_->brick_trees, edit.changed_cells, threads));
  return SegmentTracer(std::move(state));
}

SegmentTracer::SegmentTracer(SegmentTracer&&) noexcept = default;
SegmentTracer& SegmentTracer::operator=(SegmentTracer&&) noexcept = default;
SegmentTracer::~SegmentTracer() = default;

const SegmentSettings& SegmentTracer::settings() const { return state_->settings; }
std::uint64_t SegmentTracer::memory_bytes() const {
  return state_->index ? state_->index->memory_bytes() : 0;
}
const std::shared_ptr<const SegmentIndex>& SegmentTracer::index() const { return state_->index; }
bool SegmentTracer::is_free_beyond_box() const {
  return state_->rim.least > state_->settings.margin;
}

std::size_t SegmentTracer::trace(const Segment& segment, std::span<SegmentInterval> intervals,
                                 SegmentWork* work) const {
  SegmentWork mine;
  const std::size_t n = state_->trace(segment, intervals, mine);
  if (work != nullptr) *work += mine;
  return n;
}

void SegmentTracer::trace(std::span<const Segment> segments, SegmentResults& results) const {
  results.first.assign(segments.size() + 1, 0);
  results.intervals.clear();
  results.work = {};
  if (segments.size() <= kSegmentGrain || resolve(state_->settings.threads) == 1)
    state_->trace_many(segments, results.intervals, results.first.data() + 1, results.work);
  else
    trace_in_pieces(segments, results);
  for (std::size_t i = 0; i < segments.size(); ++i) results.first[i + 1] += results.first[i];
}

void SegmentTracer::trace_in_pieces(std::span<const Segment> segments,
                                    SegmentResults& results) const {
  const std::size_t pieces = (segments.size() + kSegmentGrain - 1) / kSegmentGrain;
  std::vector<std::vector<SegmentInterval>> found(pieces);
  std::vector<SegmentWork> tallies(pieces);
  parallel_for(segments.size(), kSegmentGrain, state_->settings.threads,
               [&](std::size_t begin, std::size_t end) {
                 const std::size_t piece = begin / kSegmentGrain;
                 state_->trace_many(segments.subspan(begin, end - begin), found[piece],
                                    results.first.data() + begin + 1, tallies[piece]);
               });
  std::size_t sum = 0;
  for (const auto& piece : found) sum += piece.size();
  results.intervals.reserve(sum);
  for (const auto& piece : found)
    results.intervals.insert(results.intervals.end(), piece.begin(), piece.end());
  for (const SegmentWork& tally : tallies) results.work += tally;
}

double covering_margin(const BrickField& field, double slack) {
  const BrickFieldHeader& h = field.header();
  const Vec3 sides = extent(field.bounds());
  const double rounding = 0x1p-20 * std::max({sides.x, sides.y, sides.z}) * field.lipschitz();
  return static_cast<double>(h.near_error) - static_cast<double>(h.shell_offset) + slack + rounding;
}

}  // namespace isotact
