#include "pressure.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/queries/points/shell_contact.h"

#include "../gather.h"

namespace isotact::bullet_detail {
namespace {

// Explicit springs are stable up to 4 m / dt^2 without damping, and up to less with it.
constexpr double kStableStiffness = 0.2;
// Of the sliding that friction may stop in a step.
constexpr double kMostStopped = 0.5;

double inverse_mass(const btCollisionObject& body) {
  if (const btRigidBody* rigid = btRigidBody::upcast(&body))
    return static_cast<double>(rigid->getInvMass());
  if (const auto* link = btMultiBodyLinkCollider::upcast(&body)) {
    const btMultiBody& multi = *link->m_multiBody;
    if (link->m_link < 0 && multi.hasFixedBase()) return 0;
    const btScalar mass = link->m_link < 0 ? multi.getBaseMass() : multi.getLinkMass(link->m_link);
    return mass > 0 ? 1 / static_cast<double>(mass) : 0;
  }
  return 0;
}

// Pairs of one body may be dispatched on several threads.
void add_load(const btCollisionObject& body, const Vec3& force, const Vec3& torque_at_origin) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const Vec3 center = from_bullet(body.getWorldTransform().getOrigin());
  const btVector3 f = to_bullet(force), t = to_bullet(torque_at_origin - cross(center, force));
  auto& changed = const_cast<btCollisionObject&>(body);
  if (btRigidBody* rigid = btRigidBody::upcast(&changed)) {
    if (!(rigid->getInvMass() > 0)) return;
    rigid->applyCentralForce(f);
    rigid->applyTorque(t);
  } else if (auto* link = btMultiBodyLinkCollider::upcast(&changed)) {
    if (link->m_link < 0) {
      link->m_multiBody->addBaseForce(f);
      link->m_multiBody->addBaseTorque(t);
    } else {
      link->m_multiBody->addLinkForce(link->m_link, f);
      link->m_multiBody->addLinkTorque(link->m_link, t);
    }
  }
}

}  // namespace

std::optional<Candidate> make_pressure_contact(const Ours& ours, const Placed& other,
                                               const ShellPlacement& placement,
                                               std::span<const ShellHit> hits, double reach,
                                               const RelativeMotion* motion, std::uint32_t patch,
                                               std::uint32_t slot) {
  constexpr std::size_t kMostNormals = 32;
  const double grown = ours.margin + other.margin;
  const auto pressure_of = [&](const ShellHit& hit) {
    return std::max(reach + grown - static_cast<double>(hit.distance), 0.0) *
           static_cast<double>(hit.area);
  };
  const std::size_t stride = hits.size() / kMostNormals + 1;
  double sum = 0, area = 0, deepest = reach + grown;
  Vec3 center{}, out{};
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const double p = pressure_of(hits[i]);
    sum += p;
    if (p > 0) area += static_cast<double>(hits[i].area);
    center += place_of(*ours.tree, placement, hits[i].point) * p;
    deepest = std::min(deepest, static_cast<double>(hits[i].distance));
    if (i % stride == 0)
      out += direction_at(*ours.tree, *other.target, placement, hits[i].point) * p;
  }
  // Few of many: those that were looked at may have no pressure.
  if (sum > 0 && !(length_sq(out) > 0))
    for (const ShellHit& hit : hits)
      out += direction_at(*ours.tree, *other.target, placement, hit.point) * pressure_of(hit);
  if (!(sum > 0) || !(length_sq(out) > 0)) return std::nullopt;
  center = center / sum;
  out = normalized(out);
  double arm = 0;
  for (const ShellHit& hit : hits)
    arm +=
        pressure_of(hit) * length(cross(place_of(*ours.tree, placement, hit.point) - center, out));
  const Vec3 normal = transform_vector(other.world_from_target, out);
  const Vec3 place = transform_point(other.world_from_target, center);
  const Vec3 on_ours = place - normal * ours.margin;
  const Vec3 on_other = place - normal * (deepest - other.margin);
  arm /= sum;
  if (motion != nullptr) {
    // Friction of the whole patch is bound: sliding at its centre and turning about it share it.
    const double spin = std::abs(dot(motion->angular, normal));
    const Vec3 v = motion->velocity_at(place);
    const double slide = length(v - normal * dot(v, normal));
    const double edge = spin * arm;
    if (spin > 0 && edge + slide > 1e-9) arm = (std::hypot(slide, edge) - slide) / spin;
  }
  // One contact per patch: it is the same in each step.
  constexpr std::uint64_t kOfPatch = std::uint64_t{1} << 40U;
  return Candidate{
      .key = make_key(ours.is_0 ? Finder::kPointsOf0 : Finder::kPointsOf1, kOfPatch + patch),
      .slot = slot,
      .on_0 = ours.is_0 ? on_ours : on_other,
      .on_1 = ours.is_0 ? on_other : on_ours,
      .normal = ours.is_0 ? normal : -normal,
      .distance = deepest - grown,
      .torsion_arm = arm,
      .area = area};
}

