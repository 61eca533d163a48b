#include "isotact/adapters/bullet/scene_engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/install.h"
#include "isotact/adapters/bullet/shape.h"
#include "isotact/base/error.h"
#if defined(ISOTACT_HAS_GPU)
#include "isotact/adapters/bullet/gpu_batch.h"
#endif

namespace isotact {
namespace {

constexpr int kSolverIterations = 30;

std::unique_ptr<btCollisionShape> make_primitive(const PlaneField& f) {
  return std::make_unique<btStaticPlaneShape>(to_bullet(f.normal), static_cast<btScalar>(f.offset));
}
std::unique_ptr<btCollisionShape> make_primitive(const SphereField& f) {
  return std::make_unique<btSphereShape>(static_cast<btScalar>(f.radius));
}
std::unique_ptr<btCollisionShape> make_primitive(const BoxField& f) {
  return std::make_unique<btBoxShape>(to_bullet(f.half_size));
}
std::unique_ptr<btCollisionShape> make_primitive(const CapsuleField& f) {
  return std::make_unique<btCapsuleShape>(static_cast<btScalar>(f.radius),
                                          static_cast<btScalar>(length(f.b - f.a)));
}
std::unique_ptr<btCollisionShape> make_primitive(const CylinderField& f) {
  const auto radius = static_cast<btScalar>(f.radius);
  return std::make_unique<btCylinderShape>(
      btVector3(radius, static_cast<btScalar>(f.height / 2), radius));
}
// Bullet has no primitives for these, or adds a margin to them.
std::unique_ptr<btCollisionShape> make_primitive(const TorusField& f) {
  return cook_bullet_shape(Shape::from_analytic(f));
}
std::unique_ptr<btCollisionShape> make_primitive(const ConeField& f) {
  return cook_bullet_shape(Shape::from_analytic(f));
}
std::unique_ptr<btCollisionShape> make_primitive(const AnalyticSolid& solid) {
  return cook_bullet_shape(Shape::from_analytic(solid));
}
std::unique_ptr<btCollisionShape> make_primitive(const TerrainField&) {
  throw Error(
      "a field \"terrain\" needs the engine \"isotact\"; for Bullet, use a shape \"mesh\" of it");
}

// A body of the scene, and the pose of Bullet's frame in that of its mesh.
struct EngineBody {
  std::unique_ptr<btCollisionShape> shape;
  std::unique_ptr<btDefaultMotionState> motion;
  std::unique_ptr<btRigidBody> body;
  Pose mesh_from_body{};
};

// The source of contacts: Bullet's dispatcher with the plug-in, or one that works in batches.
class Finder {
 public:
  Finder(const Scene& scene, const World& world, BatchSettings batch) {
    if (scene.narrow_phase == NarrowPhase::kPoints) {
      dispatcher_ = std::make_unique<btCollisionDispatcher>(&configuration_);
      plugin_.emplace(*dispatcher_);
      return;
    }
    batch.query.threads = world.settings().threads;
    if (scene.narrow_phase == NarrowPhase::kGpu && !batch.backend) batch.backend = start_gpu();
    dispatcher_ = std::make_unique<BatchDispatcher>(&configuration_, std::move(batch));
  }
  btDefaultCollisionConfiguration& configuration() { return configuration_; }
  btCollisionDispatcher& dispatcher() { return *dispatcher_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  BatchQuery start_gpu() {
    std::string why = "this program is built without it";
#if defined(ISOTACT_HAS_GPU)
    gpu_ = GpuContext::try_create(&why);
    if (gpu_) return GpuBatchQuery(*gpu_);
#endif
    warnings_.push_back(
        fmt::format("no GPU, so that contacts are found on the CPU (narrow phase idf): {}", why));
    return {};
  }

  std::vector<std::string> warnings_;
#if defined(ISOTACT_HAS_GPU)
  std::optional<GpuContext> gpu_;  // Before its users.
#endif
  btDefaultCollisionConfiguration configuration_;
  std::unique_ptr<btCollisionDispatcher> dispatcher_;
  std::optional<BulletPlugin> plugin_;
};

class BulletEngine final : public SceneEngine {
 public:
  BulletEngine(const Scene& scene, const World& world, BatchSettings batch)
      : step_(scene.world.step), finder_(scene, world, std::move(batch)) {
    dynamics_.setGravity(to_bullet(scene.world.gravity));
    dynamics_.getSolverInfo().m_numIterations = kSolverIterations;
    for (BodyId id = 0; id < world.body_count(); ++id) add_body(scene, world, id);
    for (const JointSettings& joint : world.joints()) add_joint(joint);
  }
  ~BulletEngine() override {
    for (const auto& joint : joints_) dynamics_.removeConstraint(joint.get());
    for (const EngineBody& b : bodies_) dynamics_.removeRigidBody(b.body.get());
  }

  std::vector<std::string> warnings() const override { return finder_.warnings(); }

