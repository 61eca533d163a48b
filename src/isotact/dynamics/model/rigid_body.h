// A rigid body: its mass, its state, and its motion through one step.
//
// The state is the position of the centre of mass, the rotation, and both momenta. Since momenta
// are the state, free flight conserves both to the last bit of a sum for a body of any shape. The
// gyroscopic torque needs no term of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isotact/base/mat3.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mass_properties.h"

namespace ISOTACT_PUBLIC isotact {

enum class BodyKind : std::uint8_t {
  kDynamic,    // Moved by forces.
  kKinematic,  // Follows given poses and pushes other bodies; nothing pushes it.
  kStatic,     // Does not move.
};
std::string_view name(BodyKind kind);  // "dynamic", "kinematic", "static"

// Constant properties, in kilograms and metres, in the body's frame (the frame of its mesh).
struct BodyMass {
  double mass = 1;
  Vec3 center{};               // Centre of mass.
  Mat3 inertia = identity3();  // About the centre of mass, kg m^2.
  Mat3 inverse_inertia = identity3();
};

// Throws Error if the mass is not positive or no body can have the inertia. It must be positive
// definite, and its principal moments must satisfy the triangle inequality up to rounding.
BodyMass make_body_mass(double mass, const Vec3& center, const Mat3& inertia);
// The mass of a solid of the given density (kg/m^3). Throws Error if there is no solid.
BodyMass make_body_mass(const MassProperties& properties, double density);

// The state that changes, in the world frame.
struct BodyState {
  Vec3 center{};            // Centre of mass.
  Quat rotation{};          // world_from_body
  Vec3 momentum{};          // kg m/s
  Vec3 angular_momentum{};  // kg m^2/s, about the centre of mass.

  friend bool operator==(const BodyState&, const BodyState&) = default;
};

struct RigidBody {
  BodyKind kind = BodyKind::kDynamic;
  BodyMass mass{};
  BodyState state{};
};

Pose world_from_body(const RigidBody& body);
void set_pose(RigidBody& body, const Pose& world_from_body);  // Keeps the momenta.
// Velocity of the centre of mass (m/s) and angular velocity (rad/s), in the world frame. Zero for
// bodies that are not dynamic.
Vec3 velocity(const RigidBody& body);
Vec3 angular_velocity(const RigidBody& body);
Vec3 velocity_at(const RigidBody& body, const Vec3& place);
void set_velocity(RigidBody& body, const Vec3& velocity, const Vec3& angular_velocity);
double kinetic_energy(const RigidBody& body);  // Joules.
// Acceleration of `place` along `direction` per unit force at `place` along it, in 1/kg. Zero for
// bodies that are not dynamic.
double mobility(const RigidBody& body, const Vec3& place, const Vec3& direction);
// Velocity of `place` per unit impulse at `place`; symmetric.
Mat3 mobility(const RigidBody& body, const Vec3& place);

// Force and torque during a step, in the world frame.
struct Load {
  Vec3 force{};   // N
  Vec3 torque{};  // N m, about the centre of mass.

  Load& operator+=(const Load& b) {
    force += b.force;
    torque += b.torque;
    return *this;
  }
};

// How the rotation advances under a constant angular momentum. Both rules apply a rotation, so the
// quaternion stays a unit quaternion, and both conserve momentum exactly.
enum class TurnRule : std::uint8_t {
  kEuler,     // With the rate at the start (XB14): first order.
  kMidpoint,  // With the rate at the middle: second order, in parts of 0.1 rad.
};

// Symplectic Euler (XB14): `kick` changes the momenta by forces, `drift` then moves the body by the
// new momenta. For dynamic bodies only; `step` must be positive (seconds).
void kick(RigidBody& body, const Load& load, double step);
void drift(RigidBody& body, double step, TurnRule rule = TurnRule::kMidpoint);

// Applies an impulse (N s) at `place`, in the world frame.
void push(RigidBody& body, const Vec3& place, const Vec3& impulse);

// Describes the first flaw of a state. Flaws are a number that is not finite, a position beyond
// 1e14 m, and a rotation that is not a unit quaternion.
std::optional<std::string> find_flaw(const BodyState& state);

}  // namespace isotact
