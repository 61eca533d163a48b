#include "isotact/queries/swept.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/thread_scratch.h"
#include "isotact/queries/detail/rough_field.h"
#include "isotact/queries/detail/segment_search.h"
#include "isotact/queries/detail/swept_work.h"

namespace isotact {
namespace {

constexpr std::size_t kMotionGrain = 4;  // motions
constexpr std::size_t kFewSegments = 24;

SegmentSettings for_segments(const SweptSettings& settings) {
  if (!std::isfinite(settings.iso)) throw Error("the isosurface's value is not finite");
  if (!(settings.path_tolerance > 0 && settings.path_tolerance <= 1e6))
    throw Error(fmt::format("a path tolerance of {} cells, which should be above 0, at most 1e6",
                            settings.path_tolerance));
  return {.iso = settings.iso,
          .mode = settings.mode == SweptMode::kAll ? SegmentMode::kIntervals : SegmentMode::kFirst,
          .threads = settings.threads};
}

}  // namespace

Sphere ball_of(const PointSphereTree& tree) {
  const Spheref ball = tree.bounding_sphere();
  return {to_double(ball.center), static_cast<double>(ball.radius)};
}

namespace {

// Places of points are rounded to floats of metres.
double find_float_rounding(const PointSphereTree& tree, const ShellPath& path) {
  const Sphere ball = ball_of(tree);
  double furthest = 0;
  for (const AffineMap& map : path.maps)
    furthest = std::max(furthest, length(map * ball.center) + path.stretch * ball.radius);
  return furthest * 0x1p-23;
}

// Tells tracers apart, also from those that are gone.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct SweptTracer::State {
  SweptSettings settings{};
  std::variant<std::monostate, BrickField, DenseGrid> field{};  // keeps what `rough` reads
  detail::RoughField rough{};
  Lattice lattice{};  // of a field without, only the spacing means something
  detail::FreeSpace space{};
  std::optional<detail::Steepness> slopes{};
  std::optional<SegmentTracer> tracer;
  std::optional<AnyField> any{};  // instead of both
  std::uint64_t number = next_number();

  using Work = detail::SweptWork;

  template <typename F>
  State(const F& f, const SweptSettings& s)
      : settings(s),
        field(f),
        rough(detail::make_rough(f)),
        lattice(f.lattice()),
        tracer(std::in_place, f, for_segments(s)) {
    const double least = detail::find_rim(rough.lattice, rough.samples).least;
    space = detail::build_free_space(f, s.iso, least, s.threads);
    slopes.emplace(std::get_if<BrickField>(&field), std::get_if<DenseGrid>(&field), least < 0);
  }

  State(const AnyField& f, double cell, const SweptSettings& s) : settings(s), any(f) {
    for_segments(s);  // looks for what makes no sense
    if (!(cell > 0 && std::isfinite(cell)))
      throw Error(fmt::format("a cell of {} m, which should be positive", cell));
    lattice.spacing = cell;
  }

  detail::AnyTrace any_trace() const {
    return {*any, settings.iso, lattice.spacing, for_segments(settings).mode};
  }

  detail::SweptSearch make_search() const {
    if (any) return {*any, settings.iso, lattice.spacing * detail::kFreeBlockCells};
    return {space, lattice};
  }

  detail::RoomProbe make_probe() const {
    return {std::get_if<BrickField>(&field),
            std::get_if<DenseGrid>(&field),
            any ? &*any : nullptr,
            settings.iso,
            lattice.spacing,
            lattice,
            &space,
            slopes ? &*slopes : nullptr};
  }

  static Segment segment_of(const PointSphereTree& tree, const ShellPath& path,
                            const detail::PieceOfPoint& p) {
    const Vec3 point = to_double(tree.point(p.point));
    return {to_float(path.maps[p.piece] * point), to_float(path.maps[p.piece + 1] * point)};
  }
  static float time_of(const ShellPath& path, std::uint32_t piece, float u) {
    return (static_cast<float>(piece) + u) / static_cast<float>(path.piece_count());
  }

  void find_path(const PointSphereTree& tree, const ShellMotion& motion, Work& work) const {
    find_shell_path(motion, ball_of(tree), settings.path_tolerance * lattice.spacing, work.path);
  }

