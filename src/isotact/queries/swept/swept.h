// A point cloud that moves through a field: the points that are ever inside, their times, and the
// first one. XB14, section 3.3.
//
// The points are those of a point-sphere tree. From its root, level by level, spheres that stay
// clear of the field are culled with all points below. Each remaining point is a segment, or a
// chain of segments if the motion is curved (motion.h), and is traced as in segment.h.
//
// XB14 culls a sphere of radius r by a search for the isosurface at r along the centre's path. We
// use one small grid of distances to the nearest position inside (detail/free_space.h), and a
// sphere moves over it in steps of these distances. No bound on the field's slope is needed, and
// the same grid serves all radii. No point can be lost: the result is that of testing all points
// one by one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/segments/segment.h"
#include "isotact/queries/swept/motion.h"

namespace ISOTACT_PUBLIC isotact {

// Memory of a shell and a field from one motion to the next.
//
//   SweptScratch memory;  // For this tree in this field.
//   for (;;) tracer.trace(tree, next_motion(), results, memory);
//
// Bodies of a simulation move little per step. For every part of the shell, the memory has the
// distance that it may move before one of its points can change sides (detail/swept_front.h). Parts
// that have moved less are skipped, and points that stay inside for the whole motion need no trace.
// Hits and intervals are those of a trace without memory, bit for bit, for any motions: small
// steps, jumps, or poses that were set in between. Only the work counts differ. A memory may
// therefore be discarded or reset at any time, and snapshots need not store it.
//
// A memory serves one tree and one tracer at a time, and resets itself if it meets others. It keeps
// the tree's buffer alive. One thread may use it at a time. Motions that are too large for it (more
// than a tenth of the shell's radius, or more than kMostMemoryPieces pieces) are traced without it.
// So are Mode::kAny, all traversals but kTree, and RootSearch::kPaper.
//
// Cost of a trace: half a microsecond, and the traces of points that are about to cross the
// isosurface. Each remembered entry takes one or two nanoseconds, or none for a shell that is only
// near. Each entry that has moved by its free distance takes about seventy. Memory: 6 bytes for
// each point near the isosurface, and 17 for each node further away. From the first such trace on,
// the tracer keeps 4 bytes for each block of 8^3 cells of its field.
inline constexpr int kMostMemoryPieces = 8;

class SweptScratch {
 public:
  SweptScratch();
  SweptScratch(SweptScratch&&) noexcept;
  SweptScratch& operator=(SweptScratch&&) noexcept;
  ~SweptScratch();

  void forget();  // Also frees its memory.
  std::uint64_t memory_bytes() const;

 private:
  friend class SweptTracer;
  struct State;
  std::unique_ptr<State> state_;  // None before its first use.
};

enum class ShellTraversal : std::uint8_t {
  kTree,
  kLinear,  // Point by point, as an oracle and for the tables of XB14.
  // XB14, section 3.3, for comparison: a sphere of radius r is free if the path of its centre stays
  // above the isosurface at r. It loses points where the field is steeper than 1, as interpolated
  // fields are in places. Takes Mode::kAll as kAll, and other modes as kFirst.
  kPaper,
};

struct SweptSettings {
  double margin = 0;  // Metres. Inside means that the field's value is at most this.
  Mode mode = Mode::kAll;
  ShellTraversal traversal = ShellTraversal::kTree;
  RootSearch roots = RootSearch::kAll;
  double path_tolerance = 1.0 / 32;  // Cells of the field: see ShellPath::error.
  Threads threads{};
};

// Hits of a point. Its interval_count intervals begin at intervals[first_interval]. They are in
// order and disjoint; times run from 0 to 1.
struct SweptHit {
  std::uint32_t point;  // In the order of the tree.
  std::uint32_t interval_count;
  std::uint64_t first_interval;
};

// Work of a search.
struct SweptWork {
  std::uint64_t spheres = 0;
  std::uint64_t points = 0;    // Points that no sphere culled.
  std::uint64_t segments = 0;  // Traced segments.
  SegmentWork tracing{};

  SweptWork& operator+=(const SweptWork& c) {
    spheres += c.spheres;
    points += c.points;
    segments += c.segments;
    tracing += c.tracing;
    return *this;
  }
};

inline constexpr float kNever = std::numeric_limits<float>::infinity();
inline constexpr std::uint32_t kNoPoint = 0xffffffffU;

// Result of one motion.
struct SweptMotionResult {
  float time = kNever;             // Time of the first contact; for kAny, of some contact.
  std::uint32_t point = kNoPoint;  // The point in contact, the lowest of several.
  std::uint64_t first_hit = 0, hit_count = 0;
  // Metres: deviation of the chains of segments from the true paths of the motion.
  double path_error = 0;
  SweptWork work{};
};

// Results of many motions, one after the other. Hits are in the order of points.
struct SweptResults {
  std::vector<SweptMotionResult> motions;
  std::vector<SweptHit> hits;
  std::vector<SegmentInterval> intervals;
};

// Returns a ball that contains all points of the tree.
Sphere ball_of(const PointSphereTree& tree);

// One field, one margin. Any number of threads may use it.
class SweptTracer {
 public:
  // Throws Error for invalid settings. Cost: some tens of milliseconds for a field of 1024 cells
  // per axis.
  SweptTracer(const BrickField& field, const SweptSettings& settings = {});
  // Takes the index of a SegmentTracer, which may serve any number of them, if it serves the
  // margin; otherwise builds its own.
  SweptTracer(const BrickField& field, std::shared_ptr<const SegmentIndex> index,
              const SweptSettings& settings = {});
  SweptTracer(const DenseGrid& grid, const SweptSettings& settings = {});
  // For a field of any kind, such as an analytic ground. It has no cells: `cell` (metres) replaces
  // their size. Culling uses the field's Lipschitz bound. If a path stays within a thousandth of a
  // cell of the isosurface, the side of its middle counts for all of it. Cost: about fifty field
  // values per crossing.
  SweptTracer(const AnyField& field, double cell, const SweptSettings& settings = {});
  SweptTracer(SweptTracer&&) noexcept;
  SweptTracer& operator=(SweptTracer&&) noexcept;
  ~SweptTracer();

  // Returns a tracer with the same settings of the field after an edit (EditableField). The index
  // and the grid of free distances are brought up to date from those of this tracer. Throws Error
  // if this is not the tracer of the brick field before that edit.
  SweptTracer after_edit(const BrickField& field, const EditReport& edit) const;

  const SweptSettings& settings() const;
  std::uint64_t memory_bytes() const;  // Memory of the prepared data.

  // Returns the same results for any number of threads. Results keep their memory between calls.
  // Throws Error for a motion with a flaw (find_flaw), before any work.
  void trace(const PointSphereTree& tree, std::span<const ShellMotion> motions,
             SweptResults& results) const;
  void trace(const PointSphereTree& tree, const ShellMotion& motion, SweptResults& results) const {
    trace(tree, std::span(&motion, 1), results);
  }
  // Returns the same results, sooner if the motion continues those that the memory has seen.
  void trace(const PointSphereTree& tree, const ShellMotion& motion, SweptResults& results,
             SweptScratch& scratch) const;

 private:
  struct State;
  explicit SweptTracer(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

}  // namespace isotact
