// A step of a SoftWorld with contact inside of its solve: from the state of bodies to the system of
// barrier.h, and back.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/soft/detail/barrier.h"
#include "isotact/dynamics/soft/detail/soft_state.h"

namespace isotact {

using detail::BarrierRigid;
using detail::BarrierState;
using detail::BarrierSurface;
using detail::BarrierSystem;
using detail::SoftBody;

namespace {

constexpr int kMostRounds = 60;
constexpr int kMostParts = 64;
constexpr double kSoftSlip = 1e-3;  // m/s, below which friction is proportional to slip.

Vec3 center_of(const BarrierRigid& r, const Pose& pose) {
  return transform_point(pose, r.local_center);
}
Pose pose_of(const BarrierRigid& r, const Vec3& center, const Quat& turn) {
  return {turn, center - rotate(turn, r.local_center)};
}

void add_vertices(BarrierSystem& s, BarrierSurface& a, std::uint32_t count) {
  a.first = static_cast<std::uint32_t>(s.x.size());
  a.count = count;
  s.x.resize(s.x.size() + count);
}

// A rigid body as planes, a sphere or triangles.
void add_rigid_surface(BarrierState& state, const World& world, BodyId id, double margin) {
  BarrierSystem& s = state.system;
  const BodySettings& settings = world.body_settings(id);
  const Shape& shape = *settings.shape;
  const BodyKind kind = world.body(id).kind;
  const Pose pose = world.pose(id);
  BarrierSurface a{.margin = margin, .friction = settings.material.friction};
  if (shape.solid() && kind == BodyKind::kStatic) {
    const auto& primitive = shape.solid()->primitive();
    if (const auto* plane = std::get_if<PlaneField>(&primitive)) {
      const Vec3 n = rotate(pose.rotation, normalized(plane->normal));
      s.planes.push_back({n, plane->offset + dot(n, pose.translation), a.friction});
      return;
    }
    if (const auto* sphere = std::get_if<SphereField>(&primitive)) {
      a.radius = sphere->radius;
      a.moves = false;
      add_vertices(s, a, 1);
      s.x.back() = transform_point(pose, sphere->center);
      s.mover.push_back(detail::kNoMover);
      s.surfaces.push_back(a);
      return;
    }
  }
  if (!shape.is_bounded())
    throw Error(
        fmt::format("soft bodies cannot touch body '{}': its shape has no end, and is no "
                    "plane at rest",
                    settings.name));
  const TriangleMesh& mesh = shape.surface();
  BarrierRigid r{.id = id, .dynamic = kind == BodyKind::kDynamic};
  add_vertices(s, a, static_cast<std::uint32_t>(mesh.positions.size()));
  r.first = a.first, r.count = a.count;
  if (r.dynamic) r.local_center = world.body(id).mass.center, r.mass = world.body(id).mass.mass;
  for (const Vec3f& p : mesh.positions) {
    r.local.push_back(to_double(p) - r.local_center);
    r.reach = std::max(r.reach, length(r.local.back()));
  }
  a.moves = kind != BodyKind::kStatic;
  const auto number = static_cast<std::uint32_t>(s.rigid.size());
  s.mover.insert(s.mover.end(), a.count, a.moves ? s.soft_count + number : detail::kNoMover);
  a.rigid = static_cast<std::int32_t>(number);
  state.topologies.push_back(
      std::make_unique<SurfaceTopology>(make_topology(mesh.triangles, mesh.positions.size())));
  a.topology = state.topologies.back().get();
  r.center = center_of(r, pose), r.turn = pose.rotation;
  for (std::uint32_t i = 0; i < r.count; ++i)
    s.x[r.first + i] = r.center + rotate(r.turn, r.local[i]);
  state.trees.push_back(std::make_unique<ObjectTree>(
      std::span<const Vec3>(s.x).subspan(a.first, a.count), a.topology->triangles));
  a.tree = state.trees.back().get();
  s.rigid.push_back(std::move(r));
  s.surfaces.push_back(a);
}

void add_cube(BarrierSystem& s, const Aabb& cube) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vec3 n{};
    n[axis] = 1;
    s.planes.push_back({n, cube.lower[axis], 0});
    s.planes.push_back({-n, -cube.upper[axis], 0});
  }
}

}  // namespace

