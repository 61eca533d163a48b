#include "manifolds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <BulletCollision/BroadphaseCollision/btDispatcher.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/NarrowPhaseCollision/btPersistentManifold.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "isotact/adapters/bullet/convert.h"

namespace isotact::bullet_detail {
namespace {

constexpr double kMostBounceDepth = 0.02;  // Metres, see bounce().
constexpr double kSurelyFast = 1.25;       // Thresholds of speed: rounding matters no more.

// As in btManifoldResult::addContactPoint.
void combine_materials(btManifoldPoint& point, const btCollisionObject* a,
                       const btCollisionObject* b) {
  point.m_combinedFriction = gCalculateCombinedFrictionCallback(a, b);
  point.m_combinedRestitution = gCalculateCombinedRestitutionCallback(a, b);
  point.m_combinedRollingFriction = gCalculateCombinedRollingFrictionCallback(a, b);
  point.m_combinedSpinningFriction = gCalculateCombinedSpinningFrictionCallback(a, b);
  const int flags = a->getCollisionFlags() | b->getCollisionFlags();
  if ((flags & btCollisionObject::CF_HAS_CONTACT_STIFFNESS_DAMPING) != 0) {
    point.m_combinedContactDamping1 = gCalculateCombinedContactDampingCallback(a, b);
    point.m_combinedContactStiffness1 = gCalculateCombinedContactStiffnessCallback(a, b);
    point.m_contactPointFlags |= BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING;
  }
  if ((flags & btCollisionObject::CF_HAS_FRICTION_ANCHOR) != 0)
    point.m_contactPointFlags |= BT_CONTACT_FLAG_FRICTION_ANCHOR;
  btPlaneSpace1(point.m_normalWorldOnB, point.m_lateralFrictionDir1, point.m_lateralFrictionDir2);
}

btManifoldPoint make_point(const Candidate& c, const btCollisionObjectWrapper& wrap_0,
                           const btCollisionObjectWrapper& wrap_1) {
  const btCollisionObject* a = wrap_0.getCollisionObject();
  const btCollisionObject* b = wrap_1.getCollisionObject();
  const btVector3 on_a = to_bullet(c.on_0), on_b = to_bullet(c.on_1);
  btManifoldPoint point(a->getWorldTransform().invXform(on_a),
                        b->getWorldTransform().invXform(on_b), to_bullet(c.normal),
                        static_cast<btScalar>(c.distance));
  point.m_positionWorldOnA = on_a;
  point.m_positionWorldOnB = on_b;
  // Children of compounds have their number; for a triangle, it is the candidate's.
  point.m_partId0 = c.part_0 >= 0 ? c.part_0 : wrap_0.m_partId;
  point.m_index0 = c.index_0 >= 0 ? c.index_0 : wrap_0.m_index;
  point.m_partId1 = c.part_1 >= 0 ? c.part_1 : wrap_1.m_partId;
  point.m_index1 = c.index_1 >= 0 ? c.index_1 : wrap_1.m_index;
  combine_materials(point, a, b);
  if (c.torsion_arm > 0) {
    // Bullet looks at it only if there is some rolling friction.
    constexpr btScalar kNearlyNone{1e-9F};
    point.m_combinedSpinningFriction +=
        point.m_combinedFriction * static_cast<btScalar>(c.torsion_arm);
    point.m_combinedRollingFriction = std::max(point.m_combinedRollingFriction, kNearlyNone);
  }
  return point;
}

void call_contact_added(btManifoldPoint& point, const btCollisionObjectWrapper& wrap_0,
                        const btCollisionObjectWrapper& wrap_1) {
  constexpr int kWanted = btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK;
  if (gContactAddedCallback == nullptr || ((wrap_0.getCollisionObject()->getCollisionFlags() |
                                            wrap_1.getCollisionObject()->getCollisionFlags()) &
                                           kWanted) == 0)
    return;
  gContactAddedCallback(point, &wrap_0, point.m_partId0, point.m_index0, &wrap_1, point.m_partId1,
                        point.m_index1);
}

// Bullet separates bodies by a fifth of their overlap per step (its erp), which is fast for deep
// overlaps: they would jump.
void limit_recovery(btManifoldPoint& point, const WriteSettings& settings) {
  constexpr double kUsualErp = 0.2;
  const double depth = -static_cast<double>(point.m_distance1);
  const bool has_own =
      (point.m_contactPointFlags &
       (BT_CONTACT_FLAG_HAS_CONTACT_ERP | BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING)) != 0;
  const double most = settings.recovery_speed * settings.time_step;
  if (has_own || !(depth * kUsualErp > most)) return;
  point.m_contactERP = static_cast<btScalar>(most / depth);
  point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_ERP;
}

}  // namespace

Vec3 gravity_of(const btCollisionObject& body) {
  if (const auto* link = btMultiBodyLinkCollider::upcast(&body)) {
    // Worlds give multibodies their weight as a force, before each step.
    const btMultiBody& multi = *link->m_multiBody;
    if (link->m_link < 0 && multi.hasFixedBase()) return {};
    const btScalar mass = link->m_link < 0 ? multi.getBaseMass() : multi.getLinkMass(link->m_link);
    if (!(mass > 0)) return {};
    return from_bullet(link->m_link < 0 ? multi.getBaseForce() : multi.getLinkForce(link->m_link)) /
           static_cast<double>(mass);
  }
  const btRigidBody* rigid = btRigidBody::upcast(&body);
  return rigid != nullptr && rigid->getInvMass() > 0 ? from_bullet(rigid->getGravity()) : Vec3{};
}

BodyVelocity velocity_of(const btCollisionObject& body) {
  if (body.isStaticObject()) return {};
  if (const btRigidBody* rigid = btRigidBody::upcast(&body))
    return {from_bullet(rigid->getLinearVelocity()), from_bullet(rigid->getAngularVelocity())};
  const auto* link = btMultiBodyLinkCollider::upcast(&body);
  if (link == nullptr)
    return {from_bullet(body.getInterpolationLinearVelocity()),
            from_bullet(body.getInterpolationAngularVelocity())};
  const btMultiBody& multi = *link->m_multiBody;
  if (link->m_link < 0) return {from_bullet(multi.getBaseVel()), from_bullet(multi.getBaseOmega())};
  // Bullet computes those of all links, each in its own frame.
  thread_local std::vector<btVector3> turn, linear;
  const auto count = static_cast<std::size_t>(multi.getNumLinks()) + 1;
  turn.resize(count), linear.resize(count);
  multi.compTreeLinkVelocities(turn.data(), linear.data());
  const auto at = static_cast<std::size_t>(link->m_link) + 1;
  return {from_bullet(multi.localDirToWorld(link->m_link, linear[at])),
          from_bullet(multi.localDirToWorld(link->m_link, turn[at]))};
}

Vec3 turn_rate(const btCollisionObject& body) { return velocity_of(body).angular; }

Vec3 velocity_at(const btCollisionObject& body, const Vec3& place) {
  const BodyVelocity v = velocity_of(body);
  return v.linear + cross(v.angular, place - from_bullet(body.getWorldTransform().getOrigin()));
}

Manifolds::~Manifolds() {
  for (const Slot& slot : slots_)
    if (slot.manifold != shared_) dispatcher_.releaseManifold(slot.manifold);
}

Manifolds::Slot& Manifolds::find_or_make(std::uint32_t id, const btCollisionObject* body_0,
                                         const btCollisionObject* body_1) {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), id,
                                   [](const Slot& s, std::uint32_t i) { return s.id < i; });
  if (at != slots_.end() && at->id == id) return *at;
  Slot slot{.id = id};
  slot.manifold = shared_ != nullptr ? shared_ : dispatcher_.getNewManifold(body_0, body_1);
  return *slots_.insert(at, slot);
}

