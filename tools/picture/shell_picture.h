// Pictures of point-sphere trees, as in SSL14's Figure 1.
#pragma once

#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

#include "picture/render_mesh.h"

namespace isotact::tool {

inline constexpr int kNoLevel = -1;

// Draws the representatives of levels 0 to `level` as dots, each point on its coarsest level, with
// one item and colour per level. A level after the last one stands for all points.
std::vector<RenderItem> draw_points(const PointSphereTree& tree, int level);

// Draws the spheres of one level, or of the last one, in a few colours that distinguish neighbours.
std::vector<RenderItem> draw_balls(const PointSphereTree& tree, int level);

}  // namespace isotact::tool