  void move_to(BodyId id, const Pose& world_from_body) override {
    bodies_[id].motion->m_graphicsWorldTrans = to_bullet(world_from_body);
  }
  void add_load(BodyId id, const Load& load) override {
    btRigidBody& body = *bodies_[id].body;
    body.activate();
    body.applyCentralForce(to_bullet(load.force));
    body.applyTorque(to_bullet(load.torque));
  }
  void set_motor(std::size_t joint, const Motor& motor) override {
    btGeneric6DofSpring2Constraint& c = *joints_[joint];
    const int axis = motor_axis_[joint];
    c.enableMotor(axis, true);
    // Bullet's velocity is that of A relative to B.
    c.setTargetVelocity(axis, static_cast<btScalar>(-motor.velocity));
    c.setMaxMotorForce(axis, static_cast<btScalar>(motor.max_force));
    c.getRigidBodyA().activate();
    c.getRigidBodyB().activate();
  }

  void step(World& world, StepReport& report, std::vector<PairContact>& contacts) override {
    const auto start = std::chrono::steady_clock::now();
    dynamics_.stepSimulation(static_cast<btScalar>(step_), 0);
    report.asleep = 0;
    for (BodyId id = 0; id < bodies_.size(); ++id) {
      const EngineBody& from = bodies_[id];
      RigidBody& to = world.body(id);
      if (to.kind == BodyKind::kStatic) continue;
      set_pose(to, from_bullet(from.body->getWorldTransform()) * inverse(from.mesh_from_body));
      set_velocity(to, from_bullet(from.body->getLinearVelocity()),
                   from_bullet(from.body->getAngularVelocity()));
      report.asleep += from.body->isActive() ? 0U : 1U;
    }
    find_contacts(report, contacts);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    report.seconds = {.motion = spent.count()};
  }

 private:
  std::unique_ptr<btCollisionShape> make_shape(const Scene& scene, const World& world, BodyId id) {
    const SceneBody& in_scene = scene.bodies[id];
    if (!in_scene.shape) return std::make_unique<btEmptyShape>();
    const SceneShape& source = scene.shapes[*in_scene.shape];
    const BodySettings& settings = world.body_settings(id);
    // Bullet's own shapes cannot be turned against their body, as a dynamic one would have to.
    if (const auto* field = std::get_if<SceneField>(&source.source);
        field != nullptr && settings.kind != BodyKind::kDynamic)
      return std::visit([](const auto& f) { return make_primitive(f); }, *field);
    // Bodies of one shape share what was prepared.
    auto& cooked = cooked_[*in_scene.shape];
    if (!cooked) cooked = cook_bullet_shape(*settings.shape);
    Pose bullet_from_shape{};
    if (settings.kind == BodyKind::kDynamic)
      bullet_from_shape = inverse(principal_frame(settings.mass));
    return std::make_unique<IsotactShape>(cooked->shared_body(), bullet_from_shape);
  }

  static Pose principal_frame(const BodyMass& mass) {
    return {compute_principal_axes(mass.inertia).mesh_from_principal, mass.center};
  }

  void add_body(const Scene& scene, const World& world, BodyId id) {
    const BodySettings& settings = world.body_settings(id);
    EngineBody b;
    b.shape = make_shape(scene, world, id);
    const bool dynamic = settings.kind == BodyKind::kDynamic;
    btVector3 inertia(0, 0, 0);
    if (dynamic) {
      b.mesh_from_body = principal_frame(settings.mass);
      inertia = to_bullet(compute_principal_axes(settings.mass.inertia).moments);
    }
    b.motion = std::make_unique<btDefaultMotionState>(to_bullet(settings.pose),
                                                      to_bullet(inverse(b.mesh_from_body)));
    const auto mass = static_cast<btScalar>(dynamic ? settings.mass.mass : 0);
    btRigidBody::btRigidBodyConstructionInfo info(mass, b.motion.get(), b.shape.get(), inertia);
    // Bullet multiplies; scenes take the root of the product.
    info.m_friction = static_cast<btScalar>(std::sqrt(settings.material.friction));
    info.m_restitution = static_cast<btScalar>(settings.material.restitution);
    b.body = std::make_unique<btRigidBody>(info);
    b.body->setUserIndex(static_cast<int>(id));
    b.body->setLinearVelocity(to_bullet(settings.velocity));
    b.body->setAngularVelocity(to_bullet(settings.angular_velocity));
    const double sleep = scene.world.sleep_speed;
    if (settings.kind == BodyKind::kKinematic)
      b.body->setCollisionFlags(b.body->getCollisionFlags() |
                                btCollisionObject::CF_KINEMATIC_OBJECT);
    if (sleep > 0 && dynamic)
      b.body->setSleepingThresholds(static_cast<btScalar>(sleep), static_cast<btScalar>(sleep));
    else
      b.body->setActivationState(DISABLE_DEACTIVATION);
    if (settings.fast) b.body->setCcdMotionThreshold(static_cast<btScalar>(1e-6));
    const bool touches =
        scene.world.contact != ContactRule::kOff && scene.bodies[id].shape.has_value();
    if (touches)
      dynamics_.addRigidBody(b.body.get());
    else
      dynamics_.addRigidBody(b.body.get(), 0, 0);
    bodies_.push_back(std::move(b));
  }

