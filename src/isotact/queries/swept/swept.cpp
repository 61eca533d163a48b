#include "isotact/queries/swept/swept.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/base/error.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/queries/segments/detail/segment_search.h"
#include "isotact/queries/segments/segment_index.h"
#include "isotact/queries/swept/detail/swept_front.h"
#include "isotact/queries/swept/detail/swept_search.h"

namespace isotact::detail {

// The culling of XB14, section 3.3, for comparison (ShellTraversal::kPaper). It has the tree in
// breadth-first order. A sphere of radius r counts as free if the path of its centre does not meet
// the isosurface at r.
// Appends the points of all leaves that are not free, in order. `touches(segment, radius)` says
// whether a segment is ever inside of the isosurface at the radius.
template <typename Touches>
void list_paper_points(const PointSphereTree& tree, const ShellPath& path,
                       std::vector<std::uint32_t>& points, SweptWork& counts, Touches&& touches) {
  const auto is_near = [&](const Spheref& ball) {
    const Vec3 center = to_double(ball.center);
    for (std::size_t k = 0; k + 1 < path.maps.size(); ++k) {
      ++counts.spheres;
      if (touches(Segment{to_float(path.maps[k] * center), to_float(path.maps[k + 1] * center)},
                  static_cast<double>(ball.radius)))
        return true;
    }
    return false;
  };
  std::vector<std::uint32_t> now{0}, next;
  for (int number = 0; number < tree.level_count(); ++number) {
    const ShellLevel level = tree.level(number);
    const bool last = number + 1 == tree.level_count();
    next.clear();
    for (const std::uint32_t place : now) {
      const ShellNode& node = level.nodes[place];
      if (node.child_count == 0 || !is_near(sphere(level, place))) continue;
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        (last ? points : next).push_back(node.first_child + i);
    }
    now.swap(next);
  }
  counts.points += points.size();
}

// Approximate distance of a position to the surface. It is only used to choose the start of a
// search. For a brick field only the coarse samples are read, which stay in the caches.
struct RoughField {
  Lattice lattice{};
  std::span<const float> samples{};  // At its nodes; the owner of the field keeps them.

  // Metres. Outside the box, the distance to it is added.
  float value(const Vec3& point) const {
    const CellPoint at = locate(lattice, point);
    const Index3 nodes = node_counts(lattice);
    const auto nx = static_cast<std::size_t>(nodes[0]);
    const std::size_t plane = nx * static_cast<std::size_t>(nodes[1]);
    const float* s = samples.data() + flat_index(nodes, at.cell[0], at.cell[1], at.cell[2]);
    const auto mix = [](float a, float b, float t) { return a + (b - a) * t; };
    const auto along_x = [&](std::size_t k) { return mix(s[k], s[k + 1], at.fraction.x); };
    const float low = mix(along_x(0), along_x(nx), at.fraction.y);
    const float high = mix(along_x(plane), along_x(plane + nx), at.fraction.y);
    return mix(low, high, at.fraction.z) +
           static_cast<float>(std::sqrt(distance_sq(bounds(lattice), point)));
  }
};

inline RoughField make_rough(const BrickField& field) {
  return {field.coarse_lattice(), field.coarse_values()};
}
inline RoughField make_rough(const DenseGrid& grid) { return {grid.lattice(), grid.samples()}; }

// What traces of a shell write to while they run.
struct SweptBuffers {
  ShellPath path{};
  FrontLook fronts{};
  std::uint64_t searcher = 0;  // the number of the tracer that `search` is of
  std::optional<SweptSearch> search{};
  std::vector<PieceOfPoint> pieces{};
  std::vector<Segment> segments{};
  SegmentResults traced{};
  std::vector<SegmentInterval> room{};  // of one segment
};

}  // namespace isotact::detail

