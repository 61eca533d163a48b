// Polygons into triangles, for readers whose files have faces with more than three corners.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Appends the polygon.size() - 2 triangles of one polygon, whose corners index `positions` (all in
// range), keeping its orientation. Convex polygons become a fan from their first corner; others are
// cut ear by ear in their best-fitting plane. Fewer than three corners append nothing; degenerate
// and self-crossing polygons still give their count of triangles. Cost: linear for convex polygons;
// polygons with more corners than an ear search can afford become a fan.
void triangulate_polygon(std::span<const Vec3f> positions, std::span<const std::uint32_t> polygon,
                         std::vector<Triangle>& triangles);

}  // namespace isotact
