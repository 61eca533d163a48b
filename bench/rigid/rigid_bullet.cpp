#include <algorithm>
#include <memory>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/convert.h"

#include "rigid_report.h"

namespace isotact::bench {
namespace {

using namespace throw_cases;

std::unique_ptr<btCollisionShape> make_shape(const Throw& t) {
  const std::string& name = t.thrown->name;
  const Aabbf box = bounds(t.thrown->mesh);
  if (name == "sphere")
    return std::make_unique<btSphereShape>(btScalar(0.5) * btScalar(box.upper.x - box.lower.x));
  if (name == "cube" || name == "rod" || name == "plate")
    return std::make_unique<btBoxShape>(to_bullet(to_double(extent(box)) * 0.5));
  auto hull = std::make_unique<btConvexHullShape>();
  // About the centre of mass, as Bullet's bodies are.
  for (const Vec3f& p : t.thrown->mesh.positions)
    hull->addPoint(to_bullet(to_double(p) - t.thrown->part.mass.center), false);
  hull->recalcLocalAabb();
  hull->optimizeConvexHull();
  return hull;
}

double energy_of(const btRigidBody& b, const Vec3& gravity) {
  if (b.getInvMass() == 0) return 0;
  const btVector3 v = b.getLinearVelocity(), w = b.getAngularVelocity();
  const btVector3 inertia = b.getLocalInertia();
  const btVector3 local = b.getWorldTransform().getBasis().transpose() * w;
  const double mass = 1 / static_cast<double>(b.getInvMass());
  const btVector3 at = b.getWorldTransform().getOrigin();
  return 0.5 * (mass * static_cast<double>(v.length2()) +
                static_cast<double>((inertia * local).dot(local))) -
         mass * dot(gravity, from_bullet(at));
}

}  // namespace

BulletOutcome throw_in_bullet(const Throw& t) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad, &solver, &configuration);
  const Vec3 gravity{0, -9.81, 0};
  world.setGravity(to_bullet(gravity));
  btBoxShape wall_shape(to_bullet(Vec3{t.reach, t.thickness / 2, t.reach}));
  const std::unique_ptr<btCollisionShape> shape = make_shape(t);
  const auto add = [&](const BodySettings& s, btCollisionShape& of, bool moves) {
    btVector3 inertia(0, 0, 0);
    const double mass = moves ? s.mass.mass : 0;
    if (moves) of.calculateLocalInertia(static_cast<btScalar>(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, &of,
                                                  inertia);
    info.m_startWorldTransform.setRotation(to_bullet(s.pose.rotation));
    info.m_startWorldTransform.setOrigin(to_bullet(
        transform_point(s.pose, &of == &wall_shape ? Vec3{} : t.thrown->part.mass.center)));
    info.m_friction = static_cast<btScalar>(t.friction);
    info.m_restitution = static_cast<btScalar>(t.restitution);
    auto body = std::make_unique<btRigidBody>(info);
    body->setLinearVelocity(to_bullet(s.velocity));
    body->setAngularVelocity(to_bullet(s.angular_velocity));
    body->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(body.get());
    return body;
  };
  const auto wall = add(t.wall, wall_shape, t.wall_moves);
  const auto body = add(t.body, *shape, true);
  // Bullet's own way to hold fast bodies: a ball within the shape, swept.
  const Vec3 e = to_double(extent(bounds(t.thrown->mesh)));
  const double inner = 0.4 * std::min({e.x, e.y, e.z});
  body->setCcdMotionThreshold(static_cast<btScalar>(inner));
  body->setCcdSweptSphereRadius(static_cast<btScalar>(inner));
  // At the time of the positions: as for our bodies (throw_cases.h).
  const Vec3 half = gravity * (0.5 * t.step);
  const auto energy_at_place = [&](const btRigidBody& b) {
    if (b.getInvMass() == 0) return 0.0;
    const double mass = 1 / static_cast<double>(b.getInvMass());
    return energy_of(b, gravity) +
           mass * (dot(from_bullet(b.getLinearVelocity()), half) + 0.5 * length_sq(half));
  };
  const auto energy = [&] { return energy_at_place(*body) + energy_at_place(*wall); };
  const double start = energy();
  BulletOutcome outcome;
  const double start_kinetic =
      start + t.body.mass.mass * dot(gravity, from_bullet(body->getWorldTransform().getOrigin()));
  int hit = -1;
  Watch watch(t, from_bullet(body->getWorldTransform().getOrigin()));
  for (int i = 0; i < 400; ++i) {
    world.stepSimulation(static_cast<btScalar>(t.step), 0);
    bool touches = false;
    for (int k = 0; k < dispatcher.getNumManifolds(); ++k)
      touches = touches || dispatcher.getManifoldByIndexInternal(k)->getNumContacts() > 0;
    if (hit < 0 && touches) hit = i;
    outcome.gain = std::max(outcome.gain, (energy() - start) / std::max(start_kinetic, 1e-12));
    const Vec3 center = from_bullet(body->getWorldTransform().getOrigin());
    outcome.behind = outcome.behind || watch.passes(from_bullet(wall->getWorldTransform()), center);
    if (outcome.behind) break;
    if (hit >= 0 && (i > hit + 20 || center.y > t.body.pose.translation.y)) break;
  }
  for (const auto* b : {body.get(), wall.get()}) world.removeRigidBody(const_cast<btRigidBody*>(b));
  return outcome;
}

}  // namespace isotact::bench
