#include "gather.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"

#include "budget/step_budget.h"
#include "smooth/contact_mover.h"

namespace isotact::bullet_detail {
namespace {

// The largest margin that the target was prepared for.
double cap_reach(const Placed& other, double reach, double grown) {
  const double most = other.target->max_margin() * other.scale;
  if (grown > most * (1 + 1e-6))
    report_bullet_error(
        "the margins of two shapes are more together than a field was prepared for, so that "
        "contact "
        "begins too late: give the margin when cooking (BulletShapeSettings::margin), or a larger "
        "max_approach");
  return std::min(reach, most);
}

// Returns one hit as a candidate.
Candidate make_candidate(const Ours& ours, const Placed& other, const ShellPlacement& placement,
                         std::uint32_t point, double distance, std::uint32_t slot) {
  const PointSphereTree& tree = *ours.tree;
  const Vec3 out = transform_vector(other.world_from_target,
                                    direction_at(tree, *other.target, placement, point));
  const Vec3 place = transform_point(other.world_from_target, place_of(tree, placement, point));
  const Vec3 on_ours = place - out * ours.margin;
  const Vec3 on_other = place - out * (distance - other.margin);
  Candidate c{.key = make_key(ours.is_0 ? Finder::kPointsOf0 : Finder::kPointsOf1, point),
              .slot = slot,
              .on_0 = ours.is_0 ? on_ours : on_other,
              .on_1 = ours.is_0 ? on_other : on_ours,
              .normal = ours.is_0 ? out : -out,
              .distance = distance - ours.margin - other.margin};
  return c;
}

// Finds the points of last step's contacts among the hits, which are in the order of points.
std::size_t find_last(std::span<const std::uint64_t> keys, Finder finder,
                      std::span<const ShellHit> hits, std::span<std::size_t> places) {
  std::size_t count = 0;
  for (const std::uint64_t key : keys) {
    if ((key >> 60U) != static_cast<std::uint64_t>(finder)) continue;
    const auto point = static_cast<std::uint32_t>(key);
    const auto at =
        std::lower_bound(hits.begin(), hits.end(), point,
                         [](const ShellHit& hit, std::uint32_t p) { return hit.point < p; });
    if (at != hits.end() && at->point == point)
      places[count++] = static_cast<std::size_t>(at - hits.begin());
  }
  return count;
}

// Choice among the hits of one patch.
struct ChosenHits {
  const PointSphereTree& tree;
  std::span<const ShellHit> hits;
  std::span<const std::uint64_t> last_keys;
  Finder finder;
  double slack;  // Metres.
  std::size_t most;
  bool keeps_old;

