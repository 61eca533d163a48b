#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/detail/topology.h"
#include "isotact/geometry/repair.h"

namespace isotact {
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
