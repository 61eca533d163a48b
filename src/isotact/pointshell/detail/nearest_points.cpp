#include "isotact/pointshell/detail/nearest_points.h"

#include <algorithm>

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

}  // namespace isotact::detail
