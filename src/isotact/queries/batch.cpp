// States are cut into chunks of a fixed size. What pairs remember begins anew with each chunk, so
// that threads do not change what is found.
#include "isotact/queries/batch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_touch.h"
#include "isotact/queries/detail/pair_checks.h"

namespace isotact {
namespace detail {

// How often pairs have touched, and what they remember.
struct PairScratch {
  std::vector<TouchScratch> touch{};
  std::vector<std::uint32_t> hits{}, order{};  // of pairs; the one with the most hits first

  void fit(std::size_t pairs) {
    if (touch.size() == pairs) return;
    touch.assign(pairs, {});
    hits.assign(pairs, 0);
    order.resize(pairs);
    for (std::uint32_t k = 0; k < pairs; ++k) order[k] = k;
  }
  void count_hit(std::size_t place) {
    ++hits[order[place]];
    for (; place > 0 && hits[order[place - 1]] < hits[order[place]]; --place)
      std::swap(order[place - 1], order[place]);
  }
};

}  // namespace detail

struct BatchScratch::State {
  std::vector<CollideRow> collided{};
  std::vector<DistanceResult> distances{};
  detail::PairScratch memory{};  // with which chunks begin
  std::vector<detail::TouchBody> bodies{};
  std::vector<Vec3> centers{};
};

struct BatchAccess {
  static BatchScratch::State& state(BatchScratch& s) {
    if (s.state_ == nullptr) s.state_ = std::make_unique<BatchScratch::State>();
    return *s.state_;
  }
};

BatchScratch::BatchScratch() = default;
BatchScratch::BatchScratch(BatchScratch&& other) noexcept = default;
BatchScratch& BatchScratch::operator=(BatchScratch&& other) noexcept = default;
BatchScratch::~BatchScratch() = default;

namespace {

// Where the poses of each body lie.
struct BatchView {
  std::span<const Shape* const> bodies;
  std::span<const ShapePair> pairs;
  std::span<const Pose* const> first;   // of each body
  std::span<const std::size_t> stride;  // from state to state
  std::size_t states;

  const Pose& pose(std::size_t state, std::uint32_t body) const {
    return first[body][state * stride[body]];
  }
};

// A pair of a state takes a tenth of a microsecond or more.
std::size_t states_per_chunk(const BatchView& view) {
  constexpr std::size_t kPairsPerChunk = 512;
  return std::max<std::size_t>(8, kPairsPerChunk / std::max<std::size_t>(1, view.pairs.size()));
}

// ---- the yes-or-no check by triangles -----------------------------------------------------------

class TouchChunk {
 public:
  TouchChunk(const BatchView& view, const CollideBatchRequest& request,
             const BatchScratch::State& state, detail::PairScratch& memory)
      : view_(view),
        request_(request),
        bodies_(state.bodies),
        memory_(memory),
        centers_(view.bodies.size()) {}

  void check(std::size_t state, CollideRow* rows) {
    for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
      const Pose& pose = view_.pose(state, i);
      detail::check_pose(pose);
      centers_[i] = transform_point(pose, bodies_[i].body->ball_center);
    }
    if (request_.stop_at_first) {
      *rows = {.exact = true};
      for (std::size_t place = 0; place < memory_.order.size(); ++place) {
        const std::uint32_t pair = memory_.order[place];
        if (!touches(state, pair, *rows)) continue;
        rows->pair = pair;
        memory_.count_hit(place);
        return;
      }
      return;
    }
    for (std::uint32_t pair = 0; pair < view_.pairs.size(); ++pair) {
      rows[pair] = {.exact = true};
      touches(state, pair, rows[pair]);
    }
  }

 private:
  bool touches(std::size_t state, std::uint32_t pair, CollideRow& row) {
    const auto [i, k] = view_.pairs[pair];
    const detail::TouchBody &a = bodies_[i], &b = bodies_[k];
    const double margin = request_.collide.margin;
    if (detail::are_balls_apart(a, centers_[i], b, centers_[k], margin)) return false;
    const Pose& world_from_a = view_.pose(state, i);
    const detail::Touch touch = detail::find_touch(
        a, b, inverse(world_from_a) * view_.pose(state, k), margin, memory_.touch[pair]);
    if (touch.kind == detail::TouchKind::kFree) return false;
    row.status = CollideStatus::kContact;
    row.contact = detail::to_contact(touch, world_from_a);
    return true;
  }