  template <typename Normal>
  Choice choose(const Normal& normal_at) const {
    std::size_t last[kMostChosen];
    const std::size_t last_count = find_last(last_keys, finder, hits, last);
    std::size_t deepest = 0;
    for (std::size_t i = 1; i < hits.size(); ++i)
      if (hits[i].distance < hits[deepest].distance) deepest = i;
    const double enough = static_cast<double>(hits[deepest].distance) + slack;
    for (const std::size_t i : std::span(last, last_count))
      if (static_cast<double>(hits[i].distance) <= enough) {
        deepest = i;
        break;
      }
    if (most == 1) {
      // One new contact per step; those found in the steps before stay while they are near.
      Choice choice{.count = 1, .index = {deepest}};
      for (const std::size_t i : std::span(last, keeps_old ? last_count : 0))
        if (i != deepest && choice.count < kMostChosen) choice.index[choice.count++] = i;
      return choice;
    }
    const auto x = tree.x(), y = tree.y(), z = tree.z();
    return choose_spread(hits.size(), deepest, normal_at(deepest), most,
                         [&](std::size_t i) {
                           const std::uint32_t p = hits[i].point;
                           return Vec3{x[p], y[p], z[p]};
                         },
                         {.in_plane = false, .last = std::span(last, last_count)});
  }
};

bool is_cut(const Ours& ours) { return ours.patches->first_point.size() > 2; }

// Calls visit(patch, hits of it) for patches that have any.
template <typename Visit>
void for_each_segment(const Ours& ours, std::span<const ShellHit> hits, const Visit& visit) {
  if (!is_cut(ours)) {
    if (!hits.empty()) visit(0U, hits);
    return;
  }
  const auto& first = ours.patches->first_point;
  for (std::size_t begin = 0; begin < hits.size();) {
    const auto after = std::upper_bound(first.begin(), first.end(), hits[begin].point);
    std::size_t end = begin;
    while (end < hits.size() && hits[end].point < *after) ++end;
    visit(static_cast<std::uint32_t>(after - first.begin()) - 1, hits.subspan(begin, end - begin));
    begin = end;
  }
}

std::uint32_t slot_of(const Ours& ours, std::uint32_t patch) {
  return is_cut(ours) ? (ours.is_0 ? kSlotOf0 : kSlotOf1) + patch : 0;
}

// Keeps hits that touch or will touch in this step. Directions are assumed to be that at the
// deepest one, so that the gap at the end of the step is the distance plus a linear function of the
// position.
std::span<const ShellHit> drop_those_apart(const Ours& ours, const Placed& other,
                                           const ShellPlacement& placement,
                                           const ShellResult& answer, const GatherRequest& request,
                                           std::vector<ShellHit>& kept) {
  const double touching = request.contact_margin + ours.margin + other.margin;
  if (request.motion == nullptr || request.reach <= request.contact_margin) return answer.hits;
  const PointSphereTree& tree = *ours.tree;
  const ShellHit& deepest = answer.hits[answer.deepest];
  const Vec3 out = transform_vector(other.world_from_target,
                                    direction_at(tree, *other.target, placement, deepest.point));
  // The closing gap at four positions: these determine a linear function.
  const RelativeMotion& m = *request.motion;
  const double sign = ours.is_0 == m.of_0 ? 1 : -1;
  const auto change = [&](const Vec3& local) {
    const Vec3 p = transform_point(ours.world_from_shape, local * ours.scale);
    return dot(out, m.velocity_at(p) * (sign * m.time_step) + m.bend_at(p) * sign);
  };
  const double at_0 = change({});
  const Vec3 slope{change({1, 0, 0}) - at_0, change({0, 1, 0}) - at_0, change({0, 0, 1}) - at_0};
  kept.clear();
  for (const ShellHit& hit : answer.hits) {
    const auto d = static_cast<double>(hit.distance);
    if (d <= touching || d + at_0 + dot(slope, to_double(tree.point(hit.point))) <= touching ||
        hit.point == deepest.point)
      kept.push_back(hit);
  }
  return kept;
}

double slack_of(const Ours& ours) { return 0.1 * ours.body().settings.contact_margin * ours.scale; }

}  // namespace

ShellPlacement placement_of(const Ours& ours, const Placed& other) {
  return {.field_from_shell = inverse(other.world_from_target) * ours.world_from_shape,
          .shell_scale = ours.scale,
          .field_scale = other.scale};
}

Ours view(const IsotactShape& shape, const btTransform& world_from_bullet, bool is_0) {
  return {.shape = &shape,
          .world_from_shape = from_bullet(world_from_bullet) * shape.scaled_frame(),
          .scale = shape.scale(),
          .margin = static_cast<double>(shape.getMargin()),
          .is_0 = is_0,
          .tree = shape.body().tree ? &*shape.body().tree : nullptr,
          .patches = &shape.body().patches,
          .wide_patches = &shape.body().wide_patches};
}

void take_made_points(Ours& ours) {
  if (ours.tree != nullptr) return;
  const BulletBody::Points& made = ours.body().made_points();
  if (made.tree == nullptr) return;
  ours.tree = made.tree;
  ours.patches = &made.patches;
  ours.wide_patches = &made.wide_patches;
}

namespace {

// Some of the hits: their directions differ by more than about a quarter of a right angle.
bool look_apart(const Ours& ours, const Placed& other, const ShellPlacement& placement,
                std::span<const ShellHit> hits) {
  constexpr std::size_t kFew = 8, kSome = 24;
  constexpr double kLookAlike = 0.9;  // Length of the mean direction.
  if (hits.size() < kFew) return false;
  const std::size_t stride = hits.size() / kSome + 1;
  Vec3 sum{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < hits.size(); i += stride, ++count)
    sum += direction_at(*ours.tree, *other.target, placement, hits[i].point);
  return length(sum) < kLookAlike * static_cast<double>(count);
}

}  // namespace

void gather_points(const Ours& all_of_ours, const Placed& other, const GatherRequest& request,
                   ShellPairScratch& of_pair, GatherScratch& memory) {
  Ours ours = all_of_ours;
  std::vector<Candidate>& candidates = memory.candidates;
  const PointSphereTree& tree = *ours.tree;
  const ShellPlacement placement = placement_of(ours, other);
  const double grown = ours.margin + other.margin;
  const ShellResult answer =
      find_hits_in_budget(tree, *other.target, placement,
                          {.margin = cap_reach(other, request.reach + grown, grown),
                           .level = ours.body().settings.level,
                           .want_distance = request.want_nearest},
                          request.share, &of_pair, memory.points);
  if (answer.hits.empty()) {
    if (request.want_nearest && answer.nearest_point != kNoHit &&
        answer.distance - grown <= request.nearest_reach)
      candidates.push_back(make_candidate(ours, other, placement, answer.nearest_point,
                                          answer.distance, slot_of(ours, 0)));
    return;
  }
  if (request.want_penalty) {
    memory.penalties.push_back(compute_penalty(
        ours, other, placement, answer.hits, ours.body().settings.penalty.scale, memory.near_hits));
    return;
  }
  const Finder finder = ours.is_0 ? Finder::kPointsOf0 : Finder::kPointsOf1;
  const Quat shell_from_field = conjugate(placement.field_from_shell.rotation);
  const std::span<const ShellHit> near =
      drop_those_apart(ours, other, placement, answer, request, memory.near_hits);
  // Planes have one direction.
  if (!is_cut(ours) && ours.wide_patches != nullptr && !ours.wide_patches->first_point.empty() &&
      memory.wide != nullptr && other.target->kind() != TargetKind::kPlane) {
    constexpr std::uint8_t kStepsBetween = 7;
    WideState& wide = *memory.wide;
    if (!wide.is_wide && wide.until_test-- == 0) {
      wide.until_test = kStepsBetween;
      wide.is_wide = look_apart(ours, other, placement, near);
    }
    if (wide.is_wide) ours.patches = ours.wide_patches;
  }
  // No time is left for it if the query was cut.
  const bool can_move = request.motion != nullptr && answer.status != ShellStatus::kOutOfTime;
  ContactMover mover(ours, other, placement, is_turning(request), memory.round_parts);
  const bool is_cut_wide = ours.patches == ours.wide_patches;
  for_each_segment(ours, near, [&](std::uint32_t patch, std::span<const ShellHit> hits) {
    const std::uint32_t slot = slot_of(ours, patch);
    if (ours.body().settings.response == PatchResponse::kPressure) {
      if (const auto c = make_pressure_contact(ours, other, placement, hits,
                                               2 * ours.body().settings.contact_margin * ours.scale,
                                               request.motion, patch, slot)) {
        candidates.push_back(*c);
        return;
      }
    }
    const ChosenHits all{.tree = tree,
                         .hits = hits,
                         .last_keys = request.last->keys(slot),
                         .finder = finder,
                         .slack = slack_of(ours),
                         .most = is_cut_wide ? 1 : ours.body().settings.points_per_manifold,
                         .keeps_old = !is_cut(ours)};
    const Choice choice = all.choose([&](std::size_t i) {
      return rotate(shell_from_field, direction_at(tree, *other.target, placement, hits[i].point));
    });
    mover.begin();
    for (std::size_t i = 0; i < choice.count; ++i) {
      const ShellHit& hit = hits[choice.index[i]];
      candidates.push_back(make_candidate(ours, other, placement, hit.point,
                                          static_cast<double>(hit.distance), slot));
      if (can_move && !mover.move(hit, candidates.back())) candidates.pop_back();
    }
  });
}

bool clip_to_ball(FeatureEdge& edge, const Sphere& ball) {
  const Vec3 along = edge.b - edge.a, from = edge.a - ball.center;
  const double a = length_sq(along), b = dot(from, along);
  const double c = length_sq(from) - ball.radius * ball.radius;
  if (!(a > 0)) return c <= 0;
  const double under_root = b * b - a * c;
  if (!(under_root >= 0)) return false;
  const double root = std::sqrt(under_root);
  const double first = std::max(0.0, (-b - root) / a), last = std::min(1.0, (-b + root) / a);
  if (!(first <= last)) return false;
  if (last < 1) edge.b = edge.a + along * last;
  if (first > 0) edge.a = edge.a + along * first;
  return true;
}

void gather_edges(const Ours& ours, std::span<const FeatureEdge> edges, double radius,
                  const Pose& world_from_edges, const GatherRequest& request,
                  GatherScratch& memory) {
  const BulletBody& body = ours.body();
  if (!body.field && !body.voxmap) return;
  const double s = ours.scale;
  const Pose shape_from_edges = inverse(ours.world_from_shape) * world_from_edges;
  if (Allowance* allowance = open_allowance()) {
    if (allowance->is_spent() ||
        (allowance->has_nodes && allowance->used_nodes + edges.size() > allowance->nodes)) {
      allowance->cut();
      return;
    }
    allowance->used_nodes += edges.size();
  }
  memory.edges.clear(), memory.edge_number.clear();
  // Nothing of ours lies outside of the ball.
  const Sphere ball{body.ball.center,
                    body.ball.radius + (request.furthest() + ours.margin + radius) / s + body.cell};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    FeatureEdge edge{transform_point(shape_from_edges, edges[i].a) / s,
                     transform_point(shape_from_edges, edges[i].b) / s};
    if (!is_finite(edge.a) || !is_finite(edge.b)) return;  // A body without a valid pose.
    if (!clip_to_ball(edge, ball)) continue;
    memory.edges.push_back(edge);
    memory.edge_number.push_back(static_cast<std::uint32_t>(i));
  }
  const FeatureRequest query{.margin = (request.furthest() + ours.margin) / s,
                             .radius = radius / s};
  if (body.field)
    find_hits_edges_field(*body.field, memory.edges, query, memory.edge_hits);
  else
    find_hits_edges_field(*body.voxmap, memory.edges, query, memory.edge_hits);
  for (const FeatureHit& hit : memory.edge_hits) {
    if (length_sq(hit.direction) < 0.5) continue;
    const Vec3 out = transform_vector(ours.world_from_shape, hit.direction);
    const Vec3 place = transform_point(ours.world_from_shape, hit.point * s);
    const double distance = hit.distance * s - ours.margin;
    const Vec3 on_other = place - out * radius, on_ours = on_other - out * distance;
    memory.candidates.push_back({.key = make_key(Finder::kEdges, memory.edge_number[hit.edge]),
                                 .slot = is_cut(ours) ? kSlotOfEdges : 0,
                                 .on_0 = ours.is_0 ? on_ours : on_other,
                                 .on_1 = ours.is_0 ? on_other : on_ours,
                                 .normal = ours.is_0 ? -out : out,
                                 .distance = distance});
  }
}