btPersistentManifold& Manifolds::any(const btCollisionObject* body_0,
                                     const btCollisionObject* body_1) {
  return *(slots_.empty() ? find_or_make(0, body_0, body_1) : slots_.front()).manifold;
}

std::span<const std::uint64_t> Manifolds::keys(std::uint32_t id) const {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), id,
                                   [](const Slot& s, std::uint32_t i) { return s.id < i; });
  if (at == slots_.end() || at->id != id) return {};
  return {at->keys, at->count};
}

void Manifolds::begin() {
  for (Slot& slot : slots_) {
    slot.written = false;
    // Others may empty manifolds: a body that was moved by hand, or removed from its pairs.
    if (static_cast<std::size_t>(slot.manifold->getNumContacts()) != slot.count &&
        shared_ == nullptr) {
      // An impact that has begun continues.
      for (std::size_t i = 0; i < slot.count; ++i)
        if (slot.memory[i].energy > slot.left.energy) slot.left = slot.memory[i];
      slot.manifold->clearManifold();
      slot.count = 0;
    }
  }
}

void Manifolds::end() {
  if (shared_ != nullptr) return;
  for (Slot& slot : slots_)
    if (!slot.written && slot.count > 0) {
      slot.manifold->clearManifold();
      slot.count = 0;
    }
  for (std::size_t i = slots_.size(); i-- > 1;)
    if (!slots_[i].written) {
      dispatcher_.releaseManifold(slots_[i].manifold);
      slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// Finds, for each chosen candidate, the index of the old point that it continues, or -1: the one
// with the same key, or otherwise one that is near.
void Manifolds::match(const Slot& slot, std::span<const Candidate> chosen,
                      const WriteSettings& settings, const btCollisionObject& body_0,
                      std::span<int> place_of) const {
  bool taken[kMostChosen]{};
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    place_of[c] = -1;
    for (std::size_t i = 0; i < slot.count; ++i)
      if (!taken[i] && slot.memory[i].key == chosen[c].key) {
        place_of[c] = static_cast<int>(i), taken[i] = true;
        break;
      }
  }
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    if (place_of[c] >= 0) continue;
    const btVector3 local = body_0.getWorldTransform().invXform(to_bullet(chosen[c].on_0));
    double best = settings.nearness * settings.nearness;
    for (std::size_t i = 0; i < slot.count; ++i) {
      if (taken[i]) continue;
      const btManifoldPoint& old = slot.manifold->getContactPoint(static_cast<int>(i));
      const auto d = static_cast<double>((old.m_localPointA - local).length2());
      if (d < best) best = d, place_of[c] = static_cast<int>(i);
    }
    if (place_of[c] >= 0) taken[place_of[c]] = true;
  }
}

