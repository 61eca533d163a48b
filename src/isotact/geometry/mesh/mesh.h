// The one mesh type: float32 positions, uint32 triangles, counter-clockwise seen from outside.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

using Triangle = std::array<std::uint32_t, 3>;  // Indices of its corners.

struct TriangleMesh {
  std::vector<Vec3f> positions;
  std::vector<Triangle> triangles;

  friend bool operator==(const TriangleMesh&, const TriangleMesh&) = default;
};

// Describes the flaw that makes a mesh unusable for everything else here: an index beyond the
// positions, or more positions than an index can name. (Open, crossing or degenerate meshes are
// usable: find_flaws.)
std::optional<std::string> find_flaw(const TriangleMesh& mesh);

// Returns the box of the finite positions that triangles use; empty if there are none.
Aabbf bounds(const TriangleMesh& mesh);

inline std::array<Vec3f, 3> corners(const TriangleMesh& mesh, std::size_t triangle) {
  const Triangle& t = mesh.triangles[triangle];
  return {mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]]};
}

// Lengths are in metres; other units must be named. Takes "m", "cm", "mm" or "in"; throws Error
// for anything else.
double metres_per_unit(std::string_view unit);

// Returns a warning if a body of this size, taken as metres, is larger than 10 m or smaller than 1
// mm across. Most such files are in millimetres or have lost their scale.
std::optional<std::string> find_implausible_size(const Aabbf& bounds);

}  // namespace isotact
