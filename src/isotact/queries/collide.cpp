#include "isotact/queries/collide.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/base/error.h"
#include "isotact/queries/closest_approach.h"

namespace isotact {

struct CollideAccess {
  using Way = CollideState::Way;
  static Way& way(CollideState& s, int i) { return s.ways_[i]; }
  static CollideResult& result(CollideState& s) { return s.result_; }
};

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// What is left over of a time budget for what comes after the searches; more than it
// takes with warm caches.
constexpr double kNanosecondsAForce = 15, kNanosecondsAContact = 15;
// And for contacts whose points and cells are in no cache, of which no more than a part of the
// budget can be set aside.
constexpr double kFixedMicroseconds = 10, kMostFixed = 0.3;

// The points of one body in the field of the other.
struct Role {
  Body sampled_by;
  const PointSphereTree& tree;
  const ShellTarget& target;
  ShellPlacement placement;
  Pose world_from_field;
  ShellAnswer answer{};
  const ShellSegments* segments = nullptr;
};

bool can_hold(const Shape& points, const Shape& field) {
  return points.tree().has_value() && (field.field().has_value() || field.voxmap().has_value());
}

void check(const Pose& pose) {
  if (!is_finite(pose.translation)) throw Error("a pose is not finite");
  if (!(std::abs(length_sq(pose.rotation) - 1) < 1e-3))
    throw Error("the rotation of a pose is no unit quaternion");
}

void check(const CollideRequest& request) {
  if (!std::isfinite(request.margin)) throw Error("the margin is not finite");
  if (request.max_contacts < 1 || request.max_contacts > kManifoldSize)
    throw Error("max_contacts must be from 1 to 4");
  if (request.segments < 1) throw Error("there must be one segment at least");
  if (!(request.max_microseconds >= 0)) throw Error("max_microseconds must not be negative");
}

void prepare(CollideAccess::Way& way, const Shape& points, const Shape& field,
             const CollideRequest& request) {
  const auto data_of = [](const Shape& shape) {
    return shape.field() ? shape.field()->buffer().data() : shape.voxmap()->buffer().data();
  };
  const double margin = std::max(request.margin, 0.0);
  if (!way.field || data_of(*way.field) != data_of(field) || way.margin != margin) {
    way.target = field.shell_target(margin);
    way.field = field;
    way.margin = margin;
  }
  if (!way.tree || way.tree->buffer().data() != points.tree()->buffer().data() ||
      way.wanted_segments != request.segments) {
    way.segments = find_segments(*points.tree(), request.segments);
    way.wanted_segments = request.segments;
    way.tree = points.tree();
  }
}

// For all contacts that there can be, on top of those of the other way.
void reserve_contacts(const CollideAccess::Way& way, const CollideRequest& request,
                      CollideResult& result) {
  const std::size_t segments = way.segments.first_point.size();  // one more than there are
  result.contacts.reserve(2 * segments * request.max_contacts);
  result.first_contact.reserve(2 * segments);
}

double find_blind_depth(const Role& role) {
  const BrickField* field = role.target.field();
  const double error = field != nullptr ? static_cast<double>(field->header().near_error)
                                        : role.target.voxmap()->voxel_size() * std::sqrt(3.0);
  return role.tree.covering_radius() + error;
}

Contact make_contact(const Role& role, const ShellHit& hit) {
  const Vec3 x = place_of(role.tree, role.placement, hit.point);
  Vec3 out = direction_at(role.tree, role.target, role.placement, hit.point);
  const Vec3 shell_normal =
      rotate(role.placement.field_from_shell.rotation, to_double(role.tree.normals()[hit.point]));
  // On a ridge of the field the shell's own normal, turned round, is the best guess.
  if (length_sq(out) == 0) out = -shell_normal;
  if (length_sq(out) == 0) out = {0, 1, 0};
  const double value = static_cast<double>(hit.distance);
  const Vec3 on_shell = transform_point(role.world_from_field, x);
  const Vec3 on_field = transform_point(role.world_from_field, x - out * value);
  const Vec3 normal = transform_vector(role.world_from_field, out);
  const bool of_a = role.sampled_by == Body::kA;
  return {.position = (on_shell + on_field) * 0.5,
          .point_on_a = of_a ? on_shell : on_field,
          .point_on_b = of_a ? on_field : on_shell,
          .normal = of_a ? normal : -normal,
          .depth = -value,
          .sampled_by = role.sampled_by,
          .point = hit.point};
}

void add_manifold(const Role& role, std::span<const ShellHit> hits, std::uint32_t most,
                  std::vector<Contact>& contacts) {
  const Manifold chosen = choose_manifold(role.tree, role.target, role.placement, hits, most);
  for (std::uint32_t i = 0; i < chosen.count; ++i)
    contacts.push_back(make_contact(role, hits[chosen.hit[i]]));
}

// In place, and without memory: there are eight at most.
void sort_by_depth(std::span<Contact> contacts) {
  for (std::size_t i = 1; i < contacts.size(); ++i)
    for (std::size_t k = i; k > 0 && contacts[k].depth > contacts[k - 1].depth; --k)
      std::swap(contacts[k], contacts[k - 1]);
}

// Of the contacts of both ways, as many as wanted: the deepest, then by the area they span, as
// choose_manifold does it for points.
void merge_patch(std::vector<Contact>& all, std::uint32_t most) {
  sort_by_depth(all);
  if (all.size() <= most) return;
  const Vec3 normal = all[0].normal, origin = all[0].position;
  std::array<Contact, kManifoldSize> kept{all[0]};
  std::uint32_t count = 1;
  const auto take_most = [&](auto&& measure) {
    std::size_t best = 0;
    double found = 0;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (const double m = measure(all[i].position - origin); m > found) found = m, best = i;
    if (best != 0 && count < most) kept[count++] = all[best];
  };
  take_most([&](const Vec3& d) { return length_sq(d) - dot(d, normal) * dot(d, normal); });
  if (count == 2) {
    const Vec3 across = cross(normal, kept[1].position - origin);
    take_most([&](const Vec3& d) { return dot(across, d); });
    take_most([&](const Vec3& d) { return -dot(across, d); });
  }
  sort_by_depth({kept.data() + 1, count - 1});
  all.assign(kept.begin(), kept.begin() + count);
}

void make_contacts(std::span<Role> roles, const CollideRequest& request, CollideResult& result) {
  if (request.segments == 1) {
    for (const Role& role : roles)
      add_manifold(role, role.answer.hits, request.max_contacts, result.contacts);
    merge_patch(result.contacts, request.max_contacts);
    if (!result.contacts.empty()) result.first_contact.push_back(0);
  } else {
    for (const Role& role : roles)
      for (std::uint32_t i = 0; i + 1 < role.segments->first_point.size(); ++i) {
        const auto hits = hits_of_segment(*role.segments, i, role.answer.hits);
        if (hits.empty()) continue;
        result.first_contact.push_back(static_cast<std::uint32_t>(result.contacts.size()));
        add_manifold(role, hits, request.max_contacts, result.contacts);
      }
  }
  result.first_contact.push_back(static_cast<std::uint32_t>(result.contacts.size()));
}

void add_force(const Role& role, const Pose& world_from_a, const CollideRequest& request,
               double share, CollideResult& result) {
  ShellForceSettings settings = request.force;
  settings.center = transform_point(inverse(role.world_from_field), world_from_a.translation);
  const ShellForce f =
      find_force(role.tree, role.target, role.placement, role.answer.hits, settings);
  const double sign = role.sampled_by == Body::kA ? share : -share;
  result.force = result.force + sign * transform_vector(role.world_from_field, f.force);
  result.torque = result.torque + sign * transform_vector(role.world_from_field, f.torque);
  result.area += share * f.area;
}

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Of the time that is left, the part of the way that comes next: by what both took the last time.
// With halves, the way with more to do would be cut short while the other leaves time over.
double share_of_time(const CollideAccess::Way& next, const CollideAccess::Way& other) {
  constexpr double kLeast = 0.1;
  const double both = next.microseconds + other.microseconds;
  return both > 0 ? std::clamp(next.microseconds / both, kLeast, 1 - kLeast) : 0.5;
}

// What is left of a budget for one of the ways; `share`: of the time.
ShellRequest request_of(const CollideRequest& request, const CollideResult& so_far, int ways_left,
                        double share, Clock::time_point start) {
  ShellRequest r{
      .margin = request.margin, .level = request.level, .want_distance = request.want_distance};
  if (request.max_nodes > 0) {
    const std::uint64_t used = so_far.work.spheres + so_far.work.points;
    const std::uint64_t left = request.max_nodes > used ? request.max_nodes - used : 0;
    r.max_nodes = std::max<std::uint64_t>(1, left / static_cast<std::uint64_t>(ways_left));
  }
  if (request.max_microseconds > 0) {
    // Contacts and force take three to four passes over the hits.
    r.nanoseconds_a_hit =
        request.want_force ? kNanosecondsAForce + kNanosecondsAContact : kNanosecondsAContact;
    const double promised =
        1e-3 * r.nanoseconds_a_hit * static_cast<double>(so_far.touching_points);
    const double fixed = std::min(kFixedMicroseconds, kMostFixed * request.max_microseconds);
    const double left = request.max_microseconds - microseconds_since(start) - promised - fixed;
    r.max_microseconds = std::max(1e-3, left * share);
  }
  return r;
}

}  // namespace

