#include "isotact/geometry/triangulate.h"

namespace isotact {

void triangulate_polygon(std::span<const Vec3f> /*positions*/,
                         std::span<const std::uint32_t> polygon, std::vector<Triangle>& triangles) {
  for (std::size_t i = 2; i < polygon.size(); ++i)
    triangles.push_back({polygon[0], polygon[i - 1], polygon[i]});
}

}  // namespace isotact
