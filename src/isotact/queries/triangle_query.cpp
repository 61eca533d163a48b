#include "isotact/queries/triangle_query.h"

#include <array>

namespace isotact {
namespace {

// The prism in the shell's own frame and scale: outside of any of five half-spaces is outside.
struct Prism {
  Vec3 normal{};
  double offset = 0;          // dot(normal, x) = offset on the face
  std::array<Vec3, 3> out{};  // unit, in the face's plane, away from the triangle
  std::array<double, 3> out_offset{};
  double front = 0, back = 0, widen = 0;

  double height(const Vec3& p) const { return dot(normal, p) - offset; }
  // Whether a ball may hold a point of it. Exact for points.
  bool meets(const Vec3& p, double radius) const {
    const double h = height(p);
    if (!(h <= front + radius && h >= -back - radius)) return false;
    for (std::size_t i = 0; i < 3; ++i)
      if (dot(out[i], p) - out_offset[i] > widen + radius) return false;
    return true;
  }
};

// Depth first: on each level fewer than kMaxChildren siblings wait.
constexpr std::size_t kStackSize = std::size_t{kMaxShellLevels} * kMaxChildren;

}  // namespace

void find_hits_triangle(const PointSphereTree& tree, const ShellPlacement& placement, const Vec3& a,
                        const Vec3& b, const Vec3& c, const TriangleRequest& request,
                        std::vector<ShellHit>& hits) {
  const double scale = placement.shell_scale;
  const Pose shell_from_field = inverse(placement.field_from_shell);
  const std::array<Vec3, 3> corner{transform_point(shell_from_field, a) / scale,
                                   transform_point(shell_from_field, b) / scale,
                                   transform_point(shell_from_field, c) / scale};
  Prism prism;
  prism.normal = normalized(cross(corner[1] - corner[0], corner[2] - corner[0]));
  if (length_sq(prism.normal) < 0.5) return;
  prism.offset = dot(prism.normal, corner[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    prism.out[i] = normalized(cross(corner[(i + 1) % 3] - corner[i], prism.normal));
    prism.out_offset[i] = dot(prism.out[i], corner[i]);
  }
  prism.front = request.margin / scale;
  prism.back = request.thickness / scale;
  prism.widen = request.widen / scale;

  struct Place {
    int level;
    std::uint32_t place;
  };
  std::array<Place, kStackSize> stack;
  std::size_t size = 0;
  stack[size++] = {0, 0};
  while (size > 0) {
    const auto [level, place] = stack[--size];
    const ShellLevel now = tree.level(level);
    const ShellNode& node = now.nodes[place];
    if (node.child_count == 0) continue;
    const Spheref ball = sphere(now, place);
    // The slack is for the rounding of the prism in double; spheres hold their points exactly.
    const double radius = static_cast<double>(ball.radius) * (1 + 1e-9) + 1e-12;
    if (!prism.meets(to_double(ball.center), radius)) continue;
    if (level + 1 < tree.level_count()) {
      for (std::uint32_t i = node.child_count; i-- > 0;)
        stack[size++] = {level + 1, node.first_child + i};
      continue;
    }
    for (std::uint32_t i = node.first_point; i < node.first_point + node.point_count; ++i) {
      const Vec3 p = to_double(tree.point(i));
      if (!prism.meets(p, 0)) continue;
      hits.push_back({i, static_cast<float>(prism.height(p) * scale),
                      static_cast<float>(static_cast<double>(tree.areas()[i]) * scale * scale)});
    }
  }
}

}  // namespace isotact
