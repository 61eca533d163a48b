// A static kd-tree over points, for nearest neighbours, and searches of a shell's samples with its
// help. We do not use the Bvh, which is for triangles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"
#include "isotact/pointshell/detail/point_blocks.h"

namespace isotact::detail {

inline constexpr std::uint32_t kNoPoint = 0xffffffffU;

struct NearestPoint {
  std::uint32_t index = kNoPoint;
  double distance_sq = std::numeric_limits<double>::infinity();
};

class NearestPoints {
 public:
  // Needs finite points, fewer than 2^31. The tree is the same for any number of threads.
  explicit NearestPoints(std::span<const Vec3f> points, Threads threads = {});

  // Returns the nearest point whose squared distance is at most `limit_sq`, and the lowest index of
  // equally near points. A good first guess makes the search fast: `hint` may be the index of any
  // point.
  NearestPoint find(const Vec3& at, std::uint32_t hint = kNoPoint,
                    double limit_sq = std::numeric_limits<double>::infinity()) const;

  // Calls visit(index, distance_sq) for each point within the radius, in an order that does not
  // depend on threads.
  template <typename Visit>
  void for_each_within(const Vec3& at, double radius, Visit&& visit) const;

 private:
  struct Item {
    Vec3f point;
    std::uint32_t index;
  };
  // The middle item of [begin, end) splits it along an axis. A leaf has up to kLeaf items.
  static constexpr std::size_t kLeaf = 8;
  void build(std::size_t begin, std::size_t end, int depth, Threads threads);

  std::vector<Item> items_;
  std::vector<std::uint8_t> axes_;    // Axis of the middle item.
  std::vector<std::uint32_t> place_;  // Position of each point among the items.
};

template <typename Visit>
void NearestPoints::for_each_within(const Vec3& at, double radius, Visit&& visit) const {
  struct Range {
    std::size_t begin, end;
  };
  Range stack[64];  // Halves: at most one waits on each of 32 levels.
  int waiting = 0;
  stack[waiting++] = {0, items_.size()};
  const double radius_sq = radius * radius;
  const auto look = [&](const Item& item) {
    const double d = length_sq(to_double(item.point) - at);
    if (d <= radius_sq) visit(item.index, d);
  };
  while (waiting > 0) {
    const Range r = stack[--waiting];
    if (r.end - r.begin <= kLeaf) {
      for (std::size_t i = r.begin; i < r.end; ++i) look(items_[i]);
      continue;
    }
    const std::size_t middle = r.begin + (r.end - r.begin) / 2;
    const std::size_t axis = axes_[middle];
    const double side = at[axis] - static_cast<double>(items_[middle].point[axis]);
    look(items_[middle]);
    if (side <= radius) stack[waiting++] = {r.begin, middle};
    if (side >= -radius) stack[waiting++] = {middle + 1, r.end};
  }
}

// Searches that begin at a sample nearby. For each block of samples, the blocks around it are
// listed. A search that begins at a sample and ends within `reach` of it reads those; others
// search the whole tree.
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