void CollideState::set_coherent(bool on) {
  for (Way& way : ways_) way.shell.set_coherent(on);
}

const CollideResult& collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                             const Pose& world_from_b, const CollideRequest& request,
                             CollideState& state) {
  check(request);
  check(world_from_a);
  check(world_from_b);
  const Clock::time_point start = Clock::now();
  bool a_in_b = can_hold(a, b) && request.roles != Roles::kPointsOfB;
  bool b_in_a = can_hold(b, a) && request.roles != Roles::kPointsOfA;
  if (!a_in_b && !b_in_a)
    throw Error("these shapes cannot be tested: one needs points, and the other a field");
  if (a_in_b && b_in_a && request.only_fewer_points) {
    const bool a_has_fewer = a.tree()->point_count() <= b.tree()->point_count();
    (a_has_fewer ? b_in_a : a_in_b) = false;
  }
  CollideResult& result = CollideAccess::result(state);
  result.contacts.clear();
  result.first_contact.clear();
  result.complete = true;
  result.touching_points = 0;
  result.distance = kInfinite;
  result.lower_bound = kInfinite;
  result.force = result.torque = {};
  result.area = 0;
  result.blind_depth = 0;
  result.work = {};
  result.level = kMaxShellLevels;

  std::array<std::optional<Role>, 2> roles;
  const Pose b_from_a = inverse(world_from_b) * world_from_a;
  int left = (a_in_b ? 1 : 0) + (b_in_a ? 1 : 0);
  const double share = 1.0 / left;
  std::size_t count = 0;
  const auto run = [&](Body sampled_by, const Shape& points, const Shape& field,
                       const Pose& field_from_shell, const Pose& world_from_field) {
    CollideAccess::Way& way = CollideAccess::way(state, sampled_by == Body::kA ? 0 : 1);
    prepare(way, points, field, request);
    reserve_contacts(way, request, result);
    Role& role = roles[count++].emplace(
        Role{sampled_by, *points.tree(), *way.target, {field_from_shell}, world_from_field});
    role.segments = &way.segments;
    const bool is_last = left == 1;
    const double time_share =
        is_last ? 1 : share_of_time(way, CollideAccess::way(state, sampled_by == Body::kA ? 1 : 0));
    const ShellRequest wanted = request_of(request, result, left--, time_share, start);
    const Clock::time_point search_start = Clock::now();
    role.answer = find_hits(role.tree, role.target, role.placement, wanted, way.shell);
    const ShellAnswer& r = role.answer;
    way.microseconds =
        microseconds_since(search_start) * (r.status == ShellStatus::kComplete ? 1 : 1.5);
    result.complete = result.complete && r.status == ShellStatus::kComplete;
    result.level = std::min(result.level, r.level);
    result.touching_points += r.hits.size();
    result.distance = std::min(result.distance, r.distance);
    result.lower_bound = std::min(result.lower_bound, r.lower_bound);
    result.work.spheres += r.work.spheres;
    result.work.points += r.work.points;
    result.blind_depth = std::max(result.blind_depth, find_blind_depth(role));
  };
  if (a_in_b) run(Body::kA, a, b, b_from_a, world_from_b);
  if (b_in_a) run(Body::kB, b, a, inverse(b_from_a), world_from_a);

  result.status = result.touching_points > 0 ? CollideStatus::kContact : CollideStatus::kFree;
  // Nothing was found, but what was not looked at may touch: a budget or a level was the end.
  if (result.touching_points == 0 && result.lower_bound < request.margin)
    result.status = CollideStatus::kGaveUp;
  // What a level or a budget left unseen may be as deep as the bound.
  result.blind_depth +=
      std::max(std::min(result.distance, request.margin) - result.lower_bound, 0.0);
  // Moved into a plain array: both are there, or the first alone.
  if (count == 2) {
    Role both[2] = {*roles[0], *roles[1]};
    make_contacts(both, request, result);
  } else {
    make_contacts({&*roles[0], 1}, request, result);
  }
  if (request.want_force)
    for (std::size_t i = 0; i < count; ++i)
      add_force(*roles[i], world_from_a, request, share, result);
  return result;
}

