// Bullet as it comes: boxes where a mesh is one, convex hulls elsewhere, and its own dynamics.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/error.h"

#include "scene_trial.h"

namespace isotact::bench {
namespace {

// Corners of the mesh's own bounds and no others.
bool is_box(const TriangleMesh& mesh) {
  const Aabbf box = bounds(mesh);
  const float near = 1e-5F * length(extent(box));
  const auto at_side = [&](float v, float lower, float upper) {
    return std::abs(v - lower) < near || std::abs(v - upper) < near;
  };
  return mesh.triangles.size() == 12 &&
         std::all_of(mesh.positions.begin(), mesh.positions.end(), [&](const Vec3f& p) {
           return at_side(p.x, box.lower.x, box.upper.x) && at_side(p.y, box.lower.y, box.upper.y) &&
                  at_side(p.z, box.lower.z, box.upper.z);
         });
}

struct HullBody {
  std::unique_ptr<btCollisionShape> part, shape;
  std::unique_ptr<btDefaultMotionState> motion;
  std::unique_ptr<btRigidBody> body;
  Pose mesh_from_body{};
};

class HullEngine final : public SceneEngine {
 public:
  HullEngine(const Scene& scene, const World& world, int iterations) : step_(scene.world.step) {
    if (!scene.joints.empty()) throw Error("convex hulls are compared without joints");
    world_.setGravity(to_bullet(scene.world.gravity));
    world_.getSolverInfo().m_numIterations = iterations;
    for (BodyId id = 0; id < world.body_count(); ++id) add_body(scene, world, id);
  }
  ~HullEngine() override {
    for (const HullBody& b : bodies_) world_.removeRigidBody(b.body.get());
  }

  void move_to(BodyId id, const Pose& world_from_body) override {
    bodies_[id].motion->m_graphicsWorldTrans = to_bullet(world_from_body);
  }
  void add_load(BodyId id, const Load& load) override {
    bodies_[id].body->applyCentralForce(to_bullet(load.force));
    bodies_[id].body->applyTorque(to_bullet(load.torque));
  }
  void set_motor(std::size_t /*joint*/, const Motor& /*motor*/) override {}

  void step(World& world, StepReport& /*report*/, std::vector<PairContact>& contacts) override {
    world_.stepSimulation(static_cast<btScalar>(step_), 0);
    contacts.clear();
    for (BodyId id = 0; id < bodies_.size(); ++id) {
      const HullBody& from = bodies_[id];
      RigidBody& to = world.body(id);
      if (to.kind == BodyKind::kStatic) continue;
      set_pose(to, from_bullet(from.body->getWorldTransform()) * inverse(from.mesh_from_body));
      set_velocity(to, from_bullet(from.body->getLinearVelocity()),
                   from_bullet(from.body->getAngularVelocity()));
    }
  }

 private:
  // In the frame of a body whose axes are those of its inertia.
  static void make_shape(const BodySettings& settings, HullBody& b) {
    const TriangleMesh& mesh = settings.shape->surface();
    const Pose body_from_mesh = inverse(b.mesh_from_body);
    if (is_box(mesh)) {
      const Aabbf box = bounds(mesh);
      b.part = std::make_unique<btBoxShape>(to_bullet(to_double(extent(box)) * 0.5));
      auto placed = std::make_unique<btCompoundShape>();
      placed->addChildShape(
          to_bullet(body_from_mesh * Pose{{}, to_double(center(box))}), b.part.get());
      b.shape = std::move(placed);
      return;
    }
    auto hull = std::make_unique<btConvexHullShape>();
    for (const Vec3f& p : mesh.positions)
      hull->addPoint(to_bullet(transform_point(body_from_mesh, to_double(p))), false);
    // Bullet's own margin of 4 cm would be larger than some bodies.
    hull->setMargin(static_cast<btScalar>(0.002 * length(to_double(extent(bounds(mesh))))));
    hull->recalcLocalAabb();
    hull->optimizeConvexHull();
    b.shape = std::move(hull);
  }

  void add_body(const Scene& scene, const World& world, BodyId id) {
    const BodySettings& settings = world.body_settings(id);
    const bool dynamic = settings.kind == BodyKind::kDynamic;
    HullBody b;
    btVector3 inertia(0, 0, 0);
    if (dynamic) {
      const PrincipalAxes axes = compute_principal_axes(settings.mass.inertia);
      b.mesh_from_body = {axes.mesh_from_principal, settings.mass.center};
      inertia = to_bullet(axes.moments);
    }
    if (!settings.shape) {
      b.shape = std::make_unique<btEmptyShape>();
    } else if (!settings.shape->is_bounded()) {
      const auto& source = scene.shapes[*scene.bodies[id].shape].source;
      const auto* plane = std::get_if<PlaneField>(&std::get<SceneField>(source));
      if (plane == nullptr) throw Error("convex hulls have no terrain");
      b.shape = std::make_unique<btStaticPlaneShape>(to_bullet(plane->normal),
                                                     static_cast<btScalar>(plane->offset));
    } else {
      make_shape(settings, b);
    }
    b.motion = std::make_unique<btDefaultMotionState>(to_bullet(settings.pose),
                                                      to_bullet(inverse(b.mesh_from_body)));
    btRigidBody::btRigidBodyConstructionInfo info(
        static_cast<btScalar>(dynamic ? settings.mass.mass : 0), b.motion.get(), b.shape.get(),
        inertia);
    info.m_friction = static_cast<btScalar>(std::sqrt(settings.material.friction));
    info.m_restitution = static_cast<btScalar>(settings.material.restitution);
    b.body = std::make_unique<btRigidBody>(info);
    b.body->setLinearVelocity(to_bullet(settings.velocity));
    b.body->setAngularVelocity(to_bullet(settings.angular_velocity));
    if (settings.kind == BodyKind::kKinematic)
      b.body->setCollisionFlags(b.body->getCollisionFlags() |
                                btCollisionObject::CF_KINEMATIC_OBJECT);
    b.body->setActivationState(DISABLE_DEACTIVATION);
    if (settings.shape)
      world_.addRigidBody(b.body.get());
    else
      world_.addRigidBody(b.body.get(), 0, 0);
    bodies_.push_back(std::move(b));
  }

  double step_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broad_;
  btSequentialImpulseConstraintSolver solver_;
  std::vector<HullBody> bodies_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broad_, &solver_, &configuration_};
};

}  // namespace

SceneEngineMaker hull_engine(int iterations) {
  return [iterations](const Scene& scene, const World& world) {
    return std::make_unique<HullEngine>(scene, world, iterations);
  };
}

}  // namespace isotact::bench
