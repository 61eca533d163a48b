// Parts of a body that a field loses. If a body is thinner than a cell, no node may lie in it, and
// the trilinear samples do not represent it at all. A sheet of paper or a wire is missing from a
// field of centimetres.
//
// The following bound is proved. On the middle plane of a flat wall of thickness w, the samples
// around are at distances |s_i| - w / 2. The s_i, weighted as the interpolation does, have the mean
// 0 and a spread of at most h / 2 (the side of a cell: h). The mean of |s_i| is at most their
// spread, so the value there is at most (h - w) / 2. It is below zero if w > h, quantisation (0.055
// h) aside. A wall of 1.1 cells never vanishes; thinner ones may, in parts, depending on the
// positions of nodes. On the axis of a rod the spread is h / sqrt(2): one 1.53 cells thick never
// vanishes.
//
// Sharp edges and corners recede as well, and are no loss. Consider a wedge or cone of half-angle
// a, and the ball of radius r that is large enough for a node in it. It leaves (1 / sin a - 1) r of
// the tip bare. Here r is less than h / sqrt(2) for edges (nodes lie no further from the lines of a
// square grid). For corners it is less than h sqrt(3) / 2. That is 0.3 cells for a right-angled
// edge, 0.64 for a cube's corner. A tip that is bare by more than 1.25 cells was sharper than 42
// degrees as an edge, 48 as a cone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/bvh/bvh.h"

namespace ISOTACT_PUBLIC isotact {

// Films are folds of a mesh and the like: parts whose greater half is thinner than this share of a
// cell. All of them together are less than kFilmShare of the surface. Finer cells cannot keep them
// within reason (a hundred times the memory and more), so they are reported separately and have no
// effect. A body that is as thin in large parts is made of such walls, and those count.
inline constexpr double kFilmCells = 0.125, kFilmShare = 0.01;

// A connected part of the surface, no smaller than a cell, that the field has lost.
struct ThinPlace {
  Vec3 position{};       // The thinnest point of the part, on the surface.
  double thickness = 0;  // Metres; exceeded by 9/10 of a wall, by half of a rod or tip.
  double extent = 0;     // Metres: between the points that are furthest apart.
  double area = 0;       // Square metres of the surface, both sides.
  bool is_wall = false;  // Thin in one direction; otherwise a rod, a tip or a crumb.
  bool is_film = false;  // See above.
  std::size_t samples = 0;

  friend bool operator==(const ThinPlace&, const ThinPlace&) = default;
};

struct ThinReport {
  std::size_t samples = 0;  // Pieces of the surface that were tested.
  std::size_t lost = 0;     // Samples in parts that have vanished, without films.
  std::size_t crumbs = 0;   // Other lost samples: in parts smaller than a cell.
  std::size_t parts = 0;    // Parts that have vanished, without films.
  double lost_area = 0;     // Square metres.
  double lost_share = 0;    // Share of the surface's area.
  double thinnest = 0;      // Metres, among the parts.
  // Metres: with cells of this size they would not be lost, as far as that is possible. At most 0.7
  // of the present ones.
  double voxel_size_to_keep = 0;
  double growth_to_keep = 0;      // Metres: nor if the body grew by this much on all sides.
  std::size_t films = 0;          // Parts that are films.
  double film_area = 0;           // Square metres.
  double film_share = 0;          // Share of the surface's area.
  double thinnest_film = 0;       // Metres.
  std::vector<ThinPlace> places;  // At most 16 parts and films, the largest area first.
  // Measures that were taken on request (FieldSettings::keep_thin).
  double refined_from = 0;          // Metres: the voxel size before; 0: the same as now.
  bool memory_limited = false;      // Cells as small as they should be did not fit.
  double offset = 0;                // Metres: the growth of the body on all sides.
  std::size_t lost_afterwards = 0;  // Samples.
  double area_afterwards = 0;       // Square metres that are still lost.
  std::size_t films_afterwards = 0;

  friend bool operator==(const ThinReport&, const ThinReport&) = default;
};

struct ThinSettings {
  // Metres: smaller parts are crumbs, and films are thinner than kFilmCells of it. Less than a cell
  // counts as that.
  double least_extent = 0;
  Threads threads{};
  Monitor monitor{};  // May cancel the search.
};

// Finds the parts of the given triangles that the built field has lost, whatever its shape. Every
// piece of the surface of a cell's size is tested. It is lost
//   * if no solid of the field is reached within the body in 1.25 cells; edges and corners recede
//     by less, see above;
//   * or, in a wall, if a ray along its inward normal leaves the body within 1.25 cells through an
//     opposite face. The field must be positive all along. If both faces meet less than a cell
//     away, the wall's edge has only been rounded off. So it has if the wall ends within two cells
//     and is there further back.
//
// Adjacent lost pieces form a part, which counts if it is as large as a cell. The part extends as
// far as no solid lies half a cell behind the surface. The shell is the wall of an unsigned
// surface. The hierarchy must be that of the surface. Cost on one thread: some 10 ns per square
// cell and 20 ns per triangle. A piece at an edge or in a thin part takes a microsecond. At most
// 32768 of those are tested, evenly spread if there are more. The result is the same for any number
// of threads.
ThinReport find_thin_features(const BrickField& field, const Surface& surface, const Bvh& bvh,
                              const ThinSettings& settings = {});

// Return one sentence each for a report of `field`s of this voxel size: on the lost parts, and on
// films. Empty if there are none.
std::string describe(const ThinReport& report, double voxel_size);
std::string describe_films(const ThinReport& report, double voxel_size);

}  // namespace isotact
