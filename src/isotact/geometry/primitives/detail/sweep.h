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

// The largest radius, up to sampling, of a tube along the curve that does not touch itself: the
// least radius of curvature, or half the least distance between parts that are apart along the
// curve. Cost: quadratic in the points, of which at most about 1000 are looked at.
double largest_tube_radius(const std::vector<Vec3>& centers, bool closed);

}  // namespace isotact::detail
