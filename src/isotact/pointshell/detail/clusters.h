// The hierarchy of a point-sphere tree, before its spheres are computed.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

// One level. Children of node i are the nodes [child_begin[i], child_begin[i + 1]) of the next
// level. On the last level, children are positions in `order`.
struct ClusterLevel {
  std::vector<std::uint32_t> child_begin;
  std::vector<std::uint32_t> representative;  // Index into the shell.
};

struct Clusters {
  std::vector<ClusterLevel> levels;  // The root's level is the first.
  std::vector<std::uint32_t> order;  // Indices into the shell, in the order of the tree.
};

// Returns the largest allowed number of children per node. It exceeds K only if outliers may join.
int compute_child_stride(const PointSphereTreeSettings& settings);

Clusters find_clusters(const PointShell& shell, const PointSphereTreeSettings& settings);

// Points split recursively into parts, from one root down to clusters of points, before the tree
// takes representatives. One level: the parent of each node of the next level.
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
