// Straight walks on a mesh: how a particle moves along the surface without a search.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

enum class WalkStatus : std::uint8_t {
  kArrived,
  // By an edge that does not join exactly two triangles or has the other side of a sheet behind it,
  // by a triangle without height, or after kMostCrossings.
  kBlocked,
};

struct WalkResult {
  WalkStatus status = WalkStatus::kArrived;
  std::uint32_t triangle = 0;  // Where the walk ended or was blocked.
  Vec3 point;
};

inline constexpr int kMostCrossings = 64;

// Walks from a point of a triangle, given up to rounding, by a vector in the triangle's plane. At
// an edge the rest of the vector turns about it into the next plane, as if both triangles were
// unfolded. The length of the walk is that of the vector. The point stays as far from the planes as
// it was at the start, except for rounding. Orientation of the triangles does not matter. Cost:
// some 30 ns per triangle.
WalkResult walk_on_surface(const ShellSurface& surface, std::uint32_t triangle, const Vec3& from,
                           const Vec3& move);

}  // namespace isotact::detail