void SoftWorld::note_poses(const World& rigid) {
  state_->last_poses.clear();
  for (BodyId id = 0; id < rigid.body_count(); ++id) state_->last_poses.push_back(rigid.pose(id));
}

void SoftWorld::State::make_barrier(const World* world) {
  const std::size_t rigid_count = world == nullptr || !settings.contact ? 0 : world->body_count();
  std::size_t vertices = 0;
  for (const SoftBody& b : bodies) vertices += b.x.size();
  if (barrier && barrier->soft == bodies.size() && barrier->rigid == rigid_count &&
      barrier->system.soft_count == vertices)
    return;
  barrier = std::make_shared<BarrierState>();
  barrier->soft = bodies.size();
  barrier->rigid = rigid_count;
  BarrierSystem& s = barrier->system;
  s.threads = settings.threads;
  double margin = std::numeric_limits<double>::infinity();
  for (SoftBody& b : bodies) {
    BarrierSurface a{.topology = &b.topology,
                     .tree = b.tree ? &*b.tree : nullptr,
                     .near_at_rest = &b.near_at_rest,
                     .margin = b.margin,
                     .friction = b.settings.material.friction,
                     .self = b.settings.self_contact && !b.driven};
    add_vertices(s, a, static_cast<std::uint32_t>(b.x.size()));
    s.surfaces.push_back(a);
    margin = std::min(margin, b.margin);
  }
  s.soft_count = static_cast<std::uint32_t>(s.x.size());
  for (std::uint32_t i = 0; i < s.soft_count; ++i) s.mover.push_back(i);
  s.inertia.resize(s.soft_count);
  s.aim.resize(s.soft_count);
  for (BodyId id = 0; id < rigid_count; ++id)
    if (world->body_settings(id).shape && settings.contact)
      add_rigid_surface(*barrier, *world, id, 0);
  if (settings.cube && settings.contact) add_cube(s, *settings.cube);
  s.trial = s.x;
  s.direction.assign(s.x.size(), Vec3{});
}

namespace {

// Positions and velocities at the start of a step or of a part of it.
void set_soft_aims(BarrierSystem& s, std::vector<SoftBody>& bodies, const Vec3& gravity, double h,
                   double share) {
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    SoftBody& b = bodies[k];
    BarrierSurface& a = s.surfaces[k];
    const double air = 1 + b.settings.material.air_friction * h;
    const Vec3 fall = b.steered ? Vec3{} : gravity * h;
    a.inertia = b.total_mass / static_cast<double>(b.x.size()) / (h * h);
    for (std::uint32_t i = 0; i < a.count; ++i) {
      const std::uint32_t at = a.first + i;
      if (b.inverse_mass[i] > 0) {
        s.inertia[at] = b.mass[i] * air / (h * h);
        s.aim[at] = s.x[at] + (b.v[i] + fall) * (h / air);
      } else {
        s.inertia[at] = 0;
        const Vec3 target = b.driven ? b.predicted[i] : s.x[at];
        s.aim[at] = share == 1 ? target : lerp(s.x[at], target, share);
      }
    }
  }
}

// Motion of rigid bodies, to be shared among the parts of a step.
struct RigidMotion {
  Vec3 velocity{}, turning{};
  Vec3 center_end{};
  Quat turn_end{};
};