  // Along the path in `work`.
  void trace(const PointSphereTree& tree, Work& work, SweptResults& results) const {
    SweptSummary summary;
    summary.path_error = work.path.error + find_float_rounding(tree, work.path);
    summary.first_hit = results.hits.size();
    const bool linear = settings.traversal == ShellTraversal::kLinear;
    if (!linear) {
      if (work.searcher != number) work.search.emplace(make_search());
      work.searcher = number;
      work.search->start(tree, work.path);
    }
    const auto look_at = [&](const std::vector<detail::PieceOfPoint>& pieces) {
      trace_pieces(tree, pieces, work, summary.counts);
      settings.mode == SweptMode::kAll ? collect(pieces, work, summary, results)
                                       : take_first(pieces, work, summary);
    };
    if (linear)
      list_all(tree, work, summary.counts, look_at);
    else if (settings.mode == SweptMode::kAll)
      work.search->find_all(work.pieces, summary.counts, look_at);
    else if (settings.mode == SweptMode::kFirst)
      find_first(tree, work, summary);
    else
      find_any(tree, work, summary);
    finish(summary, results);
  }

  // The same with what a front remembers.
  void follow(const PointSphereTree& tree, detail::SweptFront& front, Work& work,
              SweptResults& results) const {
    SweptSummary summary;
    summary.path_error = work.path.error + find_float_rounding(tree, work.path);
    summary.first_hit = results.hits.size();
    const detail::RoomProbe probe = make_probe();
    const std::span<const detail::FrontPoint> found =
        work.fronts.look(front, tree, work.path, probe, summary.counts);
    if (settings.mode == SweptMode::kAll)
      collect(tree, found, work, summary, results);
    else
      find_first(tree, found, work, summary);
    finish(summary, results);
  }

  void finish(SweptSummary& summary, SweptResults& results) const {
    if (settings.mode != SweptMode::kAll && summary.point != kNoPoint) {
      results.hits.push_back({summary.point, 1, results.intervals.size()});
      results.intervals.push_back({summary.time, summary.time});
    }
    summary.hit_count = results.hits.size() - summary.first_hit;
    results.motions.push_back(summary);
  }

  template <typename Use>
  static void list_all(const PointSphereTree& tree, Work& work, SweptCounts& counts, Use&& use) {
    const auto pieces = static_cast<std::uint32_t>(work.path.piece_count());
    work.pieces.clear();
    for (std::uint32_t point = 0; point < tree.point_count(); ++point) {
      for (std::uint32_t piece = 0; piece < pieces; ++piece) work.pieces.push_back({point, piece});
      if (work.pieces.size() < detail::kPiecesAtOnce && point + 1 < tree.point_count()) continue;
      use(work.pieces);
      work.pieces.clear();
    }
    counts.points += tree.point_count();
  }

  void trace_pieces(const PointSphereTree& tree, const std::vector<detail::PieceOfPoint>& pieces,
                    Work& work, SweptCounts& counts) const {
    work.segments.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
      work.segments[i] = segment_of(tree, work.path, pieces[i]);
    if (any)
      detail::trace_any(any_trace(), work.segments, work.traced, counts.tracing);
    else if (work.segments.size() < kFewSegments)
      trace_alone(work, counts.tracing);
    else
      tracer->trace(work.segments, work.traced, &counts.tracing);
    counts.segments += work.segments.size();
  }

  // A batch takes some microseconds to start.
  void trace_alone(Work& work, SegmentCounts& counts) const {
    work.traced.first.assign(1, 0);
    work.traced.intervals.clear();
    work.room.resize(std::max<std::size_t>(work.room.size(), 16));
    for (const Segment& segment : work.segments) {
      std::size_t n = tracer->trace(segment, work.room, &counts);
      if (n > work.room.size()) {
        work.room.resize(n);
        n = tracer->trace(segment, work.room, &counts);
      }
      work.traced.intervals.insert(work.traced.intervals.end(), work.room.begin(),
                                   work.room.begin() + static_cast<std::ptrdiff_t>(n));
      work.traced.first.push_back(work.traced.intervals.size());
    }
  }

