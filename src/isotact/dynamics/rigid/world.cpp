#include "isotact/dynamics/rigid/world.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr double kImplicitStiffness = 100.0;  // K h^2 / m, of the whole surface
constexpr double kExplicitStiffness = 0.25;
constexpr double kContactShare = 0.1;   // of a surface that touches, for the damping ratio
constexpr double kMostDamping = 1;      // C h / m, of the whole surface, for explicit steps
constexpr double kNearContact = 0.05;   // of a cell: as good as touching
constexpr double kMostTurn = 1e5;       // rad in a step, of driven bodies
constexpr double kTurnRounding = 1e-6;  // rad
constexpr double kStickDamping = 0.25;  // of the damping

void check(const WorldSettings& s) {
  if (!(s.step > 0 && std::isfinite(s.step)))
    throw Error(fmt::format("a time step of {} s, which should be positive", s.step));
  if (!is_finite(s.gravity)) throw Error("gravity is not finite");
  if (!(s.sleep_speed >= 0)) throw Error("the speed of sleep should not be negative");
  if (!(s.energy_factor > 1)) throw Error("the energy factor should be more than 1");
  if (s.forces.midpoints < 1) throw Error("quadrature needs one midpoint at least");
  if (!(s.force_tolerance > 0)) throw Error("the forces' tolerance should be positive");
  if (s.force_rounds < 1) throw Error("forces need one round at least");
  if (!(s.forces.drag_share >= 0 && s.forces.drag_share <= 1))
    throw Error("the share of drag should be from 0 to 1");
  if (!(s.forces.tolerance > 0)) throw Error("the quadrature's tolerance should be positive");
}

void check(const SurfaceMaterial& m, const std::string& name) {
  const bool good = m.stiffness >= 0 && std::isfinite(m.stiffness) && m.damping_ratio >= 0 &&
                    std::isfinite(m.damping_ratio) && m.friction >= 0 &&
                    std::isfinite(m.friction) && m.restitution >= 0 && m.restitution <= 1;
  if (!good) throw Error(fmt::format("body '{}': its material has a number out of range", name));
}

// Of the surface that the points cover.
Aabb box_of(const PointSphereTree& tree) {
  Aabb box;
  for (std::uint32_t i = 0; i < tree.point_count(); ++i) extend(box, to_double(tree.point(i)));
  const double around = tree.covering_radius();
  return {box.lower - Vec3{around, around, around}, box.upper + Vec3{around, around, around}};
}

void set_field(WorldBody& body, const Shape& shape, const WorldSettings& world) {
  if (!shape.can_have_field()) return;
  const SweptSettings swept{.traversal = world.traversal, .roots = world.roots, .threads = {1}};
  SweptSettings first = swept;
  first.mode = Mode::kFirst;
  first.traversal = ShellTraversal::kTree;
  first.roots = RootSearch::kAll;
  first.path_tolerance = 0.5;  // what spins fast has long paths
  body.all = shape.swept_tracer(swept);
  body.first = shape.swept_tracer(first);
  SweptSettings near = swept;
  near.roots = RootSearch::kAll;
  near.margin = kNearContact * shape.cell();
  body.near = shape.swept_tracer(near);
  const Aabb box = shape.any_field().bounds();
  body.inner_depth = -shape.any_field().range(box).lower;
  body.ball_radius = length(extent(box)) / 2;
  if (std::isfinite(body.ball_radius)) {
    body.ball_center = center(box);
    body.box = box;
  } else {
    body.ball_radius = std::numeric_limits<double>::infinity();
  }
}

void set_points(WorldBody& body, const PointSphereTree& tree) {
  body.points = tree;
  const Sphere ball = ball_of(tree);
  body.ball_center = ball.center;
  body.ball_radius = ball.radius + tree.covering_radius();
  body.box = box_of(tree);
  body.area = tree.header().surface_area;
}

BodyPair pair_of(BodyId a, BodyId b) { return a < b ? BodyPair{a, b} : BodyPair{b, a}; }

}  // namespace

