// Tests every triangle of a surface, whatever its size, for places where the built field may have
// no solid behind it. Cheap where the body is thick, which is nearly everywhere.
//
// Why nothing is missed. A ball of the body, of radius R cells about c, is found again in the
// field. A value is the mean, as trilinear interpolation weighs them, of the samples at eight nodes
// n. Each sample is at most |n - c| - R + e, where e is the error of a sample. The weights have
// mean x and a variance of at most 3/4 (three axes of 1/4 each). So the mean of |n - c| is at most
// sqrt(|x - c|^2 + 3/4). So the field is solid wherever |x - c|^2 <= (R - e)^2 - 3/4. Conversely,
// let the value at c be -v. No sample is lower than -|n - p| - e, for p the nearest point of the
// surface. So the body's ball there has R^2 >= (v - e)^2 - 3/4. Hence one value, taken deep behind
// a triangle, shows that all points within some reach of c have solid within 1.25 cells. These
// include the triangle's points, if its corners are among them, and often those of the next
// triangles in the mesh. The body's ball has no surface in it. So a thin part can hide before it
// only if the part and the gap behind it are less than 1.1 cells together. Then the field's surface
// is still that near. Triangles that are too large are cut; pieces of about a cell that no ball
// covers are tested half a cell behind their centre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/progress.h"
#include "isotact/field/build/thin_features.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/surface.h"

namespace isotact::detail {

// A piece of a triangle with no solid half a cell behind it.
struct Suspect {
  Vec3 position{};  // its centre
  double area = 0;  // square metres
  std::uint32_t triangle = 0;
};

struct SurfaceLooks {
  std::size_t pieces = 0;
  double area = 0;  // square metres, of all
  std::vector<Suspect> suspects;
};

// At the given triangles of the surface. Cost on one thread: some 50 ns per piece of six square
// cells, or per triangle where they are smaller. Surfaces of more than 100 million square cells are
// tested at as many places as if they had that many, with gaps in between.
SurfaceLooks find_surface_suspects(const BrickField& field, const Surface& surface, Threads threads,
                                   const Monitor& monitor = {});

// Points of a surface that a field has lost, gathered into parts.

struct LostPoint {
  Vec3 position{};
  double area = 0;       // square metres that it stands for
  double thickness = 0;  // metres
  double gap = 0;        // metres, to the nearest solid, at least
  bool is_wall = false;  // thin in one direction only, unlike rods and tips
};

struct LostPart {
  ThinPlace place;
  double typical_thickness = 0;   // metres: exceeded by half of it
  double voxel_size_to_keep = 0;  // metres
  double growth_to_keep = 0;      // metres
};

// Points within about `near` of each other, directly or through others, are one part. Bare
// points, which have no solid just behind them but some not far away, belong to a part that is as
// near; alone they are none. The largest in area come first. The same result for the same order of
// points.
std::vector<LostPart> gather_lost_parts(std::span<const LostPoint> lost,
                                        std::span<const LostPoint> bare, double near,
                                        double voxel_size);

}  // namespace isotact::detail