void set_rigid_aims(BarrierSystem& s, const std::vector<RigidMotion>& motions, double h,
                    bool last) {
  for (std::size_t k = 0; k < s.rigid.size(); ++k) {
    BarrierRigid& r = s.rigid[k];
    const RigidMotion& m = motions[k];
    r.center0 = r.center, r.turn0 = r.turn;
    if (last && !r.dynamic) {
      r.center_aim = m.center_end, r.turn_aim = m.turn_end;
      continue;
    }
    r.center_aim = r.center + m.velocity * h;
    const Vec3 turn = m.turning * h;
    r.turn_aim = normalized(rotation_about(turn, length(turn)) * r.turn);
  }
}

}  // namespace

namespace {

struct MechanicalEnergy {
  double kinetic = 0, other = 0;  // J
};

// Of soft bodies with velocities v, and of dynamic rigid ones by their motion in this part.
MechanicalEnergy compute_energy(const BarrierSystem& s, std::vector<SoftBody>& bodies,
                                const Vec3& gravity, bool at_end) {
  MechanicalEnergy e;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    SoftBody& b = bodies[k];
    if (b.driven) continue;
    const std::uint32_t first = s.surfaces[k].first;
    std::copy_n((at_end ? s.x : s.x0).begin() + first, b.x.size(), b.x.begin());
    for (std::size_t i = 0; i < b.x.size(); ++i) {
      e.kinetic += 0.5 * b.mass[i] * length_sq(b.v[i]);
      if (!b.steered) e.other -= b.mass[i] * dot(gravity, b.x[i]);
    }
    e.other += detail::compute_elastic_energy(b);
  }
  for (const BarrierRigid& r : s.rigid) {
    if (!r.dynamic) continue;
    const Vec3 way = (at_end ? r.center : r.center_aim) - r.center0;
    const Vec3 turn = detail::rotation_between(at_end ? r.turn : r.turn_aim, r.turn0);
    e.other += 0.5 * (r.mass * length_sq(way) + dot(turn, r.inertia * turn)) / (s.step * s.step);
  }
  return e;
}

bool is_moved_by_others(const BarrierSystem& s, const std::vector<SoftBody>& bodies) {
  return std::any_of(bodies.begin(), bodies.end(),
                     [](const SoftBody& b) { return b.driven || b.steered; }) ||
         std::any_of(s.rigid.begin(), s.rigid.end(), [](const BarrierRigid& r) {
           return !r.dynamic && !(r.center == r.center0 && r.turn == r.turn0);
         });
}

// A minimum that was not found to the last digit, or that is one of several, may have more energy
// than there was. Velocities relative to their body's mean lose that; then all of them.
void take_away(std::vector<SoftBody>& bodies, double excess) {
  for (const bool relative : {true, false}) {
    std::vector<Vec3> mean(bodies.size());
    double kinetic = 0;
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const SoftBody& b = bodies[k];
      if (b.driven) continue;
      if (relative)
        for (std::size_t i = 0; i < b.v.size(); ++i) mean[k] += b.v[i] * (b.mass[i] / b.total_mass);
      for (std::size_t i = 0; i < b.v.size(); ++i)
        kinetic += 0.5 * b.mass[i] * length_sq(b.v[i] - mean[k]);
    }
    if (!(kinetic > 0) || !(excess > 0)) continue;
    const double left = std::max(0.0, kinetic - excess), factor = std::sqrt(left / kinetic);
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      SoftBody& b = bodies[k];
      for (std::size_t i = 0; i < b.v.size() && !b.driven; ++i)
        if (b.inverse_mass[i] > 0) b.v[i] = mean[k] + (b.v[i] - mean[k]) * factor;
    }
    excess -= kinetic - left;
  }
}

}  // namespace

