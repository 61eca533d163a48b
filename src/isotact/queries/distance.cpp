#include "isotact/queries/distance.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_distance.h"
#include "isotact/queries/detail/pair_checks.h"
#include "isotact/queries/swept/closest_approach.h"

namespace isotact {

struct DistanceScratch::State {
  std::shared_ptr<void> deepest{};  // of overlaps (exact_depth.h)
};

struct DistanceAccess {
  static DistanceScratch::State& state(DistanceScratch& s) {
    if (s.state_ == nullptr) s.state_ = new DistanceScratch::State;
    return *s.state_;
  }
};

DistanceScratch::DistanceScratch() : state_(nullptr) {}
DistanceScratch::DistanceScratch(DistanceScratch&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}
DistanceScratch& DistanceScratch::operator=(DistanceScratch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
DistanceScratch::~DistanceScratch() { delete state_; }

namespace detail {

// Points of the field's body tell distances outside of its box. Formulas are exact everywhere.
ApproachResult find_approach(const Shape& points, const Shape& field, const ShellMotion& motion,
                             ApproachSettings settings) {
  if (!field.solid() && field.can_have_points()) settings.field_points = &field.points();
  if (field.solid())
    return find_closest_approach(field.any_field(), field.cell(), points.points(), motion,
                                 settings);
  return find_closest_approach(field.brick_field(), points.points(), motion, settings);
}

}  // namespace detail

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const DistanceRequest& request) {
  if (request.method != Method::kAutomatic && request.method != Method::kPoints)
    throw Error("only points know distances: set the request's method to Method::kPoints");
  if (!(request.relative_tolerance >= 0) || !(request.absolute_tolerance >= 0) ||
      !(request.max_distance >= 0) || !(request.near_enough >= 0))
    throw Error("tolerances, max_distance and near_enough must not be negative");
  if (request.accuracy == Accuracy::kField && (request.want_separation || request.near_enough > 0))
    throw Error("near_enough and want_separation need Accuracy::kExact or kBest");
  if (!(request.tolerance > 0)) throw Error("the tolerance of a distance must be positive");
}

// Bounds of the distance between the surfaces, by the points of one of them. A point of the surface
// is no further from a sample than the covering radius, and distances change no faster than space.
Interval bound_surfaces(const Shape& points, const Shape& field, const ShellMotion& motion,
                        const ApproachResult& nearest) {
  const PointSphereTree& tree = points.points();
  const Vec3 x = transform_point(inverse(motion.field.from) * motion.shell.from,
                                 to_double(tree.point(nearest.point)));
  double lower = nearest.lower_bound;
  if (!field.solid()) lower = detail::bound_by_value(field.brick_field().header(), lower);
  // Inside of a combination its formula is a bound: points may be deeper.
  if (field.solid() && lower < 0 && !detail::can_be_exact(field)) lower = -kInfinity;
  double upper = field.any_field().distance_bounds(x).upper;
  // There the distance is that of the nearest sample.
  if (!field.solid() && field.can_have_points() && !contains(field.brick_field().bounds(), x))
    upper = std::min(upper, nearest.distance);
  return {lower - tree.covering_radius(), upper};
}

Contact contact_of(Body sampled_by, const Shape& points, const Shape& field,
                   const ShellMotion& motion, const ApproachResult& nearest) {
  const Pose field_from_shell = inverse(motion.field.from) * motion.shell.from;
  const PointSphereTree& tree = points.points();
  const Vec3 x = transform_point(field_from_shell, to_double(tree.point(nearest.point)));
  Vec3 out = normalized(field.any_field().sample(x).gradient);
  if (length_sq(out) == 0)
    out = -rotate(field_from_shell.rotation, to_double(tree.normals()[nearest.point]));
  if (length_sq(out) == 0) out = {0, 1, 0};
  // As a hit of collide has it.
  const auto value = static_cast<double>(static_cast<float>(nearest.distance));
  return detail::make_contact({sampled_by, nearest.point, x, out, value}, motion.field.from);
}

}  // namespace

DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b, const DistanceRequest& request,
                        DistanceScratch& scratch) {
  check(request);
  detail::check_pose(world_from_a);
  detail::check_pose(world_from_b);
  detail::check_ends(a, b);
  const bool by_points = request.method != Method::kAutomatic || request.roles != Roles::kBoth;
  const bool is_possible = detail::can_be_exact(a) && detail::can_be_exact(b);
  if ((request.want_separation || request.near_enough > 0) && (!is_possible || by_points))
    throw Error(
        "near_enough and want_separation need shapes that keep triangles or are simple solids: "
        "make them by Shape::from_mesh");
  if (request.accuracy == Accuracy::kExact ||
      (request.accuracy == Accuracy::kBest && is_possible && !by_points))
    return detail::compute_exact_distance(a, world_from_a, b, world_from_b, request,
                                          &DistanceAccess::state(scratch).deepest);
  const bool a_in_b = detail::can_take_role(a, b) && request.roles != Roles::kPointsOfB;
  const bool b_in_a = detail::can_take_role(b, a) && request.roles != Roles::kPointsOfA;
  if (!a_in_b && !b_in_a) detail::refuse_pair(a, b, request.roles);
  DistanceResult result;
  result.distance = result.upper_bound = kInfinity;
  std::optional<double> lower[2];
  const auto look = [&](Body sampled_by, const Shape& points, const Pose& of_points,
                        const Shape& field, const Pose& of_field) {
    const ShellMotion motion{.shell = at_rest(of_points), .field = at_rest(of_field)};
    const ApproachResult nearest = detail::find_approach(
        points, field, motion, {.tolerance = request.tolerance, .max_values = request.max_values});
    result.work.values += nearest.values;
    if (nearest.status == ApproachStatus::kGaveUp) result.status = DistanceStatus::kGaveUp;
    const Interval bounds = bound_surfaces(points, field, motion, nearest);
    lower[sampled_by == Body::kA ? 0 : 1] = bounds.lower;
    result.upper_bound = std::min(result.upper_bound, bounds.upper);
    if (nearest.distance >= result.distance) return;
    result.distance = nearest.distance;
    result.contact = contact_of(sampled_by, points, field, motion, nearest);
  };
  if (a_in_b) look(Body::kA, a, world_from_a, b, world_from_b);
  if (b_in_a) look(Body::kB, b, world_from_b, a, world_from_a);
  result.lower_bound = std::min(lower[0].value_or(kInfinity), lower[1].value_or(kInfinity));
  // No part of either surface is inside of the other body: both bounds are of one distance.
  if (lower[0] && lower[1] && result.lower_bound > 0)
    result.lower_bound = std::max(*lower[0], *lower[1]);
  // The value at the nearest point, as far as it may be the distance.
  result.distance = std::max(std::min(result.distance, result.upper_bound), result.lower_bound);
  result.contact.depth = -result.distance;
  return result;
}

DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b, const DistanceRequest& request) {
  DistanceScratch scratch;
  return distance(a, world_from_a, b, world_from_b, request, scratch);
}

ApproachResult find_closest_approach(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                     const BodyMotion& motion_of_b,
                                     const ContinuousRequest& request) {
  detail::check_ends(a, b);
  const ShellMotion forward{
      .shell = motion_of_a, .field = motion_of_b, .model = request.model, .degree = request.degree};
  if (const auto flaw = find_flaw(forward)) throw Error(*flaw);
  const bool a_in_b = detail::can_take_role(a, b) && request.roles != Roles::kPointsOfB;
  const bool b_in_a = detail::can_take_role(b, a) && request.roles != Roles::kPointsOfA;
  if (!a_in_b && !b_in_a) detail::refuse_pair(a, b, request.roles);
  const ApproachSettings settings{.path_tolerance = request.path_tolerance};
  ApproachResult best;
  if (a_in_b) best = detail::find_approach(a, b, forward, settings);
  if (!b_in_a) return best;
  const ApproachResult other = detail::find_approach(b, a, exchange_roles(forward), settings);
  return a_in_b && best.distance <= other.distance ? best : other;
}

CollideStatus compute_status(const DistanceResult& r, double margin) {
  // A body in an open mesh has the distance of the triangles.
  const bool overlap = r.touching || (r.contained && r.distance <= 0);
  if ((overlap && margin >= 0) || r.upper_bound <= margin) return CollideStatus::kContact;
  return r.lower_bound > margin ? CollideStatus::kFree : CollideStatus::kUncertain;
}

bool have_exact_distance(const Shape& a, const Shape& b) {
  return detail::can_be_exact(a) && detail::can_be_exact(b);
}

void prepare(const Shape& shape, const DistanceRequest& request) {
  check(request);
  const bool must_be_exact = request.accuracy == Accuracy::kExact;  // or exact_body says why not
  if (must_be_exact || (request.accuracy == Accuracy::kBest && detail::can_be_exact(shape))) {
    detail::exact_body(shape);
    detail::prepare_sides(shape);
  }
  if (request.accuracy == Accuracy::kExact) return;
  try {
    if (shape.can_have_points()) shape.points();
    if (shape.can_have_field()) shape.any_field();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    // Triangles without area have neither, and distances all the same.
    if (request.accuracy == Accuracy::kField || !detail::can_be_exact(shape)) throw;
  }
}

}  // namespace isotact
