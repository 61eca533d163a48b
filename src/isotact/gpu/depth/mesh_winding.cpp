#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact::detail {
namespace {

// A half line from `place` along an axis, or against it.
struct AxisRay {
  Vec3 place;
  std::size_t axis;
  double sign;  // 1 or -1.

  bool may_meet(const ClusterNode& node) const {
    for (std::size_t k = 0; k < 3; ++k) {
      // Boxes are rounded.
      const double room = 1e-6 * (std::abs(double{node.middle[k]}) + double{node.half[k]});
      const double at = double{node.middle[k]} - place[k], half = double{node.half[k]} + room;
      if (k == axis ? sign * at + half < 0 : std::abs(at) > half) return false;
    }
    return true;
  }

  // Returns 1 if it leaves through the triangle, -1 if it enters, 0 if it misses. Nothing: too near
  // to an edge, or the position is too near to the triangle, to decide.
  std::optional<int> cross(const Vec3f* corners) const {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    std::array<Vec3, 3> p;
    for (std::size_t k = 0; k < 3; ++k) p[k] = to_double(corners[k]) - place;
    std::array<double, 3> edges{};
    bool any_left = false, any_right = false, any_near = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 &a = p[(k + 1) % 3], &b = p[(k + 2) % 3];
      const double left = a[u] * b[v], right = a[v] * b[u];
      edges[k] = left - right;
      // A float less a double is off by 2^-53 of either. The bound covers some of these, and those
      // of products.
      const double scale = std::max({std::abs(place[u]), std::abs(a[u]), std::abs(b[u])}) *
                           std::max({std::abs(place[v]), std::abs(a[v]), std::abs(b[v])});
      if (std::abs(edges[k]) <= 1e-14 * scale)
        any_near = true;
      else
        (edges[k] > 0 ? any_left : any_right) = true;
    }
    if (any_left && any_right) return 0;
    if (any_near) {
      const bool behind = sign * p[0][axis] < 0 && sign * p[1][axis] < 0 && sign * p[2][axis] < 0;
      if (behind) return 0;
      return {};
    }
    const double area = edges[0] + edges[1] + edges[2];
    const double along =
        (edges[0] * p[0][axis] + edges[1] * p[1][axis] + edges[2] * p[2][axis]) / area;
    if (std::abs(along) <= 1e-9 * (std::abs(place[axis]) + std::abs(p[0][axis]))) return {};
    if (sign * along < 0) return 0;
    return area * sign > 0 ? 1 : -1;
  }
};

std::optional<int> count_crossings(const GpuMeshes::State& meshes,
                                   const GpuMeshes::State::Element& element, const AxisRay& ray) {
  int count = 0;
  for (std::uint32_t n = element.first_node; n < element.end_node;) {
    const ClusterNode& node = meshes.nodes[n];
    if (!ray.may_meet(node)) {
      n = node.end;
      continue;
    }
    ++n;
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const std::optional<int> crossed =
          ray.cross(&meshes.corners_here[node.first + 3 * std::size_t{i}]);
      if (!crossed) return {};
      count += *crossed;
    }
  }
  return count;
}

}  // namespace

std::optional<int> compute_winding(const GpuMeshes::State& meshes,
                                   const GpuMeshes::State::Element& element, const Vec3& place) {
  struct Exit {
    double length;
    std::size_t axis;
    double sign;
  };
  std::array<Exit, 6> exits{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double below = place[axis] - element.bounds.lower[axis];
    const double above = element.bounds.upper[axis] - place[axis];
    if (below < 0 || above < 0) return 0;
    exits[2 * axis] = {below, axis, -1};
    exits[2 * axis + 1] = {above, axis, 1};
  }
  // The shortest path out meets the fewest triangles.
  std::sort(exits.begin(), exits.end(), [](const Exit& a, const Exit& b) {
    return a.length != b.length ? a.length < b.length
                                : 2 * a.axis + (a.sign > 0) < 2 * b.axis + (b.sign > 0);
  });
  for (const Exit& exit : exits)
    if (const auto count = count_crossings(meshes, element, {place, exit.axis, exit.sign}))
      return count;
  return {};
}

}  // namespace isotact::detail
