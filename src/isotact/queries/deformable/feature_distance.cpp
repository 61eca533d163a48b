#include "isotact/queries/deformable/feature_distance.h"

#include <cmath>

#include "isotact/queries/detail/nearest_features.h"

namespace isotact {

FeatureDistance find_distance_vertex_face(const std::array<Vec3, 4>& points) {
  const auto& [p, a, b, c] = points;
  const detail::NearestFeatures nearest = detail::find_nearest_on_face(p - a, p - b, p - c);
  return {{1, 1 - nearest.u - nearest.v, nearest.u, nearest.v},
          nearest.to_first,
          std::sqrt(nearest.distance_sq)};
}

FeatureDistance find_distance_edge_edge(const std::array<Vec3, 4>& points) {
  const auto& [a, b, c, d] = points;
  const detail::NearestFeatures nearest = detail::find_nearest_on_edges(a - c, b - a, d - c);
  return {{1 - nearest.u, nearest.u, 1 - nearest.v, nearest.v},
          nearest.to_first,
          std::sqrt(nearest.distance_sq)};
}

}  // namespace isotact