  // All joints are one constraint with some of six motions free; its x axis is ours.
  void add_joint(const JointSettings& joint) {
    EngineBody &a = bodies_[joint.a], &b = bodies_[joint.b];
    auto c = std::make_unique<btGeneric6DofSpring2Constraint>(
        *a.body, *b.body, to_bullet(inverse(a.mesh_from_body) * joint.a_from_joint),
        to_bullet(inverse(b.mesh_from_body) * joint.b_from_joint), RO_XYZ);
    const bool hinge = joint.kind == JointKind::kHinge, slider = joint.kind == JointKind::kSlider;
    for (int axis = 0; axis < 6; ++axis) {
      const bool is_free = (axis == 3 && hinge) || (axis == 0 && slider) ||
                           (axis >= 3 && joint.kind == JointKind::kBall);
      // A reversed range is free.
      c->setLimit(axis, is_free ? btScalar(1) : btScalar(0), is_free ? btScalar(-1) : btScalar(0));
    }
    const int axis = hinge ? 3 : 0;
    if (joint.limits && (hinge || slider)) {
      // Reversed for rotations: Bullet's angle is that of A relative to B.
      const auto lower = static_cast<btScalar>(hinge ? -joint.limits->upper : joint.limits->lower);
      const auto upper = static_cast<btScalar>(hinge ? -joint.limits->lower : joint.limits->upper);
      c->setLimit(axis, lower, upper);
    }
    dynamics_.addConstraint(c.get(), !joint.may_touch);
    joints_.push_back(std::move(c));
    motor_axis_.push_back(axis);
    if (joint.motor) set_motor(joints_.size() - 1, *joint.motor);
  }

  void find_contacts(StepReport& report, std::vector<PairContact>& contacts) {
    std::map<BodyPair, PairContact> now;
    report.points = 0;
    const btCollisionDispatcher& dispatcher = finder_.dispatcher();
    report.pairs = static_cast<std::uint32_t>(dispatcher.getNumManifolds());
    for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
      const btPersistentManifold& m = *dispatcher.getManifoldByIndexInternal(i);
      auto a = static_cast<BodyId>(m.getBody0()->getUserIndex());
      auto b = static_cast<BodyId>(m.getBody1()->getUserIndex());
      const bool swapped = b < a;
      if (swapped) std::swap(a, b);
      for (int k = 0; k < m.getNumContacts(); ++k) {
        const btManifoldPoint& p = m.getContactPoint(k);
        if (p.getDistance() > 0 && !(p.getAppliedImpulse() > 0)) continue;
        PairContact& c = now[BodyPair{a, b}];
        add_point(p, swapped, c.points == 0, c);
        ++c.points;
        ++report.points;
      }
    }
    contacts.clear();
    for (auto& [pair, c] : now) {
      c.pair = pair;
      const bool old = std::binary_search(touching_.begin(), touching_.end(), pair);
      c.phase = old ? ContactPhase::kPersist : ContactPhase::kBegin;
      contacts.push_back(c);
    }
    touching_.clear();
    for (const auto& [pair, c] : now) touching_.push_back(pair);
  }

  static void add_point(const btManifoldPoint& p, bool swapped, bool first, PairContact& c) {
    const Vec3 on_first = from_bullet(p.getPositionWorldOnA());
    const Vec3 on_second = from_bullet(p.getPositionWorldOnB());
    const Vec3 normal = from_bullet(p.m_normalWorldOnB) * (swapped ? -1.0 : 1.0);
    const Vec3 impulse = normal * static_cast<double>(p.getAppliedImpulse());
    c.impulse += impulse;
    c.angular_impulse += cross((on_first + on_second) * 0.5, impulse);
    const double depth = -static_cast<double>(p.getDistance());
    if (!first && depth <= c.contact.depth) return;
    c.contact = {.position = (on_first + on_second) * 0.5,
                 .point_on_a = swapped ? on_second : on_first,
                 .point_on_b = swapped ? on_first : on_second,
                 .normal = normal,
                 .depth = depth};
  }

  double step_;
  Finder finder_;
  btDbvtBroadphase broad_phase_;
  btSequentialImpulseConstraintSolver solver_;
  // Before the world, whose destructor uses them.
  std::map<std::size_t, std::unique_ptr<IsotactShape>> cooked_;
  std::vector<EngineBody> bodies_;
  std::vector<std::unique_ptr<btGeneric6DofSpring2Constraint>> joints_;
  btDiscreteDynamicsWorld dynamics_{&finder_.dispatcher(), &broad_phase_, &solver_,
                                    &finder_.configuration()};
  std::vector<int> motor_axis_;
  std::vector<BodyPair> touching_;  // In the last step, in order.
};

}  // namespace

std::unique_ptr<SceneEngine> make_bullet_engine(const Scene& scene, const World& world) {
  return std::make_unique<BulletEngine>(scene, world, BatchSettings{});
}

SceneEngineMaker bullet_engine_with(BatchSettings batch) {
  return [batch = std::move(batch)](const Scene& scene, const World& world) {
    return std::make_unique<BulletEngine>(scene, world, batch);
  };
}

}  // namespace isotact