  // Intervals of a point come one after the other. One that goes on in the next piece is the same.
  static void add_interval(std::uint32_t point, const SegmentInterval& interval,
                           SweptSummary& summary, SweptResults& results) {
    const bool is_new =
        results.hits.size() == summary.first_hit || results.hits.back().point != point;
    if (is_new) {
      results.hits.push_back({point, 0, results.intervals.size()});
      if (interval.enter < summary.time) {
        summary.time = interval.enter;
        summary.point = point;
      }
    }
    if (!is_new && results.intervals.back().exit >= interval.enter) {
      results.intervals.back().exit = interval.exit;
    } else {
      results.intervals.push_back(interval);
      ++results.hits.back().interval_count;
    }
  }

  static void add_piece(const detail::PieceOfPoint& piece, std::size_t traced, const Work& work,
                        SweptSummary& summary, SweptResults& results) {
    for (std::size_t k = work.traced.first[traced]; k < work.traced.first[traced + 1]; ++k) {
      const SegmentInterval& now = work.traced.intervals[k];
      add_interval(
          piece.point,
          {time_of(work.path, piece.piece, now.enter), time_of(work.path, piece.piece, now.exit)},
          summary, results);
    }
  }

  static void collect(const std::vector<detail::PieceOfPoint>& pieces, const Work& work,
                      SweptSummary& summary, SweptResults& results) {
    for (std::size_t i = 0; i < pieces.size(); ++i) add_piece(pieces[i], i, work, summary, results);
  }

  // Points that are inside all the time need no trace.
  void collect(const PointSphereTree& tree, std::span<const detail::FrontPoint> found, Work& work,
               SweptSummary& summary, SweptResults& results) const {
    const auto pieces = static_cast<std::uint32_t>(work.path.piece_count());
    work.pieces.clear();
    for (const detail::FrontPoint& p : found)
      for (std::uint32_t piece = 0; !p.inside && piece < pieces; ++piece)
        work.pieces.push_back({p.point, piece});
    if (!work.pieces.empty()) trace_pieces(tree, work.pieces, work, summary.counts);
    std::size_t next = 0;
    for (const detail::FrontPoint& p : found) {
      if (p.inside) {
        add_interval(p.point, {0, 1}, summary, results);
        continue;
      }
      for (std::uint32_t k = 0; k < pieces; ++k, ++next)
        add_piece(work.pieces[next], next, work, summary, results);
    }
  }

  static void note_first(SweptSummary& summary, std::uint32_t point, float time) {
    if (time < summary.time || (time == summary.time && point < summary.point)) {
      summary.time = time;
      summary.point = point;
    }
  }

  static void take_first(const std::vector<detail::PieceOfPoint>& pieces, const Work& work,
                         SweptSummary& summary) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (work.traced.first[i + 1] > work.traced.first[i])
        note_first(
            summary, pieces[i].point,
            time_of(work.path, pieces[i].piece, work.traced.intervals[work.traced.first[i]].enter));
  }

  // The first time of a piece of a point inside, or kNever.
  float trace_piece(const PointSphereTree& tree, const ShellPath& path,
                    const detail::PieceOfPoint& p, SweptSummary& summary) const {
    SegmentInterval interval;
    ++summary.counts.segments;
    const Segment segment = segment_of(tree, path, p);
    const std::span<SegmentInterval> room(&interval, 1);
    const std::size_t n =
        any ? detail::trace_any(any_trace(), segment, room, summary.counts.tracing)
            : tracer->trace(segment, room, &summary.counts.tracing);
    if (n == 0) return kNever;
    const float time = time_of(path, p.piece, interval.enter);
    note_first(summary, p.point, time);
    return time;
  }

  void find_first(const PointSphereTree& tree, Work& work, SweptSummary& summary) const {
    work.search->find_first(
        [&](const detail::PieceOfPoint& p) { return trace_piece(tree, work.path, p, summary); },
        summary.counts);
  }

  // No later point can touch before time 0.
  void find_first(const PointSphereTree& tree, std::span<const detail::FrontPoint> found,
                  const Work& work, SweptSummary& summary) const {
    const auto pieces = static_cast<std::uint32_t>(work.path.piece_count());
    for (const detail::FrontPoint& p : found) {
      if (p.inside) note_first(summary, p.point, 0);
      for (std::uint32_t k = 0; !p.inside && k < pieces; ++k)
        if (trace_piece(tree, work.path, {p.point, k}, summary) != kNever) break;
      if (summary.time <= 0) return;
    }
  }

