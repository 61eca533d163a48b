// Patches as areas: one contact at the centre of pressure, or a force without contacts. Private to
// the plug-in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isotact/queries/points/shell_query.h"

#include "../candidate.h"

class btCollisionObject;

namespace isotact::bullet_detail {

struct Ours;
struct Placed;
struct RelativeMotion;

// A contact at the centre of pressure of hits, with the arm of their torsional friction. The
// pressure falls linearly to zero at `reach` metres before the other's surface. Returns none if no
// hit is that near. `motion`: null, or that of the first of the pair. A patch that slides has less
// torsional friction left.
std::optional<Candidate> make_pressure_contact(const Ours& ours, const Placed& other,
                                               const ShellPlacement& placement,
                                               std::span<const ShellHit> hits, double reach,
                                               const RelativeMotion* motion, std::uint32_t patch,
                                               std::uint32_t slot);

// The penalty force of one role (SSL14, equations 2 and 3), for a stiffness of 1: on body 0, in the
// world.
struct Penalty {
  Vec3 force{};
  Vec3 torque{};    // About the world's origin.
  double area = 0;  // m^2
};
Penalty compute_penalty(const Ours& ours, const Placed& other, const ShellPlacement& placement,
                        std::span<const ShellHit> hits, ShellForceScale scale,
                        std::vector<ShellHit>& scratch);

struct PenaltyLaw {
  double stiffness = 0;  // 0: chosen by mass and step
  double damping = 0;    // of the critical one
  ShellForceScale scale = ShellForceScale::kMeanDepth;
  double time_step = 0;  // s
};
// Adds the mean of the roles' forces to the loads of both bodies, with damping and friction.
void apply_penalties(std::span<const Penalty> penalties, const PenaltyLaw& law,
                     const btCollisionObject& body_0, const btCollisionObject& body_1);

}  // namespace isotact::bullet_detail
