// Self-intersections of a mesh. All decisions are exact for the float32 positions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// The common points of two triangles beyond the corners and the edge that they share (by position).
enum class TriangleContact : std::uint8_t {
  kNone,
  // They meet, but neither runs through the other. A corner or an edge of one lies on the other, or
  // two edges cross in a point. Two edges may also run along each other, as at a T-junction. (If
  // vertices were snapped to a grid, surfaces that do run through each other may show only this.)
  kTouch,
  // They are not coplanar, and a segment runs through the inside of both.
  kCross,
  // They are coplanar and overlap in an area.
  kOverlap
};

using TriangleCorners = std::array<Vec3f, 3>;

// The test is symmetric. Collinear, collapsed and non-finite triangles have contact with nothing:
// find_flaws names them. Two triangles on the same three positions have no contact either: these
// are duplicates. Neither throws nor allocates. Cost: tens of nanoseconds if they are apart, up to
// a few microseconds if many corners lie in the other's plane.
TriangleContact find_contact_triangle_triangle(const TriangleCorners& a, const TriangleCorners& b);

// The same in double, for callers that know how many corners the two share (0 to 3) without
// comparing positions. Corners in the same position by chance are contact, and so are duplicates.
// The test is exact for coordinates that predicates.h allows; triangles with others have contact
// with nothing.
TriangleContact find_contact_triangle_triangle(const std::array<Vec3, 3>& a,
                                               const std::array<Vec3, 3>& b, std::size_t shared);

struct TrianglesInContact {
  std::uint32_t a = 0, b = 0;  // a < b.
  TriangleContact contact = TriangleContact::kNone;

  friend bool operator==(const TrianglesInContact&, const TrianglesInContact&) = default;
};

struct SelfIntersectionSettings {
  bool touching = true;               // Also count kTouch; crossing and overlapping always count.
  std::size_t max_pairs = 1'000'000;  // Pairs that are kept; counts continue beyond it.
  // Pairs of triangles with overlapping boxes that may be tested. A scanned surface has about ten
  // per triangle, a heap of triangles in one position half the square of their number. Brute force
  // has no limit.
  std::uint64_t max_tests = std::uint64_t{1} << 31U;
  Threads threads{};
  Monitor monitor{};  // Reports blocks of up to four triangles that were searched.
};

// A surface is free of self-intersection only if all three counts are zero: pseudonormals can fail
// at a mere touch.
struct SelfIntersections {
  std::size_t crossing = 0;
  std::size_t overlapping = 0;
  std::size_t touching = 0;
  std::vector<TrianglesInContact> pairs;  // Ascending by a, then b.
  // False if the search gave up at max_tests. All else then describes a part of the mesh: the
  // counts are lower bounds, and zeros prove nothing.
  bool complete = true;
};

// Searches with a BVH. Among triangles on the same three positions only the first is tested, and
// represents all: find_flaws names the others. The result is the same for any number of threads,
// even if the search gives up. Throws Cancelled if the monitor's token was set. Cost: about 3 s of
// one thread for a million triangles of a scanned surface; more if many boxes overlap, up to many
// minutes for max_tests. Memory: that of the BVH, and 24 bytes for each of max_pairs, if there are
// so many.
SelfIntersections find_self_intersections(const TriangleMesh& mesh,
                                          const SelfIntersectionSettings& settings = {});

// The same by testing all pairs: the reference for the fast one.
SelfIntersections find_self_intersections_brute_force(
    const TriangleMesh& mesh, const SelfIntersectionSettings& settings = {});

}  // namespace isotact
