#include "shell_picture.h"

#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives/primitives.h"

#include "picture/colours.h"

namespace isotact::tool {
namespace {

Vec3 colour_of_level(std::size_t from_finest) {
  return to_albedo(kLevels[std::min(from_finest, kLevels.size() - 1)]);
}

// Round enough to look at, and few enough in all.
TriangleMesh make_ball(std::size_t count) {
  constexpr double kMostTriangles = 6e6;
  const double frequency = std::sqrt(kMostTriangles / (20 * static_cast<double>(count + 1)));
  return make_sphere(
      {.radius = 1, .frequency = static_cast<int>(std::clamp(frequency, 1.0, 12.0))});
}

void add_ball(TriangleMesh& mesh, const TriangleMesh& ball, const Vec3f& center, float radius) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p : ball.positions) mesh.positions.push_back(center + p * radius);
  for (const Triangle& t : ball.triangles)
    mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

}  // namespace

std::vector<RenderItem> draw_points(const PointSphereTree& tree, int level) {
  const int last = std::min(level, tree.level_count());  // that many levels; then all points
  std::vector<bool> is_drawn(tree.point_count(), false);
  const std::size_t count =
      last == tree.level_count() ? tree.point_count() : tree.level(last).node_count;
  const TriangleMesh ball = make_ball(count);
  // Dots of the finest level shown leave gaps, are small against the body, and those above stand
  // out.
  const double spacing = std::sqrt(tree.header().surface_area / static_cast<double>(count));
  const double dot_radius =
      std::min(0.24 * spacing, 0.015 * static_cast<double>(tree.bounding_sphere().radius));
  std::vector<RenderItem> items;
  for (int l = 0; l <= last; ++l) {
    const auto from_finest = static_cast<std::size_t>(last - l);
    RenderItem item{.colour = colour_of_level(from_finest)};
    const double growth = std::min(1 + 0.45 * static_cast<double>(from_finest), 3.0);
    const auto radius = static_cast<float>(dot_radius * growth);
    const auto draw = [&](std::uint32_t point) {
      if (is_drawn[point]) return;
      is_drawn[point] = true;
      add_ball(item.mesh, ball, tree.point(point), radius);
    };
    if (l < tree.level_count()) {
      for (const ShellNode& node : tree.level(l).nodes)
        if (node.child_count > 0) draw(node.representative);
    } else {
      for (std::uint32_t i = 0; i < tree.point_count(); ++i) draw(i);
    }
    if (!item.mesh.triangles.empty()) items.push_back(std::move(item));
  }
  return items;
}

std::vector<RenderItem> draw_balls(const PointSphereTree& tree, int level) {
  const ShellLevel shown = tree.level(std::min(level, tree.level_count() - 1));
  const Vec3 colours[] = {
      {0.66, 0.20, 0.12}, {0.72, 0.42, 0.20}, {0.62, 0.55, 0.30}, {0.60, 0.30, 0.16}};
  std::vector<RenderItem> items(std::size(colours));
  for (std::size_t i = 0; i < items.size(); ++i) items[i].colour = colours[i];
  const TriangleMesh ball = make_ball(shown.node_count);
  for (std::uint32_t i = 0; i < shown.nodes.size(); ++i) {
    if (shown.nodes[i].child_count == 0) continue;
    const Spheref s = sphere(shown, i);
    add_ball(items[i % items.size()].mesh, ball, s.center, s.radius);
  }
  std::erase_if(items, [](const RenderItem& item) { return item.mesh.triangles.empty(); });
  return items;
}

}  // namespace isotact::tool