Penalty compute_penalty(const Ours& ours, const Placed& other, const ShellPlacement& placement,
                        std::span<const ShellHit> hits, ShellForceScale scale,
                        std::vector<ShellHit>& scratch) {
  scratch.assign(hits.begin(), hits.end());
  for (ShellHit& hit : scratch) hit.distance -= static_cast<float>(ours.margin + other.margin);
  const ShellForce f =
      compute_force(*ours.tree, *other.target, placement, scratch,
                    {.stiffness = 1, .scale = scale, .normal = ShellForceNormal::kField});
  const Vec3 force = transform_vector(other.world_from_target, f.force);
  const Vec3 torque = transform_vector(other.world_from_target, f.torque) +
                      cross(other.world_from_target.translation, force);
  const double sign = ours.is_0 ? 1 : -1;
  return {force * sign, torque * sign, f.area};
}

void apply_penalties(std::span<const Penalty> penalties, const PenaltyLaw& law,
                     const btCollisionObject& body_0, const btCollisionObject& body_1) {
  Vec3 force{}, torque{};
  double area = 0, count = 0;
  for (const Penalty& p : penalties) {
    if (!(length_sq(p.force) > 0)) continue;
    force += p.force, torque += p.torque, area += p.area, ++count;
  }
  const double free = inverse_mass(body_0) + inverse_mass(body_1);
  if (!(count > 0) || !(free > 0) || !(law.time_step > 0)) return;
  force = force / count, torque = torque / count, area /= count;
  // N/m: of the whole patch.
  const bool is_pressure = law.scale == ShellForceScale::kPressure;
  const double chosen = kStableStiffness / (free * law.time_step * law.time_step);
  const double whole = law.stiffness > 0 ? law.stiffness * (is_pressure ? area : 1.0) : chosen;
  const double factor = is_pressure ? whole / area : whole;
  force = force * factor, torque = torque * factor;
  const double strength = length(force);
  if (!(strength > 0) || !std::isfinite(strength)) return;
  const Vec3 normal = force / strength;
  const Vec3 at = cross(force, torque) / (strength * strength);
  // The rest of the torque is about the force's own line.
  const Vec3 couple = normal * dot(normal, torque);
  // The line of the force passes the bodies: the place on it that is nearest to the smaller one.
  const btCollisionObject& near = inverse_mass(body_0) > 0 ? body_0 : body_1;
  const Vec3 center = from_bullet(near.getWorldTransform().getOrigin());
  const Vec3 place = at + normal * dot(normal, center - at);
  const Vec3 velocity = velocity_at(body_0, place) - velocity_at(body_1, place);
  const double apart = dot(normal, velocity);
  const double damping = 2 * law.damping * std::sqrt(whole / free);
  const double push = std::max(strength - damping * apart, 0.0);
  Vec3 all = normal * push;
  const Vec3 sliding = velocity - normal * apart;
  if (const double speed = length(sliding); speed > 0) {
    const auto friction =
        static_cast<double>(btManifoldResult::calculateCombinedFriction(&body_0, &body_1));
    const double most = kMostStopped * speed / (free * law.time_step);
    all -= sliding * (std::min(friction * push, most) / speed);
  }
  const Vec3 torque_0 = cross(place, all) + couple;
  add_load(body_0, all, torque_0);
  add_load(body_1, -all, -torque_0);
}

}  // namespace isotact::bullet_detail
