// Joints as equations between velocities.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isotact/dynamics/model/joint.h"
#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/dynamics/model/spatial.h"

namespace isotact::detail {

// One equation: on_a . twist of A + on_b . twist of B = wanted, both about the bodies' centres. A
// unit of its impulse is these wrenches.
struct JointRow {
  std::size_t a = 0, b = 0;
  Wrench on_a{}, on_b{};
  double wanted = 0;                                        // Velocity.
  double least = -std::numeric_limits<double>::infinity();  // Bounds of the impulse.
  double most = std::numeric_limits<double>::infinity();
  bool is_motor = false;
  // The search begins with this impulse, which is one of the bounds. None: it begins at a bound of
  // 0, or else without bounds.
  std::optional<double> first{};
  double softness = 1e-9;  // Share of its own response that the row gives in by.
  std::size_t contact = static_cast<std::size_t>(-1);  // Its index, if the row holds a contact.
};
void add_joint_rows(const JointSettings& joint, const RigidBody& a, const RigidBody& b, double step,
                    std::vector<JointRow>& rows);

// Returns the impulses with which all rows have their `missing` velocities. `matrix` (row by row)
// has the change of velocity of one row per unit impulse of another. Motors and limits that would
// exceed their bounds are held there, and the rest is solved again.
std::vector<double> solve_joint_rows(std::span<const JointRow> rows, std::span<const double> matrix,
                                     std::span<const double> missing);

// Positions of joints.

// Error of a joint: metres of distance, radians of angle. For reports and tests.
struct JointError {
  double distance = 0, angle = 0;
};
JointError compute_joint_error(const JointSettings& joint, const RigidBody& a, const RigidBody& b);

// Returns the angle of a hinge, or the position of a slider.
double compute_joint_position(const JointSettings& joint, const RigidBody& a, const RigidBody& b);

}  // namespace isotact::detail
