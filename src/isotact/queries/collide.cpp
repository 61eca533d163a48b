#include "isotact/queries/collide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_distance.h"
#include "isotact/queries/detail/exact_touch.h"
#include "isotact/queries/detail/pair_checks.h"

namespace isotact {

namespace {

Method method_of(const CollideRequest& request) {
  return request.method == Method::kAutomatic ? Method::kPoints : request.method;
}

}  // namespace

namespace detail {

void check_request(const CollideRequest& request) {
  if (!std::isfinite(request.margin)) throw Error("the margin is not finite");
  if (request.max_contacts < 1 || request.max_contacts > kManifoldSize)
    throw Error("max_contacts must be from 1 to 4");
  if (request.patches < 1) throw Error("there must be one patch at least");
  if (request.max_tests > 0 && request.accuracy == Accuracy::kField)
    throw Error("max_tests limits exact searches: leave the request's accuracy as it is");
  if (request.only_points && request.accuracy != Accuracy::kField)
    throw Error("only_points is for the field's accuracy: set Accuracy::kField, or leave it out");
  if (!(request.max_microseconds >= 0)) throw Error("max_microseconds must not be negative");
  const Method method = method_of(request);
  if (method > Method::kSwept) throw Error("the request's method is none of Method");
  if (method != Method::kIntersectionField && request.intersection != IntersectionRequest{})
    throw Error("settings of intersection fields are for Method::kIntersectionField");
  if (method != Method::kDepthMap && request.depth != DepthRequest{})
    throw Error("settings of depth maps are for Method::kDepthMap");
  if (request.mode == Mode::kFirst)
    throw Error("Mode::kFirst is for motions: bodies at rest take kAll or kAny");
  if (request.mode == Mode::kAny &&
      (method != Method::kPoints || request.patches != 1 || request.level >= 0 ||
       request.max_nodes > 0 || request.max_microseconds > 0 || request.want_distance ||
       request.want_force))
    throw Error(
        "Mode::kAny says whether bodies touch, by points or triangles: leave out other methods, "
        "patches, levels, budgets, want_distance and want_force");
  if (method == Method::kPoints) return;
  if (request.only_fewer_points || request.patches != 1 || request.level >= 0 ||
      request.max_nodes > 0 || request.max_microseconds > 0)
    throw Error("levels, budgets and patches are for Method::kPoints");
  if (request.want_distance)
    throw Error(
        "want_distance is for Method::kPoints: set it as the request's method, or call distance");
  if (request.want_force)
    throw Error("want_force is for Method::kPoints: set it as the request's method");
  if (method == Method::kSwept) return;
  if (request.roles != Roles::kBoth) throw Error("roles are for Method::kPoints and kSwept");
  if (method == Method::kDepthMap && request.margin != 0)
    throw Error("depth maps know no margin: set the request's method to Method::kPoints");
}

bool asks_for_triangles(const CollideRequest& request) {
  const bool asks_for_points =
      request.method != Method::kAutomatic || request.margin < 0 || request.max_microseconds > 0;
  return request.accuracy != Accuracy::kField && !asks_for_points;
}

}  // namespace detail

struct CollideAccess {
  static CollideScratch::State& state(CollideScratch& s) {
    if (s.state_ == nullptr) s.state_ = new CollideScratch::State;
    return *s.state_;
  }
};

namespace {

void reset(CollideResult& result, Method method) {
  result.status = CollideStatus::kFree;
  result.exact = result.touching = result.contained = false;
  result.method = method;
  result.complete = true;
  result.level = 0;
  result.contacts.clear();
  result.first_contact.clear();
  result.touching_points = 0;
  result.has_distance = result.has_force = false;
  result.distance = std::numeric_limits<double>::infinity();
  result.lower_bound = -std::numeric_limits<double>::infinity();
  result.least_distance = -std::numeric_limits<double>::infinity();
  result.most_distance = std::numeric_limits<double>::infinity();
  result.force = result.torque = {};
  result.area = 0;
  result.blind_depth = 0;
  result.work = {};
  result.particles = result.arrived = 0;
  result.depth.views.clear();
  result.depth.seen = result.depth.grazing = 0;
  result.depth.unseen = 1;
  result.depth.inside = false;
}

bool is_exact(const Shape& a, const Shape& b, const CollideRequest& request) {
  if (request.accuracy == Accuracy::kField) return false;
  if (request.accuracy == Accuracy::kBest)
    return detail::asks_for_triangles(request) && detail::can_be_exact(a) &&
           detail::can_be_exact(b);
  if (!detail::asks_for_triangles(request))
    throw Error(
        "an exact verdict takes no method, a margin of 0 or more, and no budget of time: leave "
        "them "
        "out, or ask for the field's accuracy");
  return true;
}

// Whether max_tests end the search before it can tell. Then the bounds are what is known.
bool gives_up(const detail::CollidePair& pair, const CollideRequest& request,
              CollideResult& result) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  const DistanceResult found = detail::compute_exact_distance(
      a, world_from_a, b, world_from_b,
      {.max_tests = request.max_tests, .near_enough = request.margin, .want_depth = false});
  const bool is_known = found.touching || (found.contained && found.distance <= 0) ||
                        found.upper_bound <= request.margin || found.lower_bound > request.margin;
  if (found.status != DistanceStatus::kGaveUp || is_known) return false;
  result.exact = result.complete = false;
  result.status = CollideStatus::kGaveUp;
  result.contacts.clear();
  result.first_contact.assign(1, 0);
  result.touching_points = 0;
  // Overlaps have a depth, of which nothing is known.
  if (found.lower_bound > 0) result.least_distance = found.lower_bound;
  result.most_distance = found.upper_bound;
  return true;
}

// Half-spaces have no triangles.
bool has_half_space(const Shape& a, const Shape& b) {
  return detail::exact_body(a).half_space || detail::exact_body(b).half_space;
}

// What the triangles say of a pair.
struct Verdict {
  detail::TouchKind kind = detail::TouchKind::kFree;
  bool is_proved = false;            // by a point of a surface inside of the other body
  bool has_points = false;           // the result has what the points say
  std::optional<Contact> witness{};  // where they touch, if it is known
};

// Half-spaces have no triangles.
Verdict measure_half_space(const detail::CollidePair& pair, double margin) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  const DistanceResult found =
      detail::compute_exact_distance(a, world_from_a, b, world_from_b, {.want_depth = false});
  if (!found.touching && !(found.contained && found.distance <= 0) && found.upper_bound > margin)
    return {};
  return {.kind = detail::TouchKind::kSurfaces, .witness = found.contact};
}