  const BatchView& view_;
  const CollideBatchRequest& request_;
  std::span<const detail::TouchBody> bodies_;
  detail::PairScratch& memory_;
  std::vector<Vec3> centers_;
};

// ---- all other requests -------------------------------------------------------------------------

CollideRow row_of(const CollideResult& r) {
  CollideRow row{
      .status = r.status, .exact = r.exact, .distance = r.distance, .lower_bound = r.lower_bound};
  const auto deepest =
      std::max_element(r.contacts.begin(), r.contacts.end(),
                       [](const Contact& x, const Contact& y) { return x.depth < y.depth; });
  if (deepest != r.contacts.end()) row.contact = *deepest;
  return row;
}

class CollideChunk {
 public:
  CollideChunk(const BatchView& view, const CollideBatchRequest& request,
               detail::PairScratch& memory)
      : view_(view), request_(request), memory_(memory), scratch_(view.pairs.size()) {}

  void check(std::size_t state, CollideRow* rows) {
    if (!request_.stop_at_first) {
      for (std::uint32_t pair = 0; pair < view_.pairs.size(); ++pair)
        rows[pair] = check_pair(state, pair);
      return;
    }
    *rows = {.exact = true};
    for (std::size_t place = 0; place < memory_.order.size(); ++place) {
      const std::uint32_t pair = memory_.order[place];
      CollideRow row = check_pair(state, pair);
      row.exact = row.exact && rows->exact;
      rows->exact = row.exact;
      if (row.status == CollideStatus::kGaveUp) rows->status = row.status;
      if (row.status != CollideStatus::kContact) continue;
      row.pair = pair;
      *rows = row;
      memory_.count_hit(place);
      return;
    }
  }

 private:
  CollideRow check_pair(std::size_t state, std::uint32_t pair) {
    const auto [i, k] = view_.pairs[pair];
    return row_of(collide(*view_.bodies[i], view_.pose(state, i), *view_.bodies[k],
                          view_.pose(state, k), request_.collide, scratch_[pair]));
  }

