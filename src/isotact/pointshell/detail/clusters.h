// Who belongs to whom in a point-sphere tree, before there are spheres.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

// One level: node i has the nodes [child_begin[i], child_begin[i + 1]) of the next one as children,
// on the last level places in `order`.
struct ClusterLevel {
  std::vector<std::uint32_t> child_begin;
  std::vector<std::uint32_t> representative;  // index in the shell
};

struct Clusters {
  std::vector<ClusterLevel> levels;  // the root's first
  std::vector<std::uint32_t> order;  // indices in the shell, in the tree's order
};

// Most children that a node may get: more than K only where outliers may join.
int find_child_stride(const PointSphereTreeSettings& settings);

Clusters find_clusters(const PointShell& shell, const PointSphereTreeSettings& settings);

}  // namespace isotact::detail