ContactMaterial pair_material(const PairSides& s) {
  // Of infinite masses one of them may be.
  const double mass = 1 / (1 / s.mass_a + 1 / s.mass_b);
  const bool implicit = s.solve != ForceSolve::kExplicit;
  const double bearable =
      (implicit ? kImplicitStiffness : kExplicitStiffness) * mass / (s.step * s.step * s.area);
  const auto stiffness_of = [&](const SurfaceMaterial& m) {
    // Two in series: as bearable.
    return m.stiffness > 0 ? m.stiffness : 2 * std::max(bearable, s.carried);
  };
  ContactMaterial material;
  material.stiffness = 1 / (1 / stiffness_of(s.a) + 1 / stiffness_of(s.b));
  // C = 2 zeta sqrt(K m) of what usually touches; for explicit steps no more than the whole surface
  // bears, and no less than the spring asks for.
  const double ratio = (s.a.damping_ratio + s.b.damping_ratio) / 2;
  const double critical = 2 * std::sqrt(material.stiffness * mass / (kContactShare * s.area));
  material.damping = ratio * critical;
  if (!implicit)
    material.damping = std::max(std::min(material.damping, kMostDamping * mass / (s.step * s.area)),
                                0.75 * material.stiffness * s.step);
  material.stick_damping = kStickDamping * material.damping;
  material.friction = std::sqrt(s.a.friction * s.b.friction);
  return material;
}

namespace {

double field_error_of(const Shape& shape) {
  return shape.solid() ? 0.0 : static_cast<double>(shape.brick_field().header().near_error);
}

}  // namespace

double compute_thinnest_wall(const Shape& points, const Shape& wall) {
  if (!points.can_have_points() || !wall.can_have_field())
    return std::numeric_limits<double>::infinity();
  return points.points().covering_radius() + 2 * field_error_of(wall);
}

double detail::thinnest_wall(const WorldBody& points, const WorldBody& wall) {
  return points.tree().covering_radius() + 2 * field_error_of(*wall.settings.shape);
}

World::World(const WorldSettings& settings) : state_(std::make_unique<State>()) {
  check(settings);
  state_->settings = settings;
}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

BodyId World::add_body(const BodySettings& settings) {
  WorldBody body{.settings = settings};
  const std::string& name = settings.name;
  check(settings.material, name);
  body.body.kind = settings.kind;
  body.body.mass = settings.mass;
  if (settings.kind == BodyKind::kDynamic)
    body.body.mass =
        make_body_mass(settings.mass.mass, settings.mass.center, settings.mass.inertia);
  set_pose(body.body, settings.pose);
  set_velocity(body.body, settings.velocity, settings.angular_velocity);
  if (settings.kind != BodyKind::kDynamic)
    body.body.state.momentum = body.body.state.angular_momentum = {};
  if (const auto flaw = find_flaw(body.body.state))
    throw Error(fmt::format("body '{}': {}", name, *flaw));
  body.target = world_from_body(body.body);

  body.ball_center = settings.mass.center;
  if (settings.shape) set_field(body, *settings.shape, state_->settings);
  if (settings.shape && settings.shape->tree()) set_points(body, *settings.shape->tree());
  state_->bodies.push_back(std::move(body));
  return static_cast<BodyId>(state_->bodies.size() - 1);
}

void World::State::make_points() {
  if (complete_bodies == bodies.size() || settings.contact == ContactRule::kOff) return;
  const auto can_be_made = [](const WorldBody& b) {
    return b.is_dynamic() && !b.has_points() && b.has_field() &&
           b.settings.shape->can_have_points();
  };
  for (WorldBody& body : bodies) {
    if (!can_be_made(body)) continue;
    const bool meets_another = std::any_of(bodies.begin(), bodies.end(), [&](const WorldBody& b) {
      return &b != &body && b.has_field() && !b.has_points();
    });
    if (body.settings.shape->solid() || meets_another)
      set_points(body, body.settings.shape->points());
  }
  check_roles();
  complete_bodies = bodies.size();
}

