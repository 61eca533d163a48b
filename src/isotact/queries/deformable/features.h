// Features of two soft surfaces that touch, are near, or meet while moving.
//
//   const SurfaceTopology cloth = make_topology(mesh.triangles, mesh.positions.size());
//   find_self_pairs(tree, {.margin = 0}, pairs);                     // object_tree.h
//   find_self_crossings({&cloth, now, soon}, pairs, 0, crossings);   // No crossing is missed.
//
// All functions throw Error for surfaces whose number of positions differs from their topology's
// vertices, and for candidates that name no triangle. They also throw for margins that are negative
// or NaN, and for vertices of candidates with coordinates that are NaN or beyond kFarthest. Results
// are appended and do not depend on the order of candidates. Repeated candidates count once. Each
// call uses one thread; many threads may call at once. Triangles may be segments or points, and
// name a vertex twice.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/queries/deformable/continuous_features.h"
#include "isotact/queries/deformable/deformable_surface.h"
#include "isotact/queries/deformable/object_tree.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr double kFarthest = 1e60;  // Metres, on any axis: fourth powers still fit.

enum class FeatureKind : std::uint8_t {
  kVertexFace,  // A vertex of A, a face of B.
  kFaceVertex,  // A face of A, a vertex of B.
  kEdgeEdge,
};

// Two features, four vertices, and the two nearest points on them. Vertices with a nonzero weight
// define the points. For kVertexFace, vertices[0] is A's and the other three are B's. For
// kFaceVertex, the first three are A's. For kEdgeEdge, each side has two. Weights of each side sum
// to one.
struct FeatureContact {
  FeatureKind kind = FeatureKind::kVertexFace;
  std::uint32_t feature_a = 0, feature_b = 0;  // Vertex, triangle or edge, by kind.
  std::array<std::uint32_t, 4> vertices{};
  std::array<double, 4> weights{};
  Vec3 point_on_a{}, point_on_b{};
  // Unit vector from B towards A, as in Contact. The two points may coincide (nearer than 1e-12 of
  // the features' size). The vector is then perpendicular to the face or to both edges, if such a
  // direction exists. For crossings it then points to A's former side; for others, to an arbitrary
  // side.
  Vec3 normal{};
  double distance = 0;   // Never negative: surfaces have no inside here.
  double time = 0;       // For a crossing: a lower bound of the time of contact, in [0, 1].
  bool gave_up = false;  // For a crossing: the search for its time ended early; the bound holds.
};

// Finds vertex-face and edge-edge pairs no further apart than the margin, each once, sorted by
// kind, feature_a, feature_b. `candidates` must be those of find_triangle_pairs with the same
// margin. Distances are those of compute_distance_vertex_face and compute_distance_edge_edge.
void find_proximities(const SurfaceView& a, const SurfaceView& b,
                      std::span<const TrianglePair> candidates, double margin,
                      std::vector<FeatureContact>& contacts);
// Finds pairs of one body. Features that share a vertex are not a pair. Vertices come first
// (kVertexFace, never kFaceVertex), and so does the lower one of two edges.
void find_self_proximities(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                           double margin, std::vector<FeatureContact>& contacts);

struct CrossingSettings {
  double tolerance = 1e-6;  // Metres.
  int max_steps = 256;      // Per search: MeetingSettings.
};

// Finds the first time at which moving features are no further apart than `margin` (at which they
// meet if it is 0). Conservative: the time is never later than the true time, and no meeting is
// missed. A time may be early, or a report needless, only in two cases. At `time` they are no
// further apart than margin and tolerance (and rounding, about 1e-14 of their size), or the search
// gave up. Points, weights, normal and distance are those at `time`. Sorted as above.
void find_crossings(const SurfaceView& a, const SurfaceView& b,
                    std::span<const TrianglePair> candidates, double margin,
                    std::vector<FeatureContact>& contacts, const CrossingSettings& settings = {});
// Features that share a vertex are not a pair, as above.
void find_self_crossings(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                         double margin, std::vector<FeatureContact>& contacts,
                         const CrossingSettings& settings = {});

// Finds pairs of triangles that share a point at t0, decided exactly, ascending. Coordinates
// smaller than 2^-300 metres count as zero. Triangles without area share nothing: the edges that
// they lie on also belong to their neighbours.
void find_intersections(const SurfaceView& a, const SurfaceView& b,
                        std::span<const TrianglePair> candidates, std::vector<TrianglePair>& pairs);
// In self-intersections, triangles that share a vertex or an edge (by index) count only if they
// share more. a < b.
void find_self_intersections(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                             std::vector<TrianglePair>& pairs);

// The same for all pairs of features, without candidates: the oracles.
void find_proximities_brute_force(const SurfaceView& a, const SurfaceView& b, double margin,
                                  std::vector<FeatureContact>& contacts);
void find_self_proximities_brute_force(const SurfaceView& surface, double margin,
                                       std::vector<FeatureContact>& contacts);
void find_crossings_brute_force(const SurfaceView& a, const SurfaceView& b, double margin,
                                std::vector<FeatureContact>& contacts,
                                const CrossingSettings& settings = {});
void find_self_crossings_brute_force(const SurfaceView& surface, double margin,
                                     std::vector<FeatureContact>& contacts,
                                     const CrossingSettings& settings = {});

// Distance of a vertex from a face, or of an edge from an edge, at one time.

struct FeatureDistance {
  // Weights of the four points in the given order. Those of each feature sum to one, and define its
  // point.
  std::array<double, 4> weights{};
  Vec3 to_first{};  // From the point on the second feature to that on the first.
  double distance = 0;
};

// `points`: a vertex, then the three corners of a face; or the two ends of an edge, then those of
// another. Faces that are segments or points, and edges that are points, are measured as such. For
// parallel edges, some nearest pair is returned. The points given by the weights are inside their
// features up to rounding. Their distance is within 1e-11 of the features' size of the least one
// (about 1e-15 unless they are slivers). Coordinates of magnitudes beyond 1e60 metres, and NaN,
// give some number or NaN. Neither throws nor allocates. Cost: about 150 operations.
FeatureDistance compute_distance_vertex_face(const std::array<Vec3, 4>& points);
FeatureDistance compute_distance_edge_edge(const std::array<Vec3, 4>& points);

}  // namespace isotact
