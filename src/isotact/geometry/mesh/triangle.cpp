#include "isotact/geometry/mesh/triangle.h"

#include "isotact/geometry/mesh/detail/triangle_lanes.h"

namespace isotact {
namespace {

TriangleFeature feature_of(const detail::Nearest<double>& nearest) {
  if (nearest.part == 3) return TriangleFeature::kFace;
  const double t = nearest.part == 0 ? nearest.v : nearest.w;  // along the edge; 2-0 runs back
  const int first = nearest.part == 0 ? 0 : nearest.part == 1 ? 1 : 0;
  const int second = nearest.part == 0 ? 1 : 2;
  if (t == 0) return static_cast<TriangleFeature>(int{4} + first);
  if (t == 1) return static_cast<TriangleFeature>(int{4} + second);
  return static_cast<TriangleFeature>(1 + static_cast<int>(nearest.part));
}

}  // namespace

TrianglePoint find_closest_point_on_triangle(const Vec3f& p, const Vec3f& a, const Vec3f& b,
                                             const Vec3f& c) {
  const detail::Nearest<double> nearest = detail::find_nearest(
      detail::to_point3(p), detail::to_point3(a), detail::to_point3(b), detail::to_point3(c));
  const Vec3 da = to_double(a);
  return {.distance_sq = nearest.distance_sq,
          .point = da + (to_double(b) - da) * nearest.v + (to_double(c) - da) * nearest.w,
          .feature = feature_of(nearest)};
}

}  // namespace isotact