RelativeMotion motion_between(const btCollisionObject& ours, const btCollisionObject& other,
                              double time_step, bool of_0) {
  const Vec3 center = from_bullet(ours.getWorldTransform().getOrigin());
  return {.center = center,
          .linear = velocity_at(ours, center) - velocity_at(other, center),
          .angular = turn_rate(ours) - turn_rate(other),
          .time_step = time_step,
          .of_0 = of_0};
}

void allow_for_turning(const RelativeMotion& motion, std::span<Candidate> candidates) {
  if (candidates.size() < 2) return;
  const auto deepest = std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  const double overlap = std::max(-deepest->distance, 0.0);
  for (Candidate& c : candidates) {
    if (c.key == deepest->key) continue;
    const double bend = motion.of_0 ? dot(c.normal, motion.bend_at(c.on_0))
                                    : -dot(c.normal, motion.bend_at(c.on_1));
    if (bend > 0) c.distance += bend + std::min(bend, overlap);
  }
}

// Metres that the ball around ours may move before it touches the target; less than 0 if unknown.
static double clearance_of_ball(const Ours& ours, const Placed& other) {
  const double jump = other.target->jump() * other.scale;
  const Sphere ball = ours.world_ball();
  const Vec3 center = transform_point(inverse(other.world_from_target), ball.center);
  const double value = other.target->sample(center / other.scale, {}).distance * other.scale;
  return (value - other.margin - jump) / std::max(other.target->lipschitz(), 1.0) - ball.radius;
}

