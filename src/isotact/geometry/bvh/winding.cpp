#include "isotact/geometry/bvh/winding.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "isotact/geometry/bvh/detail/winding_kernel.h"

namespace isotact {
namespace {

using detail::BvhNode;
using detail::kBlockBit;
using detail::kNodeWidth;
using detail::TriangleBlock;
using detail::WindingNode;

detail::Point3<double> corner_of(const Vec3f& p) { return {p.x, p.y, p.z}; }

constexpr double kFullAngle = 4 * 3.14159265358979323846;

// Which axes a component of a symmetric tensor belongs to, and in which order WindingNode has them.
constexpr std::array<std::array<std::size_t, 2>, 6> kPairs{
    {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
constexpr std::array<std::array<std::size_t, 3>, 10> kTriples{{{0, 0, 0},
                                                               {1, 1, 1},
                                                               {2, 2, 2},
                                                               {0, 0, 1},
                                                               {0, 0, 2},
                                                               {0, 1, 1},
                                                               {1, 1, 2},
                                                               {0, 2, 2},
                                                               {1, 2, 2},
                                                               {0, 1, 2}}};
constexpr std::array<std::array<std::size_t, 3>, 3> kPairAt{{{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};

// The moments of some triangles about their center; as in WindingNode, for one child.
struct Moments {
  double area = 0;
  Vec3 center{};
  double radius = 0;
  Vec3 normal{};
  std::array<double, 6> first{};
  std::array<double, 10> second{};
};

using Corners = std::array<Vec3, 3>;

void add_triangle(Moments& m, const Corners& corner) {
  const std::array<Vec3, 3> x{corner[0] - m.center, corner[1] - m.center, corner[2] - m.center};
  const Vec3 n = cross(x[1] - x[0], x[2] - x[0]) * 0.5;  // as long as the area
  const Vec3 sum = x[0] + x[1] + x[2];
  m.normal += n;
  for (std::size_t c = 0; c < 6; ++c) {
    const auto [i, j] = kPairs[c];
    m.first[c] += (sum[i] * n[j] + sum[j] * n[i]) / 6;
  }
  // The mean of d d over a triangle: (sum over corners of x x, plus sum sum) / 12.
  const auto mean = [&](std::size_t i, std::size_t j) {
    return (x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j] + sum[i] * sum[j]) / 12;
  };
  for (std::size_t c = 0; c < 10; ++c) {
    const auto [i, j, k] = kTriples[c];
    m.second[c] += (mean(i, j) * n[k] + mean(j, k) * n[i] + mean(k, i) * n[j]) / 3;
  }
  for (const Vec3& corner_offset : x) m.radius = std::max(m.radius, length(corner_offset));
}

// Adds moments that were taken about another center.
void add_moments(Moments& m, const Moments& part) {
  const Vec3 s = part.center - m.center;
  const Vec3& n = part.normal;
  m.normal += n;
  for (std::size_t c = 0; c < 6; ++c) {
    const auto [i, j] = kPairs[c];
    m.first[c] += part.first[c] + (s[i] * n[j] + s[j] * n[i]) / 2;
  }
  for (std::size_t c = 0; c < 10; ++c) {
    const auto [i, j, k] = kTriples[c];
    const auto& f = part.first;
    m.second[c] +=
        part.second[c] +
        2 * (s[i] * f[kPairAt[j][k]] + s[j] * f[kPairAt[k][i]] + s[k] * f[kPairAt[i][j]]) / 3 +
        (s[i] * s[j] * n[k] + s[j] * s[k] * n[i] + s[k] * s[i] * n[j]) / 3;
  }
  m.radius = std::max(m.radius, length(s) + part.radius);
}

// Where all parts have no area, as points and segments have none, any center does.
Vec3 choose_center(std::span<const double> areas, std::span<const Vec3> centers) {
  Vec3 sum{}, plain{};
  double area = 0;
  for (std::size_t i = 0; i < areas.size(); ++i) {
    sum += centers[i] * areas[i];
    plain += centers[i] * (1.0 / static_cast<double>(areas.size()));
    area += areas[i];
  }
  return area > 0 ? sum / area : plain;
}

Moments compute_moments(const TriangleBlock& block) {
  std::array<Corners, detail::kBlockWidth> triangles;
  std::array<double, detail::kBlockWidth> areas{};
  std::array<Vec3, detail::kBlockWidth> centers{};
  std::size_t count = 0;
  for (; count < detail::kBlockWidth && block.triangle[count] != kNoTriangle; ++count) {
    Corners& c = triangles[count];
    for (std::size_t k = 0; k < 3; ++k)
      c[k] = {block.corner[k][0][count], block.corner[k][1][count], block.corner[k][2][count]};
    areas[count] = length(cross(c[1] - c[0], c[2] - c[0])) * 0.5;
    centers[count] = (c[0] + c[1] + c[2]) / 3.0;
  }
  Moments m{.center =
                choose_center(std::span(areas).first(count), std::span(centers).first(count))};
  for (std::size_t i = 0; i < count; ++i) {
    add_triangle(m, triangles[i]);
    m.area += areas[i];
  }
  return m;
}

Moments join(std::span<const Moments> parts) {
  std::array<double, kNodeWidth> areas{};
  std::array<Vec3, kNodeWidth> centers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    areas[i] = parts[i].area;
    centers[i] = parts[i].center;
  }
  Moments m{.center = choose_center(std::span(areas).first(parts.size()),
                                    std::span(centers).first(parts.size()))};
  for (const Moments& part : parts) {
    add_moments(m, part);
    m.area += part.area;
  }
  return m;
}

// The distance from the center to the furthest corner of a child's box, a second bound.
double reach_of_box(const BvhNode& node, std::uint32_t child, const Vec3& center) {
  Vec3 furthest;
  for (std::size_t axis = 0; axis < 3; ++axis)
    furthest[axis] = std::max(center[axis] - double{node.lower[axis][child]},
                              double{node.upper[axis][child]} - center[axis]);
  return length(furthest);
}

void put_child(WindingNode& node, std::uint32_t child, const Moments& m) {
  node.radius_sq[child] = m.radius * m.radius;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    node.center[axis][child] = m.center[axis];
    node.normal[axis][child] = m.normal[axis];
  }
  for (std::size_t c = 0; c < 6; ++c) node.first[c][child] = m.first[c];
  for (std::size_t c = 0; c < 10; ++c) node.second[c][child] = m.second[c];
}

}  // namespace

WindingTree::WindingTree(const Bvh& bvh) : bvh_(bvh) {
  const auto nodes = bvh_.nodes();
  moments_.resize(nodes.size());
  std::vector<Moments> whole(nodes.size());
  for (std::size_t n = nodes.size(); n-- > 0;) {  // children lie behind their parents
    std::array<Moments, kNodeWidth> parts;
    for (std::uint32_t i = 0; i < nodes[n].child_count; ++i) {
      const std::uint32_t child = nodes[n].child[i];
      parts[i] = (child & kBlockBit) != 0 ? compute_moments(bvh_.blocks()[child & ~kBlockBit])
                                          : whole[child];
      parts[i].radius = std::min(parts[i].radius, reach_of_box(nodes[n], i, parts[i].center));
      put_child(moments_[n], i, parts[i]);
    }
    whole[n] = join(std::span(parts).first(nodes[n].child_count));
  }
}

WindingTree::WindingTree(const TriangleMesh& mesh, const BvhSettings& settings)
    : WindingTree(Bvh(mesh, settings)) {}

double detail::compute_winding_number(const WindingTree& tree, const Vec3f& point, double beta,
                                      SimdLevel level) {
  assert(beta > 1);  // the series needs the point outside of the part
  if (tree.bvh().nodes().empty() || !is_finite(point)) return 0;
  const WindingSearch search{.nodes = tree.bvh().nodes().data(),
                             .moments = tree.moments().data(),
                             .blocks = tree.bvh().blocks().data(),
                             .point = {point.x, point.y, point.z},
                             .beta_sq = beta * beta};
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2Winding(search) / kFullAngle;
#endif
  static_cast<void>(level);
  return kBaselineWinding(search) / kFullAngle;
}

double compute_winding_number(const WindingTree& tree, const Vec3f& point, double beta) {
  return detail::compute_winding_number(tree, point, beta, simd_level());
}

void compute_winding_numbers(const WindingTree& tree, std::span<const Vec3f> points,
                             std::span<double> results, Threads threads, double beta) {
  assert(points.size() == results.size());
  parallel_for(points.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      results[i] = compute_winding_number(tree, points[i], beta);
  });
}

double brute_force::compute_winding_number(const TriangleMesh& mesh, const Vec3f& point) {
  if (!is_finite(point)) return 0;
  double sum = 0;
  const detail::Point3<double> p = corner_of(point);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (!is_finite(c[0]) || !is_finite(c[1]) || !is_finite(c[2])) continue;
    sum += detail::compute_half_solid_angle(corner_of(c[0]) - p, corner_of(c[1]) - p,
                                            corner_of(c[2]) - p);
  }
  return 2 * sum / kFullAngle;
}

}  // namespace isotact
