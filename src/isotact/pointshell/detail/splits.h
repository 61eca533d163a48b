// Points split recursively into parts, from one root down to clusters of points.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

// One level: the parent of each node of the next level.
struct Parents {
  std::vector<std::uint32_t> of_children;
  std::uint32_t count = 0;  // Number of nodes of this level.
};

struct Split {
  std::vector<Parents> levels;
  std::vector<std::uint32_t> order;
};

// On the last level, children are points, by their position in `order`. No node has more than K
// children. Deterministic.
Split split_shell(const PointShell& shell, const PointSphereTreeSettings& settings);

}  // namespace isotact::detail
