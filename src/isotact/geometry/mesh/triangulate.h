// Triangulation of polygons, for readers whose files have faces with more than three corners.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// Appends the polygon.size() - 2 triangles of one polygon and keeps its orientation. Its corners
// index `positions` (all in range). A polygon that its first corner sees whole, such as a convex
// one, becomes a fan from it. Other polygons are cut ear by ear, as seen along the axis that their
// best-fitting plane faces most. Flat triangles appear only if the corners leave no choice. Fewer
// than three corners append nothing. Degenerate, self-crossing and non-finite polygons still give
// their count of triangles. Thread-safe.
//
// Cost: linear for fans (no memory for up to four corners). Ears take up to 1024 point tests per
// corner, and up to 2^26 in all, which is about half a second. A decision on corners too near to
// one line for doubles counts as 32 tests. That is enough for any polygon of 300 corners without
// many such, and for usual ones of thousands. The rest of a worse one becomes a fan.
void triangulate_polygon(std::span<const Vec3f> positions, std::span<const std::uint32_t> polygon,
                         std::vector<Triangle>& triangles);

}  // namespace isotact
