#include "algorithm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/base/error.h"
#include "isotact/queries/distance.h"

#include "pair.h"
#include "smooth/contact_mover.h"

namespace isotact::bullet_detail {
namespace {

// Fraction of the motion per step, for bodies that already touch.
constexpr double kShareWhileTouching = 0.5;
constexpr double kLongFall = 0.05;        // Radii per step.
constexpr double kMoreWhileTouching = 5;  // Contact distances.

const IsotactShape& ours_of(const btCollisionObjectWrapper& wrap) {
  return static_cast<const IsotactShape&>(*wrap.getCollisionShape());
}

bool has_role(const Ours& a, const Ours& b) {
  return (a.tree != nullptr && b.body().target) || (b.tree != nullptr && a.body().target);
}

// Returns whether one of the roles is possible for the pair; none is an error.
bool is_possible(const PairNow& now, PairKind kind, const PairState& state) {
  const BulletBody& a = now.ours.body();
  if (kind == PairKind::kOurs) {
    if (has_role(now.ours, *now.second)) return true;
    report_bullet_error(
        with_hint("two shapes of Isotact's without contact: both are pointshells, and one needs a "
                  "field",
                  Hint::kField));
    return false;
  }
  if (now.ours.tree != nullptr || (a.target && kind == PairKind::kMesh)) return true;
  if (a.target && !state.solid.edges.empty()) return true;
  report_bullet_error(
      fmt::format("a shape of Isotact's without points has no contact with Bullet's {}",
                  now.other_shape->getName()));
  return false;
}

void refresh_solid(const PairNow& now, PairState& state) {
  if (state.kind != PairKind::kSolid) return;
  if (state.solid_of == now.other_shape && is_up_to_date(*now.other_shape, state.solid)) return;
  make_other_solid(*now.other_shape, state.solid);
  state.solid_of = now.other_shape;
  state.points_0.forget();
}

double contact_margin(const PairNow& now) {
  const auto of = [](const Ours& o) { return o.body().settings.contact_margin * o.scale; };
  return now.second ? std::max(of(now.ours), of(*now.second)) : of(now.ours);
}

// Returns the distance up to which contacts are searched, so that they persist and approaching
// bodies get contacts before they sink in. Touching bodies may rotate: a slightly larger distance
// suffices while steps are short. The result is one of a few values, so that queries with a memory
// can continue from the last one.
double compute_reach(const PairNow& now, const PairState& state, double bound, double fall) {
  const double least = contact_margin(now), motion = 1.05 * bound;
  const auto most = [](const Ours& o) { return o.body().settings.fast_motion * o.scale; };
  const double cap = now.second ? std::min(most(now.ours), most(*now.second)) : most(now.ours);
  if (!state.manifolds.has_contacts()) return least + std::min(motion + fall, cap);
  // A supported body does not fall, but may tip over: that matters if steps are long.
  const bool is_long = fall > kLongFall * now.ours.world_ball().radius;
  if (motion <= least && !is_long) return 2 * least;
  const double wanted = kShareWhileTouching * (motion + (is_long ? fall : 0.0));
  double reach = (1 + kMoreWhileTouching) * least;
  while (reach < wanted && reach < cap) reach *= 2;
  return reach;
}

RelativeMotion motion_of(const PairNow& now, double time_step) {
  const bool first = now.ours.is_0;
  return first ? motion_between(*now.body_0, *now.body_1, time_step, true)
               : motion_between(*now.body_1, *now.body_0, time_step, false);
}

double fast_threshold(const PairNow& now) {
  double threshold = now.ours.body().settings.fast_motion * now.ours.scale;
  if (now.second)
    threshold = std::min(threshold, now.second->body().settings.fast_motion * now.second->scale);
  double wished = 0;
  for (const btCollisionObject* body : {now.body_0, now.body_1})
    if (const auto own = static_cast<double>(body->getCcdMotionThreshold()); own > 0)
      wished = wished > 0 ? std::min(wished, own) : own;
  return wished > 0 ? wished : threshold;
}

// Now, or in the step before.
bool touches(const PairNow& now, PairState& state) {
  const double contact = contact_margin(now);
  const std::vector<Candidate>& all = state.candidates();
  return state.manifolds.has_contacts() ||
         std::any_of(all.begin(), all.end(),
                     [&](const Candidate& c) { return c.distance <= contact; });
}

// Forces instead of contacts. Triangles of Bullet's give contacts.
bool has_penalty(const PairNow& now) {
  const auto of = [](const Ours& o) {
    return o.body().settings.response == PatchResponse::kPenalty;
  };
  if (now.second) return of(now.ours) && of(*now.second);
  return of(now.ours) && kind_of(*now.other_shape) == PairKind::kSolid;
}

// One contact per step of a body that is not cut collects in the manifold, up to four of them.
std::size_t most_points(const PairNow& now) {
  const auto of = [](const Ours& o) -> std::size_t {
    const bool is_cut = o.patches->first_point.size() > 2;
    const std::size_t most = o.body().settings.points_per_manifold;
    return most == 1 && !is_cut ? kMostChosen : most;
  };
  const std::size_t a = of(now.ours);
  return now.second ? std::max(a, of(*now.second)) : a;
}

void write(const PairNow& now, const btCollisionObjectWrapper& wrap_0,
           const btCollisionObjectWrapper& wrap_1, double time_step, std::size_t most,
           PairState& state) {
  auto& all = state.candidates();
  const auto by_slot = [](const Candidate& a, const Candidate& b) { return a.slot < b.slot; };
  if (!std::is_sorted(all.begin(), all.end(), by_slot))
    std::stable_sort(all.begin(), all.end(), by_slot);
  const double contact = contact_margin(now);
  WriteSettings settings{.time_step = time_step,
                         .bounce_speed = now.ours.body().settings.bounce_speed,
                         .nearness = 5 * contact};
  std::size_t patches = 0;
  for (const Candidate& c : all)
    if (c.area > 0) settings.mean_area += c.area, ++patches;
  if (patches > 0) settings.mean_area /= static_cast<double>(patches);
  state.manifolds.begin();
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].slot == all[begin].slot) ++end;
    const std::span<const Candidate> part(all.data() + begin, end - begin);
    const std::uint32_t slot = part.front().slot;
    const Choice choice = choose_contacts(part, state.manifolds.keys(slot), 0.1 * contact, most);
    Candidate chosen[kMostChosen];
    for (std::size_t i = 0; i < choice.count; ++i) chosen[i] = part[choice.index[i]];
    state.manifolds.write(slot, {chosen, choice.count}, wrap_0, wrap_1, settings);
    begin = end;
  }
  state.manifolds.end();
}