namespace {

// Returns J. Infinite for a kinematic body: it may add energy.
double kinetic_energy_of(const btCollisionObject& body) {
  if (body.isStaticObject()) return 0;
  const btRigidBody* rigid = btRigidBody::upcast(&body);
  if (rigid == nullptr || body.isKinematicObject() || !(rigid->getInvMass() > 0))
    return std::numeric_limits<double>::infinity();
  const btVector3 turn =
      rigid->getWorldTransform().getBasis().transpose() * rigid->getAngularVelocity();
  const btVector3& inverse = rigid->getInvInertiaDiagLocal();
  double twice = static_cast<double>(rigid->getLinearVelocity().length2() / rigid->getInvMass());
  for (int i = 0; i < 3; ++i)
    if (inverse[i] > 0) twice += static_cast<double>(turn[i] * turn[i] / inverse[i]);
  return twice / 2;
}

// Returns 1/kg: the change of the relative speed of the bodies per unit impulse along the normal at
// a contact.
double mobility_at(const btManifoldPoint& point, const btCollisionObject& body_0,
                   const btCollisionObject& body_1) {
  const auto of = [&](const btCollisionObject& body, const btVector3& place) {
    const btRigidBody* rigid = btRigidBody::upcast(&body);
    if (rigid == nullptr || !(rigid->getInvMass() > 0)) return 0.0;
    return static_cast<double>(rigid->computeImpulseDenominator(place, point.m_normalWorldOnB));
  };
  return of(body_0, point.m_positionWorldOnA) + of(body_1, point.m_positionWorldOnB);
}

// Rigid contacts of many patches would share a load by chance. With a little softness they share it
// by their areas. It lets no body sink: a contact yields by the softness times its load over the
// solver's erp, which is some 1e-6 of the fall in a step.
void soften(btManifoldPoint& point, double mean_area_over_area, const WriteSettings& settings,
            const btCollisionObject& body_0, const btCollisionObject& body_1) {
  constexpr double kSoftness = 0.1;  // Of the mobility: larger ones converge sooner.
  constexpr int kOwn = BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING | BT_CONTACT_FLAG_HAS_CONTACT_CFM;
  const double mobility = mobility_at(point, body_0, body_1);
  if (!(mobility > 0) || (point.m_contactPointFlags & kOwn) != 0) return;
  // Bullet divides it by the step.
  point.m_contactCFM =
      static_cast<btScalar>(kSoftness * mobility * mean_area_over_area * settings.time_step);
  point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_CFM;
}

}  // namespace