namespace isotact {

struct SweptScratch::State {
  std::uint64_t tracer = 0;  // the number of the tracer that it is of; 0: none yet
  PointSphereTree tree{};
  detail::SweptFront front{};
  bool followed = false;  // Whether the front is that of the last motion.
};

namespace {

constexpr std::size_t kMotionGrain = 4;  // Motions.
constexpr std::size_t kFewSegments = 24;

SegmentSettings for_segments(const SweptSettings& settings) {
  if (!std::isfinite(settings.margin)) throw Error("the isosurface's value is not finite");
  if (!(settings.path_tolerance > 0 && settings.path_tolerance <= 1e6))
    throw Error(fmt::format("a path tolerance of {} cells, which should be above 0, at most 1e6",
                            settings.path_tolerance));
  return {.margin = settings.margin,
          .mode = settings.mode == Mode::kAll ? Mode::kAll : Mode::kFirst,
          .roots = settings.roots,
          .threads = settings.threads};
}

}  // namespace

Sphere ball_of(const PointSphereTree& tree) {
  const Spheref ball = tree.bounding_sphere();
  return {to_double(ball.center), static_cast<double>(ball.radius)};
}

namespace {

// Positions of points are rounded to floats of metres.
double compute_float_rounding(const PointSphereTree& tree, const ShellPath& path) {
  const Sphere ball = ball_of(tree);
  double furthest = 0;
  for (const AffineMap& map : path.maps)
    furthest = std::max(furthest, length(map * ball.center) + path.stretch * ball.radius);
  return furthest * 0x1p-23;
}

// Distinguishes tracers, also from destroyed ones.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct SweptTracer::State {
  SweptSettings settings{};
  std::variant<std::monostate, BrickField, DenseGrid> field{};  // Owns the data that `rough` reads.
  detail::RoughField rough{};
  Lattice lattice{};  // For a field without lattice, only the spacing is valid.
  detail::FreeSpace space{};
  std::optional<detail::Steepness> slopes{};
  std::optional<SegmentTracer> tracer;
  std::optional<AnyField> any{};  // Instead of both.
  std::uint64_t number = next_number();

  using Work = detail::SweptBuffers;

  template <typename F>
  State(const F& f, const SweptSettings& s) : State(f, s, SegmentTracer(f, for_segments(s))) {}

  // `make_space(least value on the box's sides)` returns the free space.
  template <typename F, typename MakeSpace>
  State(const F& f, const SweptSettings& s, SegmentTracer made, const MakeSpace& make_space)
      : settings(s),
        field(f),
        rough(detail::make_rough(f)),
        lattice(f.lattice()),
        tracer(std::move(made)) {
    const double least = detail::find_rim(rough.lattice, rough.samples).least;
    space = make_space(least);
    slopes.emplace(std::get_if<BrickField>(&field), std::get_if<DenseGrid>(&field), least < 0);
  }

  template <typename F>
  State(const F& f, const SweptSettings& s, SegmentTracer made)
      : State(f, s, std::move(made), [&](double least) {
          return detail::build_free_space(f, s.margin, least, s.threads);
        }) {}

  // After an edit.
  State(const BrickField& f, const EditReport& edit, const State& earlier)
      : State(f, earlier.settings, earlier.tracer->after_edit(f, edit), [&](double least) {
          const SweptSettings& s = earlier.settings;
          return edit.full_rebuild ? detail::build_free_space(f, s.margin, least, s.threads)
                                   : detail::update_free_space(earlier.space, f, s.margin, least,
                                                               edit.changed_cells, s.threads);
        }) {}

  State(const BrickField& f, std::shared_ptr<const SegmentIndex> index, const SweptSettings& s)
      : State(f, s, SegmentTracer(f, std::move(index), for_segments(s))) {}

  State(const AnyField& f, double cell, const SweptSettings& s) : settings(s), any(f) {
    for_segments(s);  // Checks the settings.
    if (!(cell > 0 && std::isfinite(cell)))
      throw Error(fmt::format("a cell of {} m, which should be positive", cell));
    lattice.spacing = cell;
  }

