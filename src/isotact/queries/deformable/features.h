// Which features of two bending surfaces touch, are near, or meet on their ways.
//
//   const SurfaceTopology cloth = make_topology(mesh.triangles, mesh.positions.size());
//   find_self_pairs(tree, {.margin = 0}, pairs);                     // object_tree.h
//   find_self_crossings({&cloth, now, soon}, pairs, 0, crossings);   // nothing slips through
//
// All throw Error for surfaces whose positions are not as many as their topology's vertices,
// candidates that name no triangle, margins that are negative or no numbers, and vertices of
// candidates with coordinates that are no numbers or beyond kFarthest. Results are appended and do
// not depend on the order of candidates; candidates that come twice count once. One thread; safe
// from many at once. Triangles may be segments or points, and name a vertex twice.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/queries/deformable/continuous_features.h"
#include "isotact/queries/deformable/object_tree.h"
#include "isotact/queries/deformable/surface.h"

namespace isotact {

inline constexpr double kFarthest = 1e60;  // metres, on any axis: fourth powers still fit

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
  // Unit, from B towards A, as Contact has it. Where the two points are one (nearer than 1e-12 of
  // the features' size), it is perpendicular to the face or to both edges, if anything is. Of
  // crossings it then points to where A came from; of others to some side.
  Vec3 normal{};
  double distance = 0;   // never negative: surfaces have no inside here
  double time = 0;       // of a crossing: a lower bound of the time of contact, in [0, 1]
  bool gave_up = false;  // of a crossing: the search for its time ended early; the bound holds
};

// Vertex-face and edge-edge pairs no further apart than the margin, each once, sorted by kind,
// feature_a, feature_b. `candidates` as find_triangle_pairs gives them with the same margin.
// Distances as find_distance_vertex_face and find_distance_edge_edge measure them.
void find_proximities(const SurfaceView& a, const SurfaceView& b,
                      std::span<const TrianglePair> candidates, double margin,
                      std::vector<FeatureContact>& contacts);
// Of one body: features that share a vertex are none. Vertices come first (kVertexFace, never
// kFaceVertex), and of two edges the lower.
void find_self_proximities(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                           double margin, std::vector<FeatureContact>& contacts);

struct CrossingSettings {
  double tolerance = 1e-6;  // metres
  int max_steps = 256;      // of each search: MeetingSettings
};

// The first time at which features on their straight ways are no further apart than `margin` (at
// which they meet where it is 0). Conservative: never later than the true time, and no meeting is
// missed; early, or reported without need, only where at `time` they are no further apart than
// margin and tolerance (and rounding, some 1e-14 of their size), or the search gave up. Points,
// weights, normal and distance are those at `time`. Sorted as above.
void find_crossings(const SurfaceView& a, const SurfaceView& b,
                    std::span<const TrianglePair> candidates, double margin,
                    std::vector<FeatureContact>& contacts, const CrossingSettings& settings = {});
// Features that share a vertex are none, as above.
void find_self_crossings(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                         double margin, std::vector<FeatureContact>& contacts,
                         const CrossingSettings& settings = {});

// Pairs of triangles that share a point at t0, decided exactly, ascending. Coordinates smaller than
// 2^-300 metres count as zero. Triangles without area share nothing: the edges that they lie on
// are their neighbours', too.
void find_intersections(const SurfaceView& a, const SurfaceView& b,
                        std::span<const TrianglePair> candidates, std::vector<TrianglePair>& pairs);
// In self-intersections, triangles that share a vertex or an edge (by index) count where they share
// more. a < b.
void find_self_intersections(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                             std::vector<TrianglePair>& pairs);

// The same for all features against all, without candidates: the oracles.
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

}  // namespace isotact
