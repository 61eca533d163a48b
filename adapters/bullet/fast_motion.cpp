// Bodies that move far in one step. Bullet's own search along the path is only for convex shapes.
//
// Both bodies are moved along their velocities by parts of the step. From a pose whose clearance is
// c, no point touches before it has moved by c relative to the other. The parts are therefore c
// divided by a bound of the relative motion, and nothing is missed (conservative advancement:
// Mirtich 1996). Contacts are made at the pose of touching, and transformed back to the current
// poses: the gap there gives the solver the remaining distance.
#include <algorithm>
#include <cmath>

#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <LinearMath/btTransformUtil.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/swept_broadphase.h"

#include "pair.h"

namespace isotact::bullet_detail {
namespace {

constexpr int kMostParts = 256;
constexpr double kShortestPart = 0.02;  // Fraction of our smallest side.
constexpr std::uint32_t kPlanePoints = 64;

// Returns the pose of a wrapper's shape after a part of the step. Bullet adds gravity to velocities
// before it moves bodies: it acts during the whole step. `change` is of the velocity.
btTransform moved(const btCollisionObjectWrapper& wrap, double seconds, double time_step,
                  const Vec3& change = {}) {
  const btCollisionObject& body = *wrap.getCollisionObject();
  if (body.isStaticObject()) return wrap.getWorldTransform();
  const BodyVelocity velocity = velocity_of(body);
  const btVector3 v = to_bullet(velocity.linear + gravity_of(body) * time_step + change);
  const btVector3 w = to_bullet(velocity.angular);
  btTransform then;
  btTransformUtil::integrateTransform(body.getWorldTransform(), v, w,
                                      static_cast<btScalar>(seconds), then);
  // Children of compounds have a pose in their body.
  return then * body.getWorldTransform().inverse() * wrap.getWorldTransform();
}

double clearance_of(const PairNow& now, double most, PairState& state) {
  GatherScratch& m = *state.scratch;
  if (state.kind == PairKind::kMesh) {
    const Pose world_from_mesh = from_bullet(now.world_from_other);
    collect_near(now.ours, static_cast<const btConcaveShape&>(*now.other_shape), world_from_mesh,
                 most, m);
    return compute_clearance(now.ours, m.triangles, world_from_mesh, most);
  }
  if (state.kind == PairKind::kSolid) {
    const Placed solid = placed_solid(state, now);
    if (solid.target == nullptr || now.ours.tree == nullptr) return most;
    return compute_clearance(now.ours, solid, most, m.points);
  }
  double clearance = most;
  const Placed in_a = placed(now.ours), in_b = placed(*now.second);
  if (now.ours.tree != nullptr && in_b.target != nullptr)
    clearance = compute_clearance(now.ours, in_b, clearance, m.points);
  if (now.second->tree != nullptr && in_a.target != nullptr)
    clearance = std::min(clearance, compute_clearance(*now.second, in_a, clearance, m.points));
  return clearance;
}

// At most the distance that fields are prepared for, or nothing would be found there.
double shortest_part(const Ours& ours) {
  const double part = kShortestPart * ours.body().smallest_side;
  const double most = ours.body().target ? ours.body().target->max_margin() / 2 : part;
  return std::min(part, most) * ours.scale;
}

// Metres: how far apart a contact's points are at the end of the step, if nothing acts.
double gap_after(const PairNow& now, const Candidate& c, double seconds) {
  const Vec3 v = velocity_at(*now.body_0, c.on_0) - velocity_at(*now.body_1, c.on_1);
  return c.distance + dot(c.normal, v) * seconds;
}

// With one contact, a body rotates about it, and its centre continues. In this step the plane of
// the contact that it runs into most therefore holds the whole body: some of its points, spread
// out, are contacts as well. The solver takes speeds for distances, which holds for small turns
// only. No point may therefore come closer to the plane by more than the first one and a part of
// the body's smallest side.
constexpr double kTurnPart = 0.1;
void add_plane_points(const PairNow& now, const Ours& ours, double time_step,
                      std::vector<Candidate>& candidates) {
  if (ours.tree == nullptr) return;
  const Candidate first = *std::min_element(
      candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return gap_after(now, a, time_step) < gap_after(now, b, time_step);
      });
  const double most =
      std::max(first.distance, 0.0) + kTurnPart * ours.body().smallest_side * ours.scale;
  const PointSphereTree& tree = *ours.tree;
  int level = 0;
  while (level + 1 < tree.level_count() && tree.level(level).node_count < kPlanePoints) ++level;
  const auto place_of = [&](std::uint32_t point) {
    return transform_point(ours.world_from_shape, to_double(tree.point(point)) * ours.scale);
  };
  for (const ShellNode& node : tree.level(level).nodes) {
    if (node.child_count == 0) continue;
    Candidate c = first;
    c.key = make_key(ours.is_0 ? Finder::kPointsOf0 : Finder::kPointsOf1, node.representative);
    const Vec3 p = place_of(node.representative);
    c.distance = ours.is_0 ? dot(c.normal, p - first.on_1) : dot(c.normal, first.on_0 - p);
    if (!(c.distance > first.distance)) continue;
    c.distance = std::min(c.distance, most);
    c.on_0 = ours.is_0 ? p : p + c.normal * c.distance;
    c.on_1 = ours.is_0 ? p - c.normal * c.distance : p;
    candidates.push_back(c);
  }
}

// Changes of velocities by contacts that bodies run into: they slide along. Turns stay as they are.
struct Slide {
  Vec3 of_0{}, of_1{};
};
Slide compute_slide(const PairNow& now, const std::vector<Candidate>& contacts, double time_step) {
  constexpr int kRounds = 4;
  const auto inverse_mass = [](const btCollisionObject& body) {
    if (const btRigidBody* rigid = btRigidBody::upcast(&body))
      return static_cast<double>(rigid->getInvMass());
    const auto* link = btMultiBodyLinkCollider::upcast(&body);
    if (link == nullptr) return 0.0;
    const btMultiBody& multi = *link->m_multiBody;
    if (link->m_link < 0 && multi.hasFixedBase()) return 0.0;
    const btScalar mass = link->m_link < 0 ? multi.getBaseMass() : multi.getLinkMass(link->m_link);
    return mass > 0 ? 1 / static_cast<double>(mass) : 0.0;
  };
  const double m_0 = inverse_mass(*now.body_0), m_1 = inverse_mass(*now.body_1);
  Slide slide;
  if (!(m_0 + m_1 > 0)) return slide;
  for (int round = 0; round < kRounds; ++round)
    for (const Candidate& c : contacts) {
      const double gap =
          gap_after(now, c, time_step) + dot(c.normal, slide.of_0 - slide.of_1) * time_step;
      if (gap >= 0) continue;
      const Vec3 push = c.normal * (-gap / time_step / (m_0 + m_1));
      slide.of_0 += push * m_0;
      slide.of_1 -= push * m_1;
    }
  return slide;
}

// A budget has ended: the rest of the path is left to the guard.
bool is_cut() {
  Allowance* allowance = open_allowance();
  if (allowance == nullptr) return false;
  if (allowance->is_spent()) allowance->cut();
  return allowance->was_cut;
}

}  // namespace

