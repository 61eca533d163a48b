#include "isotact/geometry/mesh/mesh.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/detail/triangle_lanes.h"
#include "isotact/geometry/mesh/triangle.h"

namespace isotact {

std::optional<std::string> find_flaw(const TriangleMesh& mesh) {
  if (mesh.positions.size() > std::numeric_limits<std::uint32_t>::max())
    return fmt::format("{} positions are more than 32-bit indices can name", mesh.positions.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (const std::uint32_t index : mesh.triangles[i])
      if (index >= mesh.positions.size())
        return fmt::format("triangle {}: index {} is out of range ({} positions)", i, index,
                           mesh.positions.size());
  return std::nullopt;
}

Aabbf bounds(const TriangleMesh& mesh) {
  Aabbf box;
  for (const Triangle& triangle : mesh.triangles)
    for (const std::uint32_t index : triangle)
      if (const Vec3f& p = mesh.positions[index]; is_finite(p)) extend(box, p);
  return box;
}

double metres_per_unit(std::string_view unit) {
  if (unit == "m") return 1;
  if (unit == "cm") return 0.01;
  if (unit == "mm") return 0.001;
  if (unit == "in") return 0.0254;
  throw Error(fmt::format("unit '{}' is not known; it can be m, cm, mm or in", printable(unit)));
}

std::optional<std::string> find_implausible_size(const Aabbf& bounds) {
  if (is_empty(bounds)) return std::nullopt;
  const Vec3f size = extent(bounds);
  const float largest = std::max({size.x, size.y, size.z});
  if (largest > 10)
    return with_hint(
        fmt::format("the mesh is {:.4g} m across; its numbers may be millimetres", largest),
        Hint::kUnit);
  if (largest < 0.001F)
    return fmt::format("the mesh is {:.4g} m across; its numbers may have another unit", largest);
  return std::nullopt;
}

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
