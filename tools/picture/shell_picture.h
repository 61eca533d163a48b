// Pictures of point-sphere trees, as SSL14's Figure 1 has them.
#pragma once

#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

#include "picture/render_mesh.h"

namespace isotact::tool {

inline constexpr int kNoLevel = -1;

// The representatives of levels 0 to `level` as dots, each point on the coarsest level that it is
// on; one item and colour a level. A level behind the last one stands for all points.
std::vector<RenderItem> draw_points(const PointSphereTree& tree, int level);

// The spheres of one level, or of the last one, in a few colours that tell neighbours apart.
std::vector<RenderItem> draw_balls(const PointSphereTree& tree, int level);

}  // namespace isotact::tool