// A pair without a role has two bodies without a field, or two without points: most worlds have one
// such body at most.
void World::State::check_roles() const {
  std::vector<BodyId> without_field, without_points;
  for (BodyId id = 0; id < bodies.size(); ++id) {
    const WorldBody& b = bodies[id];
    if (!b.settings.shape) continue;
    if (!b.has_field()) without_field.push_back(id);
    if (!b.has_points() && b.has_field()) without_points.push_back(id);
  }
  const auto find_pair = [&](std::span<const BodyId> some) -> std::optional<BodyPair> {
    for (std::size_t i = 0; i < some.size(); ++i)
      for (std::size_t j = i + 1; j < some.size(); ++j)
        if ((bodies[some[i]].is_dynamic() || bodies[some[j]].is_dynamic()) &&
            !std::binary_search(ignored.begin(), ignored.end(), BodyPair{some[i], some[j]}))
          return BodyPair{some[i], some[j]};
    return {};
  };
  if (const auto pair = find_pair(without_field))
    throw Error(fmt::format("bodies '{}' and '{}' cannot touch: both are pointshells, and one "
                            "needs a field, unless the pair is ignored",
                            bodies[pair->a].settings.name, bodies[pair->b].settings.name),
                Hint::kField);
  if (const auto pair = find_pair(without_points))
    throw Error(fmt::format("bodies '{}' and '{}' cannot touch: both are without end, and one "
                            "needs points, unless the pair is ignored",
                            bodies[pair->a].settings.name, bodies[pair->b].settings.name),
                Hint::kBounds);
}

const WorldSettings& World::settings() const { return state_->settings; }
std::size_t World::body_count() const { return state_->bodies.size(); }
const RigidBody& World::body(BodyId id) const { return state_->bodies[id].body; }
RigidBody& World::body(BodyId id) { return state_->bodies[id].body; }
const BodySettings& World::body_settings(BodyId id) const { return state_->bodies[id].settings; }
const PointSphereTree* World::points(BodyId id) const {
  const WorldBody& body = state_->bodies[id];
  return body.has_points() ? &body.tree() : nullptr;
}
void World::add_load(BodyId id, const Load& load) { state_->bodies[id].load += load; }
void World::move_to(BodyId id, const Pose& world_from_body) {
  assert(state_->bodies[id].body.kind == BodyKind::kKinematic);
  state_->bodies[id].target = {normalized(world_from_body.rotation), world_from_body.translation};
  state_->bodies[id].target_turn.reset();
}
void World::move_to(BodyId id, const Pose& world_from_body, const Vec3& turn) {
  const Quat end = normalized(world_from_body.rotation);
  const double angle = length(turn);
  if (!is_finite(turn) || !(angle <= kMostTurn))
    throw Error(fmt::format("body '{}': a turn of {} rad in a step",
                            state_->bodies[id].settings.name, angle));
  const Quat& start = state_->bodies[id].body.state.rotation;
  const Quat there = angle > 0 ? rotation_about(turn, angle) * start : start;
  if (!(length(detail::mean_rate(there, end, 1)) <= kTurnRounding))
    throw Error(fmt::format("body '{}': its turn does not lead to the rotation of its pose",
                            state_->bodies[id].settings.name));
  move_to(id, world_from_body);
  state_->bodies[id].target_turn = turn;
}
void World::set_pair_material(BodyId a, BodyId b, const ContactMaterial& material) {
  if (a == b || std::max(a, b) >= state_->bodies.size())
    throw Error("a material of a pair of bodies that are not there, or of a body with itself");
  detail::check_material(material);
  state_->materials[pair_of(a, b)] = material;
  state_->wake_pair(a, b);
}
void World::ignore_pair(BodyId a, BodyId b) {
  if (a == b || std::max(a, b) >= state_->bodies.size())
    throw Error("an ignored pair of bodies that are not there, or of a body with itself");
  auto& ignored = state_->ignored;
  const BodyPair pair = pair_of(a, b);
  const auto at = std::lower_bound(ignored.begin(), ignored.end(), pair);
  if (at == ignored.end() || *at != pair) ignored.insert(at, pair);
  state_->wake_pair(a, b);
}
bool World::is_asleep(BodyId id) const { return state_->bodies[id].asleep; }
void World::wake(BodyId id) { state_->wake(id); }
namespace {

void check(const Motor& m) {
  if (!(std::isfinite(m.velocity) && m.max_force >= 0))
    throw Error("a motor's velocity is not finite, or its force is negative");
}
bool drives(JointKind kind) { return kind == JointKind::kHinge || kind == JointKind::kSlider; }

}  // namespace

