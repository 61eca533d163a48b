// The one mesh type: float32 positions, uint32 triangles, counter-clockwise seen from outside.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"

namespace isotact {

using Triangle = std::array<std::uint32_t, 3>;  // indices of its corners

struct TriangleMesh {
  std::vector<Vec3f> positions;
  std::vector<Triangle> triangles;

  friend bool operator==(const TriangleMesh&, const TriangleMesh&) = default;
};

// What makes a mesh unusable for everything else here: an index beyond the positions, or more
// positions than an index can name. (Open, crossing or degenerate meshes are usable: find_flaws.)
std::optional<std::string> find_flaw(const TriangleMesh& mesh);

// Of the finite positions that triangles use; empty where there are none.
Aabbf bounds(const TriangleMesh& mesh);

inline std::array<Vec3f, 3> corners(const TriangleMesh& mesh, std::size_t triangle) {
  const Triangle& t = mesh.triangles[triangle];
  return {mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]]};
}

}  // namespace isotact