// Adds the nearest points of two of ours by their triangles. Returns false if they have none, or
// different scales: nothing is known then.
bool add_exact_distance(const PairNow& now, double threshold, PairState& state) {
  if (!now.second || now.ours.body().mesh == nullptr || now.second->body().mesh == nullptr ||
      now.ours.scale != now.second->scale)
    return false;
  const double s = now.ours.scale, grown = now.ours.margin + now.second->margin;
  const auto unscaled = [s](const Pose& pose) { return Pose{pose.rotation, pose.translation / s}; };
  thread_local DistanceScratch scratch;
  try {
    const DistanceResult r =
        distance(now.ours.body().shape, unscaled(now.ours.world_from_shape),
                 now.second->body().shape, unscaled(now.second->world_from_shape),
                 {.max_distance = (threshold + grown) / s, .want_depth = false}, scratch);
    const double apart = r.distance * s - grown;
    // Surfaces that touch although no point is near are left to the points.
    if (!r.exact || !(r.distance > 0)) return false;
    if (!(apart <= threshold)) return true;
    const Vec3 normal = r.contact.normal;
    state.candidates().push_back({.key = make_key(Finder::kPointsOf0, 0),
                                  .on_0 = r.contact.point_on_a * s - normal * now.ours.margin,
                                  .on_1 = r.contact.point_on_b * s + normal * now.second->margin,
                                  .normal = normal,
                                  .distance = apart});
  } catch (const std::exception& error) {  // Bullet passes none on.
    report_bullet_error(fmt::format("a distance was not computed: {}", error.what()));
    return false;
  }
  return true;
}

// Passes contacts to the callback: contactTest, or a manifold that others write to.
void hand_over(btManifoldResult& result, const PairNow& now, PairState& state) {
  result.setPersistentManifold(&state.manifolds.any(now.body_0, now.body_1));
  for (const Candidate& c : state.candidates())
    result.addContactPoint(to_bullet(c.normal), to_bullet(c.on_1),
                           static_cast<btScalar>(c.distance));
}

