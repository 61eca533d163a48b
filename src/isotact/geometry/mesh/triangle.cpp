// Distance from a point to one triangle.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/geometry/detail/triangle_lanes.h"

namespace isotact {

// The part of a triangle on which a point lies. Edge i runs from corner i to the next.
enum class TriangleFeature : std::uint8_t {
  kFace,
  kEdge0,
  kEdge1,
  kEdge2,
  kVertex0,
  kVertex1,
  kVertex2
};

struct TrianglePoint {
  double distance_sq = 0;
  Vec3 point{};
  TriangleFeature feature = TriangleFeature::kFace;
};

namespace detail {

inline Point3<double> to_point3(const Vec3f& p) { return {p.x, p.y, p.z}; }

inline TriangleFeature feature_of(const Nearest<double>& nearest) {
  if (nearest.part == 3) return TriangleFeature::kFace;
  const double t = nearest.part == 0 ? nearest.v : nearest.w;  // along the edge; 2-0 runs back
  const int first = nearest.part == 0 ? 0 : nearest.part == 1 ? 1 : 0;
  const int second = nearest.part == 0 ? 1 : 2;
  if (t == 0) return static_cast<TriangleFeature>(int{4} + first);
  if (t == 1) return static_cast<TriangleFeature>(int{4} + second);
  return static_cast<TriangleFeature>(1 + static_cast<int>(nearest.part));
}

}  // namespace detail

// The point of the triangle a, b, c nearest to p, computed in double. Needs finite corners;
// segments and points are welcome as degenerate triangles. The squared distance is that of a point
// within 1e-15 triangle sizes of the triangle. Cost: some 150 operations.
inline TrianglePoint find_closest_point_on_triangle(const Vec3f& p, const Vec3f& a, const Vec3f& b,
                                                    const Vec3f& c) {
  const detail::Nearest<double> nearest = detail::find_nearest(
      detail::to_point3(p), detail::to_point3(a), detail::to_point3(b), detail::to_point3(c));
  const Vec3 da = to_double(a);
  return {.distance_sq = nearest.distance_sq,
          .point = da + (to_double(b) - da) * nearest.v + (to_double(c) - da) * nearest.w,
          .feature = detail::feature_of(nearest)};
}

}  // namespace isotact
