// Parts of a body that a field loses. Where a body is thinner than a cell, no node may lie in it,
// and the trilinear samples do not see it at all: a sheet of paper or a wire in a field of
// centimetres is not there.
//
// What holds: on the middle plane of a flat wall of thickness w, the samples around are at
// distances |s_i| - w / 2, where the s_i, weighted as the interpolation does, have the mean 0 and a
// spread of at most h / 2 (the side of a cell: h). The mean of |s_i| is at most their spread, so
// the value there is at most (h - w) / 2, and below zero wherever w > h, quantisation (0.055 h)
// aside. A wall of 1.1 cells never vanishes; thinner ones may, in parts, as nodes happen to lie. On
// the axis of a rod the spread is h / sqrt(2): one 1.53 cells thick never vanishes.
//
// Sharp edges and corners recede too, and are no loss. In a wedge or cone of half-angle a, the ball
// that has room r from the tip for a node in it leaves (1 / sin a - 1) r of the tip bare, where r
// is less than h / sqrt(2) for edges (nodes lie no further from the lines of a square grid) and h
// sqrt(3) / 2 for corners: 0.3 cells for a right-angled edge, 0.64 for a cube's corner. What is
// bare by more than 1.25 cells was sharper than 42 degrees as an edge, 48 as a cone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isotact/base/progress.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/build/surface.h"
#include "isotact/geometry/bvh.h"

namespace isotact {

// Films are parts whose greater half is thinner than this share of a cell, where all of them
// together are less than kFilmShare of the surface: folds of a mesh and the like. Finer cells
// cannot keep them within reason (a hundred times the memory and more), so they are told apart, and
// ask for nothing. A body that is as thin in large parts is made of such walls, and those count.
inline constexpr double kFilmCells = 0.125, kFilmShare = 0.01;

// A connected part of the surface, no smaller than a cell, where the field has nothing.
struct ThinPlace {
  Vec3 position{};       // on the surface, where the part is thinnest
  double thickness = 0;  // metres; exceeded by 9/10 of a wall, by half of a rod or tip
  double extent = 0;     // metres: between the points that are furthest apart
  double area = 0;       // square metres of the surface, both sides
  bool is_wall = false;  // thin in one direction; else a rod, a tip or a crumb
  bool is_film = false;  // see above
  std::size_t samples = 0;

  friend bool operator==(const ThinPlace&, const ThinPlace&) = default;
};

struct ThinReport {
  std::size_t samples = 0;  // pieces of the surface that were looked at
  std::size_t lost = 0;     // of the samples, in parts that have vanished, without films
  std::size_t crumbs = 0;   // other lost samples: in parts smaller than a cell
  std::size_t parts = 0;    // that have vanished, without films
  double lost_area = 0;     // square metres
  double lost_share = 0;    // of the surface's area
  double thinnest = 0;      // metres, of the parts
  // Metres: with cells of this size they would not be lost, as far as that is to be had. At most
  // 0.7 of the present ones.
  double voxel_size_to_keep = 0;
  double growth_to_keep = 0;      // metres: nor if the body grew by this much on all sides
  std::size_t films = 0;          // parts that are films
  double film_area = 0;           // square metres
  double film_share = 0;          // of the surface's area
  double thinnest_film = 0;       // metres
  std::vector<ThinPlace> places;  // at most 16 of parts and films, the largest area first
  // What was done about it, on request (FieldSettings::keep_thin).
  double refined_from = 0;          // metres: the voxel size before; 0: the same as now
  bool memory_limited = false;      // cells as small as they should be did not fit
  double offset = 0;                // metres: how much the body grew on all sides
  std::size_t lost_afterwards = 0;  // samples
  double area_afterwards = 0;       // square metres that are lost all the same
  std::size_t films_afterwards = 0;

  friend bool operator==(const ThinReport&, const ThinReport&) = default;
};

struct ThinSettings {
  // Metres: smaller parts are crumbs, and films are thinner than kFilmCells of it. Less than a cell
  // counts as that.
  double least_extent = 0;
  Threads threads{};
  Monitor monitor{};  // may cancel it
};

// What the built field has lost of the given triangles, whatever its shape. Every piece of the
// surface of a cell's size is looked at. It is lost
//   * if no solid of the field is reached within the body in 1.25 cells; edges and corners recede
//   by less, see above;
//   * or, in a wall, if a ray along its inward normal leaves the body within 1.25 cells through a
//     face that looks the other way, and the field is positive all along. Where both faces meet
//     less than a cell away, or the wall ends within two cells and is there further back, its edge
//     has only been rounded off.
// Lost pieces next to each other are a part, which counts if it is as large as a cell. The part
// reaches as far as no solid lies half a cell behind the surface. Of an unsigned surface the shell
// is the wall. The hierarchy must be that of the surface. Cost on one thread: some 10 ns a square
// cell and 20 ns a triangle, and a microsecond for each piece at an edge or in a thin part; of
// those no more than 32768 are looked at, evenly spread where there are more. The same result for
// any number of threads.
ThinReport find_thin_features(const BrickField& field, const Surface& surface, const Bvh& bvh,
                              const ThinSettings& settings = {});

// One sentence each for a report of `field`s of this voxel size: on the parts that are lost, and on
// films. Empty where there are none.
std::string describe(const ThinReport& report, double voxel_size);
std::string describe_films(const ThinReport& report, double voxel_size);

}  // namespace isotact
