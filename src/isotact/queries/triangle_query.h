// Points of a shell against one triangle of a surface: a mesh without a field, a height field.
//
// The one-sided rule. A triangle is solid behind its face, down to `thickness`, straight below it:
// a prism. A point in the prism, or in front of the face by no more than the margin and straight
// above it, is a hit; its distance is that to the triangle's plane, and the way out is the
// triangle's normal. So the edges between triangles of a flat surface can not catch a body that
// slides over them. Behind a valley's edge the prisms of its two triangles leave a gap: what goes
// in there and nowhere else is not seen. `widen` makes prisms a little wider.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/queries/shell_query.h"

namespace isotact {

struct TriangleRequest {
  double margin = 0;     // metres, in front
  double thickness = 0;  // metres, behind
  double widen = 0;      // metres, sideways
};

// Corners in the field's frame of the placement (whose field_scale does not count), counter-
// clockwise seen from outside. Appends to `hits`, in the order of points, metres of the world. A
// triangle without area has none. Cost: a few nanoseconds for each sphere and point looked at.
void find_hits_triangle(const PointSphereTree& tree, const ShellPlacement& placement, const Vec3& a,
                        const Vec3& b, const Vec3& c, const TriangleRequest& request,
                        std::vector<ShellHit>& hits);

}  // namespace isotact
