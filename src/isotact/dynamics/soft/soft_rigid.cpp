// Rigid bodies as soft ones see them: where they are, where they will be, and what they get.

#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/soft/detail/soft_state.h"

namespace isotact {

using detail::RigidSide;
using detail::SoftBody;

void detail::predict(RigidSide& r, double step) {
  const Vec3 turn = r.turning * step, origin = r.now.translation - r.center;
  const Quat by = rotation_about(turn, length(turn));
  r.next = {normalized(by * r.now.rotation), r.center + r.velocity * step + rotate(by, origin)};
}

namespace {

Mat3 turned(const Mat3& inertia, const Quat& rotation) {
  const Mat3 r = to_matrix(rotation);
  return r * inertia * transpose(r);
}

void look_at_moving(RigidSide& r, const World& world, const Pose& last, double step) {
  const RigidBody& body = world.body(r.id);
  r.center = body.state.center;
  r.velocity = r.turning = r.dv = r.dw = {};
  r.next = r.now;
  // To the last bit: what rests is held off with more than fields (find_points_on_paths).
  if (body.kind != BodyKind::kDynamic && r.now == last) return;
  if (body.kind == BodyKind::kDynamic) {
    r.inverse_mass = 1 / body.mass.mass;
    r.inverse_inertia = turned(body.mass.inverse_inertia, body.state.rotation);
    r.turning = angular_velocity(body);
    r.velocity = velocity(body);
    if (!world.is_asleep(r.id)) r.velocity += world.settings().gravity * step;
    detail::predict(r, step);
  } else {
    // What goes where it is told goes on as it did.
    const Pose way = r.now * inverse(last);
    r.next = way * r.now;
    r.next.rotation = normalized(r.next.rotation);
    const double sign = way.rotation.w < 0 ? -2 : 2;
    r.turning = Vec3{way.rotation.x, way.rotation.y, way.rotation.z} * (sign / step);
    r.velocity = (transform_point(way, r.center) - r.center) / step;
  }
}

}  // namespace

void SoftWorld::State::check_rigid(const World& world) const {
  const bool any_moves =
      std::any_of(bodies.begin(), bodies.end(), [](const SoftBody& b) { return !b.driven; });
  if (!any_moves) return;
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const BodySettings& s = world.body_settings(id);
    if (s.shape && !s.shape->can_have_field())
      throw Error(fmt::format("soft bodies cannot touch body '{}': a pointshell alone has no field",
                              s.name),
                  Hint::kField);
  }
}

void SoftWorld::State::look_at_rigid(const World* world) {
  const std::size_t count = world == nullptr ? 0 : world->body_count();
  if (rigid.size() != count) {
    rigid.clear();
    rigid.resize(count);
  }
  const bool known = last_poses.size() == count;
  last_poses.resize(count);
  longest_way = 0;
  for (const SoftBody& b : bodies) longest_way = std::max(longest_way, b.reach);
  for (BodyId id = 0; id < count; ++id) {
    RigidSide& r = rigid[id];
    const BodySettings& s = world->body_settings(id);
    if (!r.field && s.shape && s.shape->can_have_field()) {
      r.field = s.shape->any_field();
      r.lipschitz = r.field->lipschitz();
    }
    r.id = id;
    r.friction = s.material.friction;
    r.placed = false;
    r.dynamic = world->body(id).kind == BodyKind::kDynamic;
    r.now = world->pose(id);
    if (!known) last_poses[id] = r.now;
    look_at_moving(r, *world, last_poses[id], settings.step);
    last_poses[id] = r.now;
    if (r.field) longest_way = std::max(longest_way, length(r.velocity) * settings.step);
  }
}

// The impulses of this step, spread over the step that the rigid bodies are about to make.
void SoftWorld::State::add_loads(World* world) const {
  for (const RigidSide& r : rigid) {
    if (!r.dynamic || (r.dv == Vec3{} && r.dw == Vec3{})) continue;
    const RigidBody& body = world->body(r.id);
    const Mat3 inertia = turned(body.mass.inertia, body.state.rotation);
    if (world->is_asleep(r.id)) world->wake(r.id);
    world->add_load(
        r.id, {r.dv * (body.mass.mass / settings.step), inertia * r.dw * (1 / settings.step)});
  }
}

}  // namespace isotact
