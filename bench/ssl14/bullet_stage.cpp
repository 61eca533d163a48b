#include "bullet_stage.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <BulletCollision/CollisionDispatch/btEmptyCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>

#include "isotact/adapters/bullet/convert.h"

namespace isotact::bench {
namespace {

constexpr int kOurType = FAST_CONCAVE_MESH_PROXYTYPE;

std::unique_ptr<btCollisionShape> make_ground(Ground ground) {
  if (ground == Ground::kPlane)
    return std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
  return std::make_unique<btBoxShape>(btVector3(2, btScalar(0.25), 2));
}

// Reading the processor's time takes part of a microsecond: only what is long is measured by it.
constexpr double kLong = 100;  // microseconds
double processor_microseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void TimedDispatcher::dispatchAllCollisionPairs(btOverlappingPairCache* cache,
                                                const btDispatcherInfo& info,
                                                btDispatcher* dispatcher) {
  const double processor_start = processor_microseconds();
  const auto start = std::chrono::steady_clock::now();
  btCollisionDispatcher::dispatchAllCollisionPairs(cache, info, dispatcher);
  const auto end = std::chrono::steady_clock::now();
  microseconds = std::chrono::duration<double, std::micro>(end - start).count();
  if (microseconds > kLong) microseconds = processor_microseconds() - processor_start;
}

Stage::Stage(const StageSettings& settings) : settings_(settings) {
  world_.setGravity({0, static_cast<btScalar>(-kGravity), 0});
  btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher_);
  if (settings.has_plugin) {
    plugin_ = std::make_unique<BulletPlugin>(dispatcher_);
  } else {
    nothing_ = std::make_unique<btEmptyAlgorithm::CreateFunc>();
    for (int other = 0; other < MAX_BROADPHASE_COLLISION_TYPES; ++other) {
      dispatcher_.registerCollisionCreateFunc(kOurType, other, nothing_.get());
      dispatcher_.registerCollisionCreateFunc(other, kOurType, nothing_.get());
    }
  }
  if (settings.ground == Ground::kNone) return;
  ground_shape_ = make_ground(settings.ground);
  add({.name = "ground", .shape = {std::shared_ptr<void>(), ground_shape_.get()}},
      {.mass = 0, .pose = {{}, {0, settings.ground == Ground::kBox ? -0.25 : 0, 0}}});
}

Stage::~Stage() {
  for (auto& body : bodies_) world_.removeRigidBody(body.get());
}

btRigidBody& Stage::add(const OwnedShape& shape, const BodySettings& body) {
  const auto mass = static_cast<btScalar>(body.mass);
  btVector3 inertia = body.inertia;
  if (body.mass > 0 && inertia.fuzzyZero()) shape.shape->calculateLocalInertia(mass, inertia);
  btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape.shape.get(), inertia);
  info.m_startWorldTransform = to_bullet(body.pose);
  info.m_friction = static_cast<btScalar>(settings_.friction);
  info.m_restitution = static_cast<btScalar>(settings_.restitution);
  bodies_.push_back(std::make_unique<btRigidBody>(info));
  bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
  world_.addRigidBody(bodies_.back().get());
  return *bodies_.back();
}

void Stage::step() { world_.stepSimulation(static_cast<btScalar>(settings_.step), 0); }

void Stage::detect(btRigidBody& body, const Pose& pose) {
  body.setWorldTransform(to_bullet(pose));
  body.setInterpolationWorldTransform(to_bullet(pose));
  world_.performDiscreteCollisionDetection();
}

int Stage::contact_count() {
  int count = 0;
  for (int i = 0; i < dispatcher_.getNumManifolds(); ++i)
    count += dispatcher_.getManifoldByIndexInternal(i)->getNumContacts();
  return count;
}

int Stage::manifold_count() {
  int count = 0;
  for (int i = 0; i < dispatcher_.getNumManifolds(); ++i)
    count += dispatcher_.getManifoldByIndexInternal(i)->getNumContacts() > 0 ? 1 : 0;
  return count;
}

double Stage::deepest() {
  double most = 0;
  for (int i = 0; i < dispatcher_.getNumManifolds(); ++i) {
    const btPersistentManifold& manifold = *dispatcher_.getManifoldByIndexInternal(i);
    for (int c = 0; c < manifold.getNumContacts(); ++c)
      most = std::max(most, -static_cast<double>(manifold.getContactPoint(c).getDistance()));
  }
  return most;
}

Pose pose_of(const btRigidBody& body) { return from_bullet(body.getWorldTransform()); }

double kinetic_energy(const btRigidBody& body) {
  const btVector3 v = body.getLinearVelocity();
  const btVector3 w = body.getWorldTransform().getBasis().transpose() * body.getAngularVelocity();
  const btVector3 i = body.getLocalInertia();
  return 0.5 * static_cast<double>(v.length2() * body.getMass() + w.dot(w * i));
}

}  // namespace isotact::bench
