#include "isotact/queries/collide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/base/error.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_distance.h"
#include "isotact/queries/detail/pair_checks.h"

namespace isotact {

struct CollideAccess {
  static CollideScratch::State& state(CollideScratch& s) {
    if (s.state_ == nullptr) s.state_ = new CollideScratch::State;
    return *s.state_;
  }
};

namespace {

Method method_of(const CollideRequest& request) {
  return request.method == Method::kAutomatic ? Method::kPoints : request.method;
}

void check(const CollideRequest& request) {
  if (!std::isfinite(request.margin)) throw Error("the margin is not finite");
  if (request.max_contacts < 1 || request.max_contacts > kManifoldSize)
    throw Error("max_contacts must be from 1 to 4");
  if (request.patches < 1) throw Error("there must be one patch at least");
  if (request.max_tests > 0 && request.accuracy == Accuracy::kField)
    throw Error("max_tests limits exact searches: leave the request's accuracy as it is");
  if (request.want_certainty &&
      (request.accuracy != Accuracy::kField || method_of(request) != Method::kPoints ||
       request.roles != Roles::kBoth || request.only_fewer_points || request.level >= 0 ||
       request.max_nodes > 0 || request.max_microseconds > 0))
    throw Error(
        "want_certainty is for the field's accuracy and Method::kPoints, with both roles and "
        "neither level nor budget");
  if (!(request.max_microseconds >= 0)) throw Error("max_microseconds must not be negative");
  const Method method = method_of(request);
  if (method > Method::kSwept) throw Error("the request's method is none of Method");
  if (method != Method::kIntersectionField && request.intersection != IntersectionRequest{})
    throw Error("settings of intersection fields are for Method::kIntersectionField");
  if (method != Method::kDepthMap && request.depth != DepthRequest{})
    throw Error("settings of depth maps are for Method::kDepthMap");
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

void reset(CollideResult& result, Method method) {
  result.status = CollideStatus::kFree;
  result.exact = false;
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

bool asks_for_points(const CollideRequest& request) {
  return request.method != Method::kAutomatic || request.roles != Roles::kBoth ||
         request.margin < 0 || request.level >= 0 || request.max_nodes > 0 ||
         request.max_microseconds > 0;
}

bool is_exact(const Shape& a, const Shape& b, const CollideRequest& request) {
  if (request.accuracy == Accuracy::kField) return false;
  if (request.accuracy == Accuracy::kBest)
    return !asks_for_points(request) && detail::can_be_exact(a) && detail::can_be_exact(b);
  if (asks_for_points(request))
    throw Error(
        "an exact verdict takes no method, needs the roles of both bodies and a margin of 0 or "
        "more, and has neither level nor budget: leave them out, or ask for the field's accuracy");
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

// The bodies' own triangles confirm or correct what points have found.
void decide_by_triangles(const detail::CollidePair& pair, const CollideRequest& request,
                         CollideResult& result) {
  const auto& [a, world_from_a, b, world_from_b] = pair;
  // Pairs just at the margin must not be lost by rounding.
  const double size = detail::exact_body(a).size + detail::exact_body(b).size;
  DistanceRequest wanted{.near_enough = request.margin, .want_depth = false};
  if (!request.want_distance) wanted.max_distance = request.margin + 1e-9 * size;
  const DistanceResult found =
      detail::compute_exact_distance(a, world_from_a, b, world_from_b, wanted);
  // What lies in an open mesh has the distance of the triangles; in a closed one it has 0 here.
  const bool touch = found.touching || (found.contained && found.distance <= 0) ||
                     found.upper_bound <= request.margin;
  result.exact = true;
  result.blind_depth = 0;
  if (!touch) {
    result.status = CollideStatus::kFree;
    result.contacts.clear();
    result.first_contact.assign(1, 0);
    result.touching_points = 0;
    result.force = result.torque = {};
    result.area = 0;
    result.has_distance = request.want_distance;
    result.distance = found.distance;
    result.lower_bound = found.lower_bound;
    return;
  }
  result.status = CollideStatus::kContact;
  if (!result.contacts.empty()) return;
  // An overlap so small that no sample is in it.
  const DistanceResult deep = detail::compute_exact_distance(a, world_from_a, b, world_from_b, {});
  result.contacts.push_back(deep.contact);
  result.first_contact.assign({0, 1});
  result.has_distance = true;
  result.distance = deep.distance;
  result.lower_bound = deep.lower_bound;
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
  check(request);
  detail::check_pose(world_from_a);
  detail::check_pose(world_from_b);
  detail::check_ends(a, b);
  CollideScratch::State& s = CollideAccess::state(scratch);
  const Method method = method_of(request);
  reset(s.result, method);
  const detail::CollidePair pair{a, world_from_a, b, world_from_b};
  const bool exact = is_exact(a, b, request);
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
      detail::collide_by_points(pair, request, s);
  }
  if (!exact || (request.max_tests > 0 && gives_up(pair, request, s.result))) return s.result;
  decide_by_triangles(pair, request, s.result);
  return s.result;
}

CollideResult collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const CollideRequest& request) {
  CollideScratch scratch;
  return collide(a, world_from_a, b, world_from_b, request, scratch);
}

void prepare(const Shape& shape, const CollideRequest& request) {
  check(request);
  if (request.accuracy == Accuracy::kExact ||
      (request.accuracy == Accuracy::kBest && !asks_for_points(request) &&
       detail::can_be_exact(shape))) {
    detail::exact_body(shape);
    detail::prepare_sides(shape);
  }
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

}  // namespace isotact