// Whether the deepest sample that can do so proves that the surfaces cross. Contacts of points come
// from samples, which lie on triangles.
bool prove_by_points(const detail::CollidePair& pair, const detail::TouchBody& of_a,
                     const detail::TouchBody& of_b, const CollideRequest& request,
                     CollideScratch::State& state) {
  detail::collide_by_points(pair, request, state);
  const bool by_a = detail::can_prove_crossing(of_a, of_b),
             by_b = detail::can_prove_crossing(of_b, of_a);
  const Contact* deepest = nullptr;
  for (const Contact& c : state.result.contacts)
    if ((c.sampled_by == Body::kA ? by_a : by_b) && (!deepest || c.depth > deepest->depth))
      deepest = &c;
  if (deepest == nullptr) return false;
  const bool is_a = deepest->sampled_by == Body::kA;
  const Pose &world_from_of = is_a ? pair.world_from_a : pair.world_from_b,
             &world_from_in = is_a ? pair.world_from_b : pair.world_from_a;
  const Vec3& sample = is_a ? deepest->point_on_a : deepest->point_on_b;
  return detail::proves_crossing(is_a ? of_a : of_b,
                                 transform_point(inverse(world_from_of), sample),
                                 is_a ? of_b : of_a, inverse(world_from_in) * world_from_of);
}

