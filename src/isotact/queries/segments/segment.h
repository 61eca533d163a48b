// Line segments against a field: the times at which a point that moves from one end to the other is
// inside. Inside means that the field's value is at most `margin`. XB14, section 3.
//
// All traversals return the same intervals, bit for bit. The cells of the lattice cut a segment at
// times that depend only on the segment and on the cell's position. In a cell, the field along the
// segment is a cubic polynomial, whose roots are found. Skipped parts are proved to lie on one
// side. Neighbouring cells compute the same value at their common face, so that no root falls
// between them.
//
//   * Times run from 0 at `from` to 1 at `to`. A segment that starts inside has an interval that
//     begins at 0; one that ends inside has an interval that ends at 1. A segment of length zero is
//     inside from 0 to 1, or never.
//   * If a segment only touches the isosurface, rounding decides whether there is an interval of
//     almost zero length. The decision is the same for every traversal.
//   * Outside its box, a field continues as defined by extend_outside (field.h), and so does the
//     search. For a margin above the padding, the isosurface leaves the box. (XB14 treats a segment
//     outside the box as free, which is wrong there.)
//   * Positions are rounded to floats of cells inside the box: to 6e-5 of a cell for a box of a
//     thousand cells.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/min_max_octree.h"
#include "isotact/queries/contact/contact.h"

namespace ISOTACT_PUBLIC isotact {

struct Segment {
  Vec3f from{}, to{};  // Metres, field frame, finite.
};

struct SegmentInterval {
  float enter = 0, exit = 0;

  friend bool operator==(const SegmentInterval&, const SegmentInterval&) = default;
};

enum class Traversal : std::uint8_t {
  kUniform,  // Cell by cell (XB14 3.1).
  // Skips the largest block that may be skipped, found from the root (XB14 3.2). After the first,
  // the search begins at the node around the last cell and the next, with the same result.
  kOctree,
  kFast,  // Our method: see SegmentTracer.
};
std::string_view name(Traversal traversal);  // "uniform", "octree", "fast"

enum class RootSearch : std::uint8_t {
  kAll,  // Up to three per cell.
  // At most one, found by XB14's search of five steps; for comparison. Misses segments that enter
  // and leave within a cell.
  kPaper,
};

struct SegmentSettings {
  double margin = 0;  // Metres.
  Mode mode = Mode::kAll;
  Traversal traversal = Traversal::kFast;
  RootSearch roots = RootSearch::kAll;
  Threads threads{};  // For batches, and for the preparation of a tracer.
};

// Work of a search.
struct SegmentWork {
  std::uint64_t nodes = 0;   // Nodes of a hierarchy, or steps of a distance.
  std::uint64_t cells = 0;   // Cells whose corners were read.
  std::uint64_t cubics = 0;  // Cells among them in which roots were searched.

  SegmentWork& operator+=(const SegmentWork& c) {
    nodes += c.nodes;
    cells += c.cells;
    cubics += c.cubics;
    return *this;
  }
};

// Results of many segments. Segment i has intervals[first[i]] to intervals[first[i + 1] - 1].
struct SegmentResults {
  std::vector<std::uint64_t> first;  // One more than the number of segments.
  std::vector<SegmentInterval> intervals;
  SegmentWork work{};  // On the CPU.
};

struct SegmentIndex;  // segment_index.h
struct EditReport;    // field/build/edit_field.h

// One field, one margin. Any number of threads may use it.
class SegmentTracer {
 public:
  // For kFast, builds an index that serves all margins within two cells of zero or, for another
  // margin, this one.
  SegmentTracer(const BrickField& field, const SegmentSettings& settings = {});
  // Takes an index, for example that of an asset, and builds none. Throws Error if it is not that
  // of the field or does not serve the margin (SegmentIndex::serves). Also throws if the traversal
  // is not kFast, which alone uses one.
  SegmentTracer(const BrickField& field, std::shared_ptr<const SegmentIndex> index,
                const SegmentSettings& settings = {});
  // kOctree makes an octree, kFast an index for the margin.
  SegmentTracer(const DenseGrid& grid, const SegmentSettings& settings = {});
  SegmentTracer(const MinMaxOctree& octree, const SegmentSettings& settings = {});
  SegmentTracer(SegmentTracer&&) noexcept;
  SegmentTracer& operator=(SegmentTracer&&) noexcept;
  ~SegmentTracer();

  // Returns a tracer of the same field with other settings. It shares what both need: the index if
  // it serves the margin, the octree, the grid.
  SegmentTracer with(const SegmentSettings& settings) const;

  // Returns a tracer with the same settings of the field after an edit (EditableField). The index,
  // or the octree of bricks, is computed where the edit changed the field, and copied elsewhere.
  // Throws Error if this is not the tracer of the brick field before that edit.
  SegmentTracer after_edit(const BrickField& field, const EditReport& edit) const;

  const SegmentSettings& settings() const;
  std::uint64_t memory_bytes() const;  // Memory of the prepared data.
  // Returns the index that kFast uses, or nullptr. That of a dense grid has no samples.
  const std::shared_ptr<const SegmentIndex>& index() const;
  // For tracers on other processors: true if no position outside the box is inside.
  bool is_free_beyond_box() const;

  // Writes the intervals in order, up to the capacity of the span, and returns their total number.
  // Neither throws nor allocates. Adds to `work` if it is given.
  std::size_t trace(const Segment& segment, std::span<SegmentInterval> intervals,
                    SegmentWork* work = nullptr) const;

  // Fills the results, the same for any number of threads. Their vectors keep their memory.
  void trace(std::span<const Segment> segments, SegmentResults& results) const;

 private:
  struct State;

  // Stores the number of intervals of each segment after its entry in `first`.
  void trace_in_pieces(std::span<const Segment> segments, SegmentResults& results) const;

  explicit SegmentTracer(std::unique_ptr<State> state);

  std::unique_ptr<const State> state_;
};

// Returns the margin at which no segment is missed that comes within `slack` metres of the body
// (for a signed field). For a shell, the distance is to the triangles themselves; it needs
// shell_offset at most the band, and the isosurface in the box. Queries that must not return a
// false "no" use this margin. They may return a "yes" too early by up to twice near_error, the
// slack and rounding.
//
// Proof: there, the distance less shell_offset is at most slack - shell_offset, and the field's
// value exceeds it by at most near_error. A tracer rounds positions to floats of cells in a handful
// of operations, each to 2^-24 of the box's longest side, and values likewise. 2^-20 covers them.
double covering_margin(const BrickField& field, double slack = 0);

}  // namespace isotact