bool may_touch(const Ours& ours, const Placed& other, double reach) {
  const double jump = other.target->jump() * other.scale;  // Infinite if nothing is known.
  const Sphere ball = ours.world_ball();
  const Vec3 center = transform_point(inverse(other.world_from_target), ball.center);
  const double value = other.target->sample(center / other.scale, {}).distance * other.scale;
  return value - other.margin <= ball.radius * other.target->lipschitz() + jump + reach;
}

double compute_clearance(const Ours& ours, const Placed& other, double most, ShellScratch& state) {
  const double grown = ours.margin + other.margin;
  // Work is limited: a distance is not searched. The clearance is that of the ball around ours, or
  // of the margin.
  const Allowance* allowance = open_allowance();
  const bool is_short = allowance != nullptr && (allowance->has_nodes || allowance->has_time);
  if (is_short) {
    const double of_ball = clearance_of_ball(ours, other);
    if (of_ball > 0) return std::min(most, of_ball);
  }
  const double margin = is_short ? other.target->max_margin() * other.scale : grown;
  const ShellResult answer = find_hits_in_budget(
      *ours.tree, *other.target, placement_of(ours, other),
      {.margin = std::min(cap_reach(other, margin, grown), most + grown), .want_distance = true}, 1,
      nullptr, state);
  if (is_short || answer.status != ShellStatus::kComplete)
    return std::min(most, answer.lower_bound - grown);
  return std::min(most, answer.distance - grown);
}

}  // namespace isotact::bullet_detail
