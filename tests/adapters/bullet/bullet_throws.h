// Bodies thrown at walls in worlds of Bullet's: rigid bodies and multibodies, with the guard and
// without. The benchmark throws them as well.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/bullet.h"
#include "isotact/base/random.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact::bullet_throws {

inline constexpr double kSize = 0.2;      // Metres: the longest side of thrown bodies.
inline constexpr double kHalfWall = 0.5;  // Metres.
inline constexpr std::array<double, 5> kThickness = {0.005, 0.01, 0.02, 0.05, 0.1};

struct Thrown {
  std::string name{};
  std::unique_ptr<IsotactShape> cooked{};
  BodyInfo info{};  // of 1 kg
};

inline Thrown make_thrown(const std::string& name, TriangleMesh mesh) {
  const Vec3f side = extent(bounds(mesh));
  const auto scale =
      static_cast<float>(kSize / static_cast<double>(std::max({side.x, side.y, side.z})));
  for (Vec3f& p : mesh.positions) p = p * scale;
  Thrown thrown{.name = name, .cooked = cook_bullet_shape(mesh)};
  thrown.info = make_body_info(*thrown.cooked, {.mass = 1});
  return thrown;
}

// With the settings that a user gets without asking for any.
inline const std::vector<Thrown>& all_thrown() {
  static const std::vector<Thrown> all = [] {
    std::vector<Thrown> list;
    for (const char* name : {"torus", "gear", "bowl", "knot", "nut", "pipe"})
      list.push_back(make_thrown(name, make_shape(name)));
    list.push_back(make_thrown("plate", make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.01})));
    return list;
  }();
  return all;
}

enum class WallKind { kOurs, kBox, kTriangles, kHeights };
inline constexpr std::array<const char*, 4> kWallNames = {"ours", "btBox", "btBvhTriangleMesh",
                                                          "heightfield"};

// Its front is the plane z = 0, or near it for a height field; it is solid behind.
struct Wall {
  WallKind kind = WallKind::kOurs;
  double thickness = 0;
  std::unique_ptr<btCollisionShape> shape{};
  double place = 0;  // Metres along z.
  std::unique_ptr<btTriangleMesh> triangles{};
  std::vector<float> heights{};
};

inline Wall make_wall(WallKind kind, double thickness) {
  Wall wall{.kind = kind, .thickness = thickness, .place = -thickness / 2};
  const double size = 2 * kHalfWall;
  const auto half = static_cast<btScalar>(kHalfWall);
  if (kind == WallKind::kOurs) {
    wall.shape = cook_bullet_shape(make_box({.size_x = size, .size_y = size, .size_z = thickness}));
  } else if (kind == WallKind::kBox) {
    wall.shape =
        std::make_unique<btBoxShape>(btVector3(half, half, static_cast<btScalar>(thickness / 2)));
  } else if (kind == WallKind::kTriangles) {
    wall.triangles = std::make_unique<btTriangleMesh>();
    const TriangleMesh box =
        make_box({.size_x = size, .size_y = size, .size_z = thickness, .segments = 6});
    for (const auto& t : box.triangles) {
      const auto corner = [&](std::size_t i) { return to_bullet(to_double(box.positions[t[i]])); };
      wall.triangles->addTriangle(corner(0), corner(1), corner(2));
    }
    wall.shape = std::make_unique<btBvhTriangleMeshShape>(wall.triangles.get(), true);
  } else {
    constexpr int kSide = 33;
    Random random(17);
    for (int i = 0; i < kSide * kSide; ++i)
      wall.heights.push_back(static_cast<float>(random.uniform(-0.01, 0)));
    auto field = std::make_unique<btHeightfieldTerrainShape>(kSide, kSide, wall.heights.data(),
                                                             btScalar(1), btScalar(-0.02),
                                                             btScalar(0.02), 2, PHY_FLOAT, false);
    field->setLocalScaling({2 * half / (kSide - 1), 2 * half / (kSide - 1), 1});
    wall.shape = std::move(field);
    wall.place = 0;
    wall.thickness = 0.1;
  }
  return wall;
}

inline const Wall& wall_of(WallKind kind, std::size_t thickness) {
  static std::map<std::pair<WallKind, std::size_t>, Wall> all;
  if (kind == WallKind::kHeights) thickness = 0;
  const auto at = all.find({kind, thickness});
  if (at != all.end()) return at->second;
  return all.emplace(std::pair{kind, thickness}, make_wall(kind, kThickness[thickness]))
      .first->second;
}

