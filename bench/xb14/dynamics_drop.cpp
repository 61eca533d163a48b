#include "dynamics_drop.h"

#include <algorithm>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"

namespace isotact::bench {
namespace {

constexpr double kGravity = 9.81;
constexpr double kHeight = 0.3, kTwinHeight = 0.4;  // of the centre of mass, metres
// Of the surface: what usually touches. The damping ratio is that of this area.
constexpr double kTouching = 0.02;

constexpr double kMostGained = 0.02, kMostRest = 0.05;  // of the drop's energy
constexpr double kExploded = 20;                        // times the drop's energy

ContactRule rule_of(Method method) {
  switch (method) {
    case Method::kContinuous:
    case Method::kImplicit:
    case Method::kOwn:
      return ContactRule::kContinuous;
    case Method::kDiscrete:
      return ContactRule::kDiscrete;
    case Method::kLagged:
      break;
  }
  return ContactRule::kOff;
}

BodyStep step_between(const Pose& from, const World& world, BodyId id) {
  const RigidBody& body = world.body(id);
  const double h = world.settings().step;
  BodyStep s;
  s.motion = {from, world.pose(id), body.mass.center};
  s.center_from = transform_point(from, body.mass.center);
  s.center_to = body.state.center;
  s.velocity = (s.center_to - s.center_from) / h;
  // Forces do not change between the two poses, so that this is the rate of the step.
  s.angular_velocity = angular_velocity(body);
  return s;
}

}  // namespace

const char* name(Method method) {
  switch (method) {
    case Method::kContinuous:
      return "continuous";
    case Method::kDiscrete:
      return "discrete";
    case Method::kLagged:
      return "lagged";
    case Method::kImplicit:
      return "implicit";
    case Method::kOwn:
      break;
  }
  return "own";
}

Spring make_spring(double stiffness, double damping_ratio, double mass, double area) {
  return {stiffness, 2 * damping_ratio * std::sqrt(stiffness * mass / area)};
}

namespace {

WorldSettings make_world(const Stage::Settings& s) {
  WorldSettings world = make_paper_world(s.step, rule_of(s.method), s.law);
  if (s.method == Method::kImplicit) world.solve = ForceSolve::kImplicit;
  if (s.method == Method::kOwn) world.solve = ForceSolve::kStep;
  return world;
}

}  // namespace

Stage::Stage(const DropBody& body, const Settings& settings)
    : what_(body), settings_(settings), world_(make_world(settings)) {
  const BodyId ground = world_.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  body_id_ = world_.add_body({.name = "body",
                              .shape = body.shape,
                              .mass = body.mass,
                              .pose = settings.pose,
                              .velocity = settings.velocity});
  const ContactMaterial material{
      .stiffness = settings.spring.stiffness, .damping = settings.spring.damping, .friction = 0};
  world_.set_pair_material(ground, body_id_, material);
  if (!settings.has_twin) return;
  const BodyId twin =
      world_.add_body({.name = "twin", .kind = BodyKind::kStatic, .shape = body.shape});
  world_.set_pair_material(twin, body_id_, material);
}

void Stage::step() {
  if (settings_.method != Method::kLagged) {
    const StepReport& report = world_.step();
    points_ = report.points;
    depth_ = report.depth;
    return;
  }
  const Pose from = world_.pose(body_id_);
  const double h = settings_.step;
  const Vec3 center = world_.body(body_id_).state.center;
  world_.add_load(body_id_,
                  {pending_.linear / h, (pending_.angular - cross(center, pending_.linear)) / h});
  world_.step();
  pending_ = found_;
  found_ = compute_impulse(from);
}

// As World does it for the discrete twin, with its own functions.
Stage::Impulse Stage::compute_impulse(const Pose& from) {
  const PointSphereTree& tree = what_.tree();
  const BodyStep moving = step_between(from, world_, body_id_), resting{};
  ForceSettings forces = world_.settings().forces;
  forces.material = {
      .stiffness = settings_.spring.stiffness, .damping = settings_.spring.damping, .friction = 0};
  Impulse sum;
  points_ = 0;
  depth_ = 0;
  const auto add = [&](const auto& field, const BodyStep& shell, const BodyStep& other,
                       double sign) {
    ShellPath path;
    compute_shell_path({.shell = shell.motion, .field = other.motion}, ball_of(tree), 1e-5, path);
    std::vector<PointStick> sticks;
    const RoleImpulse role = compute_discrete_impulse(
        field, {tree, path, {}, {}, shell, other, settings_.step}, forces, sticks);
    sum.linear += role.impulse * sign;
    sum.angular += role.angular_impulse * sign;
    points_ += role.points;
    depth_ = std::max(depth_, role.depth);
  };
  add(AnyField{PlaneField{}}, moving, resting, 1);
  if (!settings_.has_twin) return sum;
  forces.material.stiffness *= 0.5;
  forces.material.damping *= 0.5;
  add(what_.field(), moving, resting, 1);
  add(what_.field(), resting, moving, -1);
  return sum;
}

DropOutcome run_drop(const DropBody& body, const Drop& drop, bool keep_poses) {
  Random random(static_cast<std::uint64_t>(drop.orientation));
  const Quat turn = random.rotation();
  const Vec3 start{drop.has_twin ? 0.01 * drop.orientation : 0,
                   drop.has_twin ? kTwinHeight : kHeight, 0};
  Stage stage(body, {.method = drop.method,
                     .law = drop.law,
                     .spring = make_spring(drop.stiffness, drop.damping_ratio, body.mass.mass,
                                           kTouching * body.area),
                     .step = drop.step,
                     .pose = {turn, start - rotate(turn, body.mass.center)},
                     .has_twin = drop.has_twin});
  const double energy = body.mass.mass * kGravity * start.y;
  const auto steps = static_cast<std::size_t>(drop.seconds / drop.step);
  DropOutcome out;
  double frame = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    if (keep_poses && stage.world().time() >= frame) {
      out.poses.push_back(stage.world().pose(stage.body()));
      frame += 1.0 / 30;
    }
    stage.step();
    const Energies e = stage.world().energies();
    const double now = e.kinetic + e.potential;
    out.deepest = std::max(out.deepest, stage.depth());
    if (stage.points() == 0) out.gained = std::max(out.gained, now / energy - 1);
    if (i > steps * 9 / 10) out.rest = std::max(out.rest, e.kinetic / energy);
    if (!(now < kExploded * energy)) {
      out.gained = std::max(out.gained, kExploded);
      return out;
    }
  }
  out.stable = out.gained < kMostGained && out.rest < kMostRest;
  return out;
}

}  // namespace isotact::bench
