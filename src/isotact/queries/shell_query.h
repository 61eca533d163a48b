// Voxmap-pointshell: which points of a shell are inside of a field, and how deep? SSL14, section 2.
//
// From the root of the point-sphere tree down, breadth first: children of spheres that may touch
// are looked at, and at the end their points (Algorithm 1). All hits together are those of testing
// every point; they come in the order of points, whatever was culled, so that sums over them are
// the same to the last bit.
//
// Reading Algorithm 1: its line 20 and 31 add the cross product with the SUMMED force to the
// torque, which counts earlier points again; the point's own force is meant. Line 13 passes over
// spheres by V <= R, with V positive inside: V >= -R is meant. Lines 2 and 39 start the distance at
// 0 and compare the wrong way round. Line 18 of the segmented version (2.4) keeps a point if V <=
// delta; the deepest is meant, V >= delta. Normals point into the shell's body there and out of it
// here.
//
// Level of detail: each node of the tree has one of its points as representative; those of a level
// are a coarse shell by themselves. A query may stop at a level, after some work, or after some
// time. What it did not open is then represented by those points, each with the area of all points
// below, and a bound says how deep what was not looked at can be.
//
//   ShellState state;                                    // keep it: no allocation after the first
//   const ShellAnswer answer = find_hits(tree, target, {.field_from_shell = pose}, {}, state);
//   for (const ShellHit& hit : answer.hits) ...
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/shell_target.h"

namespace isotact {

// Where the shell is, seen from the field, both perhaps scaled. A point p of the tree is at
// field_from_shell * (shell_scale p), metres; the field at x is field_scale value(x / field_scale).
struct ShellPlacement {
  Pose field_from_shell{};
  double shell_scale = 1, field_scale = 1;  // positive
};

struct ShellRequest {
  double margin = 0;  // metres: points whose distance is at most this are hits; may be negative
  // Look at this level's representatives (0: the root's) and no further. From level_count() of the
  // tree on, or negative: at all points.
  int level = -1;
  std::uint64_t max_nodes = 0;   // spheres and points to look at; 0: no limit. Repeatable
  double max_microseconds = 0;   // 0: no limit. The one thing that may change an answer
  double nanoseconds_a_hit = 0;  // of that time, left over for what the caller does with each hit
  // Where there are no hits: the nearest point, found by a search of its own, which no budget
  // bounds; it is left out where a budget has ended before.
  bool want_distance = false;
};

enum class ShellStatus : std::uint8_t {
  kComplete,   // down to the level asked for
  kOutOfWork,  // max_nodes: the answer is the best so far
  kOutOfTime,  // max_microseconds: the same
};

inline constexpr std::uint32_t kNoHit = 0xffffffffU;

struct ShellHit {
  std::uint32_t point;  // in the order of the tree
  float distance;       // metres (world), at most the margin; negative inside
  float area;           // m^2 (world): of the point, or of all points it stands for
};

struct ShellWork {
  std::uint64_t spheres = 0, points = 0;  // looked at
};

struct ShellAnswer {
  ShellStatus status = ShellStatus::kComplete;
  // Down to where everything was looked at: a level of the tree whose representatives all were, or
  // level_count(): all points.
  int level = 0;
  std::span<const ShellHit> hits{};  // of the state, until its next query; in the order of points
  std::uint32_t deepest = kNoHit;    // of hits; of equals the first
  // Metres. The least distance of any point that was looked at, and which; known where there are
  // hits, and where it was asked for and no budget ended. Else infinite.
  double distance = std::numeric_limits<double>::infinity();
  std::uint32_t nearest_point = kNoHit;
  // Metres: no point of the shell at all has a distance less than this. Equal to `distance` where
  // all points were looked at and there are hits or a distance. Where there are none and no
  // distance was asked for, the margin.
  double lower_bound = -std::numeric_limits<double>::infinity();
  ShellWork work{};
};

namespace detail {
struct ShellStateAccess;

// Since when a list of clusters is good.
struct ShellAnchor {
  PointSphereTree tree{};
  std::optional<ShellTarget> target{};
  ShellPlacement placement{};
  double margin = 0, reach = 0;  // metres: how far points may have moved since
};
}  // namespace detail

// What a query needs beside its arguments, and what it remembers of the last one. One thread at a
// time.
class ShellState {
 public:
  ShellState() = default;
  // Allocates all that queries with this tree will need; else the first does. Some 24 bytes a
  // point.
  void reserve(const PointSphereTree& tree);

  // Remember which clusters were near, and start from them while the shell has moved less than
  // that (at rest and in slow motion two to three times faster). It never changes an answer. Only
  // for one tree, target and margin: others make it forget.
  void set_coherent(bool on) { coherent_ = on, anchor_.reset(); }
  bool coherent() const { return coherent_; }
  void forget() { anchor_.reset(); }

 private:
  friend struct detail::ShellStateAccess;
  bool coherent_ = false;
  std::optional<detail::ShellAnchor> anchor_{};
  ShellPlacement last_{};                // of the last query
  std::vector<std::uint32_t> clusters_;  // of the anchor: places on the last level, in order
  std::size_t cluster_count_ = 0;
  std::vector<std::uint32_t> front_[2];
  std::vector<float> values_[2];       // of representatives of the fronts
  std::vector<std::uint32_t> points_;  // candidates
  std::vector<float> distances_;
  std::vector<ShellHit> hits_;
};

// Does not allocate once the state has seen the tree. The margin must not be above
// target.max_margin() (asserted).
ShellAnswer find_hits(const PointSphereTree& tree, const ShellTarget& target,
                      const ShellPlacement& placement, const ShellRequest& request,
                      ShellState& state);

// The oracle: all points, one after the other; `level` and budgets do not count. Same hits, same
// bits.
ShellAnswer find_hits_linear(const PointSphereTree& tree, const ShellTarget& target,
                             const ShellPlacement& placement, const ShellRequest& request,
                             ShellState& state);

// Places of hits and directions, in the field's frame, metres (world scale).
Vec3 place_of(const PointSphereTree& tree, const ShellPlacement& placement, std::uint32_t point);
// Unit, out of the field's body, at a point of the shell.
Vec3 direction_at(const PointSphereTree& tree, const ShellTarget& target,
                  const ShellPlacement& placement, std::uint32_t point);

}  // namespace isotact