// Takes the step in as many parts as `parts`. Returns whether it could be taken.
bool SoftWorld::State::take_parts(int parts, const std::vector<Vec3>& turnings) {
  BarrierSystem& s = barrier->system;
  const double h = settings.step / parts;
  s.step = h;
  s.soft_slip = kSoftSlip * h;
  std::vector<RigidMotion> motions(s.rigid.size());
  for (std::size_t k = 0; k < s.rigid.size(); ++k) {
    const BarrierRigid& r = s.rigid[k];
    motions[k] = {(barrier->center_end[k] - r.center) / settings.step, turnings[k] / settings.step,
                  barrier->center_end[k], barrier->turn_end[k]};
  }
  bool taken = true;
  for (int part = 0; part < parts && taken; ++part) {
    set_soft_aims(s, bodies, settings.gravity, h, 1.0 / (parts - part));
    set_rigid_aims(s, motions, h, part + 1 == parts);
    if (parts == 1)  // To the last bit where nothing touches.
      for (std::size_t k = 0; k < s.rigid.size(); ++k)
        s.rigid[k].center_aim = barrier->center_end[k], s.rigid[k].turn_aim = barrier->turn_end[k];
    s.x0 = s.x;
    // Barriers depend on the length of a step.
    if (barrier->made_for != h) s.lower.clear();
    barrier->made_for = h;
    const MechanicalEnergy before = compute_energy(s, bodies, settings.gravity, false);
    const detail::BarrierSolveReport r = detail::solve_barrier(s, kMostRounds);
    report.rounds += static_cast<std::uint32_t>(r.rounds);
    report.products += static_cast<std::uint32_t>(r.products);
    report.held += static_cast<std::uint32_t>(r.held);
    taken = r.arrived;
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      SoftBody& b = bodies[k];
      const std::uint32_t first = s.surfaces[k].first;
      for (std::uint32_t i = 0; i < b.x.size(); ++i)
        b.v[i] =
            b.inverse_mass[i] > 0 || b.driven ? (s.x[first + i] - s.x0[first + i]) / h : Vec3{};
    }
    const MechanicalEnergy after = compute_energy(s, bodies, settings.gravity, true);
    const double excess = after.kinetic + after.other + r.stored_after - before.kinetic -
                          before.other - r.stored_before;
    if (excess > 0 && !is_moved_by_others(s, bodies)) take_away(bodies, excess);
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      if (!s.rigid[k].dynamic) continue;
      motions[k].velocity = (s.rigid[k].center - s.rigid[k].center0) / h;
      motions[k].turning = detail::rotation_between(s.rigid[k].turn, s.rigid[k].turn0) / h;
    }
  }
  return taken;
}

namespace {

void place_rigid(BarrierSystem& s, BarrierRigid& r, const Pose& pose) {
  const Vec3 center = center_of(r, pose);
  if (center == r.center && pose.rotation == r.turn) return;
  r.center = center, r.turn = pose.rotation;
  for (std::uint32_t i = 0; i < r.count; ++i)
    s.x[r.first + i] = r.center + rotate(r.turn, r.local[i]);
}

}  // namespace

