#include <algorithm>
#include <cmath>
#include <utility>

#include "isotact/queries/segments/detail/segment_walk.h"

namespace isotact::detail {
namespace {

static_assert(sizeof(Segment) == 6 * sizeof(float));

// The path of a segment inside the box that moves along all axes, with the bits of make_path. A
// coordinate that rounds to a position between the sides lies there.
bool make_simple_path(const Lattice& lattice, const Segment& segment, SegmentPath& path) {
  using Three = Lanes<float, 4>;
  using Pair = Lanes<double, 2>;
  const Pair scale(1 / lattice.spacing);
  const double origin[6] = {lattice.origin[0], lattice.origin[1], lattice.origin[2],
                            lattice.origin[0], lattice.origin[1], lattice.origin[2]};
  const float* const ends = &segment.from.x;
  float place[8];
  for (std::size_t k = 0; k < 6; k += 2) {
    const Pair at = (load_wide<Pair>(ends + k) - load<Pair>(origin + k)) * scale;
    place[k] = static_cast<float>(at.v[0]);
    place[k + 1] = static_cast<float>(at.v[1]);
  }
  const Three from{Three::Raw{place[0], place[1], place[2], 0}},
      to{Three::Raw{place[3], place[4], place[5], 0}};
  const Three top{Three::Raw{static_cast<float>(lattice.cells[0]),
                             static_cast<float>(lattice.cells[1]),
                             static_cast<float>(lattice.cells[2]), 0}};
  const Three zero(0.0F), d = to - from;
  const auto simple =
      (from > zero) & (from < top) & (to > zero) & (to < top) & (greater(d, -d) > Three(1e-20F));
  if ((bits_of(simple) & 7U) != 7) return false;
  Three inverse = Three(1.0F) / d;
  inverse.v[3] = kLargestInverse;
  store(from, path.origin);
  store(d, path.direction);
  store(inverse, path.inverse);
  path.begin = 0;
  path.end = 1;
  return true;
}

// The path of any segment, if there is one.
bool clip_to_box(const Lattice& lattice, const Segment& segment, SegmentPath& path) {
  const double scale = 1 / lattice.spacing;
  double from[3], to[3];
  path.origin[3] = path.direction[3] = 0;
  path.inverse[3] = kLargestInverse;
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
      if (from[axis] < 0 || from[axis] > top) return false;
      continue;
    }
    const double a = -from[axis] / d, b = (top - from[axis]) / d;
    path.begin = std::max(path.begin, std::min(a, b));
    path.end = std::min(path.end, std::max(a, b));
  }
  if (!moves || !(path.begin < path.end)) return false;
  bool is_long = false;
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
    is_long = is_long || path.direction[axis] * path.direction[axis] > 0;
  }
  return is_long;
}

}  // namespace

std::optional<SegmentPath> make_path(const Lattice& lattice, const Segment& segment) {
  std::optional<SegmentPath> path(std::in_place);
  if (!make_simple_path(lattice, segment, *path) && !clip_to_box(lattice, segment, *path))
    path.reset();
  return path;
}

}  // namespace isotact::detail
