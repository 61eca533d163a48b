// A hand at 1 kHz in a world of Bullet's at 60 Hz. The hand holds a ball on a spring (virtual
// coupling) and pushes a box along the ground. Its thread asks for forces against the last pose of
// the box, within half a millisecond. The world gets the mean of the opposite force in each step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "isotact/adapters/bullet/bullet.h"
#include "isotact/dynamics/haptics/virtual_coupling.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"

using namespace isotact;
using Clock = std::chrono::steady_clock;

// What the two threads share.
struct Shared {
  std::mutex mutex{};
  Pose box{};
  Vec3 velocity{};      // m/s, of the box: it moves on between two steps
  Vec3 impulse{};       // N s, on the box since the last step
  Vec3 turn_impulse{};  // N m s, about its centre
  bool is_over = false;
};

struct HandReport {
  std::vector<double> microseconds{};  // of each loop, without its sleep
  int touching = 0;
  double strongest = 0;  // N
};

// The hand goes right by 0.4 m in two seconds, level with the box.
static Pose hand_at(double time) { return {{}, {-0.3 + 0.2 * std::min(time, 2.0), 0.1, 0}}; }

static HandReport run_hand(const Shape& ball, const Shape& box, const MassProperties& mass,
                           Shared& shared) {
  HandReport report;
  RigidBody tool{.mass = make_body_mass(mass, 500)};
  Pose device = hand_at(0);
  set_pose(tool, device);
  const CouplingSettings coupling{.stiffness = 500, .damping = 5, .max_force = 10};
  const CollideRequest request{
      .max_microseconds = 500, .want_force = true, .force = {.stiffness = 1e7}};
  CollideScratch scratch;
  collide(ball, device, box, {}, request, scratch);  // Prepares: nothing is made later.
  constexpr double kStep = 1e-3;
  auto tick = Clock::now();
  Pose last_box{};
  double since = 0;  // Seconds since the box was seen at a new pose.
  for (double time = 0;; time += kStep) {
    std::this_thread::sleep_until(tick += std::chrono::milliseconds(1));
    const auto start = Clock::now();
    Pose pose;
    {
      const std::scoped_lock lock(shared.mutex);
      if (shared.is_over) break;
      since = length(shared.box.translation - last_box.translation) > 0 ? 0 : since + kStep;
      last_box = pose = shared.box;
      pose.translation += shared.velocity * std::min(since, 1.0 / 60);
    }
    const CollideResult& touch = collide(ball, world_from_body(tool), box, pose, request, scratch);
    const Pose before = device;
    device = hand_at(time + kStep);
    const ToolContact contact = make_tool_contact(touch, tool, request.force);
    const Load felt = step_tool(tool, {before, device}, contact, coupling, kStep);
    if (touch.status == CollideStatus::kContact) ++report.touching;
    report.strongest = std::max(report.strongest, length(felt.force));
    {
      const Vec3 arm = world_from_body(tool).translation - pose.translation;
      const std::scoped_lock lock(shared.mutex);
      shared.impulse -= contact.load.force * kStep;
      shared.turn_impulse -= (contact.load.torque + cross(arm, contact.load.force)) * kStep;
    }
    report.microseconds.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return report;
}

int main() {
  const TriangleMesh ball_mesh = make_sphere({.radius = 0.05, .frequency = 16});
  const Shape ball = Shape::from_mesh(ball_mesh, {.points = 1000});
  const Shape box =
      Shape::from_mesh(make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2}), {.points = 2000});

  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  const BulletPlugin plugin = install(dispatcher);
  btDbvtBroadphase broad_phase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad_phase, &solver, &configuration);
  world.setGravity({0, btScalar(-9.81), 0});
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btRigidBody ground(0, nullptr, &plane);
  world.addRigidBody(&ground);
  const auto shape = cook_bullet_shape(box);
  btVector3 inertia;
  shape->calculateLocalInertia(1, inertia);
  btRigidBody body(1, nullptr, shape.get(), inertia);
  body.setWorldTransform(to_bullet(Pose{{}, {0, 0.1, 0}}));
  body.setActivationState(DISABLE_DEACTIVATION);
  body.setFriction(btScalar(0.3)), ground.setFriction(1);
  world.addRigidBody(&body);

  Shared shared{};
  shared.box = from_bullet(body.getWorldTransform());
  HandReport report;
  std::thread hand(
      [&] { report = run_hand(ball, box, compute_mass_properties(ball_mesh), shared); });
  constexpr double kStep = 1.0 / 60;
  auto tick = Clock::now();
  for (int i = 0; i < 180; ++i) {
    std::this_thread::sleep_until(
        tick += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kStep)));
    {
      const std::scoped_lock lock(shared.mutex);
      body.applyCentralForce(to_bullet(shared.impulse / kStep));
      body.applyTorque(to_bullet(shared.turn_impulse / kStep));
      shared.impulse = shared.turn_impulse = {};
    }
    world.stepSimulation(btScalar(kStep), 0);
    const std::scoped_lock lock(shared.mutex);
    shared.box = from_bullet(body.getWorldTransform());
    shared.velocity = from_bullet(body.getLinearVelocity());
  }
  {
    const std::scoped_lock lock(shared.mutex);
    shared.is_over = true;
  }
  hand.join();

  std::sort(report.microseconds.begin(), report.microseconds.end());
  const auto at = [&](double share) {
    return report.microseconds[static_cast<std::size_t>(
        share * static_cast<double>(report.microseconds.size() - 1))];
  };
  const double moved = from_bullet(body.getWorldTransform()).translation.x;
  std::printf("%zu loops of the hand, %d in contact, at most %.1f N\n", report.microseconds.size(),
              report.touching, report.strongest);
  std::printf("a loop takes %.0f us in the median, %.0f us in 99 %% of all\n", at(0.5), at(0.99));
  std::printf("the box was pushed by %.2f m\n", moved);
  world.removeRigidBody(&body);
  world.removeRigidBody(&ground);
  return report.touching > 100 && moved > 0.05 && moved < 0.5 ? 0 : 1;
}