void SoftWorld::State::step_barrier(World* world) {
  make_barrier(world);
  BarrierSystem& s = barrier->system;
  s.bodies.clear();
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    SoftBody& b = bodies[k];
    s.bodies.push_back(&b);
    if (b.steered)
      detail::steer(b, {.step = settings.step, .time = report.time, .gravity = settings.gravity});
    std::copy(b.x.begin(), b.x.end(), s.x.begin() + s.surfaces[k].first);
    if (b.edited) s.lower.clear();
    b.edited = false;
    b.x0 = b.x;
    b.box0 = b.box;
  }
  const std::size_t rigid_count = world == nullptr ? 0 : world->body_count();
  for (std::size_t id = last_poses.size(); id < rigid_count; ++id)
    last_poses.push_back(world->pose(static_cast<BodyId>(id)));
  // Rigid bodies have moved from where the last step left them to where they are now.
  barrier->center_end.resize(s.rigid.size());
  barrier->turn_end.resize(s.rigid.size());
  std::vector<Vec3> turnings(s.rigid.size());
  for (std::size_t k = 0; k < s.rigid.size(); ++k) {
    BarrierRigid& r = s.rigid[k];
    const Pose now = world->pose(r.id);
    place_rigid(s, r, last_poses[r.id]);
    barrier->center_end[k] = center_of(r, now);
    barrier->turn_end[k] = now.rotation;
    turnings[k] = detail::rotation_between(now.rotation, r.turn);
    if (!r.dynamic) continue;
    const RigidBody& body = world->body(r.id);
    const Mat3 turn = to_matrix(body.state.rotation);
    r.inertia = turn * body.mass.inertia * transpose(turn);
    r.inverse_inertia = turn * body.mass.inverse_inertia * transpose(turn);
  }
  // The state to return to, if a step cannot be taken.
  const std::vector<Vec3> x = s.x;
  const std::vector<BarrierRigid> rigid_before = s.rigid;
  std::vector<std::vector<Vec3>> v;
  for (const SoftBody& b : bodies) v.push_back(b.v);
  int parts = 1;
  while (!take_parts(parts, turnings)) {
    if (parts == kMostParts) {
      trouble = {0, report.time,
                 fmt::format("at {:.6g} s soft bodies have no place left: prescribed motion of "
                             "pins, deformers or rigid bodies cannot be completed without a "
                             "crossing, even in {} parts of a step",
                             report.time, parts)};
    }
    s.x = x;
    s.rigid = rigid_before;
    for (std::size_t k = 0; k < bodies.size(); ++k) bodies[k].v = v[k];
    if (trouble) return;
    parts *= 2;
    ++report.halved;
  }
  report.substeps = static_cast<std::uint32_t>(parts);
  report.searches = static_cast<std::uint32_t>(std::exchange(s.searches, 0));
  finish_barrier(world);
}

void SoftWorld::State::finish_barrier(World* world) {
  BarrierSystem& s = barrier->system;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    SoftBody& b = bodies[k];
    const std::uint32_t first = s.surfaces[k].first;
    std::copy_n(s.x.begin() + first, b.x.size(), b.x.begin());
    b.started = true;
    detail::flow(b, settings.step);
    detail::update_bounds(b);
  }
  for (std::size_t k = 0; k < s.rigid.size(); ++k) {
    const BarrierRigid& r = s.rigid[k];
    if (!r.dynamic) continue;
    const Vec3 off = r.center - barrier->center_end[k];
    const Vec3 turn = detail::rotation_between(r.turn, barrier->turn_end[k]);
    if (length(off) + r.reach * length(turn) < 1e-13 * (1 + r.reach)) continue;
    if (world->is_asleep(r.id)) world->wake(r.id);
    RigidBody& body = world->body(r.id);
    const Vec3 velocity = isotact::velocity(body) + off / settings.step;
    const Vec3 turning = angular_velocity(body) + turn / settings.step;
    set_pose(body, pose_of(r, r.center, r.turn));
    set_velocity(body, velocity, turning);
  }
  for (std::size_t id = 0; id < last_poses.size(); ++id)
    last_poses[id] = world->pose(static_cast<BodyId>(id));
  std::set<std::pair<std::size_t, std::size_t>> touching;
  for (const detail::BarrierContact& c : s.contacts) {
    ++report.contacts;
    Vec3 place{};
    for (std::uint32_t i = 0; i < c.count; ++i)
      if (c.w[i] > 0) place += s.x[c.v[i]] * c.w[i];
    contacts.push_back({place, c.normal, 0});
    const auto surface_of = [&](std::uint32_t v) {
      std::size_t k = 0;
      while (k + 1 < s.surfaces.size() && s.surfaces[k + 1].first <= v) ++k;
      return k;
    };
    const std::size_t a = surface_of(c.v[0]),
                      b = c.count == 1 ? ~std::size_t{0} : surface_of(c.v[3]);
    if (a != b) touching.insert({std::min(a, b), std::max(a, b)});
  }
  report.touching = static_cast<std::uint32_t>(touching.size());
  report.pairs = static_cast<std::uint32_t>(s.pairs.size());
  report.left_out = static_cast<std::uint32_t>(s.left_out);
}

}  // namespace isotact
