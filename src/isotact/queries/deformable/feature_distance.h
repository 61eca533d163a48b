// How far a vertex is from a face, and an edge from an edge, at one time.
#pragma once

#include <array>

#include "isotact/base/vec.h"

namespace isotact {

struct FeatureDistance {
  // Of the four points as they came; those of each feature sum to one, and make up its point.
  std::array<double, 4> weights{};
  Vec3 to_first{};  // from the point on the second feature to that on the first
  double distance = 0;
};

// `points`: a vertex, then the three corners of a face; or the two ends of an edge, then those of
// another. Faces that are segments or points, and edges that are points, are measured as such; of
// parallel edges, some nearest pair is given. The points that the weights name are inside their
// features up to rounding, and their distance is within 1e-11 of the features' size of the least
// one (some 1e-15 unless they are slivers). Coordinates of magnitudes beyond 1e60 metres, and NaN,
// give some number or NaN. Neither throws nor allocates. Cost: some 150 operations.
FeatureDistance find_distance_vertex_face(const std::array<Vec3, 4>& points);
FeatureDistance find_distance_edge_edge(const std::array<Vec3, 4>& points);

}  // namespace isotact
