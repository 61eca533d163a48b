// Closing holes, and keeping the largest parts of a mesh.
#include <algorithm>
#include <cmath>
#include <vector>

#include "isotact/base/disjoint_sets.h"
#include "isotact/geometry/mesh/detail/topology.h"
#include "isotact/geometry/mesh/triangulate.h"
#include "isotact/geometry/repair/repair.h"

namespace isotact {
namespace {

constexpr std::uint32_t kNone = kRemoved;
constexpr std::uint32_t kSeveral = kRemoved - 1;

// For each vertex, where the rim of a hole goes on from there: against the direction of the
// triangle at the rim, so that a patch agrees with its neighbours.
std::vector<std::uint32_t> find_rims(const TriangleMesh& mesh, Threads threads) {
  const auto names = detail::merge_equal_positions(mesh.positions, threads);
  const detail::Topology topology = detail::build_topology(mesh, names, threads);
  std::vector<std::uint32_t> next(mesh.positions.size(), kNone);
  detail::for_each_edge(topology, [&](std::uint32_t, std::uint32_t, const auto& uses) {
    if (uses.size() != 1) return;
    const detail::HalfEdge h = uses[0].half_edge;
    std::uint32_t& place = next[detail::to_vertex(topology, h)];
    place = place == kNone ? detail::from_vertex(topology, h) : kSeveral;
  });
  return next;
}

double area_of(const TriangleMesh& mesh, std::size_t triangle) {
  const auto c = corners(mesh, triangle);
  const Vec3 a = to_double(c[0]);
  const double twice = length(cross(to_double(c[1]) - a, to_double(c[2]) - a));
  return std::isfinite(twice) ? twice / 2 : 0;
}

}  // namespace

FillResult fill_holes(const TriangleMesh& mesh, Threads threads) {
  FillResult result{.mesh = mesh};
  const std::vector<std::uint32_t> next = find_rims(mesh, threads);
  std::vector<bool> seen(next.size(), false);
  std::vector<std::uint32_t> rim;
  for (std::uint32_t start = 0; start < next.size(); ++start) {
    if (next[start] == kNone || seen[start]) continue;
    rim.clear();
    std::uint32_t at = start;
    while (at != kNone && next[at] != kNone && next[at] != kSeveral && !seen[at]) {
      seen[at] = true;
      rim.push_back(at);
      at = next[at];
    }
    seen[start] = true;
    if (at != start || rim.size() < 3) {
      ++result.left_open;
      continue;
    }
    triangulate_polygon(mesh.positions, rim, result.mesh.triangles);
    ++result.filled;
  }
  result.added = result.mesh.triangles.size() - mesh.triangles.size();
  return result;
}

RemoveResult keep_largest_components(const TriangleMesh& mesh, std::size_t count) {
  const auto names = detail::merge_equal_positions(mesh.positions, {});
  DisjointSets sets(mesh.positions.size());
  for (const Triangle& t : mesh.triangles) {
    sets.join(names[t[0]], names[t[1]]);
    sets.join(names[t[0]], names[t[2]]);
  }
  std::vector<double> areas(mesh.positions.size(), 0);
  std::vector<std::uint32_t> components;
  std::vector<bool> seen(mesh.positions.size(), false);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const std::uint32_t set = sets.find(names[mesh.triangles[t][0]]);
    areas[set] += area_of(mesh, t);
    if (!seen[set]) components.push_back(set);
    seen[set] = true;
  }
  std::stable_sort(components.begin(), components.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return areas[a] > areas[b]; });
  std::vector<bool> kept(mesh.positions.size(), false);
  for (std::size_t i = 0; i < std::min(count, components.size()); ++i) kept[components[i]] = true;
  RemoveResult result;
  TriangleMesh left{.positions = mesh.positions, .triangles = {}};
  for (const Triangle& t : mesh.triangles) {
    const bool stays = kept[sets.find(names[t[0]])];
    result.map.push_back(stays ? static_cast<std::uint32_t>(left.triangles.size()) : kRemoved);
    if (stays) left.triangles.push_back(t);
  }
  result.mesh = remove_unreferenced(left).mesh;
  result.removed = components.size() - std::min(count, components.size());
  return result;
}

}  // namespace isotact
