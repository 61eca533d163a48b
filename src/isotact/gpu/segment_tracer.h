// Segments against a brick field on the GPU: what SegmentTracer (queries/segment.h) finds, to the
// bit, for batches that are worth the way there.
//
//   GpuSegmentTracer tracer(field, {.mode = SegmentMode::kFirst});
//   tracer.trace(segments, results);
//
// The same bits: sums, products, and comparisons are those of the CPU in the same order, and GPUs
// round them right; quotients and roots, which they need not round right, are taken in doubles and
// rounded (shaders/segment_path.glsl). GPUs may take numbers below 1e-38 for zero, which matters to
// no time. Segments that leave the box are cut in doubles: a GPU whose doubles divide less well
// than IEEE asks for may give other last bits there.
//
// What goes to the GPU is the index of one isosurface (queries/segment_index.h), not the field: for
// a body in 1024^3 cells some 20 MB, of which most segments see a few hundred kilobytes. Throws
// Error where a part of it is larger than a storage buffer of the GPU may be.
//
// Few segments are left to the CPU: of no length; that only touch the box; in whose way two cells
// compute nearly zero in different ways; that cross the isosurface in more than 96 cells, or come
// close to it in more than 120; and, where iso is reached outside of the box, those that leave it.
// trace() looks at them there.
//
// The ways up and down take longer than the query (a million segments on an H200: 4 ms in all, less
// than half of it on the GPU). A GPU that has been idle takes several times as long at first.
#pragma once

#include <memory>
#include <span>

#include "isotact/gpu/buffer.h"
#include "isotact/queries/segment.h"

namespace isotact {

// In a segment's count: the GPU was not sure.
inline constexpr std::uint32_t kUnsureSegment = 0xffffffffU;

// Where the intervals of a segment are.
struct GpuSegmentSpan {
  std::uint32_t first = 0, count = 0;
};

// Results that stay on the GPU. Segments lie in the list in no particular order.
struct GpuSegmentResults {
  GpuBuffer spans;      // GpuSegmentSpan of each segment
  GpuBuffer intervals;  // SegmentInterval
  // uint32: intervals wanted, unsure segments, two more numbers; then the numbers of the unsure
  // segments.
  GpuBuffer notes;
};

// Belongs to the context that is current when it is made, which must be current when it is used or
// destroyed. Not for several threads at once. Traversal is not looked at.
class GpuSegmentTracer {
 public:
  // Throws Error for RootSearch::kPaper, which is for comparisons on the CPU. Compiling its shaders
  // may take a second where the driver has not cached them: another tracer of the same context can
  // lend its own.
  GpuSegmentTracer(const BrickField& field, const SegmentSettings& settings = {},
                   const GpuSegmentTracer* lends_shaders = nullptr);
  GpuSegmentTracer(GpuSegmentTracer&&) noexcept;
  GpuSegmentTracer& operator=(GpuSegmentTracer&&) noexcept;
  ~GpuSegmentTracer();

  const SegmentSettings& settings() const;
  const SegmentTracer& cpu() const;    // its twin, with what is prepared in common
  std::uint64_t memory_bytes() const;  // on the GPU, of what it prepared

  // As SegmentTracer::trace.
  void trace(std::span<const Segment> segments, SegmentResults& results);

  // Of `count` segments in a buffer, without a wait. `room`: for so many intervals; where more are
  // wanted those that do not fit are not written, and the notes tell. Reserves what the results
  // need; nothing is allocated where they are large enough.
  void trace(const GpuBuffer& segments, std::uint32_t count, std::uint32_t room,
             GpuSegmentResults& results);

 private:
  struct Programs;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