void gather_fast(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                 const PairNow& now, double time_step, PairState& state) {
  const double motion = motion_bound(now, time_step) + fall_of(now, time_step);
  double touch = shortest_part(now.ours);
  if (now.second) touch = std::min(touch, shortest_part(*now.second));
  double t = 0;
  PairNow then = now;
  for (int part = 0;; ++part) {
    if (is_cut()) return;
    const double clearance = clearance_of(then, 2 * motion, state);
    if (clearance <= touch) {
      gather(then, {.reach = 1.5 * touch, .last = &state.manifolds}, state);
      // The clearance of triangles is a bound: they may not touch yet.
      if (state.kind != PairKind::kMesh || !state.candidates().empty()) break;
    }
    t += std::max(clearance, touch) / motion;
    if (t >= 1) return;
    if (part == kMostParts) break;  // So many steps only occur next to the surface.
    then = pair_at(state, wrap_0, moved(wrap_0, t * time_step, time_step), wrap_1,
                   moved(wrap_1, t * time_step, time_step));
  }
  // Back to the current time: each position moves with its body.
  const btTransform back_0 =
      wrap_0.getWorldTransform() * moved(wrap_0, t * time_step, time_step).inverse();
  const btTransform back_1 =
      wrap_1.getWorldTransform() * moved(wrap_1, t * time_step, time_step).inverse();
  for (Candidate& c : state.candidates()) {
    c.on_0 = from_bullet(back_0(to_bullet(c.on_0)));
    c.on_1 = from_bullet(back_1(to_bullet(c.on_1)));
    c.distance = dot(c.normal, c.on_0 - c.on_1);
  }
  hold_whole_body(now, time_step, state);
}

