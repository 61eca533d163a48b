// What the ray tracer sees: all items as one mesh in the world, and a camera that frames it.
#pragma once

#include <array>

#include "isotact/geometry/bvh.h"

#include "picture/render_mesh.h"

namespace isotact::tool {

struct RenderScene {
  TriangleMesh mesh;
  std::vector<std::uint32_t> items;           // of each triangle
  std::vector<std::array<Vec3f, 3>> normals;  // of each triangle's corners, unit
  Bvh bvh;
  Aabb bounds;
  double size = 1;  // of the bounds' diagonal
};

RenderScene make_scene(const std::vector<RenderItem>& items, const RenderSettings& settings);

struct Camera {
  Vec3 position, right, up, back;  // the last three are unit vectors
  double tan_x = 1, tan_y = 1;     // half the picture's sides at distance 1

  // Through a point of the picture: x and y from -1 to 1, y up. A unit vector.
  Vec3 direction(double x, double y) const {
    return normalized(right * (x * tan_x) + up * (y * tan_y) - back);
  }
};

Camera frame_scene(const RenderScene& scene, const RenderSettings& settings);

}  // namespace isotact::tool
