// Walls that a field loses. Where a body is thinner than a cell, no node may lie in it, and the
// trilinear samples do not see it at all: a sheet of paper in a field of centimetres is not there.
//
// What holds: on the middle plane of a flat wall of thickness w, the samples around are at
// distances |s_i| - w / 2, where the s_i, weighted as the interpolation does, have the mean 0 and a
// spread of at most h / 2 (the side of a cell: h). The mean of |s_i| is at most their spread, so
// the value there is at most (h - w) / 2, and below zero wherever w > h, quantisation (0.055 h)
// aside. A wall of 1.1 cells never vanishes; thinner ones may, in parts, as nodes happen to lie.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/build/surface.h"
#include "isotact/geometry/bvh.h"

namespace isotact {

// Somewhere in this place, a cube of 8 cells, the field is positive all through a wall.
struct ThinPlace {
  Vec3 position{};       // on the surface, where the wall is thinnest
  double thickness = 0;  // metres
  std::size_t samples = 0;
};

struct ThinReport {
  std::size_t samples = 0;     // points of the surface that were looked at
  double area_per_sample = 0;  // square metres: what is smaller may be missed
  std::size_t lost = 0;        // of the samples, in walls that have vanished
  double lost_share = 0;       // of the surface's area, about
  double thinnest = 0;         // metres, of the lost ones
  // Metres: with cells of this size they would not be lost. 0 where that is not worth it: no more
  // than 0.015 % of the surface is lost, which may be folds and slivers of a scan.
  double voxel_size_to_keep = 0;
  std::vector<ThinPlace> places;  // at most 16, those with most samples first
  // What was done about it, on request (FieldSettings::keep_thin).
  double refined_from = 0;          // metres: the voxel size before
  double offset = 0;                // metres: how much the body grew on all sides
  std::size_t lost_afterwards = 0;  // samples
};

struct ThinSettings {
  std::size_t max_samples = 65536;
  Threads threads{};
};

// Looks at points spread evenly over the given triangles, one or two a square cell but max_samples
// at most. A point is lost if a ray along its inward normal leaves the body within 1.25 cells
// through a face that looks the other way, and the field is positive all along. Edges and corners
// lose their tips too, without being thin: where both faces meet less than a cell away, or the wall
// ends within two cells and is there further back, nothing counts as lost. Of an unsigned surface
// the shell is the wall.
// The hierarchy must be that of the surface. Cost: some 0.2 microseconds a sample and 10 ns a
// triangle. The same result for any number of threads.
ThinReport find_thin_features(const BrickField& field, const Surface& surface, const Bvh& bvh,
                              const ThinSettings& settings = {});

// One sentence for a report of `field`s of this voxel size; empty where nothing worth it is lost.
std::string describe(const ThinReport& report, double voxel_size);

}  // namespace isotact