// `with_points`: contacts by points are wanted anyway, if bodies touch. After a contact they come
// first: most often they tell already.
Verdict compute_verdict(const detail::CollidePair& pair, const CollideRequest& request,
                        bool with_points, CollideScratch::State& state) {
  using detail::TouchKind;
  const auto& [a, world_from_a, b, world_from_b] = pair;
  const double margin = request.margin;
  if (has_half_space(a, b)) return measure_half_space(pair, margin);
  const detail::TouchBody of_a(a), of_b(b);
  Verdict verdict;
  if (detail::are_balls_apart(of_a, transform_point(world_from_a, of_a.body->ball_center), of_b,
                              transform_point(world_from_b, of_b.body->ball_center), margin))
    return verdict;
  const Pose a_from_b = inverse(world_from_a) * world_from_b;
  detail::TouchCheck check(of_a, of_b, a_from_b, margin, state.touch);
  const auto prove = [&] {
    verdict.has_points = true;
    return verdict.is_proved = prove_by_points(pair, of_a, of_b, request, state);
  };
  std::optional<TouchKind> kind = check.at_once();
  if (!kind && with_points && state.touch.is_contact && prove()) kind = TouchKind::kSurfaces;
  if (!kind && check.are_hulls_apart()) kind = TouchKind::kFree;
  if (!kind) kind = check.by_triangles();
  verdict.kind = *kind;
  state.touch.is_contact = verdict.kind != TouchKind::kFree;
  // With points it is seldom needed, and costs as much as they do.
  if (state.touch.is_contact && !verdict.is_proved && (!with_points || margin > 0))
    verdict.witness = detail::to_contact(check.describe(), world_from_a);
  return verdict;
}

// Where bodies touch that do: the memory of the verdict leads there.
Contact find_witness(const detail::CollidePair& pair, const Verdict& verdict, double margin,
                     detail::TouchScratch& memory) {
  if (verdict.witness) return *verdict.witness;
  const auto& [a, world_from_a, b, world_from_b] = pair;
  const detail::Touch touch =
      detail::find_touch(detail::TouchBody(a), detail::TouchBody(b),
                         inverse(world_from_a) * world_from_b, margin, memory);
  return detail::to_contact(touch, world_from_a);
}

// How bodies touch that do. Triangles may be as near as the margin only: then there is a witness.
void set_kind(const Verdict& verdict, CollideResult& result) {
  result.contained = verdict.kind == detail::TouchKind::kContained;
  result.touching = !result.contained && (!verdict.witness || verdict.witness->depth >= 0);
}

// Bodies whose triangles are free: nothing else is asked for.
void set_free(const detail::CollidePair& pair, const CollideRequest& request,
              CollideResult& result) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  result.exact = true;
  result.first_contact.assign(1, 0);
  result.level = kMaxShellLevels;
  result.has_force = request.want_force;
  result.has_distance = request.want_distance;
  if (!request.want_distance) return;
  const DistanceResult apart =
      detail::compute_exact_distance(a, world_from_a, b, world_from_b, {.want_depth = false});
  result.distance = apart.distance;
  result.lower_bound = result.least_distance = apart.lower_bound;
  result.most_distance = apart.upper_bound;
}

// Bodies that touch, whatever points have found: their contacts become those of the surfaces.
void confirm_contact(const detail::CollidePair& pair, const CollideRequest& request,
                     const Verdict& verdict, detail::TouchScratch& memory, CollideResult& result) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  result.exact = true;
  result.blind_depth = 0;
  result.status = CollideStatus::kContact;
  if (!result.contacts.empty())
    detail::settle_contacts(a, world_from_a, b, world_from_b, request.margin, result.contacts,
                            result.first_contact);
  if (result.contacts.empty()) {  // an overlap so small that no sample is in it
    const Contact touch = find_witness(pair, verdict, request.margin, memory);
    result.contacts.push_back(detail::guess_contact(a, world_from_a, b, world_from_b, touch));
    result.first_contact.assign({0, 1});
  }
}

Contact& deepest_of(std::vector<Contact>& contacts) {
  return *std::max_element(contacts.begin(), contacts.end(),
                           [](const Contact& x, const Contact& y) { return x.depth < y.depth; });
}

// The contacts' depth is no bound of how deep the surfaces are. That takes a search of its own,
// which leads to the deepest point of all.
void set_exact_distance(const detail::CollidePair& pair, const CollideRequest& request,
                        std::shared_ptr<void>& memory, CollideResult& result) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  Contact& deepest = deepest_of(result.contacts);
  result.has_distance = true;
  result.distance = -deepest.depth;
  result.lower_bound = -std::numeric_limits<double>::infinity();
  if (!request.want_distance) return;
  const DistanceResult found =
      detail::compute_exact_distance(a, world_from_a, b, world_from_b, {}, &memory);
  result.distance = found.distance;
  result.lower_bound = result.least_distance = found.lower_bound;
  result.most_distance = found.upper_bound;
  const Contact sample = deepest;
  deepest = found.contact;
  deepest.sampled_by = sample.sampled_by;
  deepest.point = sample.point;
}

