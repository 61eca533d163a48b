#include "isotact/dynamics/model/rigid_body.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/model/joint.h"
#include "isotact/dynamics/model/spatial.h"

namespace isotact {
namespace {

constexpr double kFurthest = 1e14;  // metres: less than where motions end to make sense (motion.h)

// Of a symmetric matrix with a determinant that is not zero.
Mat3 invert(const Mat3& m) {
  const auto& [a, b, c] = m.rows;
  const Vec3 x = cross(b, c), y = cross(c, a), z = cross(a, b);
  return transpose(Mat3{{x, y, z}}) * (1 / dot(a, x));
}

Vec3 turn(const BodyState& state, const Mat3& in_body, const Vec3& v) {
  return rotate(state.rotation, in_body * rotate(conjugate(state.rotation), v));
}

Quat turned(const Quat& rotation, const Vec3& by) {
  return normalized(rotation_about(by, length(by)) * rotation);
}

}  // namespace

std::string_view name(BodyKind kind) {
  switch (kind) {
    case BodyKind::kDynamic:
      return "dynamic";
    case BodyKind::kKinematic:
      return "kinematic";
    case BodyKind::kStatic:
      return "static";
  }
  return "";
}

BodyMass make_body_mass(double mass, const Vec3& center, const Mat3& inertia) {
  if (!(std::isfinite(mass) && mass > 0))
    throw Error(fmt::format("a body of mass {} kg: it should be positive", mass));
  if (!is_finite(center)) throw Error("a body's centre of mass is not finite");
  const auto& [a, b, c] = inertia.rows;
  const double scale = std::abs(a.x) + std::abs(b.y) + std::abs(c.z);
  if (!std::isfinite(scale) || !is_finite(a) || !is_finite(b) || !is_finite(c))
    throw Error("a body's inertia is not finite");
  const double skew = std::abs(a.y - b.x) + std::abs(a.z - c.x) + std::abs(b.z - c.y);
  if (skew > 1e-9 * scale) throw Error("a body's inertia is not symmetric");
  // Positive definite by its leading minors; and so must be the second moments trace / 2 - inertia,
  // but for flat bodies, where one is zero.
  const double minor = a.x * b.y - a.y * b.x, whole = determinant(inertia);
  const double tiny = 1e-14 * scale;
  if (!(a.x > tiny && minor > tiny * scale && whole > tiny * scale * scale))
    throw Error("a body's inertia is not positive definite");
  const Mat3 moments = identity3() * (0.5 * (a.x + b.y + c.z)) + inertia * -1.0;
  const double loose = 1e-6 * scale;
  if (moments.rows[0].x < -loose || moments.rows[1].y < -loose || moments.rows[2].z < -loose)
    throw Error("no body has such an inertia: one moment is more than the sum of the others");
  return {mass, center, inertia, invert(inertia)};
}

BodyMass make_body_mass(const MassProperties& properties, double density) {
  if (properties.status == MassStatus::kNoVolume || !(properties.volume > 0))
    throw Error("a body that moves needs a volume, and this one has none");
  if (!(std::isfinite(density) && density > 0))
    throw Error(fmt::format("a density of {} kg/m^3: it should be positive", density));
  const double factor = density * properties.volume / properties.mass;
  return make_body_mass(properties.mass * factor, properties.center, properties.inertia * factor);
}

Pose world_from_body(const RigidBody& body) {
  const BodyState& s = body.state;
  return {s.rotation, s.center - rotate(s.rotation, body.mass.center)};
}

void set_pose(RigidBody& body, const Pose& world_from_body) {
  body.state.rotation = normalized(world_from_body.rotation);
  body.state.center = rotate(body.state.rotation, body.mass.center) + world_from_body.translation;
}

Vec3 velocity(const RigidBody& body) { return body.state.momentum / body.mass.mass; }

Vec3 angular_velocity(const RigidBody& body) {
  return turn(body.state, body.mass.inverse_inertia, body.state.angular_momentum);
}

Vec3 velocity_at(const RigidBody& body, const Vec3& place) {
  return velocity(body) + cross(angular_velocity(body), place - body.state.center);
}

void set_velocity(RigidBody& body, const Vec3& velocity, const Vec3& angular_velocity) {
  body.state.momentum = velocity * body.mass.mass;
  body.state.angular_momentum = turn(body.state, body.mass.inertia, angular_velocity);
}

double kinetic_energy(const RigidBody& body) {
  return 0.5 * (dot(body.state.momentum, velocity(body)) +
                dot(body.state.angular_momentum, angular_velocity(body)));
}

double mobility(const RigidBody& body, const Vec3& place, const Vec3& direction) {
  if (body.kind != BodyKind::kDynamic) return 0;
  const Vec3 arm = cross(place - body.state.center, direction);
  return length_sq(direction) / body.mass.mass +
         dot(arm, turn(body.state, body.mass.inverse_inertia, arm));
}

Mat3 mobility(const RigidBody& body, const Vec3& place) {
  Mat3 m{};
  if (body.kind != BodyKind::kDynamic) return m;
  const Vec3 arm = place - body.state.center;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vec3 unit{};
    unit[axis] = 1;
    const Vec3 turned = turn(body.state, body.mass.inverse_inertia, cross(arm, unit));
    m.rows[axis] = unit / body.mass.mass + cross(turned, arm);
  }
  return m;
}