CollideResult collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const CollideRequest& request) {
  CollideState state;
  return collide(a, world_from_a, b, world_from_b, request, state);
}

DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b) {
  DistanceResult result;
  result.distance = result.lower_bound = kInfinite;
  bool possible = false;
  const auto look = [&](Body sampled_by, const Shape& points, const Pose& of_points,
                        const Shape& field, const Pose& of_field) {
    if (!points.tree() || !field.field()) return;
    possible = true;
    const ShellMotion motion{.shell = {.from = of_points, .to = of_points},
                             .field = {.from = of_field, .to = of_field}};
    const Approach nearest =
        find_closest_approach(*field.field(), *points.tree(), motion,
                              {.field_points = field.tree() ? &*field.tree() : nullptr});
    result.lower_bound = std::min(result.lower_bound, nearest.lower_bound);
    if (nearest.distance >= result.distance) return;
    result.distance = nearest.distance;
    const ShellTarget target{AnyField{*field.field()}};
    const Role role{sampled_by, *points.tree(), target, {inverse(of_field) * of_points}, of_field};
    result.contact = make_contact(role, {nearest.point, static_cast<float>(nearest.distance), 0});
  };
  look(Body::kA, a, world_from_a, b, world_from_b);
  look(Body::kB, b, world_from_b, a, world_from_a);
  if (!possible)
    throw Error("the distance of these shapes is not known: one needs points, the other a field");
  return result;
}

}  // namespace isotact
