// The passes that sample a surface: sharp edges and corners, thinning, walks along the surface, and
// the measure of the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

struct EdgeSamples {
  std::vector<Vec3f> points, normals;
  std::vector<std::uint32_t> triangles;  // A triangle that contains each sample.
  // Vertices at which sharp edges end, meet or bend. They are the first samples.
  std::size_t corner_count = 0;
};

// Cuts chains of sharp edges between corners into equal pieces no longer than the spacing. Closed
// chains without a corner are cut into at least three pieces.
EdgeSamples sample_sharp_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                               Threads threads);

// The same for shells that already have the vertices. Sharp edges longer than the spacing are cut
// into equal pieces, each on its own. There are no corners.
EdgeSamples sample_long_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                              Threads threads);

// Returns edge and corner samples for shells of this spacing. None are nearer to each other than
// half of it. There are at most `most`: larger sets are thinned further.
EdgeSamples sample_edges_for_shell(const ShellSurface& surface, double sharp_degrees,
                                   double spacing, std::size_t most, Threads threads);

// Returns, ascending, the indices of the points that stay. Points are taken in their order, and a
// point nearer than min_distance to one taken before is left out. The first `keep` always stay.
// Points must be finite and min_distance positive. Every point that is left out has one that stays
// within min_distance.
std::vector<std::uint32_t> thin(std::span<const Vec3f> points, double min_distance,
                                std::size_t keep = 0);

// Straight walks move particles along the surface without a search.

enum class WalkStatus : std::uint8_t {
  kArrived,
  // Stopped by an edge that does not join exactly two triangles or has the other side of a sheet
  // behind it. Also stopped by a triangle without height, or after kMostCrossings.
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

// Sets areas, covering_radius and surface_area of a shell whose points and spacing are set.
//
// Triangles are halved at their longest edges until the samples nearest to a piece's corners agree
// or the piece is small.
//   * They agree: cells of nearest points are convex, so the sample is nearest to the whole piece.
//     The distance to it is a convex function and is largest at a corner. The piece is done.
//   * Otherwise, each corner's sample bounds the piece's distance to the samples by its own
//     distance to the furthest corner (convex again). The least of the three counts. A corner's
//     distance is a lower bound of the covering radius, and the two differ by at most the longest
//     edge.
// Pieces are halved further only while their bound exceeds the largest lower bound by more than the
// tolerance. The result is the largest bound of any piece: no part of the surface lies between
// pieces. Degenerate triangles, which were left out, are edges of others in meshes without cracks.
// `piece_size`, in spacings, is the size of small pieces for areas. The area of a piece whose
// corners disagree is divided by thirds.
void measure_shell(const ShellSurface& surface, PointShell& shell, const ShellSettings& settings,
                   double piece_size = 0.5);

}  // namespace isotact::detail