// Mode::kAny.
void find_any(const detail::CollidePair& pair, const CollideRequest& request, bool exact,
              CollideScratch::State& state) {
  CollideResult& result = state.result;
  result.contacts.reserve(1);
  result.first_contact.reserve(2);
  if (!exact) {
    detail::find_any_point(pair, request, state);
  } else if (const Verdict verdict = compute_verdict(pair, request, false, state);
             verdict.kind != detail::TouchKind::kFree) {
    result.status = CollideStatus::kContact;
    set_kind(verdict, result);
    result.contacts.push_back(*verdict.witness);
  }
  result.exact = exact;
  if (!result.contacts.empty()) result.first_contact.push_back(0);
  result.first_contact.push_back(static_cast<std::uint32_t>(result.contacts.size()));
}

}  // namespace

CollideScratch::CollideScratch() : state_(nullptr) {}
CollideScratch::CollideScratch(CollideScratch&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}
CollideScratch& CollideScratch::operator=(CollideScratch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
CollideScratch::~CollideScratch() { delete state_; }

void CollideScratch::set_coherent(bool on) {
  for (CollideRole& role : CollideAccess::state(*this).roles) role.shell.set_coherent(on);
}

const CollideResult& collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                             const Pose& world_from_b, const CollideRequest& request,
                             CollideScratch& scratch) {
  detail::check_request(request);
  detail::check_pose(world_from_a);
  detail::check_pose(world_from_b);
  detail::check_ends(a, b);
  CollideScratch::State& s = CollideAccess::state(scratch);
  const Method method = method_of(request);
  reset(s.result, method);
  const detail::CollidePair pair{a, world_from_a, b, world_from_b};
  const bool exact = is_exact(a, b, request);
  if (exact && request.max_tests > 0 && gives_up(pair, request, s.result)) return s.result;
  if (request.mode == Mode::kAny) {
    find_any(pair, request, exact, s);
    return s.result;
  }
  Verdict verdict;
  if (exact) verdict = compute_verdict(pair, request, true, s);
  if (exact && verdict.kind == detail::TouchKind::kFree) {
    if (verdict.has_points) reset(s.result, method);
    set_free(pair, request, s.result);
    detail::reserve_points(pair, request, s);  // so that later calls do not allocate
    return s.result;
  }
  switch (method) {
    case Method::kIntersectionField:
      detail::collide_by_intersection(pair, request, s);
      break;
    case Method::kDepthMap:
      detail::collide_by_depth(pair, request, s);
      break;
    case Method::kSwept:
      detail::collide_by_sweep(pair, request, s);
      break;
    default:
      if (!verdict.has_points) detail::collide_by_points(pair, request, s);
  }
  if (!exact) return s.result;
  set_kind(verdict, s.result);
  confirm_contact(pair, request, verdict, s.touch, s.result);
  set_exact_distance(pair, request, s.depth_search, s.result);
  return s.result;
}

CollideResult collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const CollideRequest& request) {
  CollideScratch scratch;
  return collide(a, world_from_a, b, world_from_b, request, scratch);
}

namespace {

void prepare_method(const Shape& shape, const CollideRequest& request) {
  switch (method_of(request)) {
    case Method::kIntersectionField:
      detail::prepare_intersection(shape);
      break;
    case Method::kDepthMap:
      detail::prepare_depth(shape, request);
      break;
    case Method::kSwept:
      prepare(shape, detail::swept_request_of(request));
      break;
    default:
      if (shape.can_have_points()) shape.points();
      if (shape.can_have_field()) shape.shell_target(std::max(request.margin, 0.0));
  }
}

}  // namespace

void prepare(const Shape& shape, const CollideRequest& request) {
  detail::check_request(request);
  const bool wants_triangles = request.accuracy == Accuracy::kExact ||
                               (detail::asks_for_triangles(request) && detail::can_be_exact(shape));
  if (!wants_triangles) return prepare_method(shape, request);
  detail::exact_body(shape);
  parallel_for(2, 1, request.threads, [&](std::size_t part, std::size_t) {
    if (part == 0) detail::prepare_sides(shape);
    if (part == 1) prepare_method(shape, request);
  });
}

}  // namespace isotact