  const BatchView& view_;
  const CollideBatchRequest& request_;
  detail::PairScratch& memory_;
  std::vector<CollideScratch> scratch_;  // of pairs
};

// Whether all pairs may be checked by their triangles alone.
bool are_triangles_enough(const BatchView& view, const CollideBatchRequest& request,
                          BatchScratch::State& state) {
  const CollideRequest& r = request.collide;
  if (r.mode != Mode::kAny || r.max_tests > 0 || !detail::asks_for_triangles(r)) return false;
  for (const Shape* body : view.bodies)
    if (!detail::can_be_exact(*body) || detail::exact_body(*body).half_space) return false;
  state.bodies.clear();
  for (const Shape* body : view.bodies) state.bodies.emplace_back(*body);
  return true;
}

std::span<const CollideRow> run_collide(const BatchView& view, const CollideBatchRequest& request,
                                        BatchScratch& scratch) {
  BatchScratch::State& state = BatchAccess::state(scratch);
  detail::check_request(request.collide);
  const std::size_t rows = request.stop_at_first ? 1 : view.pairs.size();
  state.collided.resize(view.states * rows);
  state.memory.fit(view.pairs.size());
  const bool by_triangles = are_triangles_enough(view, request, state);
  const auto run = [&](std::size_t begin, std::size_t end, detail::PairScratch& memory) {
    const auto check_all = [&](auto&& chunk) {
      for (std::size_t s = begin; s < end; ++s) chunk.check(s, state.collided.data() + s * rows);
    };
    if (by_triangles)
      check_all(TouchChunk(view, request, state, memory));
    else
      check_all(CollideChunk(view, request, memory));
  };
  const std::size_t grain = states_per_chunk(view);
  if (view.states <= grain) {  // without a copy of what is remembered
    run(0, view.states, state.memory);
    return state.collided;
  }
  const detail::PairScratch before = state.memory;
  parallel_for(view.states, grain, request.threads, [&](std::size_t begin, std::size_t end) {
    detail::PairScratch memory = before;
    run(begin, end, memory);
    if (end == view.states) state.memory = std::move(memory);
  });
  return state.collided;
}

std::span<const DistanceResult> run_distance(const BatchView& view,
                                             const DistanceBatchRequest& request,
                                             BatchScratch& scratch) {
  BatchScratch::State& state = BatchAccess::state(scratch);
  const std::size_t rows = view.pairs.size();
  state.distances.resize(view.states * rows);
  const std::size_t grain = std::max<std::size_t>(1, states_per_chunk(view) / 16);
  parallel_for(view.states, grain, request.threads, [&](std::size_t begin, std::size_t end) {
    DistanceScratch memory;
    for (std::size_t s = begin; s < end; ++s)
      for (std::size_t k = 0; k < rows; ++k) {
        const auto [a, b] = view.pairs[k];
        state.distances[s * rows + k] = distance(*view.bodies[a], view.pose(s, a), *view.bodies[b],
                                                 view.pose(s, b), request.distance, memory);
      }
  });
  return state.distances;
}

// Makes a view of the batch, and calls run with it.
template <typename Run>
auto with_view(const PoseBatch& batch, Run&& run) {
  const std::size_t count = batch.bodies.size();
  for (const ShapePair& pair : batch.pairs)
    if (pair.a >= count || pair.b >= count)
      throw Error(fmt::format("the pair {}, {} is of bodies that do not exist: there are {}",
                              pair.a, pair.b, count));
  if (count == 0 || batch.world_from_body.size() % count != 0)
    throw Error(fmt::format("{} poses are not whole states of {} bodies",
                            batch.world_from_body.size(), count));
  std::vector<const Shape*> bodies;
  std::vector<const Pose*> first;
  for (std::size_t i = 0; i < count; ++i) {
    bodies.push_back(&batch.bodies[i]);
    first.push_back(batch.world_from_body.data() + i);
  }
  const std::vector<std::size_t> stride(count, count);
  return run(BatchView{bodies, batch.pairs, first, stride, batch.world_from_body.size() / count});
}

template <typename Run>
auto with_view(const Shape& a, const Pose& world_from_a, const Shape& b,
               std::span<const Pose> world_from_b, Run&& run) {
  const Shape* const bodies[] = {&a, &b};
  const ShapePair pairs[] = {{0, 1}};
  const Pose* const first[] = {&world_from_a, world_from_b.data()};
  const std::size_t stride[] = {0, 1};
  return run(BatchView{bodies, pairs, first, stride, world_from_b.size()});
}

}  // namespace

std::span<const CollideRow> collide_batch(const PoseBatch& batch,
                                          const CollideBatchRequest& request,
                                          BatchScratch& scratch) {
  return with_view(batch,
                   [&](const BatchView& view) { return run_collide(view, request, scratch); });
}

std::span<const CollideRow> collide_poses(const Shape& a, const Pose& world_from_a, const Shape& b,
                                          std::span<const Pose> world_from_b,
                                          const CollideBatchRequest& request,
                                          BatchScratch& scratch) {
  return with_view(a, world_from_a, b, world_from_b,
                   [&](const BatchView& view) { return run_collide(view, request, scratch); });
}

std::span<const DistanceResult> distance_batch(const PoseBatch& batch,
                                               const DistanceBatchRequest& request,
                                               BatchScratch& scratch) {
  return with_view(batch,
                   [&](const BatchView& view) { return run_distance(view, request, scratch); });
}

std::span<const DistanceResult> distance_poses(const Shape& a, const Pose& world_from_a,
                                               const Shape& b, std::span<const Pose> world_from_b,
                                               const DistanceBatchRequest& request,
                                               BatchScratch& scratch) {
  return with_view(a, world_from_a, b, world_from_b,
                   [&](const BatchView& view) { return run_distance(view, request, scratch); });
}

}  // namespace isotact
