// Virtual coupling: a spring and a damper, in all six degrees of freedom, between the pose of a
// haptic device and a tool that is simulated. The device may go anywhere, into walls too; the tool
// is stopped by contact; what the hand feels is the spring between the two. So the hand never feels
// the contact's own stiffness, which no device at 1 kHz could render without shaking.
//
//   const ToolPath path = read_tool_path("peg_in_hole.csv");   // or a device
//   const CollideRequest request{.max_microseconds = 500, .want_force = true};
//   for (each millisecond) {
//     const CollideResult& touch =
//         collide(tool_shape, world_from_body(tool), part, {}, request, state);
//     const ToolContact contact = make_tool_contact(touch, tool, request.force);
//     const Load felt = step_tool(tool, {device_before, device_now}, contact, coupling, 1e-3);
//   }
//
// The step is implicit (backward Euler, linearised once): springs and contacts of any stiffness
// take energy out, never put it in, as long as the stiffness stated is no less than the true one.
#pragma once

#include <array>

#include "isotact/dynamics/rigid_body.h"
#include "isotact/queries/collide.h"

namespace isotact {

// Those of a desktop device, for a tool of some 100 g.
struct CouplingSettings {
  double stiffness = 1000;     // N/m
  double damping = 10;         // N s/m
  double turn_stiffness = 2;   // N m/rad
  double turn_damping = 0.02;  // N m s/rad
  // What the device can do, and so the most that pulls the tool; 0: no limit. The spring gives way
  // then: it pulls as hard, however far the device goes.
  double max_force = 0;   // N
  double max_torque = 0;  // N m
};

// Throws Error for settings that are not finite or negative.
void check(const CouplingSettings& settings);

// Where the device was at the step's beginning, and is at its end: world_from_tool, as the tool
// would be if nothing touched it.
struct DeviceMotion {
  Pose from{}, to{};
};

// How the part acts on the tool, about the tool's centre of mass, in the world's frame.
struct ToolContact {
  Load load{};
  // N/m, N and N m: how the load falls when the tool moves by (shift, turn). Symmetric, positive
  // semidefinite.
  std::array<std::array<double, 6>, 6> stiffness{};
};

// Of a collision in which the tool was A, with force. The load is the query's; the stiffness is
// that of springs along the normals at the query's contacts, which share that of the whole (of the
// area that touches, with kPressure). The contacts are the ends of the patch, so that turning is
// held at least as hard as by the patch itself.
ToolContact make_tool_contact(const CollideResult& result, const RigidBody& tool,
                              const ShellForceSettings& settings);

// The spring alone, at rest: what it does to the tool (its torque about the centre of mass).
Load find_coupling(const RigidBody& tool, const Pose& device, const CouplingSettings& settings);
double coupling_energy(const RigidBody& tool, const Pose& device,
                       const CouplingSettings& settings);  // joules, without limits

// Moves the tool on by a step (seconds), and returns what the coupling did to it; the hand feels
// the opposite. Does not allocate. Cost: below a microsecond.
Load step_tool(RigidBody& tool, const DeviceMotion& device, const ToolContact& contact,
               const CouplingSettings& settings, double step);

}  // namespace isotact