// The turn of a pair with a share of a budget. Without a budget it does nothing.
class BudgetTurn {
 public:
  BudgetTurn(BudgetPair* pair, PairState& state)
      : pair_(pair), state_(state), open_(pair != nullptr ? &pair->allowance : nullptr) {}
  BudgetTurn(const BudgetTurn&) = delete;
  BudgetTurn& operator=(const BudgetTurn&) = delete;
  ~BudgetTurn() {
    if (pair_ == nullptr) return;
    constexpr double kMost = 8, kOfCut = 2, kForget = 0.9, kOneDepth = 1e-3;
    BudgetPair& p = *pair_;
    p.was_run = true;
    Allowance& a = p.allowance;
    p.microseconds = a.has_time ? a.used_microseconds() : 0;
    state_.budget->spend(p.microseconds);
    if (is_left_out_) return;
    // Work that no query measures. An interrupted step says little about the next one.
    if (a.has_time && a.query_microseconds > 0) {
      const double rest = p.microseconds - a.query_microseconds;
      a.reserve = std::max(kForget * a.reserve, std::min(rest, 2 * a.reserve + 1));
    }
    p.weight = 1 + std::min(motion_, kMost) +
               std::min(state_.manifolds.deepest() / kOneDepth, kMost) + (a.was_cut ? kOfCut : 0);
  }
  // Of the step, in contact distances.
  void set_motion(double motion) { motion_ = motion; }
  // Nothing is left for it. Its turn ends.
  bool is_left_out() {
    if (pair_ == nullptr) return false;
    is_left_out_ = pair_->allowance.is_spent() || state_.budget->is_over(pair_->allowance);
    if (is_left_out_) ++pair_->waited, pair_->allowance.cut();
    return is_left_out_;
  }

 private:
  BudgetPair* pair_;
  PairState& state_;
  double motion_ = 0;
  bool is_left_out_ = false;
  OpenAllowance open_;
};

}  // namespace

namespace {

// Scratches of a thread that are not lent.
std::vector<std::unique_ptr<GatherScratch>>& free_scratches() {
  thread_local std::vector<std::unique_ptr<GatherScratch>> all;
  return all;
}

}  // namespace

ScratchLease::ScratchLease(PairState& state) : state_(state) {
  auto& all = free_scratches();
  if (all.empty()) all.push_back(std::make_unique<GatherScratch>());
  state.scratch = all.back().release();
  all.pop_back();
  state.scratch->thickness = &state.thickness;
  state.scratch->wide = &state.wide;
}

ScratchLease::~ScratchLease() {
  free_scratches().emplace_back(std::exchange(state_.scratch, nullptr));
}

PairNow pair_at(const PairState& state, const btCollisionObjectWrapper& wrap_0,
                const btTransform& world_from_0, const btCollisionObjectWrapper& wrap_1,
                const btTransform& world_from_1) {
  PairNow now{.body_0 = wrap_0.getCollisionObject(), .body_1 = wrap_1.getCollisionObject()};
  const bool first = state.ours_is_0;
  now.ours = view(ours_of(first ? wrap_0 : wrap_1), first ? world_from_0 : world_from_1, first);
  now.other_shape = (first ? wrap_1 : wrap_0).getCollisionShape();
  now.world_from_other = first ? world_from_1 : world_from_0;
  if (state.kind == PairKind::kOurs) {
    now.second = view(ours_of(wrap_1), world_from_1, false);
    if (!has_role(now.ours, *now.second)) {
      take_made_points(now.ours);
      take_made_points(*now.second);
    }
  } else {
    // Edges of the other alone would pass over its faces.
    take_made_points(now.ours);
  }
  return now;
}

Placed placed_solid(const PairState& state, const PairNow& now) {
  if (!state.solid.target) return {};
  return {.target = &*state.solid.target,
          .world_from_target = from_bullet(now.world_from_other) * state.solid.shape_from_target};
}

Placed placed(const Ours& ours) {
  if (!ours.body().target) return {};
  return {.target = &*ours.body().target,
          .world_from_target = ours.world_from_shape,
          .scale = ours.scale,
          .margin = ours.margin,
          .body = &ours.body()};
}

