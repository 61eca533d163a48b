// Polygons into triangles, for readers whose files have faces with more than three corners.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Appends the polygon.size() - 2 triangles of one polygon, whose corners index `positions` (all in
// range), keeping its orientation. Polygons that their first corner sees whole, convex ones above
// all, become a fan from it; others are cut ear by ear, as seen along the axis that their
// best-fitting plane faces most. Flat triangles appear only where corners leave no choice. Fewer
// than three corners append nothing; degenerate, self-crossing and non-finite polygons still give
// their count of triangles. Thread-safe. Cost: linear for fans (no memory for up to four corners);
// ears take up to 1024 point tests a corner, and up to 2^26 in all, which is about half a second. A
// decision on corners too near to one line for doubles counts as 32 tests. That is enough for any
// polygon of 300 corners without many such, and for usual ones of thousands; what is left of a
// worse one after that becomes a fan.
void triangulate_polygon(std::span<const Vec3f> positions, std::span<const std::uint32_t> polygon,
                         std::vector<Triangle>& triangles);

}  // namespace isotact
