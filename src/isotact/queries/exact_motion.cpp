// First contact and least distance along a motion, by the triangles.

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_distance.h"
#include "isotact/queries/swept/mesh_motion.h"

namespace isotact::detail {
namespace {

// Of the search for a distance: some seconds. Solids whose cores cross have no bound that would end
// it sooner.
constexpr std::uint64_t kMostTests = 20'000'000;

// One body is the field of the motion, the other the shell.
struct MotionRoles {
  const ExactBody &field, &shell;
  ShellMotion motion;
  bool a_is_field;
};

bool rests(const BodyMotion& m) {
  return m.from.rotation == m.to.rotation && m.from.translation == m.to.translation;
}

// Paths bend least in the frame of a body that rests. Models but constant rates are defined in the
// frame of B. A half-space is always the field.
MotionRoles choose_roles(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                         const BodyMotion& motion_of_b, const ContinuousRequest& request) {
  const ExactBody &body_a = exact_body(a), &body_b = exact_body(b);
  const bool is_free = request.model == MotionModel::kConstantRates;
  const bool a_is_field = body_a.half_space || (!body_b.half_space && is_free &&
                                                rests(motion_of_a) && !rests(motion_of_b));
  ShellMotion motion{
      .shell = motion_of_a, .field = motion_of_b, .model = request.model, .degree = request.degree};
  if (a_is_field) motion = exchange_roles(motion);
  return {a_is_field ? body_a : body_b, a_is_field ? body_b : body_a, motion, a_is_field};
}

// Points and normal are in the field's frame; the normal goes from the shell towards the field.
Contact make_contact(const MotionRoles& roles, const Vec3& on_field, const Vec3& on_shell,
                     const Vec3& normal, double time) {
  const Pose world_from_field = compute_pose(roles.motion.field, time);
  const Vec3 field_place =
      transform_point(world_from_field, on_field - normal * roles.field.radius);
  const Vec3 shell_place =
      transform_point(world_from_field, on_shell + normal * roles.shell.radius);
  const Vec3 n = rotate(world_from_field.rotation, normal);
  Contact c;
  c.point_on_a = roles.a_is_field ? field_place : shell_place;
  c.point_on_b = roles.a_is_field ? shell_place : field_place;
  c.position = (c.point_on_a + c.point_on_b) * 0.5;
  c.normal = roles.a_is_field ? n : -n;
  c.depth = -dot(c.point_on_a - c.point_on_b, c.normal);
  return c;
}

MeshContactResult find_first(const MotionRoles& roles, const MeshMotionSettings& settings) {
  if (roles.field.half_space)
    return find_first_contact(*roles.field.half_space, roles.shell.triangles, roles.motion,
                              settings);
  return find_first_contact(roles.field.triangles, roles.shell.triangles, roles.motion, settings);
}

MeshApproachResult find_approach(const MotionRoles& roles, const MeshApproachSettings& settings) {
  if (roles.field.half_space)
    return find_closest_approach(*roles.field.half_space, roles.shell.triangles, roles.motion,
                                 settings);
  return find_closest_approach(roles.field.triangles, roles.shell.triangles, roles.motion,
                               settings);
}

// Bodies that overlap from the start: the deepest sample tells more than the triangles that cross.
void set_first_contact(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                       const BodyMotion& motion_of_b, ContinuousResult& result) {
  const CollideResult at_start = collide(a, motion_of_a.from, b, motion_of_b.from);
  if (!at_start.contacts.empty() && at_start.contacts[0].depth > result.contact.depth)
    result.contact = at_start.contacts[0];
}

void set_distance(const MotionRoles& roles, const ContinuousRequest& request, double radii,
                  ContinuousResult& result) {
  result.has_distance = true;
  // How deep bodies go is not searched for.
  const bool touches = result.status == ContinuousStatus::kContact;
  if (touches && (request.margin == 0 || result.contained)) {
    result.time_of_distance = result.latest_time;
    result.nearest = result.contact;
    return;
  }
  const double tolerance = request.distance_tolerance > 0
                               ? request.distance_tolerance
                               : 0x1p-20 * (roles.field.size + roles.shell.size);
  const MeshApproachResult near =
      find_approach(roles, {.tolerance = tolerance,
                            .max_tests = request.max_tests > 0 ? request.max_tests : kMostTests});
  result.distance = near.distance - radii;
  if (touches) result.distance = std::min(result.distance, request.margin);
  result.lower_bound = near.lower_bound - radii - (roles.field.error + roles.shell.error);
  result.lower_bound = std::min(result.lower_bound, result.distance);
  result.time_of_distance = near.time;
  result.distance_gave_up = near.gave_up;
  result.work.tests += near.tests;
  const Vec3 apart = near.point_on_a - near.point_on_b;
  if (length_sq(apart) > 0)
    result.nearest =
        make_contact(roles, near.point_on_a, near.point_on_b, normalized(apart), near.time);
}

}  // namespace

bool can_be_exact(const Shape& a, const Shape& b, const ContinuousRequest& request) {
  return request.method == Method::kAutomatic && request.roles == Roles::kBoth &&
         request.margin >= 0 && can_be_exact(a) && can_be_exact(b);
}

void collide_exact_motion(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                          const BodyMotion& motion_of_b, const ContinuousRequest& request,
                          ContinuousResult& result) {
  if (request.method != Method::kAutomatic || request.roles != Roles::kBoth)
    throw Error(
        "exact answers need no points: leave method and roles as they are, or ask for the field ("
        "Accuracy::kField)");
  if (!(request.margin >= 0))
    throw Error(
        "an exact answer needs a margin of 0 or more: ask for the field (Accuracy::kField)");
  const MotionRoles roles = choose_roles(a, motion_of_a, b, motion_of_b, request);
  const double radii = roles.field.radius + roles.shell.radius;
  result.exact = true;
  result.blind_depth = result.path_error = 0;
  // Round solids are polygons here: with their error the time is early, but never late.
  const double error = roles.field.error + roles.shell.error;
  const MeshContactResult first = find_first(roles, {.margin = request.margin + radii + error,
                                                     .time_tolerance = request.time_tolerance,
                                                     .max_tests = request.max_tests});
  result.work.tests = first.tests;
  if (first.status == MeshMotionStatus::kContact) {
    result.status = ContinuousStatus::kContact;
    result.time_of_contact = first.time;
    result.latest_time = first.latest_time;
    result.contact =
        make_contact(roles, first.point_on_a, first.point_on_b, first.normal, first.time);
    if (first.time == 0) set_first_contact(a, motion_of_a, b, motion_of_b, result);
  }
  // Surfaces that never meet: one body is inside the other at all times, or at none.
  const bool may_contain = !(first.time == 0 && first.status == MeshMotionStatus::kContact);
  const Containment containment =
      may_contain ? find_containment(a, motion_of_a.from, b, motion_of_b.from) : Containment::kNone;
  result.contained = containment != Containment::kNone;
  if (containment == Containment::kInClosed) {
    const DistanceResult in = compute_exact_distance(a, motion_of_a.from, b, motion_of_b.from, {});
    result.status = ContinuousStatus::kContact;
    result.time_of_contact = result.latest_time = 0;
    result.contact = in.contact;
  } else if (first.status == MeshMotionStatus::kGaveUp) {
    result.status = ContinuousStatus::kGaveUp;
    result.time_of_contact = first.time;
  }
  if (result.status == ContinuousStatus::kContact)
    result.contacts.push_back({result.time_of_contact, result.contact});
  if (request.want_distance) set_distance(roles, request, radii, result);
}

}  // namespace isotact::detail