// Conservative advancement makes no progress if bodies touch. Here tests follow each other so
// closely that each finds everything that may be met before the next. Points that are already near,
// and are not about to collide, do not count.
void gather_ahead(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                  const PairNow& now, double time_step, PairState& state) {
  const double motion = motion_bound(now, time_step) + fall_of(now, time_step);
  double reach = 2 * shortest_part(now.ours);
  if (now.second) reach = std::min(reach, 2 * shortest_part(*now.second));
  const double part = std::max(reach / motion, 1.0 / kMostParts);
  const auto is_run_into = [&](const Candidate& c, double t) {
    return gap_after(now, c, (1 - t) * time_step) < -reach;
  };
  std::vector<Candidate> found = state.candidates();
  // What touches already stops it, or makes it slide along.
  const Slide slide = compute_slide(now, found, time_step);
  double most = 0;
  for (const Candidate& c : found) most = std::max(most, -gap_after(now, c, time_step));
  const bool is_stopped = most > kTurnPart * now.ours.body().smallest_side * now.ours.scale;
  for (double t = part; t < 1 && !is_cut(); t += part) {
    const btTransform then_0 = moved(wrap_0, t * time_step, time_step, slide.of_0);
    const btTransform then_1 = moved(wrap_1, t * time_step, time_step, slide.of_1);
    const PairNow then = pair_at(state, wrap_0, then_0, wrap_1, then_1);
    gather(then, {.reach = reach, .last = &state.manifolds}, state);
    const btTransform back_0 = wrap_0.getWorldTransform() * then_0.inverse();
    const btTransform back_1 = wrap_1.getWorldTransform() * then_1.inverse();
    const std::size_t before = found.size();
    for (Candidate c : state.candidates()) {
      if (!is_run_into(c, t)) continue;
      c.on_0 = from_bullet(back_0(to_bullet(c.on_0)));
      c.on_1 = from_bullet(back_1(to_bullet(c.on_1)));
      c.distance = dot(c.normal, c.on_0 - c.on_1);
      found.push_back(c);
    }
    if (found.size() > before) break;
  }
  state.candidates() = std::move(found);
  if (is_stopped) hold_whole_body(now, time_step, state);
}

void hold_whole_body(const PairNow& now, double time_step, PairState& state) {
  if (state.candidates().empty()) return;
  for (Candidate& c : state.candidates()) c.slot = 0;
  const bool second_is_smaller =
      now.second && now.second->world_ball().radius < now.ours.world_ball().radius;
  add_plane_points(now, second_is_smaller ? *now.second : now.ours, time_step, state.candidates());
}

void extend_by_motion(const btBroadphaseProxy& proxy, double time_step, btVector3& lower,
                      btVector3& upper) {
  const auto* object = static_cast<const btCollisionObject*>(proxy.m_clientObject);
  const auto* link = object != nullptr ? btMultiBodyLinkCollider::upcast(object) : nullptr;
  if (link == nullptr || link->isStaticObject() || link->m_multiBody->isBaseStaticOrKinematic())
    return;
  const BodyVelocity velocity = velocity_of(*link);
  // In the middle as well: a corner moves along an arc.
  for (const double share : {0.5, 1.0}) {
    btTransform then;
    btTransformUtil::integrateTransform(
        link->getWorldTransform(), to_bullet(velocity.linear + gravity_of(*link) * time_step),
        to_bullet(velocity.angular), static_cast<btScalar>(share * time_step), then);
    btVector3 from, to;
    link->getCollisionShape()->getAabb(then, from, to);
    lower.setMin(from), upper.setMax(to);
  }
}

}  // namespace isotact::bullet_detail
