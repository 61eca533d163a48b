// The culling of XB14, section 3.3, for comparison (ShellTraversal::kPaper). It has the tree in
// breadth-first order. A sphere of radius r counts as free if the path of its centre does not meet
// the isosurface at r.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/segments/segment.h"
#include "isotact/queries/swept/motion.h"
#include "isotact/queries/swept/swept.h"

namespace isotact::detail {

// Appends the points of all leaves that are not free, in order. `touches(segment, radius)` says
// whether a segment is ever inside of the isosurface at the radius.
template <typename Touches>
void list_paper_points(const PointSphereTree& tree, const ShellPath& path,
                       std::vector<std::uint32_t>& points, SweptWork& counts, Touches&& touches) {
  const auto is_near = [&](const Spheref& ball) {
    const Vec3 center = to_double(ball.center);
    for (std::size_t k = 0; k + 1 < path.maps.size(); ++k) {
      ++counts.spheres;
      if (touches(Segment{to_float(path.maps[k] * center), to_float(path.maps[k + 1] * center)},
                  static_cast<double>(ball.radius)))
        return true;
    }
    return false;
  };
  std::vector<std::uint32_t> now{0}, next;
  for (int number = 0; number < tree.level_count(); ++number) {
    const ShellLevel level = tree.level(number);
    const bool last = number + 1 == tree.level_count();
    next.clear();
    for (const std::uint32_t place : now) {
      const ShellNode& node = level.nodes[place];
      if (node.child_count == 0 || !is_near(sphere(level, place))) continue;
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        (last ? points : next).push_back(node.first_child + i);
    }
    now.swap(next);
  }
  counts.points += points.size();
}

}  // namespace isotact::detail
