// Searches of a shell's samples that begin at a sample nearby.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/pointshell/detail/nearest_points.h"
#include "isotact/pointshell/detail/point_blocks.h"

namespace isotact::detail {

// For each block of samples, the blocks around it are listed. A search that begins at a sample and
// ends within `reach` of it looks at those; others search the whole tree.
class NearbySamples {
 public:
  // Finite samples, fewer than 2^31, which must outlive it. Memory: some 70 bytes per sample.
  NearbySamples(std::span<const Vec3f> samples, double reach, Threads threads);

  // As NearestPoints::find.
  NearestPoint find(const Vec3& at, std::uint32_t hint = kNoPoint) const;

  // Calls visit(index) for all samples within the radius, and perhaps some beyond it by rounding.
  // False, without a call, where they may be further than `reach` from the hint, or are in a place
  // with very many.
  template <typename Visit>
  bool for_each_within(const Vec3& at, double radius, std::uint32_t hint, Visit&& visit) const;

 private:
  // None where there are too many.
  std::span<const std::uint32_t> blocks_near(std::uint32_t sample) const {
    const std::size_t block = place_of_[sample] / PointBlocks::kSize;
    return std::span(near_).subspan(near_begin_[block],
                                    near_begin_[block + 1] - near_begin_[block]);
  }
  void list_near_blocks(Threads threads);

  std::span<const Vec3f> samples_;
  double reach_;
  NearestPoints tree_;
  PointBlocks blocks_;
  std::vector<std::uint32_t> place_of_;  // of each sample in the blocks
  std::vector<std::uint32_t> near_begin_, near_;
};

template <typename Visit>
bool NearbySamples::for_each_within(const Vec3& at, double radius, std::uint32_t hint,
                                    Visit&& visit) const {
  const double rounded = length(at - to_double(to_float(at)));
  if (!(length(at - to_double(samples_[hint])) + radius + rounded <= reach_)) return false;
  const auto blocks = blocks_near(hint);
  if (blocks.empty()) return false;
  blocks_.for_each_within(to_float(at), radius + rounded, blocks,
                          [&](std::uint32_t place) { visit(blocks_.order()[place]); });
  return true;
}

}  // namespace isotact::detail
