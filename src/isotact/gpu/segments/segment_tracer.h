// Segments against a brick field on the GPU: the results of SegmentTracer
// (queries/segments/segment.h), bit for bit, for batches that are worth the transfer.
//
//   GpuSegmentTracer tracer(field, {.mode = Mode::kFirst});
//   tracer.trace(segments, results);
//
// Equality of bits: sums, products, and comparisons are those of the CPU in the same order, and
// GPUs round them correctly. Quotients and roots, which they need not round correctly, are computed
// in doubles and rounded (shaders/segment_steps.glsl). GPUs may treat numbers below 1e-38 as zero,
// which affects no time. Segments that leave the box are cut in doubles: a GPU whose double
// division is less accurate than IEEE requires may give other last bits there.
//
// The GPU receives the index of one isosurface (queries/segments/segment_index.h), not the field.
// That is about 20 MB for a body in 1024^3 cells; most segments read a few hundred kilobytes of it.
// Throws Error if a part of it is larger than the GPU's limit of a storage buffer.
//
// A few segments are left to the CPU, where trace() computes them. These are:
//   * segments of zero length, and those that only touch the box;
//   * segments on which two cells compute different values near zero;
//   * segments that cross the isosurface in more than 96 cells, or come close to it in more than
//     120;
//   * segments that leave the box, if the margin is reached outside of it.
//
// The transfers take longer than the query (a million segments on an H200: 4 ms in all, less than
// half of it on the GPU). A GPU that has been idle takes several times as long at first.
#pragma once

#include <memory>
#include <span>

#include "isotact/export.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/segments/segment_layout.h"
#include "isotact/queries/segments/segment.h"

namespace ISOTACT_PUBLIC isotact {

// Results that stay on the GPU. Segments are in no particular order in the list.
struct GpuSegmentResults {
  GpuBuffer spans;      // GpuSegmentSpan of each segment.
  GpuBuffer intervals;  // Array of SegmentInterval.
  GpuBuffer notes;      // GpuSegmentNotes, then uint32: the numbers of the undecided segments.
};

// Belongs to the context that is current when it is made. That context must be current when it is
// used or destroyed. Not for several threads at once. The traversal of the settings is ignored.
class GpuSegmentTracer {
 public:
  // Throws Error for RootSearch::kPaper, which is for comparisons on the CPU. Compiling its shaders
  // may take a second if the driver has not cached them: another tracer of the same context can
  // share its own.
  GpuSegmentTracer(const BrickField& field, const SegmentSettings& settings = {},
                   const GpuSegmentTracer* lends_shaders = nullptr);
  GpuSegmentTracer(GpuSegmentTracer&&) noexcept;
  GpuSegmentTracer& operator=(GpuSegmentTracer&&) noexcept;
  ~GpuSegmentTracer();

  const SegmentSettings& settings() const;
  const SegmentTracer& cpu() const;    // Its twin on the CPU, with shared prepared data.
  std::uint64_t memory_bytes() const;  // Prepared data on the GPU.

  // As SegmentTracer::trace.
  void trace(std::span<const Segment> segments, SegmentResults& results);

  // Traces `count` segments in a buffer, without waiting. Intervals beyond the capacity are not
  // written, and the notes have their number. Reserves the memory of the
  // results; allocates nothing if they are large enough.
  void trace(const GpuBuffer& segments, std::uint32_t count, std::uint32_t capacity,
             GpuSegmentResults& results);

 private:
  struct Programs;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
