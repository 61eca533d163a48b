#include "isotact/geometry/mesh/mesh.h"

#include <limits>

#include <fmt/format.h>

namespace isotact {

std::optional<std::string> find_flaw(const TriangleMesh& mesh) {
  if (mesh.positions.size() > std::numeric_limits<std::uint32_t>::max())
    return fmt::format("{} positions are more than 32-bit indices can name", mesh.positions.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (const std::uint32_t index : mesh.triangles[i])
      if (index >= mesh.positions.size())
        return fmt::format("triangle {}: index {} is out of range ({} positions)", i, index,
                           mesh.positions.size());
  return std::nullopt;
}

Aabbf bounds(const TriangleMesh& mesh) {
  Aabbf box;
  for (const Triangle& triangle : mesh.triangles)
    for (const std::uint32_t index : triangle)
      if (const Vec3f& p = mesh.positions[index]; is_finite(p)) extend(box, p);
  return box;
}

}  // namespace isotact