  void find_any(const PointSphereTree& tree, Work& work, SweptSummary& summary) const {
    work.search->find_any(
        [&](std::uint32_t point, std::size_t first_piece, std::size_t pieces, float time) {
          const Vec3 p = to_double(tree.point(point));
          const Vec3 from = work.path.maps[first_piece] * p;
          const Vec3 to = work.path.maps[first_piece + pieces] * p;
          const Vec3 place = lerp(from, to, static_cast<double>(time));
          return any ? static_cast<float>(any->value(place)) : rough.value(place);
        },
        [&](const detail::PieceOfPoint& p) {
          return trace_piece(tree, work.path, p, summary) != kNever;
        },
        summary.counts);
  }
};

SweptTracer::SweptTracer(const BrickField& field, const SweptSettings& settings)
    : state_(std::make_unique<const State>(field, settings)) {}
SweptTracer::SweptTracer(const DenseGrid& grid, const SweptSettings& settings)
    : state_(std::make_unique<const State>(grid, settings)) {}
SweptTracer::SweptTracer(const AnyField& field, double cell, const SweptSettings& settings)
    : state_(std::make_unique<const State>(field, cell, settings)) {}
SweptTracer::SweptTracer(SweptTracer&&) noexcept = default;
SweptTracer& SweptTracer::operator=(SweptTracer&&) noexcept = default;
SweptTracer::~SweptTracer() = default;

const SweptSettings& SweptTracer::settings() const { return state_->settings; }
std::uint64_t SweptTracer::memory_bytes() const {
  return state_->any ? 0 : state_->space.quarters.size() + state_->tracer->memory_bytes();
}

void SweptTracer::trace(const PointSphereTree& tree, std::span<const ShellMotion> motions,
                        SweptResults& results) const {
  for (const ShellMotion& motion : motions)
    if (const auto flaw = find_flaw(motion)) throw Error(*flaw);
  results.motions.clear();
  results.hits.clear();
  results.intervals.clear();
  const std::size_t chunks = (motions.size() + kMotionGrain - 1) / kMotionGrain;
  std::vector<SweptResults> parts(chunks > 1 ? chunks : 0);
  parallel_for(motions.size(), kMotionGrain, state_->settings.threads,
               [&](std::size_t begin, std::size_t end) {
                 const ThreadScratch<State::Work> work;
                 SweptResults& mine = chunks > 1 ? parts[begin / kMotionGrain] : results;
                 for (std::size_t i = begin; i < end; ++i) {
                   state_->find_path(tree, motions[i], *work);
                   state_->trace(tree, *work, mine);
                 }
               });
  for (const SweptResults& part : parts) {
    const std::size_t hits = results.hits.size(), intervals = results.intervals.size();
    for (SweptSummary summary : part.motions) {
      summary.first_hit += hits;
      results.motions.push_back(summary);
    }
    for (SweptHit hit : part.hits) {
      hit.first_interval += intervals;
      results.hits.push_back(hit);
    }
    results.intervals.insert(results.intervals.end(), part.intervals.begin(), part.intervals.end());
  }
}

void SweptTracer::trace(const PointSphereTree& tree, const ShellMotion& motion, SweptMemory& memory,
                        SweptResults& results) const {
  if (const auto flaw = find_flaw(motion)) throw Error(*flaw);
  results.motions.clear();
  results.hits.clear();
  results.intervals.clear();
  if (memory.state_ == nullptr) memory.state_ = std::make_unique<SweptMemory::State>();
  SweptMemory::State& m = *memory.state_;
  if (m.tracer != state_->number || m.tree.buffer().data() != tree.buffer().data()) {
    m.tracer = state_->number;
    m.tree = tree;
    m.front = {};
  }
  const ThreadScratch<State::Work> work;
  state_->find_path(tree, motion, *work);
  const SweptSettings& s = state_->settings;
  if (s.mode != SweptMode::kAny && s.traversal == ShellTraversal::kTree &&
      detail::can_follow(work->path, tree, state_->lattice.spacing))
    state_->follow(tree, m.front, *work, results);
  else
    state_->trace(tree, *work, results);
}

}  // namespace isotact
