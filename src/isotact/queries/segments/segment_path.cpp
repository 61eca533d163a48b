#include <algorithm>
#include <cmath>

#include "isotact/queries/segments/detail/segment_walk.h"

namespace isotact::detail {

std::optional<SegmentPath> make_path(const Lattice& lattice, const Segment& segment) {
  const double scale = 1 / lattice.spacing;
  double from[3], to[3];
  SegmentPath path{};
  path.begin = 0;
  path.end = 1;
  bool moves = false, inside = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    from[axis] = (static_cast<double>(segment.from[axis]) - lattice.origin[axis]) * scale;
    to[axis] = (static_cast<double>(segment.to[axis]) - lattice.origin[axis]) * scale;
    const double top = static_cast<double>(lattice.cells[axis]);
    moves = moves || from[axis] != to[axis];
    inside = inside && from[axis] >= 0 && from[axis] <= top && to[axis] >= 0 && to[axis] <= top;
  }
  for (std::size_t axis = 0; axis < 3 && !inside; ++axis) {
    const double top = static_cast<double>(lattice.cells[axis]), d = to[axis] - from[axis];
    if (d == 0) {
      if (from[axis] < 0 || from[axis] > top) return std::nullopt;
      continue;
    }
    const double a = -from[axis] / d, b = (top - from[axis]) / d;
    path.begin = std::max(path.begin, std::min(a, b));
    path.end = std::min(path.end, std::max(a, b));
  }
  if (!moves || !(path.begin < path.end)) return std::nullopt;
  float length_sq = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double top = static_cast<double>(lattice.cells[axis]), d = to[axis] - from[axis];
    const float last = static_cast<float>(lattice.cells[axis]);
    const float first = static_cast<float>(std::clamp(from[axis] + path.begin * d, 0.0, top));
    const float second =
        static_cast<float>(inside ? to[axis] : std::clamp(from[axis] + path.end * d, 0.0, top));
    path.origin[axis] = first;
    path.direction[axis] = second - first;
    if (std::abs(path.direction[axis]) < 1 / kLargestInverse) {
      // Along the last plane, it belongs to the last cell.
      path.direction[axis] = 0;
      path.inverse[axis] = kLargestInverse;
      if (first == last) path.origin[axis] = std::nextafter(last, 0.0F);
    } else {
      path.inverse[axis] = 1 / path.direction[axis];
    }
    length_sq += path.direction[axis] * path.direction[axis];
  }
  if (length_sq == 0) return std::nullopt;
  path.cells_a_time = std::sqrt(length_sq);
  return path;
}

}  // namespace isotact::detail