void Manifolds::write(std::uint32_t id, std::span<const Candidate> chosen,
                      const btCollisionObjectWrapper& wrap_0,
                      const btCollisionObjectWrapper& wrap_1, const WriteSettings& settings) {
  const btCollisionObject& body_0 = *wrap_0.getCollisionObject();
  const btCollisionObject& body_1 = *wrap_1.getCollisionObject();
  Slot& slot = find_or_make(id, &body_0, &body_1);
  btPersistentManifold& manifold = *slot.manifold;
  slot.written = true;
  int place_of[kMostChosen];
  match(slot, chosen, settings, body_0, place_of);

  // Removes old points without continuation; the last one replaces each.
  bool kept[kMostChosen]{};
  for (std::size_t c = 0; c < chosen.size(); ++c)
    if (place_of[c] >= 0) kept[place_of[c]] = true;
  // Impacts whose points are no longer among the chosen ones.
  ContactScratch left = std::exchange(slot.left, {});
  for (int i = static_cast<int>(slot.count) - 1; i >= 0; --i) {
    if (kept[i]) continue;
    if (slot.memory[i].energy > left.energy) left = slot.memory[i];
    const int last = static_cast<int>(slot.count) - 1;
    manifold.removeContactPoint(i);
    slot.memory[i] = slot.memory[last];
    for (int& place : std::span(place_of).first(chosen.size()))
      if (place == last) place = i;
    --slot.count;
  }
  const bool was_empty = slot.count == 0;
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const btManifoldPoint point = make_point(chosen[c], wrap_0, wrap_1);
    int at = place_of[c];
    if (at >= 0) {
      manifold.replaceContactPoint(point, at);
      manifold.getContactPoint(at).m_lifeTime += 1;
      if (gContactProcessedCallback != nullptr)
        gContactProcessedCallback(manifold.getContactPoint(at),
                                  const_cast<btCollisionObject*>(&body_0),
                                  const_cast<btCollisionObject*>(&body_1));
    } else {
      // Predictive: contacts of fast bodies are further apart than the breaking threshold.
      at = manifold.addManifoldPoint(point, true);
      // Only to one point: each that got it would return it.
      slot.memory[at] = std::exchange(left, {});
      ++slot.count;
    }
    slot.memory[at].key = chosen[c].key;
    btManifoldPoint& written = manifold.getContactPoint(at);
    call_contact_added(written, wrap_0, wrap_1);
    if (chosen[c].area > 0 && written.m_combinedRestitution == 0)
      soften(written, settings.mean_area / chosen[c].area, settings, body_0, body_1);
    bounce(written, slot.memory[at], settings, body_0, body_1);
    limit_recovery(written, settings);
  }
  for (std::size_t i = 0; i < slot.count; ++i) slot.keys[i] = slot.memory[i].key;
  if (was_empty && slot.count > 0 && gContactStartedCallback != nullptr)
    gContactStartedCallback(&manifold);
}

