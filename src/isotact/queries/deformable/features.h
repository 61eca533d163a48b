// Which features of two bending surfaces touch, are near, or meet on their ways.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/queries/deformable/object_tree.h"
#include "isotact/queries/deformable/surface.h"

namespace isotact {

enum class FeatureKind : std::uint8_t {
  kVertexFace,  // a vertex of A, a face of B
  kFaceVertex,  // a face of A, a vertex of B
  kEdgeEdge,
};

// Two features, four vertices, and the two nearest points on them. Vertices with a weight above
// zero or below make up the points: of kVertexFace, vertices[0] is A's and the other three B's; of
// kFaceVertex the first three are A's; of kEdgeEdge two and two. Weights of each side sum to one.
struct FeatureContact {
  FeatureKind kind = FeatureKind::kVertexFace;
  std::uint32_t feature_a = 0, feature_b = 0;  // vertex, triangle or edge, by kind
  std::array<std::uint32_t, 4> vertices{};
  std::array<double, 4> weights{};
  Vec3 point_on_a{}, point_on_b{};
  Vec3 normal{};        // unit, from B towards A, as Contact has it
  double distance = 0;  // never negative: surfaces have no inside here
  double time = 0;      // of a crossing: a lower bound of the time of contact, in [0, 1]
};

// Vertex-face and edge-edge pairs no further apart than the margin, each once, sorted by kind,
// feature_a, feature_b. `candidates` as find_triangle_pairs gives them with the same margin.
void find_proximities(const SurfaceView& a, const SurfaceView& b,
                      std::span<const TrianglePair> candidates, double margin,
                      std::vector<FeatureContact>& contacts);
// Of one body: features that share a vertex are none.
void find_self_proximities(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                           double margin, std::vector<FeatureContact>& contacts);

// The first time at which features on their straight ways are no further apart than `margin` (at
// which they meet where it is 0). Conservative: never later than the true time, and no meeting is
// missed; early, or reported without need, by no more than the tolerance.
void find_crossings(const SurfaceView& a, const SurfaceView& b,
                    std::span<const TrianglePair> candidates, double margin,
                    std::vector<FeatureContact>& contacts);
void find_self_crossings(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                         double margin, std::vector<FeatureContact>& contacts);

// Pairs of triangles that share a point at t0, decided exactly.
void find_intersections(const SurfaceView& a, const SurfaceView& b,
                        std::span<const TrianglePair> candidates, std::vector<TrianglePair>& pairs);
// In self-intersections, triangles that share a vertex or an edge count where they share more.
void find_self_intersections(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                             std::vector<TrianglePair>& pairs);

}  // namespace isotact