void detail::check_material(const ContactMaterial& m) {
  for (const double x : {m.stiffness, m.damping, m.friction, m.stick_stiffness, m.stick_damping})
    if (!(x >= 0 && std::isfinite(x)))
      throw Error("the material of a pair has a number out of range");
}

void detail::check_joint(const JointSettings& j, std::size_t bodies) {
  if (j.a >= bodies || j.b >= bodies) throw Error("a joint of bodies that are not there");
  if (j.a == j.b) throw Error("a joint of a body with itself");
  if (!drives(j.kind) && (j.motor || j.limits))
    throw Error(fmt::format("a {} joint has no motor and no limits", isotact::name(j.kind)));
  if (j.motor) check(*j.motor);
  if (j.limits && !(j.limits->lower <= j.limits->upper))
    throw Error("the lower limit of a joint is above the upper one");
  if (!(j.friction >= 0)) throw Error("the friction of a joint is negative or not a number");
  if (j.kind == JointKind::kFixed && j.friction > 0) throw Error("a fixed joint has no friction");
}

std::size_t World::add_joint(const JointSettings& j) {
  detail::check_joint(j, state_->bodies.size());
  JointSettings joint = j;
  for (Pose* frame : {&joint.a_from_joint, &joint.b_from_joint}) {
    if (!is_finite(frame->translation) || !(std::abs(length_sq(frame->rotation) - 1) < 1e-5))
      throw Error("a joint's frame is not finite, or its quaternion not a unit one");
    frame->rotation = normalized(frame->rotation);
  }
  if (!j.may_touch) ignore_pair(j.a, j.b);
  state_->joints.push_back(joint);
  state_->wake_pair(j.a, j.b);
  return state_->joints.size() - 1;
}
std::span<const JointSettings> World::joints() const { return state_->joints; }
void World::set_motor(std::size_t joint, const Motor& motor) {
  if (joint >= state_->joints.size()) throw Error("a motor of a joint that is not there");
  if (const JointKind kind = state_->joints[joint].kind; !drives(kind))
    throw Error(fmt::format("a {} joint has no motor", isotact::name(kind)));
  check(motor);
  JointSettings& j = state_->joints[joint];
  j.motor = motor;
  state_->wake_pair(j.a, j.b);
}
double World::joint_position(std::size_t joint) const {
  const JointSettings& j = state_->joints[joint];
  return detail::compute_joint_position(j, body(j.a), body(j.b));
}

const StepReport& World::report() const { return state_->report; }
std::span<const PairContact> World::contacts() const { return state_->contacts; }
const std::optional<Trouble>& World::trouble() const { return state_->trouble; }
// The largest of a sum is that of both largest, if these are two bodies that may meet.
double World::thinnest_wall() const {
  double largest = 0;
  const std::vector<WorldBody>& bodies = state_->bodies;
  const auto reach = [](const WorldBody& b) {
    return b.has_points() ? b.tree().covering_radius() : -1.0;
  };
  std::vector<BodyId> by_points;
  for (BodyId id = 0; id < bodies.size(); ++id)
    if (bodies[id].has_points()) by_points.push_back(id);
  std::stable_sort(by_points.begin(), by_points.end(),
                   [&](BodyId a, BodyId b) { return reach(bodies[a]) > reach(bodies[b]); });
  for (BodyId wall = 0; wall < bodies.size(); ++wall) {
    if (!bodies[wall].has_field()) continue;
    const double error = 2 * field_error_of(*bodies[wall].settings.shape);
    for (const BodyId id : by_points) {
      if (reach(bodies[id]) + error <= largest) break;
      if (id != wall && state_->may_meet(pair_of(id, wall))) largest = reach(bodies[id]) + error;
    }
  }
  return largest;
}
Energies World::energies() const { return state_->energies(); }

}  // namespace isotact
