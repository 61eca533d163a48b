#include "isotact/geometry/repair.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "isotact/geometry/detail/topology.h"
#include "isotact/geometry/predicates.h"

namespace isotact {
namespace {

RemoveResult keep_triangles(const TriangleMesh& mesh, const std::vector<std::uint8_t>& removed) {
  RemoveResult result;
  result.mesh.positions = mesh.positions;
  result.map.assign(mesh.triangles.size(), kRemoved);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    if (removed[i]) continue;
    result.map[i] = static_cast<std::uint32_t>(result.mesh.triangles.size());
    result.mesh.triangles.push_back(mesh.triangles[i]);
  }
  result.removed = mesh.triangles.size() - result.mesh.triangles.size();
  return result;
}

// Turned so that the lowest corner comes first; the winding stays.
Triangle lowest_first(Triangle t) {
  std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  return t;
}

}  // namespace

RemoveResult remove_degenerate(const TriangleMesh& mesh, const RemoveDegenerateSettings& settings) {
  std::vector<std::uint8_t> removed(mesh.triangles.size());
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    const Triangle& t = mesh.triangles[i];
    removed[i] = t[0] == t[1] || t[1] == t[2] || t[2] == t[0] || a == b || b == c || c == a;
    if (settings.collinear && is_finite(a) && is_finite(b) && is_finite(c))
      removed[i] |= static_cast<std::uint8_t>(are_collinear(a, b, c));
  }
  return keep_triangles(mesh, removed);
}

RemoveResult remove_duplicates(const TriangleMesh& mesh, const RemoveDuplicatesSettings& settings) {
  const auto names = detail::merge_equal_positions(mesh.positions, {});
  std::vector<Triangle> keys(mesh.triangles.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    keys[i] = lowest_first({names[t[0]], names[t[1]], names[t[2]]});
    if (!settings.same_winding_only) std::sort(keys[i].begin(), keys[i].end());
  }
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(keys[a], a) < std::tie(keys[b], b);
  });
  std::vector<std::uint8_t> removed(keys.size());
  for (std::size_t i = 1; i < order.size(); ++i)
    removed[order[i]] = keys[order[i]] == keys[order[i - 1]];
  return keep_triangles(mesh, removed);
}

RemoveResult remove_unreferenced(const TriangleMesh& mesh) {
  RemoveResult result;
  std::vector<std::uint8_t> used(mesh.positions.size());
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t v : t) used[v] = 1;
  result.map.assign(mesh.positions.size(), kRemoved);
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    result.map[v] = static_cast<std::uint32_t>(result.mesh.positions.size());
    result.mesh.positions.push_back(mesh.positions[v]);
  }
  result.removed = mesh.positions.size() - result.mesh.positions.size();
  result.mesh.triangles.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles)
    result.mesh.triangles.push_back({result.map[t[0]], result.map[t[1]], result.map[t[2]]});
  return result;
}

}  // namespace isotact
