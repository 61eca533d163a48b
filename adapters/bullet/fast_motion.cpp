// Bodies that move far in one step. Bullet's own search along the way is for convex shapes only.
//
// Both bodies are moved along their velocities by parts of the step. From a pose whose clearance is
// c, no point touches before it has moved by c against the other: so the parts are c over a bound
// of the relative motion, and nothing is passed over but what is thinner than the shortest part
// (conservative advancement: Mirtich 1996). Where they touch, contacts are made, and carried back
// to where the bodies are now: the gap there tells the solver how far they may still go.
#include <algorithm>
#include <cmath>

#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <LinearMath/btTransformUtil.h>

#include "isotact/adapters/bullet/convert.h"

#include "pair.h"

namespace isotact::detail {
namespace {

constexpr int kMostParts = 256;
constexpr double kShortestPart = 1.0 / 128;  // of the step

// Where a wrapper's shape will be after a part of the step.
btTransform moved(const btCollisionObjectWrapper& wrap, double seconds) {
  const btCollisionObject& body = *wrap.getCollisionObject();
  if (body.isStaticObject()) return wrap.getWorldTransform();
  const btRigidBody* rigid = btRigidBody::upcast(&body);
  const btVector3 v =
      rigid != nullptr ? rigid->getLinearVelocity() : body.getInterpolationLinearVelocity();
  const btVector3 w =
      rigid != nullptr ? rigid->getAngularVelocity() : body.getInterpolationAngularVelocity();
  btTransform then;
  btTransformUtil::integrateTransform(body.getWorldTransform(), v, w,
                                      static_cast<btScalar>(seconds), then);
  // Children of compounds have a place in their body.
  return then * body.getWorldTransform().inverse() * wrap.getWorldTransform();
}

double clearance_of(const PairNow& now, double most, PairState& state) {
  GatherMemory& m = state.memory;
  if (state.kind == PairKind::kSolid) {
    const Placed solid = placed_solid(state, now);
    if (solid.target == nullptr || !now.ours.body().tree) return most;
    return find_clearance(now.ours, solid, most, m.points_0);
  }
  double clearance = most;
  const Placed in_a = placed(now.ours), in_b = placed(*now.second);
  if (now.ours.body().tree && in_b.target != nullptr)
    clearance = find_clearance(now.ours, in_b, clearance, m.points_0);
  if (now.second->body().tree && in_a.target != nullptr)
    clearance = std::min(clearance, find_clearance(*now.second, in_a, clearance, m.points_1));
  return clearance;
}

}  // namespace

void gather_fast(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                 const PairNow& now, double time_step, PairState& state) {
  const double motion = motion_bound(now, time_step);
  const double touch = now.ours.body().settings.contact_distance * now.ours.scale;
  double t = 0;
  PairNow then = now;
  for (int part = 0;; ++part) {
    const double clearance = clearance_of(then, 2 * motion, state);
    if (clearance <= touch) break;
    t += std::max(clearance / motion, kShortestPart);
    if (t >= 1 || part == kMostParts) return;
    then =
        pair_at(state, wrap_0, moved(wrap_0, t * time_step), wrap_1, moved(wrap_1, t * time_step));
  }
  gather(then, {.reach = 2 * touch, .last = &state.manifolds}, state);
  // Back to now: each place goes with its body.
  const btTransform back_0 = wrap_0.getWorldTransform() * moved(wrap_0, t * time_step).inverse();
  const btTransform back_1 = wrap_1.getWorldTransform() * moved(wrap_1, t * time_step).inverse();
  for (Candidate& c : state.memory.candidates) {
    c.on_0 = from_bullet(back_0(to_bullet(c.on_0)));
    c.on_1 = from_bullet(back_1(to_bullet(c.on_1)));
    c.distance = dot(c.normal, c.on_0 - c.on_1);
  }
}

}  // namespace isotact::detail
