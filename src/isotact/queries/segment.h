// Line segments against a field: when is a point that moves from one end to the other inside, that
// is, where the field's value is at most `iso`? XB14, section 3.
//
// All ways to look give the same answer to the last bit. The cells of the lattice cut a segment at
// times that depend on the segment and on a cell's place alone; in a cell the field along the
// segment is a cubic polynomial, whose roots are found; and what is passed over is proved to lie on
// one side. Neighbouring cells compute the same value where they meet, so that no root falls
// between them.
//
//   * Times run from 0 at `from` to 1 at `to`. A segment that starts inside has an interval that
//     begins at 0, one that ends inside has one that ends at 1. A segment of no length is inside
//     from 0 to 1, or never.
//   * Where a segment only touches the isosurface, rounding decides whether there is an interval,
//     of next to no length. It decides the same for every way to look.
//   * Outside of its box a field goes on as extend_outside (field.h) says, and so does the search:
//     for an iso above the padding the isosurface leaves the box. (XB14 takes a segment outside of
//     the box for free, which is wrong there.)
//   * Places are rounded to floats of cells inside the box: a thousand cells wide, to 6e-5 of one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"
#include "isotact/field/min_max_octree.h"

namespace isotact {

struct Segment {
  Vec3f from{}, to{};  // metres, in the field's frame; finite
};

struct SegmentInterval {
  float enter = 0, exit = 0;

  friend bool operator==(const SegmentInterval&, const SegmentInterval&) = default;
};

enum class Traversal : std::uint8_t {
  kUniform,  // cell after cell (XB14 3.1)
  kOctree,   // over the largest block that may be skipped, looked for from the root (XB14 3.2)
  kFast,     // ours: see SegmentTracer
};
std::string_view name(Traversal traversal);  // "uniform", "octree", "fast"

enum class SegmentMode : std::uint8_t {
  kIntervals,  // all of them
  kFirst,      // at most one, that ends where it begins: at the first time inside
  kAny,        // the same at any time inside
};

enum class RootSearch : std::uint8_t {
  kAll,  // up to three in a cell
  // At most one, by XB14's search of five steps; for comparison. Loses segments that enter and
  // leave within a cell.
  kPaper,
};

struct SegmentSettings {
  double iso = 0;  // metres
  SegmentMode mode = SegmentMode::kIntervals;
  Traversal traversal = Traversal::kFast;
  RootSearch roots = RootSearch::kAll;
  Threads threads{};  // of batches, and of what a tracer prepares
};

// What a search looked at.
struct SegmentCounts {
  std::uint64_t nodes = 0;   // of a hierarchy, or steps of a distance
  std::uint64_t cells = 0;   // whose corners were read
  std::uint64_t cubics = 0;  // among them, in which roots were searched

  SegmentCounts& operator+=(const SegmentCounts& c) {
    nodes += c.nodes;
    cells += c.cells;
    cubics += c.cubics;
    return *this;
  }
};

// Of many segments. Those of segment i are intervals[first[i]] to intervals[first[i + 1] - 1].
struct SegmentResults {
  std::vector<std::uint64_t> first;  // one more than there are segments
  std::vector<SegmentInterval> intervals;
};

struct SegmentIndex;  // segment_index.h

// One field, one iso. Any number of threads may use it.
class SegmentTracer {
 public:
  SegmentTracer(const BrickField& field, const SegmentSettings& settings = {});
  // Only kUniform can do without an octree; the others make one.
  SegmentTracer(const DenseGrid& grid, const SegmentSettings& settings = {});
  SegmentTracer(const MinMaxOctree& octree, const SegmentSettings& settings = {});
  SegmentTracer(SegmentTracer&&) noexcept;
  SegmentTracer& operator=(SegmentTracer&&) noexcept;
  ~SegmentTracer();

  const SegmentSettings& settings() const;
  std::uint64_t memory_bytes() const;  // of what it prepared
  // For tracers on other processors: what kFast prepared for a brick field, as long as this lives,
  // nullptr in other cases; and whether no place outside of the box is inside.
  const SegmentIndex* index() const;
  bool is_free_beyond_box() const;

  // Writes the intervals in order, as many as there is room for, and returns how many there are.
  // Neither throws nor allocates.
  std::size_t trace(const Segment& segment, std::span<SegmentInterval> intervals,
                    SegmentCounts* counts = nullptr) const;

  // The same results for any number of threads. Results keep their memory between calls.
  void trace(std::span<const Segment> segments, SegmentResults& results,
             SegmentCounts* counts = nullptr) const;

 private:
  struct State;

  // Of each segment the number of intervals is left behind its place in `first`.
  void trace_in_pieces(std::span<const Segment> segments, SegmentResults& results,
                       SegmentCounts& counts) const;

  std::unique_ptr<const State> state_;
};

}  // namespace isotact