void kick(RigidBody& body, const Load& load, double step) {
  assert(body.kind == BodyKind::kDynamic && step > 0);
  body.state.momentum += load.force * step;
  body.state.angular_momentum += load.torque * step;
}

namespace {

// At the rate in the middle, twice improved: its own turn is what it is found from.
void turn_by_midpoint(RigidBody& body, double step) {
  BodyState& s = body.state;
  const Quat begin = s.rotation;
  Vec3 rate = angular_velocity(body);
  for (int i = 0; i < 2; ++i) {
    s.rotation = turned(begin, rate * (0.5 * step));
    rate = angular_velocity(body);
  }
  s.rotation = turned(begin, rate * step);
}

}  // namespace

void drift(RigidBody& body, double step, TurnRule rule) {
  assert(body.kind == BodyKind::kDynamic && step > 0);
  body.state.center += velocity(body) * step;
  const Vec3 rate = angular_velocity(body);
  if (rule == TurnRule::kEuler) {
    body.state.rotation = turned(body.state.rotation, rate * step);
    return;
  }
  // What spins fast is turned in parts: the energy of its spin would go up and down otherwise.
  constexpr double kLargeTurn = 0.1, kMostParts = 64;  // radians
  // In this order, what is not a number counts as 1.
  const double parts =
      std::min(std::max(1.0, std::ceil(length(rate) * step / kLargeTurn)), kMostParts);
  for (int i = 0; i < static_cast<int>(parts); ++i) turn_by_midpoint(body, step / parts);
}

void push(RigidBody& body, const Vec3& place, const Vec3& impulse) {
  if (body.kind != BodyKind::kDynamic) return;
  body.state.momentum += impulse;
  body.state.angular_momentum += cross(place - body.state.center, impulse);
}

std::optional<std::string> find_flaw(const BodyState& s) {
  if (!is_finite(s.center)) return "its place is not finite";
  if (length(s.center) > kFurthest) return fmt::format("it is more than {:.0e} m away", kFurthest);
  if (!std::isfinite(length_sq(s.rotation))) return "its rotation is not finite";
  if (std::abs(length_sq(s.rotation) - 1) > 1e-5) return "its rotation is no unit quaternion";
  if (!is_finite(s.momentum)) return "its momentum is not finite";
  if (!is_finite(s.angular_momentum)) return "its angular momentum is not finite";
  return std::nullopt;
}

std::string_view name(JointKind kind) {
  switch (kind) {
    case JointKind::kBall:
      return "ball";
    case JointKind::kHinge:
      return "hinge";
    case JointKind::kSlider:
      return "slider";
    case JointKind::kFixed:
      return "fixed";
  }
  return "";
}

std::optional<JointKind> find_joint_kind(std::string_view text) {
  for (const JointKind kind :
       {JointKind::kBall, JointKind::kHinge, JointKind::kSlider, JointKind::kFixed})
    if (name(kind) == text) return kind;
  return std::nullopt;
}

JointFrames compute_joint_frames(const Pose& world_from_a, const Pose& world_from_b,
                                 const Vec3& place, const Vec3& axis) {
  const Vec3 x = normalized(axis);
  const Vec3 other = std::abs(x.x) < 0.8 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 y = normalized(cross(other, x)), z = cross(x, y);
  const Pose world_from_joint{to_quat(transpose(Mat3{{x, y, z}})), place};
  return {inverse(world_from_a) * world_from_joint, inverse(world_from_b) * world_from_joint};
}

namespace {

Mat3 outer(const Vec3& a, const Vec3& b) { return {{b * a.x, b * a.y, b * a.z}}; }

}  // namespace

SpatialMatrix resist_along(const Vec3& direction, const Vec3& arm, double size) {
  const Vec3 turn = cross(arm, direction);
  return {outer(direction, direction * size), outer(direction, turn * size),
          outer(turn, turn * size)};
}

// A twist moves the place at `arm` by v + w x arm; the force against that has the moment
// arm x (v + w x arm).
SpatialMatrix resist_all(const Vec3& arm, double size) {
  const Vec3 r = arm * size;
  const Mat3 around = outer(arm, r);
  SpatialMatrix m;
  m.ll = identity3() * size;
  m.la = {{Vec3{0, r.z, -r.y}, Vec3{-r.z, 0, r.x}, Vec3{r.y, -r.x, 0}}};
  m.aa = identity3() * dot(arm, r) + around * -1.0;
  return m;
}

}  // namespace isotact
