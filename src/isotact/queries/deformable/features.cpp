#include "isotact/queries/deformable/features.h"

#include <algorithm>
#include <cmath>

#include "isotact/geometry/mesh/predicates.h"
#include "isotact/geometry/repair/self_intersection.h"
#include "isotact/queries/deformable/detail/feature_pairs.h"
#include "isotact/queries/deformable/detail/nearest_features.h"

namespace isotact {
namespace {

using detail::FeaturePair;

// Returns whether boxes around the two features separate them at t0, by more than rounding can
// hide.
bool are_boxes_apart(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair,
                     double margin) {
  const std::array<std::uint32_t, 4>& v = pair.vertices;
  const std::size_t split = pair.kind == FeatureKind::kVertexFace   ? 1
                            : pair.kind == FeatureKind::kFaceVertex ? 3
                                                                    : 2;
  Aabb box_a, box_b;
  for (std::size_t i = 0; i < split; ++i) extend(box_a, a.positions[v[i]]);
  for (std::size_t i = split; i < 4; ++i) extend(box_b, b.positions[v[i]]);
  // A measured distance is no shorter than the gap, except for the tolerance of
  // find_nearest_on_face and similar functions: 1e-12 of the features' size, and roundings.
  const Vec3 extents = extent(box_a) + extent(box_b);
  const double far = margin + 1e-11 * (margin + extents.x + extents.y + extents.z);
  for (std::size_t k = 0; k < 3; ++k)
    if (box_a.lower[k] - box_b.upper[k] > far || box_b.lower[k] - box_a.upper[k] > far) return true;
  return false;
}

MeetingSettings meeting_settings(double margin, const CrossingSettings& settings) {
  return {.separation = margin, .tolerance = settings.tolerance, .max_steps = settings.max_steps};
}

std::array<Vec3, 3> exact_corners(const SurfaceView& surface, std::uint32_t triangle) {
  std::array<Vec3, 3> corners{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = surface.positions[surface.topology->triangles[triangle][i]][k];
      corners[i][k] = std::abs(x) < kLeastExact ? 0 : x;
    }
  return corners;
}

bool are_apart_on_an_axis(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b) {
  Aabb box_a, box_b;
  for (const Vec3& p : a) extend(box_a, p);
  for (const Vec3& p : b) extend(box_b, p);
  return !overlaps(box_a, box_b);
}

void append_if_intersecting(const SurfaceView& a, const SurfaceView& b, const TrianglePair& pair,
                            std::size_t shared, std::vector<TrianglePair>& pairs) {
  const std::array<Vec3, 3> ca = exact_corners(a, pair.a), cb = exact_corners(b, pair.b);
  if (are_apart_on_an_axis(ca, cb)) return;
  if (find_contact_triangle_triangle(ca, cb, shared) != TriangleContact::kNone)
    pairs.push_back(pair);
}

std::size_t count_shared_vertices(const Triangle& a, const Triangle& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](std::uint32_t v) {
    return std::find(b.begin(), b.end(), v) != b.end();
  }));
}

void sort_pairs(std::vector<TrianglePair>& pairs, std::size_t kept) {
  const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(kept);
  std::sort(begin, pairs.end());
  pairs.erase(std::unique(begin, pairs.end()), pairs.end());
}

}  // namespace

void find_proximities(const SurfaceView& a, const SurfaceView& b,
                      std::span<const TrianglePair> candidates, double margin,
                      std::vector<FeatureContact>& contacts) {
  detail::check_surface(a, "surface A");
  detail::check_surface(b, "surface B");
  detail::check_margin(margin);
  const std::size_t kept = contacts.size();
  detail::visit_feature_pairs(a, b, candidates, [&](const FeaturePair& pair) {
    if (!are_boxes_apart(a, b, pair, margin)) detail::append_if_near(a, b, pair, margin, contacts);
  });
  detail::sort_contacts(contacts, kept);
}

void find_self_proximities(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                           double margin, std::vector<FeatureContact>& contacts) {
  detail::check_surface(surface, "the surface");
  detail::check_margin(margin);
  const std::size_t kept = contacts.size();
  detail::visit_self_feature_pairs(surface, candidates, [&](const FeaturePair& pair) {
    if (!are_boxes_apart(surface, surface, pair, margin))
      detail::append_if_near(surface, surface, pair, margin, contacts);
  });
  detail::sort_contacts(contacts, kept);
}

void find_crossings(const SurfaceView& a, const SurfaceView& b,
                    std::span<const TrianglePair> candidates, double margin,
                    std::vector<FeatureContact>& contacts, const CrossingSettings& settings) {
  detail::check_surface(a, "surface A");
  detail::check_surface(b, "surface B");
  detail::check_margin(margin);
  const MeetingSettings meeting = meeting_settings(margin, settings);
  const std::size_t kept = contacts.size();
  detail::visit_feature_pairs(a, b, candidates, [&](const FeaturePair& pair) {
    detail::append_if_crossing(a, b, pair, meeting, contacts);
  });
  detail::sort_contacts(contacts, kept);
}

void find_self_crossings(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                         double margin, std::vector<FeatureContact>& contacts,
                         const CrossingSettings& settings) {
  detail::check_surface(surface, "the surface");
  detail::check_margin(margin);
  const MeetingSettings meeting = meeting_settings(margin, settings);
  const std::size_t kept = contacts.size();
  detail::visit_self_feature_pairs(surface, candidates, [&](const FeaturePair& pair) {
    detail::append_if_crossing(surface, surface, pair, meeting, contacts);
  });
  detail::sort_contacts(contacts, kept);
}

void find_intersections(const SurfaceView& a, const SurfaceView& b,
                        std::span<const TrianglePair> candidates,
                        std::vector<TrianglePair>& pairs) {
  detail::check_surface(a, "surface A");
  detail::check_surface(b, "surface B");
  const std::size_t kept = pairs.size();
  for (const TrianglePair& c : candidates) {
    detail::check_candidate(a, b, c);
    append_if_intersecting(a, b, c, 0, pairs);
  }
  sort_pairs(pairs, kept);
}

void find_self_intersections(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                             std::vector<TrianglePair>& pairs) {
  detail::check_surface(surface, "the surface");
  const std::vector<Triangle>& triangles = surface.topology->triangles;
  const std::size_t kept = pairs.size();
  for (const TrianglePair& c : candidates) {
    detail::check_candidate(surface, surface, c);
    if (c.a == c.b) continue;
    append_if_intersecting(surface, surface, {std::min(c.a, c.b), std::max(c.a, c.b)},
                           count_shared_vertices(triangles[c.a], triangles[c.b]), pairs);
  }
  sort_pairs(pairs, kept);
}

FeatureDistance compute_distance_vertex_face(const std::array<Vec3, 4>& points) {
  const auto& [p, a, b, c] = points;
  const detail::NearestFeatures nearest = detail::find_nearest_on_face(p - a, p - b, p - c);
  return {{1, 1 - nearest.u - nearest.v, nearest.u, nearest.v},
          nearest.to_first,
          std::sqrt(nearest.distance_sq)};
}

FeatureDistance compute_distance_edge_edge(const std::array<Vec3, 4>& points) {
  const auto& [a, b, c, d] = points;
  const detail::NearestFeatures nearest = detail::find_nearest_on_edges(a - c, b - a, d - c);
  return {{1 - nearest.u, nearest.u, 1 - nearest.v, nearest.v},
          nearest.to_first,
          std::sqrt(nearest.distance_sq)};
}

}  // namespace isotact
