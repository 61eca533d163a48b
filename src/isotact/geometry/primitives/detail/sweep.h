// Tubes along curves in space.
#pragma once

#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/primitives/detail/surface_builder.h"

namespace isotact::detail {

// A point of a curve with its unit tangent, and two unit vectors square to it and to each other:
// cross(normal, binormal) = tangent.
struct Frame {
  Vec3 center, tangent, normal, binormal;
};

// Frames that turn as little as possible along the curve: double reflection (Wang, Juettler, Zheng
// and Liu 2008). On a closed curve, whose first point is not repeated, the turn that is left after
// one round is spread over all frames, so that the last fits the first.
std::vector<Frame> make_frames(const std::vector<Vec3>& centers, const std::vector<Vec3>& tangents,
                               bool closed);

// A circle of `turn.size()` points around the frame's tangent.
Ring add_circle(SurfaceBuilder& builder, const Frame& frame, double radius,
                const std::vector<SinCos>& turn);

// The largest radius at which each circle square to the curve lies wholly before the next one. Zero
// where the points are too few to follow the curve: where a chord turns from a tangent at its ends
// by more than 37 degrees, or a tangent from the next by more than 90.
double largest_bend_radius(const std::vector<Vec3>& centers, const std::vector<Vec3>& tangents,
                           bool closed);

// The least distance between parts of the polyline through the points that are apart along it (by
// more than pi / 2 times that distance), or 2.2 radii where that is less: a tube needs two radii.
// Parts shorter than an eighth of the radius are smoothed over. Cost: n log n, unless a large share
// of the curve runs within the radius.
double least_gap(const std::vector<Vec3>& centers, bool closed, double radius);

}  // namespace isotact::detail