  detail::AnyTrace any_trace() const {
    return {*any, settings.margin, lattice.spacing, for_segments(settings).mode};
  }

  detail::SweptSearch make_search() const {
    if (any) return {*any, settings.margin, lattice.spacing * detail::kFreeBlockCells};
    return {space, lattice};
  }

  detail::RoomProbe make_probe() const {
    return {std::get_if<BrickField>(&field),
            std::get_if<DenseGrid>(&field),
            any ? &*any : nullptr,
            settings.margin,
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
    compute_shell_path(motion, ball_of(tree), settings.path_tolerance * lattice.spacing, work.path);
  }

  // Along the path in `work`.
  void trace(const PointSphereTree& tree, Work& work, SweptResults& results) const {
    SweptMotionResult summary;
    summary.path_error = work.path.error + compute_float_rounding(tree, work.path);
    summary.first_hit = results.hits.size();
    const bool linear = settings.traversal == ShellTraversal::kLinear;
    const bool paper = settings.traversal == ShellTraversal::kPaper;
    if (!linear && !paper) {
      if (work.searcher != number) work.search.emplace(make_search());
      work.searcher = number;
      work.search->start(tree, work.path);
    }
    const auto look_at = [&](const std::vector<detail::PieceOfPoint>& pieces) {
      trace_pieces(tree, pieces, work, summary.work);
      settings.mode == Mode::kAll ? collect(pieces, work, summary, results)
                                  : take_first(pieces, work, summary);
    };
    if (linear)
      list_all(tree, work, summary.work, look_at);
    else if (paper)
      list_by_paper(tree, work, summary.work, look_at);
    else if (settings.mode == Mode::kAll)
      work.search->find_all(work.pieces, summary.work, look_at);
    else if (settings.mode == Mode::kFirst)
      find_first(tree, work, summary);
    else
      find_any(tree, work, summary);
    finish(summary, results);
  }

  // The same with the memory of a front.
  void follow(const PointSphereTree& tree, detail::SweptFront& front, Work& work,
              SweptResults& results) const {
    SweptMotionResult summary;
    summary.path_error = work.path.error + compute_float_rounding(tree, work.path);
    summary.first_hit = results.hits.size();
    const detail::RoomProbe probe = make_probe();
    const std::span<const detail::FrontPoint> found =
        work.fronts.look(front, tree, work.path, probe, summary.work);
    if (settings.mode == Mode::kAll)
      collect(tree, found, work, summary, results);
    else
      find_first(tree, found, work, summary);
    finish(summary, results);
  }

  void finish(SweptMotionResult& summary, SweptResults& results) const {
    if (settings.mode != Mode::kAll && summary.point != kNoPoint) {
      results.hits.push_back({summary.point, 1, results.intervals.size()});
      results.intervals.push_back({summary.time, summary.time});
    }
    summary.hit_count = results.hits.size() - summary.first_hit;
    results.motions.push_back(summary);
  }

  template <typename Use>
  void list_by_paper(const PointSphereTree& tree, Work& work, SweptWork& counts, Use&& use) const {
    const auto touches = [&](const Segment& segment, double radius) {
      SegmentInterval found[1];
      if (any)
        return detail::trace_any({*any, settings.margin + radius, lattice.spacing, Mode::kFirst},
                                 segment, found, counts.tracing) > 0;
      return tracer
                 ->with({.margin = settings.margin + radius,
                         .mode = Mode::kFirst,
                         .traversal = Traversal::kUniform,
                         .roots = settings.roots})
                 .trace(segment, found, &counts.tracing) > 0;
    };
    std::vector<std::uint32_t> points;
    detail::list_paper_points(tree, work.path, points, counts, touches);
    work.pieces.clear();
    for (const std::uint32_t point : points)
      for (int piece = 0; piece < work.path.piece_count(); ++piece)
        work.pieces.push_back({point, static_cast<std::uint32_t>(piece)});
    std::sort(work.pieces.begin(), work.pieces.end());
    use(work.pieces);
  }

  template <typename Use>
  static void list_all(const PointSphereTree& tree, Work& work, SweptWork& counts, Use&& use) {
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
                    Work& work, SweptWork& counts) const {
    work.segments.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
      work.segments[i] = segment_of(tree, work.path, pieces[i]);
    if (any) {
      detail::trace_any(any_trace(), work.segments, work.traced, counts.tracing);
    } else if (work.segments.size() < kFewSegments) {
      trace_alone(work, counts.tracing);
    } else {
      tracer->trace(work.segments, work.traced);
      counts.tracing += work.traced.work;
    }
    counts.segments += work.segments.size();
  }

  // A batch takes some microseconds to start.
  void trace_alone(Work& work, SegmentWork& counts) const {
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

  // Intervals of a point come one after the other. One that continues in the next piece is the
  // same.
  static void add_interval(std::uint32_t point, const SegmentInterval& interval,
                           SweptMotionResult& summary, SweptResults& results) {
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
                        SweptMotionResult& summary, SweptResults& results) {
    for (std::size_t k = work.traced.first[traced]; k < work.traced.first[traced + 1]; ++k) {
      const SegmentInterval& now = work.traced.intervals[k];
      add_interval(
          piece.point,
          {time_of(work.path, piece.piece, now.enter), time_of(work.path, piece.piece, now.exit)},
          summary, results);
    }
  }

  static void collect(const std::vector<detail::PieceOfPoint>& pieces, const Work& work,
                      SweptMotionResult& summary, SweptResults& results) {
    for (std::size_t i = 0; i < pieces.size(); ++i) add_piece(pieces[i], i, work, summary, results);
  }

  // Points that are inside all the time need no trace.
  void collect(const PointSphereTree& tree, std::span<const detail::FrontPoint> found, Work& work,
               SweptMotionResult& summary, SweptResults& results) const {
    const auto pieces = static_cast<std::uint32_t>(work.path.piece_count());
    work.pieces.clear();
    for (const detail::FrontPoint& p : found)
      for (std::uint32_t piece = 0; !p.inside && piece < pieces; ++piece)
        work.pieces.push_back({p.point, piece});
    if (!work.pieces.empty()) trace_pieces(tree, work.pieces, work, summary.work);
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

  static void note_first(SweptMotionResult& summary, std::uint32_t point, float time) {
    if (time < summary.time || (time == summary.time && point < summary.point)) {
      summary.time = time;
      summary.point = point;
    }
  }

  static void take_first(const std::vector<detail::PieceOfPoint>& pieces, const Work& work,
                         SweptMotionResult& summary) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (work.traced.first[i + 1] > work.traced.first[i])
        note_first(
            summary, pieces[i].point,
            time_of(work.path, pieces[i].piece, work.traced.intervals[work.traced.first[i]].enter));
  }

  // Returns the first time inside of a piece of a point, or kNever.
  float trace_piece(const PointSphereTree& tree, const ShellPath& path,
                    const detail::PieceOfPoint& p, SweptMotionResult& summary) const {
    SegmentInterval interval;
    ++summary.work.segments;
    const Segment segment = segment_of(tree, path, p);
    const std::span<SegmentInterval> room(&interval, 1);
    const std::size_t n = any ? detail::trace_any(any_trace(), segment, room, summary.work.tracing)
                              : tracer->trace(segment, room, &summary.work.tracing);
    if (n == 0) return kNever;
    const float time = time_of(path, p.piece, interval.enter);
    note_first(summary, p.point, time);
    return time;
  }

  void find_first(const PointSphereTree& tree, Work& work, SweptMotionResult& summary) const {
    work.search->find_first(
        [&](const detail::PieceOfPoint& p) { return trace_piece(tree, work.path, p, summary); },
        summary.work);
  }

  // No later point can touch before time 0.
  void find_first(const PointSphereTree& tree, std::span<const detail::FrontPoint> found,
                  const Work& work, SweptMotionResult& summary) const {
    const auto pieces = static_cast<std::uint32_t>(work.path.piece_count());
    for (const detail::FrontPoint& p : found) {
      if (p.inside) note_first(summary, p.point, 0);
      for (std::uint32_t k = 0; !p.inside && k < pieces; ++k)
        if (trace_piece(tree, work.path, {p.point, k}, summary) != kNever) break;
      if (summary.time <= 0) return;
    }
  }

  void find_any(const PointSphereTree& tree, Work& work, SweptMotionResult& summary) const {
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
        summary.work);
  }
};

SweptTracer::SweptTracer(const BrickField& field, const SweptSettings& settings)
    : state_(std::make_unique<const State>(field, settings)) {}
SweptTracer::SweptTracer(const BrickField& field, std::shared_ptr<const SegmentIndex> index,
                         const SweptSettings& settings)
    : state_(index && index->serves(settings.margin)
                 ? std::make_unique<const State>(field, std::move(index), settings)
                 : std::make_unique<const State>(field, settings)) {}
SweptTracer::SweptTracer(const DenseGrid& grid, const SweptSettings& settings)
    : state_(std::make_unique<const State>(grid, settings)) {}
SweptTracer::SweptTracer(const AnyField& field, double cell, const SweptSettings& settings)
    : state_(std::make_unique<const State>(field, cell, settings)) {}
SweptTracer::SweptTracer(std::unique_ptr<const State> state) : state_(std::move(state)) {}

SweptTracer SweptTracer::after_edit(const BrickField& field, const EditReport& edit) const {
  if (!state_->tracer)
    throw Error("the tracer of a formula cannot follow an edit: make a new one for the field");
  return SweptTracer(std::make_unique<const State>(field, edit, *state_));
}

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
    for (SweptMotionResult summary : part.motions) {
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

void SweptTracer::trace(const PointSphereTree& tree, const ShellMotion& motion,
                        SweptResults& results, SweptScratch& scratch) const {
  if (const auto flaw = find_flaw(motion)) throw Error(*flaw);
  results.motions.clear();
  results.hits.clear();
  results.intervals.clear();
  if (scratch.state_ == nullptr) scratch.state_ = std::make_unique<SweptScratch::State>();
  SweptScratch::State& m = *scratch.state_;
  if (m.tracer != state_->number || m.tree.buffer().data() != tree.buffer().data()) {
    m.tracer = state_->number;
    m.tree = tree;
    m.front = {};
  }
  const ThreadScratch<State::Work> work;
  state_->find_path(tree, motion, *work);
  const SweptSettings& s = state_->settings;
  m.followed = s.mode != Mode::kAny && s.traversal == ShellTraversal::kTree &&
               s.roots == RootSearch::kAll &&
               detail::can_follow(work->path, tree, state_->lattice.spacing);
  if (m.followed)
    state_->follow(tree, m.front, *work, results);
  else
    state_->trace(tree, *work, results);
}

SweptScratch::SweptScratch() = default;
SweptScratch::SweptScratch(SweptScratch&&) noexcept = default;
SweptScratch& SweptScratch::operator=(SweptScratch&&) noexcept = default;
SweptScratch::~SweptScratch() = default;

void SweptScratch::forget() { state_.reset(); }

std::uint64_t SweptScratch::memory_bytes() const {
  return state_ == nullptr ? 0 : sizeof(State) + state_->front.memory_bytes();
}

double SweptScratch::compute_free_move() const {
  if (state_ == nullptr || !state_->followed) return 0;
  return detail::compute_free_move(state_->front, state_->tree);
}

}  // namespace isotact
