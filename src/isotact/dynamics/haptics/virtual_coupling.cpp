#include "isotact/dynamics/haptics/virtual_coupling.h"

#include <cassert>
#include <cmath>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

Vector6 stack(const Vec3& a, const Vec3& b) {
  return (Vector6() << a.x, a.y, a.z, b.x, b.y, b.z).finished();
}
Vec3 part(const Vector6& v, Eigen::Index first) { return {v[first], v[first + 1], v[first + 2]}; }

// The turn from one rotation to another, the shorter way: axis times angle, in the world's frame.
Vec3 turn_between(const Quat& from, const Quat& to) {
  Quat q = to * conjugate(from);
  if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
  const Vec3 u{q.x, q.y, q.z};
  const double sine = length(u);
  if (sine < 1e-9) return 2.0 * u;
  return u * (2 * angle_of(sine, q.w) / sine);
}

// From the tool to the device: of the centre of mass, and of the rotation.
struct Gap {
  Vec3 shift{}, turn{};
};
Gap gap_of(const RigidBody& tool, const Pose& device) {
  return {transform_point(device, tool.mass.center) - tool.state.center,
          turn_between(tool.state.rotation, device.rotation)};
}

Vec3 limited(const Vec3& v, double most) {
  const double size = length(v);
  return most > 0 && size > most ? v * (most / size) : v;
}

Matrix6 mass_matrix(const RigidBody& tool) {
  Matrix6 m = Matrix6::Zero();
  const Mat3 turn = to_matrix(tool.state.rotation);
  const Mat3 inertia = turn * tool.mass.inertia * transpose(turn);
  for (Eigen::Index i = 0; i < 3; ++i) {
    m(i, i) = tool.mass.mass;
    const Vec3& row = inertia.rows[static_cast<std::size_t>(i)];
    m(3 + i, 3) = row.x, m(3 + i, 4) = row.y, m(3 + i, 5) = row.z;
  }
  return m;
}

// One of the coupling's two springs: a force that is known, less `resistance` times the new
// velocity.
struct Pull {
  Vec3 at_rest{};
  double resistance = 0;

  Vec3 at(const Vec3& velocity) const { return at_rest - velocity * resistance; }
};

// At the end of a step: spring (gap - step v) + damper (device's velocity - v).
Pull make_pull(const Vec3& gap, const Vec3& device_velocity, double stiffness, double damping,
               double step) {
  return {gap * stiffness + device_velocity * damping, step * stiffness + damping};
}

// Beyond its limit it pulls as hard as that, whatever the velocity. Tells whether it did not.
bool limit(Pull& pull, const Vec3& velocity, double most) {
  const Vec3 now = pull.at(velocity);
  if (!(most > 0) || length(now) <= most * (1 + 1e-12)) return false;
  pull = {limited(now, most), 0};
  return true;
}

}  // namespace

void check(const CouplingSettings& settings) {
  const auto check_one = [](const char* name, double value) {
    if (!(std::isfinite(value) && value >= 0))
      throw Error(fmt::format("the coupling's {} is {}: it should be 0 or more", name, value));
  };
  check_one("stiffness", settings.stiffness);
  check_one("damping", settings.damping);
  check_one("turn_stiffness", settings.turn_stiffness);
  check_one("turn_damping", settings.turn_damping);
  check_one("max_force", settings.max_force);
  check_one("max_torque", settings.max_torque);
}

ToolContact make_tool_contact(const CollideResult& result, const RigidBody& tool,
                              const ShellForceSettings& settings) {
  ToolContact contact;
  if (!(result.area > 0)) return contact;
  const Vec3 center = tool.state.center, origin = world_from_body(tool).translation;
  contact.load = {result.force, result.torque - cross(center - origin, result.force)};
  const double whole = settings.scale == ShellForceScale::kPressure
                           ? settings.stiffness * result.area
                           : settings.stiffness;
  const double each = whole / static_cast<double>(result.contacts.size());
  for (const Contact& c : result.contacts) {
    const Vec3 arm = cross(c.position - center, c.normal);
    const std::array<double, 6> row{c.normal.x, c.normal.y, c.normal.z, arm.x, arm.y, arm.z};
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t k = 0; k < 6; ++k) contact.stiffness[i][k] += each * row[i] * row[k];
  }
  return contact;
}

Load compute_coupling(const RigidBody& tool, const Pose& device, const CouplingSettings& settings) {
  const Gap gap = gap_of(tool, device);
  return {limited(gap.shift * settings.stiffness, settings.max_force),
          limited(gap.turn * settings.turn_stiffness, settings.max_torque)};
}

double coupling_energy(const RigidBody& tool, const Pose& device,
                       const CouplingSettings& settings) {
  const Gap gap = gap_of(tool, device);
  return 0.5 * (settings.stiffness * length_sq(gap.shift) +
                settings.turn_stiffness * length_sq(gap.turn));
}

Load step_tool(RigidBody& tool, const DeviceMotion& device, const ToolContact& contact,
               const CouplingSettings& settings, double step) {
  assert(tool.kind == BodyKind::kDynamic && step > 0);
  const Gap gap = gap_of(tool, device.to);
  const Vec3& center = tool.mass.center;
  const Vec3 device_velocity =
      (transform_point(device.to, center) - transform_point(device.from, center)) / step;
  const Vec3 device_turning = turn_between(device.from.rotation, device.to.rotation) / step;
  Pull shift = make_pull(gap.shift, device_velocity, settings.stiffness, settings.damping, step);
  Pull turn =
      make_pull(gap.turn, device_turning, settings.turn_stiffness, settings.turn_damping, step);

  // (M + h D + h^2 K) v1 = M v0 + h F: forces are those of the end of the step.
  const Matrix6 mass = mass_matrix(tool);
  const Vector6 momentum = mass * stack(velocity(tool), angular_velocity(tool));
  Matrix6 base = mass;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      base(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) +=
          step * step * contact.stiffness[i][k];
  // Each round may find one more of the two springs beyond its limit: three at most.
  Vec3 moving, turning;
  for (int round = 0; round < 3; ++round) {
    Matrix6 whole = base;
    for (Eigen::Index i = 0; i < 3; ++i) {
      whole(i, i) += step * shift.resistance;
      whole(3 + i, 3 + i) += step * turn.resistance;
    }
    const Vec3 force = shift.at_rest + contact.load.force;
    const Vec3 torque = turn.at_rest + contact.load.torque;
    const Vector6 v = whole.llt().solve(momentum + step * stack(force, torque));
    moving = part(v, 0);
    turning = part(v, 3);
    const bool is_shift = limit(shift, moving, settings.max_force);
    const bool is_turn = limit(turn, turning, settings.max_torque);
    if (!is_shift && !is_turn) break;
  }
  set_velocity(tool, moving, turning);
  drift(tool, step);
  return {shift.at(moving), turn.at(turning)};
}

}  // namespace isotact