// Bullet's solver lets bodies close a gap d in this step: v >= restitution u - d / dt, with u the
// speed of approach. A contact that is seen before it touches therefore loses d / dt of its bounce,
// and all of it if that is more. An impact therefore takes two steps here. In the first, the gap is
// given without restitution: the body comes to touch with the speed d / dt, and the impact's energy
// is stored. In the next, the contact has no gap and the restitution w / (d / dt) with which the
// solver makes v >= w, the speed of the rebound. If d / dt would be below the solver's threshold
// for bounces, the body bounces at once, across the small gap. So does a body that is found in
// overlap, with no gap before. Only what is slower in the second step than that threshold gets its
// speed as the correction of a small overlap.
//
// The speed. Bullet steps v first, then x by the new v. Under gravity g along the normal such a
// flight keeps E = v^2/2 + g x - g dt v/2 (instead of v^2/2 + g x: insert both steps to verify).
// Restitution e gives e^2 of E at x = 0. The rebound is at x = d before the step and at d + w dt
// after: w^2/2 + g d + g dt w/2 = e^2 E, so that heights are correct for any step (SSL14, Figure
// 6).
void Manifolds::bounce(btManifoldPoint& point, ContactScratch& memory,
                       const WriteSettings& settings, const btCollisionObject& body_0,
                       const btCollisionObject& body_1) {
  const double e = static_cast<double>(point.m_combinedRestitution), dt = settings.time_step;
  constexpr int kOwnStiffness = BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING |
                                BT_CONTACT_FLAG_HAS_CONTACT_CFM | BT_CONTACT_FLAG_HAS_CONTACT_ERP;
  if (!(e > 0) || !(dt > 0) || (point.m_contactPointFlags & kOwnStiffness) != 0) {
    memory.energy = 0;
    return;
  }
  const Vec3 normal = from_bullet(point.m_normalWorldOnB);
  const double speed = -dot(normal, velocity_at(body_0, from_bullet(point.m_positionWorldOnA)) -
                                        velocity_at(body_1, from_bullet(point.m_positionWorldOnB)));
  const double g = std::max(-dot(normal, gravity_of(body_0) - gravity_of(body_1)), 0.0);
  const double d = static_cast<double>(point.m_distance1);
  point.m_combinedRestitution = 0;

  const double energy_now = speed * speed / 2 + g * d + g * dt * speed / 2;
  const double kinetic_now = kinetic_energy_of(body_0) + kinetic_energy_of(body_1);
  const bool is_impact = speed > settings.bounce_speed;
  if (memory.energy == 0) {
    if (!is_impact || d > (speed + g * dt) * dt) return;
    if (d > kSurelyFast * settings.bounce_speed * dt) {
      memory.energy = energy_now;
      memory.kinetic = kinetic_now;
      return;
    }
    memory.energy = energy_now;
    memory.kinetic = kinetic_now;
  }
  // Other contacts may have stopped it: then its energy is the current one.
  const bool touches = d <= 0.25 * std::sqrt(2 * memory.energy) * dt;
  const double energy = touches ? memory.energy : 0;
  memory.energy = 0;
  const double a = g * dt / 2, under_root = a * a + 2 * (e * e * energy - g * d);
  if (!touches || !(under_root > a * a)) return;
  double w = std::sqrt(under_root) - a;
  // Bodies that hit with several points, one after the other, must not gain energy. The bounce and
  // the current energy together must not exceed the energy before it. (A point that gets the speed
  // w changes the energy by (w^2 - speed^2) / 2 mobility.)
  const double mobility = mobility_at(point, body_0, body_1);
  const double room = memory.kinetic - kinetic_now;
  if (std::isfinite(room) && mobility > 0) {
    const double most_sq = 2 * room * mobility + speed * speed;
    if (!(most_sq > 0)) return;
    w = std::min(w, std::sqrt(most_sq));
  }
  // Multibodies have got their gravity before the solver asks for their speed.
  const auto fall_of_link = [&](const btCollisionObject& body) {
    return btMultiBodyLinkCollider::upcast(&body) != nullptr ? gravity_of(body) : Vec3{};
  };
  const double speed_in_solver =
      speed - dot(normal, fall_of_link(body_0) - fall_of_link(body_1)) * dt;
  if (speed_in_solver > 1.1 * settings.bounce_speed) {
    point.m_distance1 = 0;
    point.m_combinedRestitution = static_cast<btScalar>(w / speed_in_solver);
    return;
  }
  // Deeper than btContactSolverInfo::m_splitImpulsePenetrationThreshold (0.04), the solver would
  // move the body instead of giving it speed.
  const double overlap = std::clamp(-d, 1e-4, kMostBounceDepth);
  point.m_distance1 = static_cast<btScalar>(-overlap);
  point.m_contactERP = static_cast<btScalar>(w * dt / overlap);
  point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_ERP;
}

void Manifolds::list(btManifoldArray& manifolds) const {
  if (shared_ != nullptr) return;
  for (const Slot& slot : slots_) manifolds.push_back(slot.manifold);
}

double Manifolds::deepest() const {
  double most = 0;
  for (const Slot& slot : slots_)
    for (int i = 0; i < slot.manifold->getNumContacts(); ++i)
      most = std::max(most, -static_cast<double>(slot.manifold->getContactPoint(i).getDistance()));
  return most;
}

void Manifolds::follow_bodies(const btCollisionObject& body_0, const btCollisionObject& body_1) {
  for (const Slot& slot : slots_)
    for (int i = 0; i < slot.manifold->getNumContacts(); ++i) {
      btManifoldPoint& point = slot.manifold->getContactPoint(i);
      point.m_positionWorldOnA = body_0.getWorldTransform()(point.m_localPointA);
      point.m_positionWorldOnB = body_1.getWorldTransform()(point.m_localPointB);
      point.m_distance1 =
          (point.m_positionWorldOnA - point.m_positionWorldOnB).dot(point.m_normalWorldOnB);
      point.m_lifeTime += 1;
    }
}

bool Manifolds::has_contacts() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.count > 0; });
}

}  // namespace isotact::bullet_detail
