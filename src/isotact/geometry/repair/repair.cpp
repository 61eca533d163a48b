#include "isotact/geometry/repair/repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/detail/topology.h"
#include "isotact/geometry/mesh/predicates.h"

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

namespace {

// A cell of the grid whose cells are as wide as the tolerance. Whole numbers as doubles: where they
// are too big to count by ones, float positions are further apart than the tolerance anyway, and
// equal positions still share a cell.
using WeldCell = std::array<double, 3>;

WeldCell cell_of(const Vec3f& p, double tolerance) {
  return {std::floor(p.x / tolerance), std::floor(p.y / tolerance), std::floor(p.z / tolerance)};
}

constexpr std::uint32_t kNoPoint = 0xffffffffU;

// The kept vertices, found by cell. A cell holds few of them, since they are further apart than its
// width. Cells are searched in a sorted list instead of a hash table, so that no input is slow.
class KeptVertices {
 public:
  KeptVertices(std::span<const Vec3f> positions, double tolerance)
      : positions_(positions), tolerance_(tolerance), next_(positions.size(), kNoPoint) {
    for (const Vec3f& p : positions)
      if (is_finite(p)) cells_.push_back(cell_of(p, tolerance));
    std::sort(cells_.begin(), cells_.end());
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    heads_.assign(cells_.size(), kNoPoint);
  }

  // The nearest kept vertex within the tolerance; the first of equally near ones.
  std::uint32_t find_near(std::uint32_t vertex) const {
    const WeldCell cell = cell_of(positions_[vertex], tolerance_);
    std::uint32_t best = kNoPoint;
    double best_sq = tolerance_ * tolerance_;
    for (const double dx : {-1.0, 0.0, 1.0})
      for (const double dy : {-1.0, 0.0, 1.0}) {
        const double x = cell[0] + dx, y = cell[1] + dy;
        // The three cells along z stand side by side in the list.
        auto it = std::lower_bound(cells_.begin(), cells_.end(), WeldCell{x, y, cell[2] - 1});
        for (; it != cells_.end() && (*it)[0] == x && (*it)[1] == y && (*it)[2] <= cell[2] + 1;
             ++it)
          for (std::uint32_t k = heads_[index(it)]; k != kNoPoint; k = next_[k]) {
            const double d = length_sq(to_double(positions_[k]) - to_double(positions_[vertex]));
            if (d < best_sq || (d == best_sq && k < best)) {
              best = k;
              best_sq = d;
            }
          }
      }
    return best;
  }

  void keep(std::uint32_t vertex) {
    const auto it =
        std::lower_bound(cells_.begin(), cells_.end(), cell_of(positions_[vertex], tolerance_));
    next_[vertex] = heads_[index(it)];
    heads_[index(it)] = vertex;
  }

 private:
  std::size_t index(std::vector<WeldCell>::const_iterator it) const {
    return static_cast<std::size_t>(it - cells_.begin());
  }

  std::span<const Vec3f> positions_;
  double tolerance_;
  std::vector<WeldCell> cells_;
  std::vector<std::uint32_t> heads_, next_;  // a list of kept vertices for each cell
};

std::vector<std::uint32_t> merge_near_positions(std::span<const Vec3f> positions,
                                                double tolerance) {
  std::vector<std::uint32_t> names(positions.size());
  std::iota(names.begin(), names.end(), 0U);
  KeptVertices kept(positions, tolerance);
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    if (!is_finite(positions[i])) continue;
    const std::uint32_t near = kept.find_near(i);
    if (near == kNoPoint)
      kept.keep(i);
    else
      names[i] = near;
  }
  return names;
}

// Coordinates of floats are multiples of 2^-149, so different positions are at least that far
// apart: below it, a tolerance merges equal positions and nothing else. (The grid would overflow
// there: a position divided by the tolerance has to stay finite, or all vertices share a cell.)
constexpr double kFinestTolerance = 0x1p-149;

bool is_collapsed(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

}  // namespace

WeldResult weld(const TriangleMesh& mesh, const WeldSettings& settings) {
  if (!(settings.tolerance >= 0) || !std::isfinite(settings.tolerance))
    throw Error(fmt::format("the tolerance of welding is {}; it must be finite and not negative",
                            settings.tolerance));
  const std::vector<std::uint32_t> names =
      settings.tolerance >= kFinestTolerance
          ? merge_near_positions(mesh.positions, settings.tolerance)
          : detail::merge_equal_positions(mesh.positions, settings.threads);
  WeldResult result;
  result.map.resize(names.size());
  double longest_sq = 0;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (names[i] == i) {
      result.map[i] = static_cast<std::uint32_t>(result.mesh.positions.size());
      result.mesh.positions.push_back(mesh.positions[i]);
      continue;
    }
    // The kept vertex comes first, so its new index is known.
    result.map[i] = result.map[names[i]];
    const Vec3 move = to_double(mesh.positions[names[i]]) - to_double(mesh.positions[i]);
    longest_sq = std::max(longest_sq, length_sq(move));
  }
  result.longest_move = std::sqrt(longest_sq);
  result.merged = names.size() - result.mesh.positions.size();
  result.mesh.triangles.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    const Triangle& welded = result.mesh.triangles.emplace_back(
        Triangle{result.map[t[0]], result.map[t[1]], result.map[t[2]]});
    if (is_collapsed(welded) && !is_collapsed(t)) ++result.collapsed;
  }
  return result;
}

}  // namespace isotact
