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

  // Of at most kBatchSegments paths; those that are null are left out. Calls visit(i, found) for
  // each path in turn, with what was found along it in order. False from `is_sure(i)`: the path
  // must be walked alone.
  void run(std::span<const std::optional<SegmentPath>> paths, SegmentCounts& counts);
  bool is_sure(std::size_t path) const;
  bool starts_inside(std::size_t path) const;
  std::span<const Found> found(std::size_t path) const;

 private:
  void find_starts();

  const BrickField& field_;
  Lattice lattice_;
  std::span<const std::optional<SegmentPath>> given_;
  BatchWork work_{};
  BatchQueues queues_{};
  std::vector<BatchPath> paths_;
  std::vector<std::uint32_t> number_;  // of each given path among paths_
  std::vector<std::int8_t> side_;
  std::vector<std::uint32_t> first_, next_;  // of each path in sorted_
  std::vector<Found> sorted_;
};

}  // namespace isotact::detail
