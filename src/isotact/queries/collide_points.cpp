// Method::kPoints: voxmap-pointshell (SSL14).
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/base/error.h"
#include "isotact/queries/contact/spread.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/pair_checks.h"
#include "isotact/queries/detail/shape_data.h"

namespace isotact::detail {
namespace {

constexpr double kUnknownDistance = std::numeric_limits<double>::infinity();

// Set aside from a time budget for the steps after the searches: more than they take with warm
// caches.
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
  ShellResult found{};
  const ShellPatches* patches = nullptr;
};

void prepare_role(CollideRole& role, const Shape& points, const Shape& field,
                  const CollideRequest& request) {
  const double margin = std::max(request.margin, 0.0);
  if (!role.field || !is_same(*role.field, field) || role.margin != margin) {
    role.target = field.shell_target(margin);
    role.field = field;
    role.margin = margin;
  }
  if (!role.points || !is_same(*role.points, points)) role.last_hit = kNoHit;
  if (!role.points || !is_same(*role.points, points) || role.wanted_patches != request.patches) {
    role.patches = choose_patches(points.points(), request.patches);
    role.wanted_patches = request.patches;
    role.points = points;
  }
}

// For all contacts that there can be, on top of those of the other role.
void reserve_contacts(const CollideRole& role, const CollideRequest& request,
                      CollideResult& result) {
  const std::size_t patches = role.patches.first_point.size();  // one more than there are
  result.contacts.reserve(2 * patches * request.max_contacts);
  result.first_contact.reserve(2 * patches);
}

// Formulas are exact.
double compute_field_error(const ShellTarget& target) {
  if (const BrickField* field = target.field())
    return static_cast<double>(field->header().near_error);
  if (const Voxmap* voxmap = target.voxmap()) return voxmap->voxel_size() * std::sqrt(3.0);
  return 0;
}

// Between which the distance of the surfaces is, by the nearest sample of one role. Its value is
// off by the error near the surface, or further away by that of coarse cells; outside of the
// field's box it is a lower bound only. No point of the sampled surface is further from a sample
// than the covering radius.
struct SurfaceBounds {
  double lower, upper;
};
SurfaceBounds bound_surfaces(const Role& role, double nearest) {
  double error = compute_field_error(role.target);
  double lower = nearest - error;
  bool has_upper = true;
  if (const BrickField* field = role.target.field()) {
    const BrickFieldHeader& h = field->header();
    lower = bound_by_value(h, nearest);
    if (std::abs(nearest) + error >= static_cast<double>(h.band)) {
      error = static_cast<double>(std::max({h.near_error, h.far_error, h.sparse_error}));
      has_upper = nearest < 0;
    }
  }
  return {lower - role.tree.covering_radius(), has_upper ? nearest + error : kUnknownDistance};
}

Contact contact_of(const Role& role, const ShellHit& hit) {
  const Vec3 x = place_of(role.tree, role.placement, hit.point);
  Vec3 out = direction_at(role.tree, role.target, role.placement, hit.point);
  const Vec3 shell_normal =
      rotate(role.placement.field_from_shell.rotation, to_double(role.tree.normals()[hit.point]));
  // On a ridge of the field the shell's own normal, turned round, is the best guess.
  if (length_sq(out) == 0) out = -shell_normal;
  if (length_sq(out) == 0) out = {0, 1, 0};
  return make_contact({role.sampled_by, hit.point, x, out, static_cast<double>(hit.distance)},
                      role.world_from_field);
}

void add_manifold(const Role& role, std::span<const ShellHit> hits, std::uint32_t most,
                  std::vector<Contact>& contacts) {
  const Manifold chosen = choose_manifold(role.tree, role.target, role.placement, hits, most);
  for (std::uint32_t i = 0; i < chosen.count; ++i)
    contacts.push_back(contact_of(role, hits[chosen.hit[i]]));
}

// In place, and without memory: there are eight at most.
void sort_by_depth(std::span<Contact> contacts) {
  for (std::size_t i = 1; i < contacts.size(); ++i)
    for (std::size_t k = i; k > 0 && contacts[k].depth > contacts[k - 1].depth; --k)
      std::swap(contacts[k], contacts[k - 1]);
}

void make_contacts(std::span<Role> roles, const CollideRequest& request, CollideResult& result) {
  if (request.patches == 1) {
    for (const Role& role : roles)
      add_manifold(role, role.found.hits, request.max_contacts, result.contacts);
    choose_contacts(result.contacts, request.max_contacts);
    if (!result.contacts.empty()) result.first_contact.push_back(0);
  } else {
    for (const Role& role : roles)
      for (std::uint32_t i = 0; i + 1 < role.patches->first_point.size(); ++i) {
        const auto hits = hits_of_patch(*role.patches, i, role.found.hits);
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
      compute_force(role.tree, role.target, role.placement, role.found.hits, settings);
  const double sign = role.sampled_by == Body::kA ? share : -share;
  result.force = result.force + sign * transform_vector(role.world_from_field, f.force);
  result.torque = result.torque + sign * transform_vector(role.world_from_field, f.torque);
  result.area += share * f.area;
}

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// The share of the remaining time for the role that comes next: by the times of the last searches.
// With halves, the role with more to do would be cut short while the other leaves time over.
double share_of_time(const CollideRole& next, const CollideRole& other) {
  constexpr double kLeast = 0.1;
  const double both = next.microseconds + other.microseconds;
  return both > 0 ? std::clamp(next.microseconds / both, kLeast, 1 - kLeast) : 0.5;
}

// Whether the verdict is to be proved for the surfaces.
bool wants_proof(const CollideRequest& r) {
  return r.accuracy == Accuracy::kField && !r.only_points && r.roles == Roles::kBoth &&
         !r.only_fewer_points && r.level < 0 && r.max_nodes == 0 && r.max_microseconds == 0;
}

// The remaining budget for one of the roles; `share` is its part of the time.
ShellRequest request_of(const CollideRequest& request, const CollideResult& so_far, int roles_left,
                        double share, Clock::time_point start) {
  ShellRequest r{.margin = request.margin,
                 .level = request.level,
                 .want_distance = request.want_distance || wants_proof(request)};
  if (request.max_nodes > 0) {
    const std::uint64_t used = so_far.work.spheres + so_far.work.points;
    const std::uint64_t left = request.max_nodes > used ? request.max_nodes - used : 0;
    r.max_nodes = std::max<std::uint64_t>(1, left / static_cast<std::uint64_t>(roles_left));
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

struct ChosenRoles {
  bool a_in_b, b_in_a;
};
ChosenRoles choose_roles(const Shape& a, const Shape& b, const CollideRequest& request) {
  ChosenRoles r{can_take_role(a, b) && request.roles != Roles::kPointsOfB,
                can_take_role(b, a) && request.roles != Roles::kPointsOfA};
  if (!r.a_in_b && !r.b_in_a) refuse_pair(a, b, request.roles);
  if (r.a_in_b && r.b_in_a && request.only_fewer_points) {
    const bool a_has_fewer = a.points().point_count() <= b.points().point_count();
    (a_has_fewer ? r.b_in_a : r.a_in_b) = false;
  }
  return r;
}

}  // namespace

// Coarse cells without a brick are at least `band` away from the surface. So are their nodes, of
// the sign of the cell, and values between them: no point there is on the other side than its value
// says, or has a value nearer to zero. All other values are off by no more than near_error. Further
// away, values are off by far_error, or by sparse_error from sparse_error_from() on.
double bound_by_value(const BrickFieldHeader& h, double least) {
  const double near = static_cast<double>(h.near_error), band = static_cast<double>(h.band),
               far = static_cast<double>(std::max(h.near_error, h.far_error)),
               sparse = static_cast<double>(h.sparse_error), sparse_from = sparse_error_from(h);
  if (h.plain == 0 || h.shell_offset != 0) return least - std::max(far, sparse);
  if (least < 0) return least - (-least + near < band ? near : std::max(far, sparse));
  const double of_far =
      least < sparse_from ? std::min(least - far, sparse_from - sparse) : least - sparse;
  return std::max(std::min(least - near, band), of_far);
}

Contact make_contact(const PointContact& c, const Pose& world_from_field) {
  const Vec3 on_shell = transform_point(world_from_field, c.on_shell);
  const Vec3 on_field = transform_point(world_from_field, c.on_shell - c.outward * c.value);
  const Vec3 normal = transform_vector(world_from_field, c.outward);
  const bool of_a = c.sampled_by == Body::kA;
  return {.position = (on_shell + on_field) * 0.5,
          .point_on_a = of_a ? on_shell : on_field,
          .point_on_b = of_a ? on_field : on_shell,
          .normal = of_a ? normal : -normal,
          .depth = -c.value,
          .sampled_by = c.sampled_by,
          .point = c.point};
}

void choose_contacts(std::vector<Contact>& all, std::uint32_t most) {
  sort_by_depth(all);
  if (all.size() <= most) return;
  const SpreadChoice chosen = choose_spread<double>(
      all.size(), 0, all[0].normal, most,
      [&](std::size_t i) -> const Vec3& { return all[i].position; },
      {.sliver = 0, .larger_side_first = false}, [&](std::size_t i) { return all[i].depth; });
  std::array<Contact, kManifoldSize> kept;
  const std::size_t count = chosen.count;
  for (std::size_t i = 0; i < count; ++i) kept[i] = all[chosen.index[i]];
  sort_by_depth({kept.data() + 1, count - 1});
  all.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
}

void find_any_point(const CollidePair& pair, const CollideRequest& request,
                    CollideScratch::State& state) {
  const ChosenRoles chosen = choose_roles(pair.a, pair.b, request);
  CollideResult& result = state.result;
  const Pose b_from_a = inverse(pair.world_from_b) * pair.world_from_a;
  const auto touches = [&](Body sampled_by, const Shape& points, const Shape& field,
                           const Pose& field_from_shell, const Pose& world_from_field) {
    CollideRole& kept = state.roles[sampled_by == Body::kA ? 0 : 1];
    prepare_role(kept, points, field, request);
    const Role role{
        sampled_by, points.points(), *kept.target, {field_from_shell}, world_from_field};
    const ShellResult found =
        find_hits(role.tree, role.target, role.placement,
                  {.margin = request.margin, .any = true, .likely = kept.last_hit}, kept.shell);
    kept.last_hit = found.deepest == kNoHit ? kNoHit : found.hits[found.deepest].point;
    result.work.spheres += found.work.spheres;
    result.work.points += found.work.points;
    result.blind_depth = std::max(result.blind_depth,
                                  role.tree.covering_radius() + compute_field_error(role.target));
    if (found.deepest == kNoHit) return false;
    result.status = CollideStatus::kContact;
    result.contacts.push_back(contact_of(role, found.hits[found.deepest]));
    result.touching_points = 1;
    return true;
  };
  // The role that found the last one comes first.
  const bool b_first = state.roles[0].last_hit == kNoHit && state.roles[1].last_hit != kNoHit;
  const auto of_a = [&] {
    return chosen.a_in_b && touches(Body::kA, pair.a, pair.b, b_from_a, pair.world_from_b);
  };
  const auto of_b = [&] {
    return chosen.b_in_a && touches(Body::kB, pair.b, pair.a, inverse(b_from_a), pair.world_from_a);
  };
  b_first ? void(of_b() || of_a()) : void(of_a() || of_b());
}

void reserve_points(const CollidePair& pair, const CollideRequest& request,
                    CollideScratch::State& state) {
  const ChosenRoles chosen = choose_roles(pair.a, pair.b, request);
  const auto reserve = [&](CollideRole& kept, const Shape& points, const Shape& field) {
    if (!has_made_points(points)) return;  // that takes far longer than an exact verdict
    prepare_role(kept, points, field, request);
    reserve_contacts(kept, request, state.result);
    kept.shell.reserve(points.points());
  };
  if (chosen.a_in_b) reserve(state.roles[0], pair.a, pair.b);
  if (chosen.b_in_a) reserve(state.roles[1], pair.b, pair.a);
}

namespace {

// Whether no point of either shell is so near to the other body that the surfaces may touch. A
// search that ends at the first such point takes far less time than one for the nearest point.
bool are_surely_apart(const CollidePair& pair, const CollideRequest& request,
                      const ChosenRoles& chosen, CollideScratch::State& state) {
  const auto are_apart = [&](CollideRole& kept, const Shape& points, const Shape& field,
                             const Pose& field_from_shell) {
    const PointSphereTree& tree = points.points();
    const bool is_grid = !field.solid();
    const double needed =
        request.margin + tree.covering_radius() +
        (is_grid ? static_cast<double>(field.brick_field().header().near_error) : 0.0);
    // A target per power of two serves all partners.
    double margin = field.cell();
    while (margin < needed * (1 + 1e-6)) margin *= 2;
    if (is_grid && bound_by_value(field.brick_field().header(), margin) - tree.covering_radius() <=
                       request.margin)
      return false;
    const std::shared_ptr<const ShellTarget> target = field.shell_target(margin);
    const ShellResult found =
        find_hits(tree, *target, {field_from_shell}, {.margin = margin, .any = true}, kept.shell);
    state.result.work.spheres += found.work.spheres;
    state.result.work.points += found.work.points;
    return found.deepest == kNoHit;
  };
  const Pose b_from_a = inverse(pair.world_from_b) * pair.world_from_a;
  return (!chosen.a_in_b || are_apart(state.roles[0], pair.a, pair.b, b_from_a)) &&
         (!chosen.b_in_a || are_apart(state.roles[1], pair.b, pair.a, inverse(b_from_a)));
}

}  // namespace

void collide_by_points(const CollidePair& pair, const CollideRequest& request,
                       CollideScratch::State& state) {
  const Clock::time_point start = Clock::now();
  const auto& [a, world_from_a, b, world_from_b] = pair;
  const ChosenRoles chosen = choose_roles(a, b, request);
  const auto [a_in_b, b_in_a] = chosen;
  CollideResult& result = state.result;
  if (wants_proof(request) && !request.want_distance && request.margin >= 0 &&
      are_surely_apart(pair, request, chosen, state)) {
    reserve_points(pair, request, state);  // so that later calls do not allocate
    result.level = kMaxShellLevels;
    result.least_distance = request.margin;
    result.first_contact.push_back(0);
    result.has_force = request.want_force;
    return;
  }
  result.distance = result.lower_bound = kUnknownDistance;
  result.level = kMaxShellLevels;

  std::array<std::optional<Role>, 2> roles;
  const Pose b_from_a = inverse(world_from_b) * world_from_a;
  int left = (a_in_b ? 1 : 0) + (b_in_a ? 1 : 0);
  const double share = 1.0 / left;
  std::size_t count = 0;
  const auto run = [&](Body sampled_by, const Shape& points, const Shape& field,
                       const Pose& field_from_shell, const Pose& world_from_field) {
    const std::size_t number = sampled_by == Body::kA ? 0 : 1;
    CollideRole& kept = state.roles[number];
    prepare_role(kept, points, field, request);
    reserve_contacts(kept, request, result);
    Role& role = roles[count++].emplace(
        Role{sampled_by, points.points(), *kept.target, {field_from_shell}, world_from_field});
    role.patches = &kept.patches;
    const bool is_last = left == 1;
    const double time_share = is_last ? 1 : share_of_time(kept, state.roles[1 - number]);
    const ShellRequest wanted = request_of(request, result, left--, time_share, start);
    const Clock::time_point search_start = Clock::now();
    role.found = find_hits(role.tree, role.target, role.placement, wanted, kept.shell);
    const ShellResult& r = role.found;
    kept.microseconds =
        microseconds_since(search_start) * (r.status == ShellStatus::kComplete ? 1 : 1.5);
    result.complete = result.complete && r.status == ShellStatus::kComplete;
    result.level = std::min(result.level, r.level);
    result.touching_points += r.hits.size();
    result.distance = std::min(result.distance, r.distance);
    result.lower_bound = std::min(result.lower_bound, r.lower_bound);
    result.work.spheres += r.work.spheres;
    result.work.points += r.work.points;
    result.blind_depth = std::max(result.blind_depth,
                                  role.tree.covering_radius() + compute_field_error(role.target));
  };
  if (a_in_b) run(Body::kA, a, b, b_from_a, world_from_b);
  if (b_in_a) run(Body::kB, b, a, inverse(b_from_a), world_from_a);

  result.status = result.touching_points > 0 ? CollideStatus::kContact : CollideStatus::kFree;
  // Nothing was found, but what was not looked at may touch: a budget or a level was the end.
  if (result.touching_points == 0 && result.lower_bound < request.margin)
    result.status = CollideStatus::kGaveUp;
  if (wants_proof(request)) {
    // Both roles: what encloses the other body is not seen by its own points.
    result.least_distance = kUnknownDistance;
    for (std::size_t i = 0; i < count; ++i) {
      SurfaceBounds bounds = bound_surfaces(*roles[i], roles[i]->found.distance);
      const Shape& field = roles[i]->sampled_by == Body::kA ? b : a;
      // Formulas of combinations are bounds: distances are as far from zero, or further.
      if (field.solid() && !can_be_exact(field)) {
        if (bounds.lower < 0) bounds.lower = -kUnknownDistance;
        if (bounds.upper > 0) bounds.upper = kUnknownDistance;
      }
      result.least_distance = std::min(result.least_distance, bounds.lower);
      result.most_distance = std::min(result.most_distance, bounds.upper);
    }
    result.status = result.most_distance <= request.margin   ? CollideStatus::kContact
                    : result.least_distance > request.margin ? CollideStatus::kFree
                                                             : CollideStatus::kUncertain;
  }
  // Parts that a level or a budget left out may be as deep as the bound.
  result.blind_depth +=
      std::max(std::min(result.distance, request.margin) - result.lower_bound, 0.0);
  // Moved into a plain array: both are there, or the first alone.
  if (count == 2) {
    Role both[2] = {*roles[0], *roles[1]};
    make_contacts(both, request, result);
  } else {
    make_contacts({&*roles[0], 1}, request, result);
  }
  result.has_distance = std::isfinite(result.distance);
  result.has_force = request.want_force;
  if (request.want_force)
    for (std::size_t i = 0; i < count; ++i)
      add_force(*roles[i], world_from_a, request, share, result);
}

}  // namespace isotact::detail
