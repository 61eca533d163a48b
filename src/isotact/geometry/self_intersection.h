// Where a mesh runs through itself. All decisions are exact for the float32 positions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// What two triangles have in common beyond the corners and the edge that they share (by position).
enum class TriangleContact : std::uint8_t {
  kNone,
  // Something, but no overlap: a corner on the other's face or edge, two edges that cross in a
  // point, or edges that run along each other, as at a T-junction.
  kTouch,
  // They are not coplanar and meet along a segment that runs through the inside of at least one of
  // them (of one only where an edge lies in the other's face: surfaces whose vertices were snapped
  // to a grid run through each other that way).
  kCross,
  // They are coplanar and overlap in an area.
  kOverlap
};

using TriangleCorners = std::array<Vec3f, 3>;

// Symmetric. Collinear, collapsed and non-finite triangles have contact with nothing: find_flaws
// names them. Nor have two triangles on the same three positions: these are duplicates. Neither
// throws nor allocates. Cost: tens of nanoseconds where they are apart, up to a few microseconds
// where many corners lie in the other's plane.
TriangleContact find_contact_triangle_triangle(const TriangleCorners& a, const TriangleCorners& b);

struct TrianglePair {
  std::uint32_t a = 0, b = 0;  // a < b
  TriangleContact contact = TriangleContact::kNone;

  friend bool operator==(const TrianglePair&, const TrianglePair&) = default;
};

struct SelfIntersectionSettings {
  bool touching = true;               // count kTouch too; crossing and overlapping always
  std::size_t max_pairs = 1'000'000;  // that are kept; counts go on
  Threads threads{};
};

struct SelfIntersections {
  std::size_t crossing = 0;
  std::size_t overlapping = 0;
  std::size_t touching = 0;
  std::vector<TrianglePair> pairs;  // ascending by a, then b
};

// By a BVH. Same result for any number of threads.
SelfIntersections find_self_intersections(const TriangleMesh& mesh,
                                          const SelfIntersectionSettings& settings = {});

// The same by testing all pairs: the oracle of the fast one.
SelfIntersections find_self_intersections_brute_force(
    const TriangleMesh& mesh, const SelfIntersectionSettings& settings = {});

}  // namespace isotact