struct Throw {
  const Thrown* thrown = nullptr;
  WallKind wall = WallKind::kOurs;
  std::size_t thickness = 0;  // Index.
  bool is_multibody = false;
  double rate = 60;  // Hz
  double speed = 0;  // m/s
  double mass = 1, restitution = 0, friction = 0.5;
  Pose pose{};
  Vec3 velocity{}, turn{};
};

inline Throw make_throw(Random& random) {
  Throw t;
  t.thrown = &all_thrown()[random.below(static_cast<std::uint32_t>(all_thrown().size()))];
  t.wall = static_cast<WallKind>(random.below(4));
  t.thickness = random.below(static_cast<std::uint32_t>(kThickness.size()));
  t.is_multibody = random.below(4) == 0;
  t.rate = random.below(2) == 0 ? 60 : 240;
  t.speed = random.uniform(5, 60);
  t.mass = 0.1 * std::pow(20, random.uniform());
  t.restitution = random.below(2) == 0 ? 0 : random.uniform(0, 0.9);
  t.friction = random.uniform(0, 1);
  const Vec3 start{random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), random.uniform(0.35, 0.8)};
  const Vec3 aim{random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), 0};
  t.pose = {random.rotation(), start};
  t.velocity = normalized(aim - start) * t.speed;
  t.turn = random.unit_vector() * random.uniform(0, 30);
  return t;
}

// Worlds of both kinds, as a user makes them.
template <typename RigidWorld, typename MultiWorld>
struct ThrowWorld {
  explicit ThrowWorld(const Throw& t, bool sweeps_links) {
    if (sweeps_links)
      broadphase = std::make_unique<SweptBroadphase>(1 / t.rate);
    else
      broadphase = std::make_unique<btDbvtBroadphase>();
    const bool is_multibody = t.is_multibody;
    if (is_multibody)
      world = std::make_unique<MultiWorld>(&dispatcher, broadphase.get(), &multi_solver,
                                           &configuration);
    else
      world = std::make_unique<RigidWorld>(&dispatcher, broadphase.get(), &solver, &configuration);
    world->setGravity({0, -10, 0});
  }
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  BulletPlugin plugin = install(dispatcher);
  std::unique_ptr<btBroadphaseInterface> broadphase;
  btSequentialImpulseConstraintSolver solver;
  btMultiBodyConstraintSolver multi_solver;
  std::unique_ptr<btDiscreteDynamicsWorld> world;
};

struct Outcome {
  bool met = false, behind = false;
  int steps = 0;
  std::uint64_t tests = 0, held = 0;  // of the guard
  double most_turn = 0;               // rad/s
};

// A free base and two links behind each other, joined by balls.
struct Chain {
  std::unique_ptr<btMultiBody> body{};
  std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders{};
};
inline Chain make_chain(const Throw& t, btMultiBodyDynamicsWorld& world) {
  constexpr int kLinks = 2;
  const BodyInfo& info = t.thrown->info;
  const btVector3 inertia = info.inertia * static_cast<btScalar>(t.mass);
  const auto mass = static_cast<btScalar>(t.mass);
  Chain chain;
  chain.body = std::make_unique<btMultiBody>(kLinks, mass, inertia, false, false);
  btMultiBody& body = *chain.body;
  const btVector3 half(0, 0, static_cast<btScalar>(0.6 * kSize));
  body.setBaseWorldTransform(to_bullet(Pose{{}, t.pose.translation}));
  for (int i = 0; i < kLinks; ++i)
    body.setupSpherical(i, mass, inertia, i - 1, btQuaternion::getIdentity(), half, half, true);
  body.finalizeMultiDof();
  body.setBaseVel(to_bullet(t.velocity));
  body.setBaseOmega(to_bullet(t.turn * 0.2));
  body.setLinearDamping(0);
  body.setAngularDamping(0);
  body.setCanSleep(false);
  world.addMultiBody(&body);
  for (int i = -1; i < kLinks; ++i) {
    auto collider = std::make_unique<btMultiBodyLinkCollider>(&body, i);
    collider->setCollisionShape(info.shape.get());
    collider->setRestitution(static_cast<btScalar>(t.restitution));
    collider->setFriction(static_cast<btScalar>(t.friction));
    world.addCollisionObject(collider.get(), 1, -1);
    if (i < 0)
      body.setBaseCollider(collider.get());
    else
      body.getLink(i).m_collider = collider.get();
    chain.colliders.push_back(std::move(collider));
  }
  btAlignedObjectArray<btQuaternion> turns;
  btAlignedObjectArray<btVector3> places;
  body.forwardKinematics(turns, places);
  body.updateCollisionObjectWorldTransforms(turns, places);
  return chain;
}

