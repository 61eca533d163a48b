#include "isotact/geometry/bvh/brute_force.h"

#include <cmath>

#include "isotact/geometry/bvh/detail/bvh_query.h"
#include "isotact/geometry/bvh/detail/ray_kernel.h"
#include "isotact/geometry/mesh/triangle.h"

namespace isotact::brute_force {
namespace {

bool is_usable(const std::array<Vec3f, 3>& c) {
  return is_finite(c[0]) && is_finite(c[1]) && is_finite(c[2]);
}

Aabbf bounds_of(const std::array<Vec3f, 3>& c) {
  return {min(min(c[0], c[1]), c[2]), max(max(c[0], c[1]), c[2])};
}

// Of the finite triangles; bounds(mesh) would count the finite corners of others.
Aabbf bounds_of_usable(const TriangleMesh& mesh) {
  Aabbf box;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    if (const auto c = corners(mesh, i); is_usable(c)) extend(box, bounds_of(c));
  return box;
}

detail::Point3<double> permuted(const detail::RaySearch& search, const Vec3f& p) {
  return {p[static_cast<std::size_t>(search.sheared.kx)],
          p[static_cast<std::size_t>(search.sheared.ky)],
          p[static_cast<std::size_t>(search.sheared.kz)]};
}

// Calls visit(const detail::RayFound&) for every hit, by rising index.
template <typename Visit>
void for_each_hit(const TriangleMesh& mesh, const Ray& ray, Visit&& visit) {
  detail::RaySearch search;
  const Aabbf box = bounds_of_usable(mesh);
  if (is_empty(box) || !detail::prepare(ray, box, search)) return;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (!is_usable(c)) continue;
    const detail::Crossing<double> crossing = detail::find_crossing(
        search.sheared, permuted(search, c[0]), permuted(search, c[1]), permuted(search, c[2]));
    if (!crossing.hit) continue;
    const float rows[3][3] = {
        {c[0].x, c[0].y, c[0].z}, {c[1].x, c[1].y, c[1].z}, {c[2].x, c[2].y, c[2].z}};
    detail::RayFound hit{crossing.t, static_cast<std::uint32_t>(i), crossing.v, crossing.w};
    if (detail::accept_hit(search, rows, crossing.determinant, hit)) visit(hit);
  }
}

}  // namespace

ClosestPoint find_closest_point(const TriangleMesh& mesh, const Vec3f& point, float max_distance) {
  if (!detail::is_searchable(point, max_distance)) return {};
  ClosestPoint best;
  double best_sq = double{max_distance} * double{max_distance};
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (!is_usable(c)) continue;
    const TrianglePoint nearest = find_closest_point_on_triangle(point, c[0], c[1], c[2]);
    const bool first_within = best.triangle == kNoTriangle && nearest.distance_sq == best_sq;
    if (!(nearest.distance_sq < best_sq || first_within)) continue;
    best_sq = nearest.distance_sq;
    best = {.triangle = static_cast<std::uint32_t>(i),
            .feature = nearest.feature,
            .point = to_float(nearest.point),
            .distance = static_cast<float>(std::sqrt(nearest.distance_sq))};
  }
  return best;
}

RayHit find_first_hit(const TriangleMesh& mesh, const Ray& ray) {
  RayHit best;
  for_each_hit(mesh, ray, [&](const detail::RayFound& found) {
    const RayHit hit = detail::to_hit(ray, found);
    if (hit.t < best.t || best.triangle == kNoTriangle) best = hit;
  });
  return best;
}

bool is_occluded(const TriangleMesh& mesh, const Ray& ray) {
  bool any = false;
  for_each_hit(mesh, ray, [&any](const detail::RayFound&) { any = true; });
  return any;
}

AllHits find_all_hits(const TriangleMesh& mesh, const Ray& ray, std::span<RayHit> buffer) {
  detail::HitBuffer hits(buffer);
  for_each_hit(mesh, ray, [&](const detail::RayFound& hit) { hits.add(detail::to_hit(ray, hit)); });
  return hits.result();
}

std::vector<std::uint32_t> find_triangles_in_box(const TriangleMesh& mesh, const Aabbf& box) {
  std::vector<std::uint32_t> triangles;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    if (const auto c = corners(mesh, i); is_usable(c) && overlaps(bounds_of(c), box))
      triangles.push_back(static_cast<std::uint32_t>(i));
  return triangles;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> find_overlapping_pairs(
    const TriangleMesh& mesh) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (!is_usable(c)) continue;
    for (const std::uint32_t j : find_triangles_in_box(mesh, bounds_of(c)))
      if (j > i) pairs.emplace_back(static_cast<std::uint32_t>(i), j);
  }
  return pairs;
}

}  // namespace isotact::brute_force
