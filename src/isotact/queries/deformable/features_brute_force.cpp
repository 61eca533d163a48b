#include <algorithm>

#include "isotact/queries/deformable/detail/feature_pairs.h"
#include "isotact/queries/deformable/features.h"

namespace isotact {
namespace {

using detail::FeaturePair;

// Returns the vertices that some triangle uses, ascending.
std::vector<std::uint32_t> list_vertices(const SurfaceTopology& topology) {
  std::vector<std::uint32_t> vertices;
  for (const Triangle& t : topology.triangles) vertices.insert(vertices.end(), t.begin(), t.end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

template <typename Visit>
void visit_all_pairs(const SurfaceView& a, const SurfaceView& b, Visit&& visit) {
  const SurfaceTopology &ta = *a.topology, &tb = *b.topology;
  for (const std::uint32_t v : list_vertices(ta))
    for (std::uint32_t t = 0; t < tb.triangles.size(); ++t) visit(detail::vertex_face(v, tb, t));
  const std::vector<std::uint32_t> vertices_b = list_vertices(tb);
  for (std::uint32_t t = 0; t < ta.triangles.size(); ++t)
    for (const std::uint32_t v : vertices_b) visit(detail::face_vertex(ta, t, v));
  for (std::uint32_t e = 0; e < ta.edges.size(); ++e)
    for (std::uint32_t f = 0; f < tb.edges.size(); ++f) visit(detail::edge_edge(ta, e, tb, f));
}

template <typename Visit>
void visit_all_self_pairs(const SurfaceView& surface, Visit&& visit) {
  const SurfaceTopology& topology = *surface.topology;
  const auto visit_strangers = [&](const FeaturePair& pair) {
    if (!shares_vertex(pair)) visit(pair);
  };
  for (const std::uint32_t v : list_vertices(topology))
    for (std::uint32_t t = 0; t < topology.triangles.size(); ++t)
      visit_strangers(detail::vertex_face(v, topology, t));
  for (std::uint32_t e = 0; e < topology.edges.size(); ++e)
    for (std::uint32_t f = e + 1; f < topology.edges.size(); ++f)
      visit_strangers(detail::edge_edge(topology, e, topology, f));
}

void check_all(const SurfaceView& surface, const char* name) {
  detail::check_surface(surface, name);
  for (std::uint32_t t = 0; t < surface.topology->triangles.size(); ++t)
    detail::check_candidate(surface, surface, {t, t});
}

}  // namespace

void find_proximities_brute_force(const SurfaceView& a, const SurfaceView& b, double margin,
                                  std::vector<FeatureContact>& contacts) {
  check_all(a, "surface A");
  check_all(b, "surface B");
  detail::check_margin(margin);
  visit_all_pairs(
      a, b, [&](const FeaturePair& pair) { detail::append_if_near(a, b, pair, margin, contacts); });
}

void find_self_proximities_brute_force(const SurfaceView& surface, double margin,
                                       std::vector<FeatureContact>& contacts) {
  check_all(surface, "the surface");
  detail::check_margin(margin);
  visit_all_self_pairs(surface, [&](const FeaturePair& pair) {
    detail::append_if_near(surface, surface, pair, margin, contacts);
  });
}

void find_crossings_brute_force(const SurfaceView& a, const SurfaceView& b, double margin,
                                std::vector<FeatureContact>& contacts,
                                const CrossingSettings& settings) {
  check_all(a, "surface A");
  check_all(b, "surface B");
  detail::check_margin(margin);
  visit_all_pairs(a, b, [&](const FeaturePair& pair) {
    detail::append_if_crossing(a, b, pair, {margin, settings.tolerance, settings.max_steps},
                               contacts);
  });
}

void find_self_crossings_brute_force(const SurfaceView& surface, double margin,
                                     std::vector<FeatureContact>& contacts,
                                     const CrossingSettings& settings) {
  check_all(surface, "the surface");
  detail::check_margin(margin);
  visit_all_self_pairs(surface, [&](const FeaturePair& pair) {
    detail::append_if_crossing(surface, surface, pair,
                               {margin, settings.tolerance, settings.max_steps}, contacts);
  });
}

}  // namespace isotact
