// Virtual coupling: a spring and a damper in all six degrees of freedom between the pose of a
// haptic device and a simulated tool. The device may enter walls; contact stops the tool. The hand
// feels the spring between the two and not the stiffness of the contact, which a device at 1 kHz
// cannot render without shaking.
//
//   const ToolPath path = read_tool_path("peg_in_hole.csv");   // or a device
//   const CollideRequest request{.max_microseconds = 500, .want_force = true};
//   for (each millisecond) {
//     const CollideResult& touch =
//         collide(tool_shape, world_from_body(tool), part, {}, request, scratch);
//     const ToolContact contact = make_tool_contact(touch, tool, request.force);
//     const Load felt = step_tool(tool, {device_before, device_now}, contact, coupling, 1e-3);
//   }
//
// The step is implicit (backward Euler, linearised once). Springs and contacts remove energy and do
// not add any, provided that the stated stiffness is at least the true one.
#pragma once

#include <array>

#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/export.h"
#include "isotact/queries/collide.h"

namespace ISOTACT_PUBLIC isotact {

// The defaults suit a desktop device and a tool of about 100 g.
struct CouplingSettings {
  double stiffness = 1000;     // N/m
  double damping = 10;         // N s/m
  double turn_stiffness = 2;   // N m/rad
  double turn_damping = 0.02;  // N m s/rad
  // Limits of the device, and so of the pull on the tool; 0 means no limit. Beyond the limit the
  // pull stays constant, however far the device moves.
  double max_force = 0;   // N
  double max_torque = 0;  // N m
};

// Throws Error if a setting is negative or not finite.
void check(const CouplingSettings& settings);

// Device poses at the start and the end of the step: world_from_tool of a tool that touches
// nothing.
struct DeviceMotion {
  Pose from{}, to{};
};

// The part's action on the tool, about the tool's centre of mass, in the world frame.
struct ToolContact {
  Load load{};
  // Decrease of the load per (translation, rotation) of the tool, in N/m, N and N m. Symmetric and
  // positive semidefinite.
  std::array<std::array<double, 6>, 6> stiffness{};
};

// Takes the result of a query with force in which the tool was A. The load is the query's. The
// stiffness is that of springs along the normals at the query's contacts; they share the stiffness
// of the whole (of the touching area, with kPressure). The contacts are the ends of the patch, so
// rotation is resisted at least as strongly as by the patch itself.
ToolContact make_tool_contact(const CollideResult& result, const RigidBody& tool,
                              const ShellForceSettings& settings);

// The load of the spring alone, at rest, on the tool; the torque is about the centre of mass.
Load compute_coupling(const RigidBody& tool, const Pose& device, const CouplingSettings& settings);
double coupling_energy(const RigidBody& tool, const Pose& device,
                       const CouplingSettings& settings);  // Joules, ignoring the limits.

// Advances the tool by one step (seconds) and returns the load of the coupling on it; the hand
// feels the opposite. Does not allocate. Cost: below a microsecond.
Load step_tool(RigidBody& tool, const DeviceMotion& device, const ToolContact& contact,
               const CouplingSettings& settings, double step);

}  // namespace isotact
