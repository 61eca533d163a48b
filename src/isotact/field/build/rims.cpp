#include "isotact/field/build/detail/rims.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isotact::surface_detail {
namespace {

Vec3 position(const TriangleMesh& mesh, std::uint32_t v) { return to_double(mesh.positions[v]); }

void measure(Rim& rim, const TriangleMesh& mesh) {
  double total = 0;
  for (const NetEdge& e : rim.edges) {
    const Vec3 a = position(mesh, e.from), b = position(mesh, e.to);
    const double weight = length(b - a);
    rim.center += (a + b) * (weight / 2);
    total += weight;
  }
  rim.center = total > 0 ? rim.center / total : position(mesh, rim.edges[0].from);
  for (const NetEdge& e : rim.edges) {
    const Vec3 a = position(mesh, e.from) - rim.center, b = position(mesh, e.to) - rim.center;
    rim.radius = std::max(rim.radius, length(a));
    rim.fan_area += e.excess * length(cross(a, b)) / 2;
  }
}

// Three edges that run once around a triangle.
bool is_triangle(const Rim& rim) {
  if (rim.edges.size() != 3) return false;
  const NetEdge &a = rim.edges[0], &b = rim.edges[1], &c = rim.edges[2];
  const bool forward = a.to == b.from && b.to == c.from && c.to == a.from;
  const bool backward = a.to == c.from && c.to == b.from && b.to == a.from;
  return (forward || backward) && a.excess == b.excess && b.excess == c.excess;
}

}  // namespace

std::vector<Rim> gather_rims(const TriangleMesh& mesh, std::span<const NetEdge> net) {
  std::vector<std::uint32_t> vertices;
  for (const NetEdge& e : net) vertices.insert(vertices.end(), {e.from, e.to});
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  const auto number = [&](std::uint32_t v) {
    return static_cast<std::uint32_t>(std::lower_bound(vertices.begin(), vertices.end(), v) -
                                      vertices.begin());
  };
  DisjointSets sets(vertices.size());
  for (const NetEdge& e : net) sets.join(number(e.from), number(e.to));

  std::vector<Rim> rims;
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> rim_of(vertices.size(), kNone);
  for (const NetEdge& e : net) {
    std::size_t& rim = rim_of[sets.find(number(e.from))];
    if (rim == kNone) {
      rim = rims.size();
      rims.emplace_back();
    }
    rims[rim].edges.push_back(e);
  }
  for (Rim& rim : rims) measure(rim, mesh);
  return rims;
}

std::vector<NetEdge> sum_edges(std::vector<NetEdge> edges) {
  const auto name = [](const NetEdge& e) {
    return std::pair(std::min(e.from, e.to), std::max(e.from, e.to));
  };
  std::sort(edges.begin(), edges.end(),
            [&](const NetEdge& a, const NetEdge& b) { return name(a) < name(b); });
  std::vector<NetEdge> net;
  for (std::size_t i = 0; i < edges.size();) {
    const auto [lower, upper] = name(edges[i]);
    std::int64_t excess = 0;
    for (; i < edges.size() && name(edges[i]) == std::pair(lower, upper); ++i)
      excess +=
          edges[i].from == lower ? std::int64_t{edges[i].excess} : -std::int64_t{edges[i].excess};
    if (excess > 0) net.push_back({lower, upper, static_cast<std::uint32_t>(excess)});
    if (excess < 0) net.push_back({upper, lower, static_cast<std::uint32_t>(-excess)});
  }
  return net;
}

std::vector<NetEdge> find_net(std::span<const Triangle> triangles) {
  std::vector<NetEdge> edges;
  edges.reserve(3 * triangles.size());
  for (const auto& [a, b, c] : triangles)
    edges.insert(edges.end(), {{a, b, 1}, {b, c, 1}, {c, a, 1}});
  return sum_edges(std::move(edges));
}

void add_fan(TriangleMesh& mesh, const Rim& rim) {
  if (is_triangle(rim)) {
    const NetEdge& e = rim.edges[0];
    const std::uint32_t third = rim.edges[1].from == e.to ? rim.edges[1].to : rim.edges[1].from;
    for (std::uint32_t i = 0; i < e.excess; ++i) mesh.triangles.push_back({e.to, e.from, third});
    return;
  }
  const auto center = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.push_back(to_float(rim.center));
  for (const NetEdge& e : rim.edges)
    for (std::uint32_t i = 0; i < e.excess; ++i) mesh.triangles.push_back({e.to, e.from, center});
}

}  // namespace isotact::surface_detail