double motion_bound(const PairNow& now, double time_step) {
  const Sphere ball = now.ours.world_ball();
  const BodyVelocity of_0 = velocity_of(*now.body_0), of_1 = velocity_of(*now.body_1);
  const auto at_center = [&](const btCollisionObject& body, const BodyVelocity& velocity) {
    const Vec3 arm = ball.center - from_bullet(body.getWorldTransform().getOrigin());
    return velocity.linear + cross(velocity.angular, arm);
  };
  const Vec3 v = at_center(*now.body_0, of_0) - at_center(*now.body_1, of_1);
  // Relative motion of a point of ours: that of the ball's centre, and the rotations of both about
  // it.
  return (length(v) + (length(of_0.angular) + length(of_1.angular)) * ball.radius) * time_step;
}

double fall_of(const PairNow& now, double time_step) {
  return length(gravity_of(*now.body_0) - gravity_of(*now.body_1)) * time_step * time_step;
}

void gather(const PairNow& now, const GatherRequest& request, PairState& state) {
  GatherScratch& m = *state.scratch;
  m.candidates.clear(), m.round_parts.clear(), m.penalties.clear();
  const bool both = !now.second || (now.ours.body().settings.roles == PairRoles::kBoth &&
                                    now.second->body().settings.roles == PairRoles::kBoth);
  if (state.kind == PairKind::kMesh) {
    gather_mesh(now.ours, static_cast<const btConcaveShape&>(*now.other_shape),
                now.world_from_other, request, m);
    return;
  }
  const double far = request.furthest();
  if (state.kind == PairKind::kSolid) {
    const Placed solid = placed_solid(state, now);
    if (solid.target != nullptr && !may_touch(now.ours, solid, far)) return;
    if (solid.target != nullptr && now.ours.tree != nullptr)
      gather_points(now.ours, solid, request, state.points_0, m);
    if (!state.solid.edges.empty())
      gather_edges(now.ours, state.solid.edges, state.solid.radius,
                   from_bullet(now.world_from_other), request, m);
    return;
  }
  const Ours &a = now.ours, &b = *now.second;
  const Placed in_a = placed(a), in_b = placed(b);
  bool a_in_b = a.tree != nullptr && in_b.target != nullptr;
  bool b_in_a = b.tree != nullptr && in_a.target != nullptr;
  if (!both && a_in_b && b_in_a) {
    const bool a_is_smaller = a.tree->point_count() <= b.tree->point_count();
    (a_is_smaller ? b_in_a : a_in_b) = false;
  }
  if (in_b.target != nullptr && !may_touch(a, in_b, far)) return;
  if (in_a.target != nullptr && !may_touch(b, in_a, far)) return;
  GatherRequest of_first = request;
  if (b_in_a) of_first.share /= 2;
  if (a_in_b) gather_points(a, in_b, of_first, state.points_0, m);
  if (b_in_a) gather_points(b, in_a, request, state.points_1, m);
  drop_repeated(m.round_parts, m.candidates);
}

PairKind kind_of(int shape_type) {
  switch (shape_type) {
    case FAST_CONCAVE_MESH_PROXYTYPE:
      return PairKind::kOurs;
    case STATIC_PLANE_PROXYTYPE:
      return PairKind::kSolid;
    case TRIANGLE_MESH_SHAPE_PROXYTYPE:
    case SCALED_TRIANGLE_MESH_SHAPE_PROXYTYPE:
    case TERRAIN_SHAPE_PROXYTYPE:
    case GIMPACT_SHAPE_PROXYTYPE:
    case MULTIMATERIAL_TRIANGLE_MESH_PROXYTYPE:
      return PairKind::kMesh;
    default:
      return btBroadphaseProxy::isConvex(shape_type) ? PairKind::kSolid : PairKind::kUnsupported;
  }
}

// GImpact's compound has the type of its meshes, but provides no triangles.
PairKind kind_of(const btCollisionShape& shape) {
  const PairKind kind = kind_of(shape.getShapeType());
  if (shape.getShapeType() != GIMPACT_SHAPE_PROXYTYPE) return kind;
  const auto type = static_cast<const btGImpactShapeInterface&>(shape).getGImpactShapeType();
  return type == CONST_GIMPACT_COMPOUND_SHAPE ? PairKind::kUnsupported : kind;
}

