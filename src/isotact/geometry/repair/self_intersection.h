// Where a mesh runs through itself. All decisions are exact for the float32 positions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// What two triangles have in common beyond the corners and the edge that they share (by position).
enum class TriangleContact : std::uint8_t {
  kNone,
  // Something, but neither runs through the other: a corner or an edge of one lies on the other, or
  // two edges cross in a point or run along each other, as at a T-junction. (Where vertices were
  // snapped to a grid, surfaces that do run through each other may show nothing but this.)
  kTouch,
  // They are not coplanar, and a segment runs through the inside of both.
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

// The same in double, for those who know better than by position how many corners the two share (0
// to 3): what lies in the same place by chance is contact, too, and so are duplicates. Exact for
// coordinates as predicates.h asks for; triangles with others have contact with nothing.
TriangleContact find_contact_triangle_triangle(const std::array<Vec3, 3>& a,
                                               const std::array<Vec3, 3>& b, std::size_t shared);

struct TrianglesInContact {
  std::uint32_t a = 0, b = 0;  // a < b
  TriangleContact contact = TriangleContact::kNone;

  friend bool operator==(const TrianglesInContact&, const TrianglesInContact&) = default;
};

struct SelfIntersectionSettings {
  bool touching = true;               // count kTouch too; crossing and overlapping always
  std::size_t max_pairs = 1'000'000;  // that are kept; counts go on
  // Pairs of triangles with overlapping boxes that may be tested: a scanned surface has about ten a
  // triangle, a heap of triangles in one place half the square of their number. Brute force has no
  // limit.
  std::uint64_t max_tests = std::uint64_t{1} << 31U;
  Threads threads{};
  Monitor monitor{};  // reports blocks of up to four triangles that were searched
};

// A surface is free of self-intersection only where all three counts are zero: pseudonormals can
// fail at a mere touch.
struct SelfIntersections {
  std::size_t crossing = 0;
  std::size_t overlapping = 0;
  std::size_t touching = 0;
  std::vector<TrianglesInContact> pairs;  // ascending by a, then b
  // False where the search gave up at max_tests. All else is then what part of the mesh showed: at
  // least so much is there, and zeros prove nothing.
  bool complete = true;
};

// By a BVH. Of triangles on the same three positions only the first is tested, and stands for all:
// find_flaws names the others. Same result for any number of threads, also where it gives up.
// Throws Cancelled when the monitor says so. Cost: about 3 s of one thread for a million triangles
// of a scanned surface; more where many boxes overlap, up to many minutes for max_tests. Memory:
// that of the BVH, and 24 bytes for each of max_pairs, where there are so many.
SelfIntersections find_self_intersections(const TriangleMesh& mesh,
                                          const SelfIntersectionSettings& settings = {});

// The same by testing all pairs: the oracle of the fast one.
SelfIntersections find_self_intersections_brute_force(
    const TriangleMesh& mesh, const SelfIntersectionSettings& settings = {});

}  // namespace isotact
