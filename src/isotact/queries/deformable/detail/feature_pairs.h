// From pairs of triangles to pairs of features, each once, and their contacts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/queries/deformable/continuous_features.h"
#include "isotact/queries/deformable/features.h"

namespace isotact::detail {

struct FeaturePair {
  FeatureKind kind = FeatureKind::kVertexFace;
  std::uint32_t feature_a = 0, feature_b = 0;
  std::array<std::uint32_t, 4> vertices{};  // As in FeatureContact.
};

// Throw Error as described in features.h.
void check_surface(const SurfaceView& surface, const char* name);
void check_margin(double margin);
void check_candidate(const SurfaceView& a, const SurfaceView& b, const TrianglePair& candidate);

// Sorts the contacts appended after the first `kept`, and drops duplicates.
void sort_contacts(std::vector<FeatureContact>& contacts, std::size_t kept);

// Returns the positions of the four vertices at both ends. The vertex comes before the face, also
// for kFaceVertex.
FeatureMotion motion_of(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair);

// Appends the contact of features at their positions at `time`.
void append_contact(const FeaturePair& pair, const FeatureMotion& motion, double time,
                    bool is_crossing, std::vector<FeatureContact>& contacts);

// Processing of a pair of features, for all searches.
void append_if_near(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair,
                    double margin, std::vector<FeatureContact>& contacts);
void append_if_crossing(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair,
                        const MeetingSettings& settings, std::vector<FeatureContact>& contacts);

inline FeaturePair vertex_face(std::uint32_t vertex, const SurfaceTopology& b, std::uint32_t face) {
  const Triangle& t = b.triangles[face];
  return {FeatureKind::kVertexFace, vertex, face, {vertex, t[0], t[1], t[2]}};
}
inline FeaturePair face_vertex(const SurfaceTopology& a, std::uint32_t face, std::uint32_t vertex) {
  const Triangle& t = a.triangles[face];
  return {FeatureKind::kFaceVertex, face, vertex, {t[0], t[1], t[2], vertex}};
}
inline FeaturePair edge_edge(const SurfaceTopology& a, std::uint32_t edge_a,
                             const SurfaceTopology& b, std::uint32_t edge_b) {
  const Edge &ea = a.edges[edge_a], &eb = b.edges[edge_b];
  return {FeatureKind::kEdgeEdge, edge_a, edge_b, {ea[0], ea[1], eb[0], eb[1]}};
}

// For a vertex-face or an edge-edge pair of one body.
inline bool shares_vertex(const FeaturePair& pair) {
  const auto& [a, b, c, d] = pair.vertices;
  if (pair.kind == FeatureKind::kVertexFace) return a == b || a == c || a == d;
  return a == c || a == d || b == c || b == d;
}

template <typename Visit>
void visit_owned_corners(const SurfaceTopology& s, std::uint32_t triangle, Visit&& visit) {
  for (std::size_t k = 0; k < 3; ++k)
    if (s.owns_corner(triangle, k)) visit(s.triangles[triangle][k]);
}
template <typename Visit>
void visit_owned_edges(const SurfaceTopology& s, std::uint32_t triangle, Visit&& visit) {
  for (std::size_t k = 0; k < 3; ++k)
    if (s.owns_edge(triangle, k)) visit(s.edges_of[triangle][k]);
}

// Two features that are near belong to two triangles that are near: no pair is missed.
template <typename Visit>
void visit_feature_pairs(const SurfaceView& a, const SurfaceView& b,
                         std::span<const TrianglePair> candidates, Visit&& visit) {
  const SurfaceTopology &ta = *a.topology, &tb = *b.topology;
  for (const TrianglePair& c : candidates) {
    check_candidate(a, b, c);
    visit_owned_corners(ta, c.a, [&](std::uint32_t v) { visit(vertex_face(v, tb, c.b)); });
    visit_owned_corners(tb, c.b, [&](std::uint32_t v) { visit(face_vertex(ta, c.a, v)); });
    visit_owned_edges(ta, c.a, [&](std::uint32_t ea) {
      visit_owned_edges(tb, c.b, [&](std::uint32_t eb) { visit(edge_edge(ta, ea, tb, eb)); });
    });
  }
}

// For one body. Both features of a pair may be those of either triangle.
template <typename Visit>
void visit_self_feature_pairs(const SurfaceView& surface, std::span<const TrianglePair> candidates,
                              Visit&& visit) {
  const SurfaceTopology& t = *surface.topology;
  const auto visit_strangers = [&](const FeaturePair& pair) {
    if (!shares_vertex(pair)) visit(pair);
  };
  for (const TrianglePair& c : candidates) {
    check_candidate(surface, surface, c);
    visit_owned_corners(t, c.a, [&](std::uint32_t v) { visit_strangers(vertex_face(v, t, c.b)); });
    visit_owned_corners(t, c.b, [&](std::uint32_t v) { visit_strangers(vertex_face(v, t, c.a)); });
    visit_owned_edges(t, c.a, [&](std::uint32_t ea) {
      visit_owned_edges(t, c.b, [&](std::uint32_t eb) {
        visit_strangers(edge_edge(t, std::min(ea, eb), t, std::max(ea, eb)));
      });
    });
  }
}

}  // namespace isotact::detail
