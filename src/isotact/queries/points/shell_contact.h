// Use of hits. They give a penalty force and torque (SSL14, equations 2 and 3), and a few contacts
// that support a body (3.2). They also give patches with contacts of their own (2.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/export.h"
#include "isotact/queries/contact/spread.h"
#include "isotact/queries/points/shell_force.h"
#include "isotact/queries/points/shell_query.h"

namespace ISOTACT_PUBLIC isotact {

// On the shell's body, in the field's frame.
struct ShellForce {
  Vec3 force{};           // N
  Vec3 torque{};          // N m
  double area = 0;        // m^2 of overlap.
  double mean_depth = 0;  // Metres.
};
// Hits with a distance of 0 or more have no force.
ShellForce compute_force(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, std::span<const ShellHit> hits,
                         const ShellForceSettings& settings);

// Returns at most four hits that represent all: choose_spread, seen along the direction at the
// deepest. `hit` has indices into `hits`, deepest first, distinct. Cost: three passes over the
// hits.
struct Manifold {
  std::uint32_t count = 0;
  std::uint32_t hit[kManifoldSize]{};
};
Manifold choose_manifold(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, std::span<const ShellHit> hits,
                         std::uint32_t max_count = kManifoldSize);

// Returns the level of the tree whose number of nodes is nearest to m (in ratio), and its nodes as
// ranges of points. Patch i has the points from first_point[i] up to first_point[i + 1]. (The
// paper's count is about 15; with four children per node it takes 16.)
struct ShellPatches {
  int level = 0;
  std::vector<std::uint32_t> first_point;  // Ascending; one more than the number of patches.
};
ShellPatches choose_patches(const PointSphereTree& tree, std::uint32_t m);
ShellPatches patches_of_level(const PointSphereTree& tree, int level);  // 0: one patch.
// Returns the hits of patch i; `hits` must be in the order of points.
std::span<const ShellHit> hits_of_patch(const ShellPatches& patches, std::uint32_t i,
                                        std::span<const ShellHit> hits);

}  // namespace isotact
