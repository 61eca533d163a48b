#include "isotact/pointshell/detail/nearby_samples.h"

#include <cmath>
#include <utility>

namespace isotact::detail {

NearbySamples::NearbySamples(std::span<const Vec3f> samples, double reach, Threads threads)
    : samples_(samples),
      reach_(reach),
      tree_(samples, threads),
      blocks_(samples, threads),
      place_of_(samples.size()) {
  for (std::uint32_t i = 0; i < place_of_.size(); ++i) place_of_[blocks_.order()[i]] = i;
  list_near_blocks(threads);
}

void NearbySamples::list_near_blocks(Threads threads) {
  constexpr std::size_t kMost = 96;  // twice as many as on an even spread, at a sharp edge
  struct Lists {
    std::vector<std::uint32_t> counts, blocks;
  };
  const Lists all = parallel_reduce(
      blocks_.count(), 256, threads, Lists{},
      [&](std::size_t begin, std::size_t end) {
        Lists lists;
        std::vector<std::uint32_t> near;
        for (std::size_t b = begin; b < end; ++b) {
          if (!blocks_.list_near(b, reach_, near, kMost)) near.clear();
          lists.counts.push_back(static_cast<std::uint32_t>(near.size()));
          lists.blocks.insert(lists.blocks.end(), near.begin(), near.end());
        }
        return lists;
      },
      [](Lists a, const Lists& b) {
        a.counts.insert(a.counts.end(), b.counts.begin(), b.counts.end());
        a.blocks.insert(a.blocks.end(), b.blocks.begin(), b.blocks.end());
        return a;
      });
  near_begin_.assign(1, 0);
  for (const std::uint32_t count : all.counts) near_begin_.push_back(near_begin_.back() + count);
  near_ = all.blocks;
}

NearestPoint NearbySamples::find(const Vec3& at, std::uint32_t hint) const {
  if (hint == kNoPoint) return tree_.find(at);
  NearestPoint best{hint, length_sq(to_double(samples_[hint]) - at)};
  // Rounded up, so that none is missed that is as near.
  const double radius = std::sqrt(best.distance_sq) * (1 + 1e-12);
  const bool done = for_each_within(at, radius, hint, [&](std::uint32_t i) {
    const double d = length_sq(to_double(samples_[i]) - at);
    if (d < best.distance_sq || (d == best.distance_sq && i < best.index)) best = {i, d};
  });
  return done ? best : tree_.find(at, hint);
}

}  // namespace isotact::detail
