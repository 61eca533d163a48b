// The batches of a SegmentTracer.
#pragma once

#include "isotact/queries/detail/segment_batch.h"
#include "isotact/queries/detail/segment_search.h"

namespace isotact::detail {

// One thread's.
class BatchTracer {
 public:
  BatchTracer(const BrickField& field, const SegmentIndex& index, float iso);
  ~BatchTracer();
  BatchTracer(const BatchTracer&) = delete;
  BatchTracer& operator=(const BatchTracer&) = delete;

  // Of at most kBatchSegments.
  void run(std::span<const Segment> segments, SegmentCounts& counts);
  // Of the segments of the last run. One that is not sure must be walked alone.
  bool is_sure(std::size_t segment) const;
  bool is_whole(std::uint32_t path) const { return begin_[path] == 0 && end_[path] == 1; }
  double time(std::uint32_t path, float u) const {
    return begin_[path] + static_cast<double>(u) * (end_[path] - begin_[path]);
  }
  double end(std::uint32_t path) const { return end_[path]; }
  std::uint32_t path_of(std::size_t segment) const { return number_[segment]; }
  // All before the first cell that was looked at is on one side: the one on which that is entered.
  bool starts_inside(std::uint32_t path) const {
    return first_[path] < first_[path + 1] ? sorted_[first_[path]].inside : side_[path] < 0;
  }
  std::span<const Found> found(std::uint32_t path) const {
    return {sorted_.data() + first_[path], sorted_.data() + first_[path + 1]};
  }

 private:
  bool add_path(const Segment& segment);
  void find_starts();

  const BrickField& field_;
  Lattice lattice_;
  double scale_;
  float last_[3];
  double begin_[kBatchSegments], end_[kBatchSegments];
  BatchWork work_{};
  BatchQueues queues_{};
  std::vector<BatchPath> paths_;
  std::uint32_t number_[kBatchSegments];  // of each segment's path
  std::vector<std::int8_t> side_;
  std::vector<std::uint32_t> first_, next_;  // of each path in sorted_
  std::vector<Found> sorted_;
};

}  // namespace isotact::detail
