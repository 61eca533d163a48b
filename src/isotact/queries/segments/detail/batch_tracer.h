// The batches of a SegmentTracer.
#pragma once

#include "isotact/base/machine.h"
#include "isotact/queries/segments/detail/segment_batch.h"
#include "isotact/queries/segments/detail/segment_search.h"

namespace isotact::detail {

// Views the index.
BatchField make_batch_field(const BrickField& field, const SegmentIndex& index, float margin);

// Finds all crossings of one segment through the stages (batch_alone.h). The index must have less
// than kMostBatchMacros macro cells. Neither throws nor allocates. Returns false, with the sink
// unchanged, if it is uncertain or has more cells than fit on the stack: then it must be walked.
bool trace_alone(const BatchField& field, const SegmentPath& path, IntervalSink& sink,
                 SegmentWork& counts, SimdLevel level = simd_level());

// For one thread.
class BatchTracer {
 public:
  BatchTracer(const BrickField& field, const SegmentIndex& index, float margin,
              SimdLevel level = simd_level());
  ~BatchTracer();
  BatchTracer(const BatchTracer&) = delete;
  BatchTracer& operator=(const BatchTracer&) = delete;

  // Takes at most kBatchSegments. Finds no more than append() needs for the mode.
  void run(std::span<const Segment> segments, Mode mode, SegmentWork& counts);
  // For the segments of the last run. A segment that is not certain must be walked alone.
  bool is_sure(std::size_t segment) const {
    return kind_[segment] != kNone && side_[segment] != kWalkAlone &&
           (side_[segment] != 0 || first_[segment] < first_[segment + 1]);
  }
  bool is_whole(std::size_t segment) const {
    return kind_[segment] == kSimple || (begin_[segment] == 0 && end_[segment] == 1);
  }
  // Appends the intervals of a segment that is certain and is outside beyond the box. Returns their
  // number.
  std::size_t append(std::size_t segment, Mode mode, std::vector<SegmentInterval>& to) const;

 private:
  enum Kind : std::uint8_t { kSimple, kClipped, kNone };

  static bool make_path(BatchWork& work, std::size_t segment);
  void sort_found();
  float time(std::size_t segment, float u) const {
    if (kind_[segment] == kSimple) return u;
    return static_cast<float>(begin_[segment] +
                              static_cast<double>(u) * (end_[segment] - begin_[segment]));
  }

  Lattice lattice_;
  const BatchKernels& kernels_;
  std::span<const Segment> segments_{};
  BatchField field_;
  BatchWork work_{};
  BatchTables tables_{};
  // With capacity for whole groups of lanes.
  float places_[6 * kBatchSegments + kMostLanes];
  BatchPath paths_[kBatchSegments + kMostLanes];
  std::int32_t side_[kBatchSegments + kMostLanes];
  std::uint8_t done_[kBatchSegments];
  // For paths that are not simple: the times at which they begin and end.
  double begin_[kBatchSegments], end_[kBatchSegments];
  Kind kind_[kBatchSegments];
  std::uint32_t first_[kBatchSegments + 2];  // Start of each segment in order_.
  std::vector<std::uint32_t> order_;         // Indices into tables_.found, by segment and time.
};

}  // namespace isotact::detail
