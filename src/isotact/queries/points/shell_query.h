// Voxmap-pointshell: the points of a shell inside a field, and their depths. SSL14, section 2.
//
// The search starts at the root of the point-sphere tree, breadth first. It tests children of
// spheres that may touch, and finally their points (Algorithm 1). The hits are those of testing
// every point. They are in the order of points for any culling, so that sums over them are the same
// bit for bit.
//
// Corrections of Algorithm 1: its lines 20 and 31 add the cross product with the SUMMED force to
// the torque, which counts earlier points again. The point's own force is meant. Line 13 skips
// spheres by V <= R, with V positive inside: V >= -R is meant. Lines 2 and 39 start the distance at
// 0 and compare in the wrong direction. Line 18 of the segmented version (2.4) keeps a point if V
// <= delta; the deepest is meant, V >= delta. Normals point into the shell's body there and out of
// it here.
//
// Level of detail: each node of the tree has one of its points as representative. Those of a level
// are a coarse shell by themselves. A query may stop at a level, after some work, or after some
// time. These points then represent the nodes that were not opened, each with the area of all
// points below. A bound states how deep the points that were not tested can be.
//
//   ShellScratch scratch;  // Keep it: no allocation after the first query.
//   const ShellResult result = find_hits(tree, target, {.field_from_shell = pose}, {}, scratch);
//   for (const ShellHit& hit : result.hits) ...
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/points/shell_force.h"
#include "isotact/queries/points/shell_target.h"

namespace ISOTACT_PUBLIC isotact {

// Pose of the shell relative to the field, both possibly scaled. A point p of the tree is at
// field_from_shell * (shell_scale p), metres. The field at x is field_scale value(x / field_scale).
struct ShellPlacement {
  Pose field_from_shell{};
  double shell_scale = 1, field_scale = 1;  // Positive.
};

struct ShellRequest {
  double margin = 0;  // Metres: points whose distance is at most this are hits. May be negative.
  // Test the representatives of this level (0: the root's) and no further. Negative, or
  // level_count() of the tree and above: test all points.
  int level = -1;
  std::uint64_t max_nodes = 0;  // Limit of tested spheres and points; 0: no limit. Repeatable.
  // 0: no limit. The only setting whose results may vary between runs.
  double max_microseconds = 0;
  double nanoseconds_a_hit = 0;  // Part of that time, reserved for the caller's work per hit.
  // Ends at the first hits. `likely` is tested first: a point, or none. The hits are then some of
  // all, or none if there are none; levels and budgets are left out.
  bool any = false;
  std::uint32_t likely = 0xffffffffU;
  // If there are no hits: find the nearest point by a separate search, which no budget limits. It
  // is left out if a budget has ended before.
  bool want_distance = false;
};

enum class ShellStatus : std::uint8_t {
  kComplete,   // Down to the requested level.
  kOutOfWork,  // max_nodes: the result is the best so far.
  kOutOfTime,  // max_microseconds: the same.
};

inline constexpr std::uint32_t kNoHit = 0xffffffffU;

struct ShellHit {
  std::uint32_t point;  // In the order of the tree.
  float distance;       // Metres (world), at most the margin; negative inside.
  float area;           // m^2 (world): of the point, or of all points that it represents.
};

struct ShellResult {
  ShellStatus status = ShellStatus::kComplete;
  // The level to which everything was tested: a level of the tree with all of its representatives,
  // or level_count(): all points.
  int level = 0;
  // Owned by the scratch, valid until its next query; in the order of points.
  std::span<const ShellHit> hits{};
  std::uint32_t deepest = kNoHit;  // Index into hits, the first of equals.
  // Metres. The least distance of any tested point, and its index. Known if there are hits, and if
  // it was requested and no budget ended. Otherwise infinite.
  double distance = std::numeric_limits<double>::infinity();
  std::uint32_t nearest_point = kNoHit;
  // Metres: no point of the shell has a smaller distance. Equal to `distance` if all points were
  // tested and there are hits or a distance. If there are no hits and no distance was requested:
  // the margin.
  double lower_bound = -std::numeric_limits<double>::infinity();
  ShellWork work{};
};

namespace detail {
struct ShellStateAccess;

// Start of the validity of a list of clusters.
struct ShellAnchor {
  PointSphereTree tree{};
  std::optional<ShellTarget> target{};
  ShellPlacement placement{};
  double margin = 0, reach = 0;  // Metres: the distance that points may have moved since.
};
}  // namespace detail

// Memory of queries, including the results of the last one. One thread at a time.
class ShellScratch {
 public:
  ShellScratch() = default;
  // Allocates all memory for queries with this tree; otherwise the first query does. About 24 bytes
  // per point.
  void reserve(const PointSphereTree& tree);

  // Remembers near clusters, and starts from them while the shell has moved less than their
  // validity allows. This is two to three times faster at rest and in slow motion. It never changes
  // a result. It serves one tree, target and margin: others reset it.
  void set_coherent(bool on) { coherent_ = on, anchor_.reset(); }
  bool coherent() const { return coherent_; }
  void forget() { anchor_.reset(); }

 private:
  friend struct detail::ShellStateAccess;
  bool coherent_ = false;
  std::optional<detail::ShellAnchor> anchor_{};
  ShellPlacement last_{};  // Placement of the last query.
  // Clusters of the anchor: entries of the last level, in order.
  std::vector<std::uint32_t> clusters_;
  std::size_t cluster_count_ = 0;
  std::vector<std::uint32_t> front_[2];
  std::vector<float> values_[2];       // Values of representatives of the fronts.
  std::vector<std::uint32_t> points_;  // Candidates.
  std::vector<float> distances_;
  std::vector<ShellHit> hits_;
};

// Does not allocate once the scratch has seen the tree. The margin must not be above
// target.max_margin() (asserted).
ShellResult find_hits(const PointSphereTree& tree, const ShellTarget& target,
                      const ShellPlacement& placement, const ShellRequest& request,
                      ShellScratch& scratch);

// The oracle: all points, one after the other; `level` and budgets are ignored. Returns the same
// hits, bit for bit.
ShellResult find_hits_linear(const PointSphereTree& tree, const ShellTarget& target,
                             const ShellPlacement& placement, const ShellRequest& request,
                             ShellScratch& scratch);

// Positions of hits and directions, in the field frame, metres (world scale).
Vec3 place_of(const PointSphereTree& tree, const ShellPlacement& placement, std::uint32_t point);
// Returns a unit vector out of the field's body, at a point of the shell.
Vec3 direction_at(const PointSphereTree& tree, const ShellTarget& target,
                  const ShellPlacement& placement, std::uint32_t point);

}  // namespace isotact
