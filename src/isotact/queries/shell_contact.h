// What to make of hits: penalty force and torque (SSL14, equations 2 and 3), a few contacts that
// hold a body (3.2), and segments with contacts of their own (2.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/queries/shell_query.h"

namespace isotact {

enum class ShellForceScale : std::uint8_t {
  // Depth times the area that a point stands for: the force of an elastic layer over all that
  // overlaps. Stiffness in N/m^3. The same for all samplings, but for their resolution.
  kPressure,
  // The mean depth over the area that overlaps. Stiffness in N/m. A peg pushes as hard with its end
  // as with its side, as SSL14 (end of 2.2) would have it.
  kMeanDepth,
};
enum class ShellForceNormal : std::uint8_t {
  kShell,  // of the points, as SSL14 has it: costs nothing
  kField,  // the field's gradient: right at edges of the field's body too; a lookup a hit
};

struct ShellForceSettings {
  double stiffness = 1e7;
  ShellForceScale scale = ShellForceScale::kPressure;
  ShellForceNormal normal = ShellForceNormal::kShell;
  Vec3 center{};  // torques are about it; in the field's frame
};

// On the shell's body, in the field's frame.
struct ShellForce {
  Vec3 force{};           // N
  Vec3 torque{};          // Nm
  double area = 0;        // m^2 that overlaps
  double mean_depth = 0;  // metres
};
// Hits with a distance of 0 or more have no force.
ShellForce find_force(const PointSphereTree& tree, const ShellTarget& target,
                      const ShellPlacement& placement, std::span<const ShellHit> hits,
                      const ShellForceSettings& settings);

// Four hits at most that stand for all: the deepest, the one furthest from it, the one furthest
// from the line through both, and the one furthest on the other side of that line, as seen along
// the direction at the deepest. Their places in `hits`, deepest first, distinct. Points nearer to
// each other than a thousandth of the patch do not count as two. Cost: three passes over the hits.
struct Manifold {
  std::uint32_t count = 0;
  std::uint32_t hit[4]{};
};
inline constexpr std::uint32_t kManifoldSize = 4;
Manifold choose_manifold(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, std::span<const ShellHit> hits,
                         std::uint32_t max_count = kManifoldSize);

// The level of the tree whose number of nodes is nearest to m (in ratio), and its nodes as ranges
// of points: segment i has the points from first_point[i] up to first_point[i + 1]. (The paper's
// count is about 15; with four children a node it takes 16.)
struct ShellSegments {
  int level = 0;
  std::vector<std::uint32_t> first_point;  // ascending; one more than there are segments
};
ShellSegments find_segments(const PointSphereTree& tree, std::uint32_t m);
ShellSegments segments_of_level(const PointSphereTree& tree, int level);  // 0: one
// The part of the hits that is of segment i; `hits` must be in the order of points.
std::span<const ShellHit> hits_of_segment(const ShellSegments& segments, std::uint32_t i,
                                          std::span<const ShellHit> hits);

}  // namespace isotact
