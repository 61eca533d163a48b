#include "isotact/pointshell/detail/nearest_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "isotact/base/aabb.h"

namespace isotact::detail {

NearestPoints::NearestPoints(std::span<const Vec3f> points, Threads threads) {
  items_.resize(points.size());
  axes_.resize(points.size());
  place_.resize(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    items_[i] = {points[i], static_cast<std::uint32_t>(i)};
  build(0, points.size(), 0, threads);
  for (std::size_t i = 0; i < items_.size(); ++i)
    place_[items_[i].index] = static_cast<std::uint32_t>(i);
}

void NearestPoints::build(std::size_t begin, std::size_t end, int depth, Threads threads) {
  if (end - begin <= kLeaf) return;
  Aabbf box;
  for (std::size_t i = begin; i < end; ++i) extend(box, items_[i].point);
  const Vec3f size = extent(box);
  const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const std::size_t middle = begin + (end - begin) / 2;
  const auto at = [&](std::size_t i) { return items_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(begin), at(middle), at(end), [axis](const Item& a, const Item& b) {
    if (a.point[axis] != b.point[axis]) return a.point[axis] < b.point[axis];
    return a.index < b.index;
  });
  axes_[middle] = static_cast<std::uint8_t>(axis);
  constexpr int kParallelDepth = 5;
  if (depth >= kParallelDepth || end - begin < 4096) {
    build(begin, middle, depth + 1, threads);
    build(middle + 1, end, depth + 1, threads);
    return;
  }
  parallel_for(2, 1, threads, [&](std::size_t half, std::size_t) {
    if (half == 0)
      build(begin, middle, depth + 1, threads);
    else
      build(middle + 1, end, depth + 1, threads);
  });
}

NearestPoint NearestPoints::find(const Vec3& at, std::uint32_t hint, double limit_sq) const {
  struct Range {
    std::size_t begin, end;
    double least_sq;  // Squared distance to its half-space.
  };
  Range stack[64];  // Halves: at most one waits on each of 32 levels.
  int waiting = 0;
  stack[waiting++] = {0, items_.size(), 0};
  NearestPoint best{kNoPoint, limit_sq};
  const auto look = [&](const Item& item) {
    const double d = length_sq(to_double(item.point) - at);
    if (d < best.distance_sq || (d == best.distance_sq && item.index < best.index))
      best = {item.index, d};
  };
  if (hint != kNoPoint) look(items_[place_[hint]]);
  while (waiting > 0) {
    const Range r = stack[--waiting];
    if (r.least_sq > best.distance_sq) continue;
    if (r.end - r.begin <= kLeaf) {
      for (std::size_t i = r.begin; i < r.end; ++i) look(items_[i]);
      continue;
    }
    const std::size_t middle = r.begin + (r.end - r.begin) / 2;
    const std::size_t axis = axes_[middle];
    const double side = at[axis] - static_cast<double>(items_[middle].point[axis]);
    look(items_[middle]);
    const Range low{r.begin, middle, side > 0 ? std::max(r.least_sq, side * side) : r.least_sq};
    const Range high{middle + 1, r.end, side < 0 ? std::max(r.least_sq, side * side) : r.least_sq};
    stack[waiting++] = side < 0 ? high : low;
    stack[waiting++] = side < 0 ? low : high;
  }
  return best;
}

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