inline Vec3 place_of(const btCollisionObject& body) {
  return from_bullet(body.getWorldTransform().getOrigin());
}

// Returns whether the centre came from before the wall's middle to behind it, through the wall.
inline bool passes(const Vec3& before, const Vec3& after, double middle) {
  if (!(before.z > middle) || !(after.z <= middle)) return false;
  const Vec3 at = before + (after - before) * ((before.z - middle) / (before.z - after.z));
  return std::abs(at.x) < 0.95 * kHalfWall && std::abs(at.y) < 0.95 * kHalfWall;
}

template <typename World>
void add_guard_report(const World* world, Outcome& outcome) {
  if constexpr (requires { world->guard_report(); }) {
    if (world == nullptr) return;
    outcome.tests += world->guard_report().tests;
    outcome.held += world->guard_report().held;
  }
}

template <typename RigidWorld, typename MultiWorld>
Outcome play(const Throw& t, bool sweeps_links = false) {
  const Wall& wall = wall_of(t.wall, t.thickness);
  ThrowWorld<RigidWorld, MultiWorld> stage(t, sweeps_links);
  btRigidBody::btRigidBodyConstructionInfo fixed(0, nullptr, wall.shape.get());
  fixed.m_startWorldTransform = to_bullet(Pose{{}, {0, 0, wall.place}});
  fixed.m_restitution = 1;
  btRigidBody wall_body(fixed);
  stage.world->addRigidBody(&wall_body);
  const double middle = wall.kind == WallKind::kHeights ? -0.06 : -wall.thickness / 2;
  std::vector<const btCollisionObject*> followed;
  std::unique_ptr<btRigidBody> body;
  Chain chain;
  if (t.is_multibody) {
    chain = make_chain(t, static_cast<btMultiBodyDynamicsWorld&>(*stage.world));
    for (const auto& c : chain.colliders) followed.push_back(c.get());
  } else {
    btRigidBody::btRigidBodyConstructionInfo info(
        static_cast<btScalar>(t.mass), nullptr, t.thrown->info.shape.get(),
        t.thrown->info.inertia * static_cast<btScalar>(t.mass));
    info.m_startWorldTransform = to_bullet(t.pose);
    info.m_restitution = static_cast<btScalar>(t.restitution);
    info.m_friction = static_cast<btScalar>(t.friction);
    body = std::make_unique<btRigidBody>(info);
    body->setLinearVelocity(to_bullet(t.velocity));
    body->setAngularVelocity(to_bullet(t.turn));
    body->setActivationState(DISABLE_DEACTIVATION);
    stage.world->addRigidBody(body.get());
    followed.push_back(body.get());
  }
  Outcome outcome;
  std::vector<Vec3> before;
  for (const btCollisionObject* b : followed) before.push_back(place_of(*b));
  const int steps = static_cast<int>(0.4 * t.rate);
  for (int i = 0; i < steps; ++i) {
    stage.world->stepSimulation(static_cast<btScalar>(1 / t.rate), 0);
    ++outcome.steps;
    add_guard_report(t.is_multibody ? dynamic_cast<const MultiWorld*>(stage.world.get()) : nullptr,
                     outcome);
    add_guard_report(t.is_multibody ? nullptr : dynamic_cast<const RigidWorld*>(stage.world.get()),
                     outcome);
    for (int m = 0; m < stage.dispatcher.getNumManifolds(); ++m)
      outcome.met |= stage.dispatcher.getManifoldByIndexInternal(m)->getNumContacts() > 0;
    for (std::size_t k = 0; k < followed.size(); ++k) {
      const Vec3 now = place_of(*followed[k]);
      outcome.behind |= passes(before[k], now, middle) || !is_finite(now);
      before[k] = now;
    }
    if (body)
      outcome.most_turn =
          std::max(outcome.most_turn, static_cast<double>(body->getAngularVelocity().length()));
  }
  if (body) stage.world->removeRigidBody(body.get());
  if (chain.body) {
    auto& multi = static_cast<btMultiBodyDynamicsWorld&>(*stage.world);
    multi.removeMultiBody(chain.body.get());
    for (const auto& c : chain.colliders) multi.removeCollisionObject(c.get());
  }
  stage.world->removeRigidBody(&wall_body);
  return outcome;
}

}  // namespace isotact::bullet_throws
