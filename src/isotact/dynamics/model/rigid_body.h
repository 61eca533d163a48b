// A rigid body: what it is, where it is, how it moves; and its way through one step.
//
// The state is the place of the centre of mass, the rotation, and the two momenta. With momenta,
// not velocities, as the state, free flight conserves both to the last bit of a sum, whatever the
// shape of the body, and the gyroscopic torque needs no term of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isotact/base/mat3.h"
#include "isotact/base/pose.h"
#include "isotact/geometry/mass_properties.h"

namespace isotact {

enum class BodyKind : std::uint8_t {
  kDynamic,    // moved by forces
  kKinematic,  // goes where it is told, and pushes others; nothing pushes it
  kStatic,     // stays
};
std::string_view name(BodyKind kind);  // "dynamic", "kinematic", "static"

// What does not change. Metres, kilograms; in the body's frame, which is that of its mesh.
struct BodyMass {
  double mass = 1;
  Vec3 center{};               // of mass
  Mat3 inertia = identity3();  // about the centre
  Mat3 inverse_inertia = identity3();
};

// Throws Error for a mass that is not positive, and for an inertia that no body can have (not
// positive definite, or beyond the triangle inequality of its principal moments by more than
// rounding).
BodyMass make_body_mass(double mass, const Vec3& center, const Mat3& inertia);
// Of a solid, at that density (kg/m^3). Throws Error where there is no solid.
BodyMass make_body_mass(const MassProperties& properties, double density);

// What changes, in the world's frame.
struct BodyState {
  Vec3 center{};            // of mass
  Quat rotation{};          // world_from_body
  Vec3 momentum{};          // kg m/s
  Vec3 angular_momentum{};  // kg m^2/s, about the centre

  friend bool operator==(const BodyState&, const BodyState&) = default;
};

struct RigidBody {
  BodyKind kind = BodyKind::kDynamic;
  BodyMass mass{};
  BodyState state{};
};

Pose world_from_body(const RigidBody& body);
void set_pose(RigidBody& body, const Pose& world_from_body);  // keeps momenta
// Of the centre, and of the turning; both in the world's frame. Zero for what does not move freely.
Vec3 velocity(const RigidBody& body);
Vec3 angular_velocity(const RigidBody& body);
Vec3 velocity_at(const RigidBody& body, const Vec3& place);
void set_velocity(RigidBody& body, const Vec3& velocity, const Vec3& angular_velocity);
double kinetic_energy(const RigidBody& body);  // joules
// By how much a unit force along a direction at a place speeds that place up along it: 1 / kg. Zero
// for bodies that nothing pushes.
double mobility(const RigidBody& body, const Vec3& place, const Vec3& direction);
// The velocity that each unit impulse at a place gives to that place: symmetric.
Mat3 mobility(const RigidBody& body, const Vec3& place);

// What acts during a step, in the world's frame.
struct Load {
  Vec3 force{};   // N
  Vec3 torque{};  // N m, about the centre

  Load& operator+=(const Load& b) {
    force += b.force;
    torque += b.torque;
    return *this;
  }
};

// How the rotation goes on under a constant angular momentum. Both turn by a rotation, so that no
// quaternion drifts from the unit sphere; and momentum is conserved exactly by both.
enum class TurnRule : std::uint8_t {
  kEuler,     // at the rate of the beginning (XB14): first order
  kMidpoint,  // at the rate of the middle: second order; in parts of a tenth of a radian
};

// Symplectic Euler, as XB14: forces change momenta first, and the new momenta move the body. Only
// for dynamic bodies; the step must be positive (seconds).
void kick(RigidBody& body, const Load& load, double step);
void drift(RigidBody& body, double step, TurnRule rule = TurnRule::kMidpoint);

// An impulse (N s) at a place.
void push(RigidBody& body, const Vec3& place, const Vec3& impulse);

// What is wrong with a state, in words: a number that is not finite, a place further away than 1e14
// m, or a rotation that is no unit quaternion.
std::optional<std::string> find_flaw(const BodyState& state);

}  // namespace isotact
