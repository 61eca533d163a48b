// Spheres of leaves, tight around their vertices, and of nodes, around their children's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact::detail {
namespace {

constexpr float kTreeNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kTreeHugeRadius = 1e18;  // its square is far from the largest float

TreeVolume make_sphere(const Vec3f& middle, float radius) {
  return {{middle.x, middle.y, middle.z, 0}, {radius, 0, 0, 0}};
}
// Near everything that is near anything: for what is too large to be squared.
TreeVolume make_whole_space() { return make_sphere({}, std::numeric_limits<float>::infinity()); }
// Near nothing.
TreeVolume make_no_sphere() { return make_sphere({kTreeNan, kTreeNan, kTreeNan}, kTreeNan); }

bool is_no_sphere(const TreeVolume& sphere) { return !(sphere.upper[0] >= 0); }

// A distance along one axis; a NaN is none.
double way(double from, double to) {
  const double d = to - from;
  return std::isnan(d) ? 0 : d;
}

TreeVolume fit_leaf_sphere(const TreeView& tree, std::uint32_t index) {
  const TreePart& part = tree.parts[index];
  const TreeLeaf& leaf = tree.leaves[index];
  const Aabb box = find_box(tree, std::size_t{leaf.first_block} * kTreeLanes, leaf.count);
  if (is_empty(box)) return make_no_sphere();
  const Vec3 half = (box.upper - box.lower) * 0.5, middle = box.lower + half;
  if (!(length_sq(half) < kTreeHugeRadius * kTreeHugeRadius &&
        length_sq(middle) < kTreeHugeRadius * kTreeHugeRadius))
    return make_whole_space();
  const Vec3f rounded = to_float(middle);
  const Vec3 at = to_double(rounded);
  double most_sq = 0;
  for (const double* positions : {tree.places.t0, tree.places.t1}) {
    if (positions == nullptr) continue;
    for (std::uint32_t i = 0; i < part.vertex_count; ++i) {
      const double* p = positions + std::size_t{3} * tree.part_vertices[part.first_vertex + i];
      const Vec3 d{way(at.x, p[0]), way(at.y, p[1]), way(at.z, p[2])};
      most_sq = std::max(most_sq, length_sq(d));
    }
  }
  // More than the roundings of the comparison, which are relative to the radii.
  const double radius = std::sqrt(most_sq) * (1 + 0x1p-20) + static_cast<double>(kTreeSlack);
  return make_sphere(rounded, static_cast<float>(radius));
}

TreeVolume sphere_around(const TreeView& tree, const TreeNode& node) {
  const auto child = [&](std::uint32_t lane) -> const TreeVolume& {
    const std::uint32_t c = node.children[lane];
    return (c & kTreeEnd) != 0 ? tree.part_volumes[c & ~kTreeEnd] : tree.node_volumes[c];
  };
  Aabb box;
  bool is_whole = false;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const TreeVolume& c = child(i);
    if (is_no_sphere(c)) continue;
    const auto r = static_cast<double>(c.upper[0]);
    is_whole = is_whole || !(r < kTreeHugeRadius);
    const Vec3 at{c.lower[0], c.lower[1], c.lower[2]};
    extend(box, Aabb{at - Vec3{r, r, r}, at + Vec3{r, r, r}});
  }
  if (is_whole) return make_whole_space();
  if (is_empty(box)) return make_no_sphere();
  const Vec3f rounded = to_float(center(box));
  const Vec3 at = to_double(rounded);
  double most = 0;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const TreeVolume& c = child(i);
    if (is_no_sphere(c)) continue;
    const Vec3 middle{c.lower[0], c.lower[1], c.lower[2]};
    most = std::max(most, length(middle - at) + static_cast<double>(c.upper[0]));
  }
  if (!(most < kTreeHugeRadius)) return make_whole_space();
  // So much wider that rounding of a comparison never parts nodes whose children it does not part.
  return make_sphere(rounded, static_cast<float>(most * (1 + 0x1p-17)));
}

}  // namespace

void fit_leaf_spheres(const TreeView& tree, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) tree.part_volumes[i] = fit_leaf_sphere(tree, i);
}

void fit_node_spheres(const TreeView& tree, std::span<const std::uint32_t> nodes) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::uint32_t index = nodes[i];
    const TreeNode& node = tree.nodes[index];
    TreeBlock& block = tree.node_blocks[index];
    for (std::uint32_t lane = 0; lane < node.count; ++lane) {
      const std::uint32_t c = node.children[lane];
      const TreeVolume& v =
          (c & kTreeEnd) != 0 ? tree.part_volumes[c & ~kTreeEnd] : tree.node_volumes[c];
      for (int k = 0; k < 3; ++k) {
        block.lower[k][lane] = v.lower[k];
        block.upper[k][lane] = v.upper[k];
      }
    }
    tree.node_volumes[index] = sphere_around(tree, node);
  }
}

bool are_spheres_near(const TreeVolume& a, const TreeVolume& b, float reach) {
  const float dx = a.lower[0] - b.lower[0], dy = a.lower[1] - b.lower[1],
              dz = a.lower[2] - b.lower[2], most = (a.upper[0] + b.upper[0]) + reach;
  return (dx * dx + dy * dy) + dz * dz <= most * most;
}

}  // namespace isotact::detail
