// Joints as equations between velocities.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "isotact/dynamics/joint.h"
#include "isotact/dynamics/rigid_body.h"
#include "isotact/dynamics/spatial.h"

namespace isotact::detail {

// One equation: on_a . twist of A + on_b . twist of B = wanted, both about the bodies' centres. A
// unit of its impulse is these wrenches.
struct JointRow {
  std::size_t a = 0, b = 0;
  Wrench on_a{}, on_b{};
  double wanted = 0;                                        // velocity
  double least = -std::numeric_limits<double>::infinity();  // of the impulse
  double most = std::numeric_limits<double>::infinity();
  bool is_motor = false;
};
void add_joint_rows(const JointSettings& joint, const RigidBody& a, const RigidBody& b, double step,
                    std::vector<JointRow>& rows);

// The impulses with which all rows have what they miss: `matrix` (row by row) tells how fast one
// goes by a unit impulse of another. Motors and limits that would pass their bounds are held there,
// and the rest is solved anew.
std::vector<double> solve_joint_rows(std::span<const JointRow> rows, std::span<const double> matrix,
                                     std::span<const double> missing);

}  // namespace isotact::detail
