// The first pass of every build: from any mesh to a closed, oriented surface that can be measured,
// with a report of what was found and what was done about it.
//
// The rule of sign. Inside means a winding number above one half. Holes are closed first, by
// membranes that follow the surface on which the winding number is one half, so that the sign does
// not jump where the distance is not zero; the membranes then count as surface, for distances too.
// On a closed surface winding numbers are whole, and rays along grid lines find them exactly.
//   * closed and oriented: as it is, nested and overlapping parts included;
//   * components whose triangles disagree are made consistent; a closed component that faces
//     inwards and lies in no other is turned over with all that lies in it (so a cavity, which
//     rightly faces inwards, stays one, also where the whole mesh is inside out);
//   * holed: membranes, within a quarter of a voxel or so of where they should be. Rims within a
//     voxel, and slits narrower than half of one, are closed by a few triangles. Rims that meet
//     within 1e-5 of the mesh's size, or within half a voxel where triangles share no vertices at
//     all, are stitched instead, and a warning says so;
//   * faces that all lie on another that faces the other way: one of each;
//   * such pairs of triangles within a body (two boxes with a side in common): they are left out,
//     since they enclose nothing, and a warning says so;
//   * neither orientable nor closable (random soups, one-sided strips, sheets without an inside):
//     the shell, all points within `shell_offset` of the triangles. Where holes are as large as a
//     fifth of the mesh, samples decide: less than three quarters of the area with an inside behind
//     them, or signs that the membranes get wrong at more than 2 % of points, are too bad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

enum class SignMethod : std::uint8_t {
  kAuto,          // winding where it means something, else unsigned
  kPseudonormal,  // of the nearest feature; an Error unless the mesh is closed, manifold, oriented
                  // and free of self-intersection (Baerentzen and Aanaes 2005)
  kWinding,       // an Error where winding numbers mean nothing
  kUnsigned,      // the shell around the triangles
};
std::string_view name(SignMethod method);  // "auto", "pseudonormal", "winding", "unsigned"

enum class NestedRule : std::uint8_t {
  kWinding,  // inside where the winding number is at least 1
  kEvenOdd,  // inside where it is odd: a body inside another is a cavity, however it faces
};

struct SurfaceSettings {
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double voxel_size = 0;  // metres, positive: how finely membranes are cut, and the shell's default
  double shell_offset = 0;  // metres; 0: one voxel (only for unsigned)
  Threads threads{};
  Monitor monitor{};
};

struct SignReport {
  SignMethod method = SignMethod::kWinding;  // never kAuto
  std::string reason;                        // one sentence in words: why this method
  bool watertight = false;                   // of the mesh as it came, equal positions merged
  std::size_t holes = 0;                     // closed by membranes
  std::size_t hole_edges = 0;                // boundary edges around them
  std::size_t membrane_triangles = 0;
  double largest_hole = 0;                // metres: diameter of its rim's bounding sphere or so
  double membrane_area = 0;               // square metres
  double membrane_share = 0;              // of the given triangles' area
  std::size_t cancelled_pairs = 0;        // of triangles on the same corners, within the body
  std::size_t turned_components = 0;      // that faced inwards
  std::size_t consistent_components = 0;  // whose triangles disagreed, and were made to agree
  std::size_t dropped_triangles = 0;      // not finite, collapsed, or cancelling another
  double shell_offset = 0;                // metres; 0 unless unsigned
  std::vector<std::string> warnings;      // in words
};

// What builders measure.
struct Surface {
  // Welded and finite; the membranes last. Every edge is run as often one way as the other, unless
  // the method is kUnsigned. Membranes may have triangles without area (never without three
  // distinct vertices), where they cut long rim edges into pieces.
  TriangleMesh mesh;
  std::size_t given_triangles = 0;  // the first ones; what follows are membranes
  NestedRule nested = NestedRule::kWinding;
  SignReport report;
};

// Throws Error for a mesh without usable triangles, and where the settings ask for a sign that the
// mesh does not have; throws Cancelled when the monitor says so. The same bytes for any number of
// threads. Cost on one thread: about 0.1 microseconds a triangle where closed; holes add some ten
// milliseconds each, two seconds at most or so.
Surface prepare_surface(const TriangleMesh& mesh, const SurfaceSettings& settings);

}  // namespace isotact