PairAlgorithm::PairAlgorithm(const btCollisionAlgorithmConstructionInfo& info,
                             const btCollisionObjectWrapper* wrap_0,
                             const btCollisionObjectWrapper* wrap_1, PairKind kind, bool ours_is_0,
                             const std::shared_ptr<BudgetState>& budget)
    : btActivatingCollisionAlgorithm(info, wrap_0, wrap_1),
      state_(std::make_unique<PairState>(*info.m_dispatcher1, info.m_manifold, kind, ours_is_0)) {
  const btCollisionObjectWrapper* other = ours_is_0 ? wrap_1 : wrap_0;
  if (kind != PairKind::kOurs) state_->kind = kind_of(*other->getCollisionShape());
  if (state_->kind != PairKind::kUnsupported) {
    state_->budget = budget;
    if (budget != nullptr)
      state_->in_budget = &budget->add(wrap_0->getCollisionObject(), wrap_1->getCollisionObject());
    return;
  }
  report_bullet_error(fmt::format("shapes of Isotact's have no contact with Bullet's {} (type {})",
                                  other->getCollisionShape()->getName(),
                                  other->getCollisionShape()->getShapeType()));
}

PairAlgorithm::~PairAlgorithm() {
  if (state_->in_budget != nullptr) state_->budget->remove(*state_->in_budget);
}

void PairAlgorithm::processCollision(const btCollisionObjectWrapper* wrap_0,
                                     const btCollisionObjectWrapper* wrap_1,
                                     const btDispatcherInfo& info, btManifoldResult* result) {
  PairState& state = *state_;
  if (state.kind == PairKind::kUnsupported) return;
  const bool plain = typeid(*result) == typeid(btManifoldResult) && !state.is_shared;
  const auto threshold = static_cast<double>(result->m_closestPointDistanceThreshold);
  const bool is_step = plain && !(threshold > 0);
  BudgetTurn turn(is_step ? state.in_budget : nullptr, state);
  if (turn.is_left_out()) {
    state.manifolds.follow_bodies(*wrap_0->getCollisionObject(), *wrap_1->getCollisionObject());
    return;
  }
  const ScratchLease lease(state);
  const PairNow now =
      pair_at(state, *wrap_0, wrap_0->getWorldTransform(), *wrap_1, wrap_1->getWorldTransform());
  refresh_solid(now, state);
  if (!is_possible(now, state.kind, state)) return;

  if (!is_step) {
    GatherRequest request{.reach = contact_margin(now), .last = &state.manifolds};
    gather(now, request, state);
    // Beyond the padding of a field its distances are bounds: triangles tell the true ones.
    if (threshold > 0 && state.candidates().empty() && !add_exact_distance(now, threshold, state)) {
      request.want_nearest = true;
      request.nearest_reach = threshold;
      gather(now, request, state);
    }
    hand_over(*result, now, state);
    return;
  }
  const auto time_step = static_cast<double>(info.m_timeStep);
  const RelativeMotion motion = motion_of(now, time_step);
  const double bound = motion_bound(now, time_step), fall = fall_of(now, time_step);
  turn.set_motion(bound / contact_margin(now));
  gather(now,
         {.reach = compute_reach(now, state, bound, fall),
          .last = &state.manifolds,
          .contact_margin = contact_margin(now),
          .motion = &motion,
          .want_penalty = has_penalty(now)},
         state);
  if (has_penalty(now)) {
    const BulletShapeSettings& s = now.ours.body().settings;
    apply_penalties(state.scratch->penalties,
                    {s.penalty.stiffness, s.penalty.damping, s.penalty.scale, time_step},
                    *now.body_0, *now.body_1);
    state.candidates().clear();
    write(now, *wrap_0, *wrap_1, time_step, kMostChosen, state);
    return;
  }
  const bool goes_far = bound + fall > fast_threshold(now);
  const bool is_fast = goes_far && !touches(now, state);
  if (is_fast && state.candidates().empty()) {
    gather_fast(*wrap_0, *wrap_1, now, time_step, state);
  } else {
    if (!is_fast) allow_for_turning(motion, state.candidates());
    if (goes_far) gather_ahead(*wrap_0, *wrap_1, now, time_step, state);
  }
  write(now, *wrap_0, *wrap_1, time_step, is_fast ? kMostChosen : most_points(now), state);
}

void PairAlgorithm::getAllContactManifolds(btManifoldArray& manifolds) {
  state_->manifolds.list(manifolds);
}

}  // namespace isotact::bullet_detail
