// A cloud of points that moves through a field: which of them are ever inside, when, and which is
// the first? XB14, section 3.3.
//
// The points are those of a point-sphere tree. From its root down, level by level, spheres that
// stay clear of the field are dropped with all points below; each point that is left is a segment,
// or a chain of them where the motion is curved (motion.h), and is looked at as in segment.h.
//
// XB14 drops a sphere of radius r by a search for the isosurface at r along the centre's path. Here
// one small grid tells how far it is to the nearest place inside (detail/free_space.h), and a
// sphere walks over it in steps of that. No bound on the field's slope is needed, and the same grid
// serves all radii. It can not lose a point: the result is that of testing all points one by one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/any_field.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/motion.h"
#include "isotact/queries/segment.h"
#include "isotact/queries/swept_memory.h"

namespace isotact {

enum class SweptMode : std::uint8_t {
  kAll,    // every point that is ever inside, with its intervals
  kFirst,  // the first one only, with an interval that ends where it begins. Much cheaper: the
           // search is in the order of time, and ends there
  kAny,    // any one, in the same way. Cheaper still: the search goes first where points are likely
           // to be deep inside. What a broad answer of yes or no asks for
};

enum class ShellTraversal : std::uint8_t {
  kTree,
  kLinear,  // point by point, as an oracle and for the tables of XB14
};

struct SweptSettings {
  double iso = 0;  // metres; inside is where the field is at most this
  SweptMode mode = SweptMode::kAll;
  ShellTraversal traversal = ShellTraversal::kTree;
  double path_tolerance = 1.0 / 32;  // cells of the field: see ShellPath::error
  Threads threads{};
};

// Of a point. Its intervals are intervals[first_interval] and so on, in order, apart from each
// other; times run from 0 to 1.
struct SweptHit {
  std::uint32_t point;  // in the order of the tree
  std::uint32_t interval_count;
  std::uint64_t first_interval;
};

// What a search looked at.
struct SweptCounts {
  std::uint64_t spheres = 0;
  std::uint64_t points = 0;    // that no sphere dropped
  std::uint64_t segments = 0;  // traced
  SegmentCounts tracing{};

  SweptCounts& operator+=(const SweptCounts& c) {
    spheres += c.spheres;
    points += c.points;
    segments += c.segments;
    tracing += c.tracing;
    return *this;
  }
};

inline constexpr float kNever = std::numeric_limits<float>::infinity();
inline constexpr std::uint32_t kNoPoint = 0xffffffffU;

// Of one motion.
struct SweptSummary {
  float time = kNever;             // of the first contact; for kAny, of some contact
  std::uint32_t point = kNoPoint;  // that has it; of several the lowest
  std::uint64_t first_hit = 0, hit_count = 0;
  double path_error = 0;  // metres: of the chains of segments against the motion's true paths
  SweptCounts counts{};
};

// Of many motions, one after the other. Hits are in the order of points.
struct SweptResults {
  std::vector<SweptSummary> motions;
  std::vector<SweptHit> hits;
  std::vector<SegmentInterval> intervals;
};

// Holds all points of the tree.
Sphere ball_of(const PointSphereTree& tree);

// One field, one iso. Any number of threads may use it.
class SweptTracer {
 public:
  // Throws Error for settings that make no sense. Cost: some tens of milliseconds for a field of
  // 1024 cells an axis.
  SweptTracer(const BrickField& field, const SweptSettings& settings = {});
  SweptTracer(const DenseGrid& grid, const SweptSettings& settings = {});
  // Of a field of any kind, such as an analytic ground. It has no cells: `cell` (metres) stands for
  // one. Culling rests on the field's Lipschitz bound. Where a path stays within a thousandth of a
  // cell of the isosurface, the side of its middle counts for all of it. Cost: some fifty values of
  // the field a crossing.
  SweptTracer(const AnyField& field, double cell, const SweptSettings& settings = {});
  SweptTracer(SweptTracer&&) noexcept;
  SweptTracer& operator=(SweptTracer&&) noexcept;
  ~SweptTracer();

  const SweptSettings& settings() const;
  std::uint64_t memory_bytes() const;  // of what it prepared

  // The same results for any number of threads. Results keep their memory between calls. Throws
  // Error for a motion with a flaw (find_flaw), before any work.
  void trace(const PointSphereTree& tree, std::span<const ShellMotion> motions,
             SweptResults& results) const;
  void trace(const PointSphereTree& tree, const ShellMotion& motion, SweptResults& results) const {
    trace(tree, std::span(&motion, 1), results);
  }
  // The same results, sooner where the motion goes on from those that the memory has seen
  // (swept_memory.h).
  void trace(const PointSphereTree& tree, const ShellMotion& motion, SweptMemory& memory,
             SweptResults& results) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace isotact
