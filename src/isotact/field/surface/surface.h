// The first pass of every build: from any mesh to a closed, oriented surface with defined
// distances, with a report of the findings and the repairs.
//
// The rule of sign. Inside means a winding number above one half. Holes are closed first, by
// membranes that follow the surface on which the winding number is one half. So the sign does not
// jump where the distance is not zero. The membranes then count as surface, for distances as well.
// On a closed surface winding numbers are integers, and rays along grid lines find them exactly.
//   * closed and oriented: unchanged, nested and overlapping parts included;
//   * components whose triangles disagree are made consistent; a closed component that faces
//     inwards and lies in no other is reversed with all that lies in it (so a cavity, which rightly
//     faces inwards, stays one, even if the whole mesh is inside out);
//   * holed: membranes, within about a quarter of a voxel of their ideal position. Rims within a
//     voxel, and slits narrower than half of one, are closed by a few triangles. Rims that meet
//     within 1e-5 of the mesh's size, or within half a voxel if triangles share no vertices at all,
//     are stitched instead, and a warning says so;
//   * faces that all lie on another with the opposite orientation: one of each is kept;
//   * such pairs of triangles within a body (two boxes with a side in common): they are left out,
//     since they enclose nothing, and a warning says so;
//   * neither orientable nor closable (random soups, one-sided strips, sheets without an inside):
//     the shell, all points within `shell_offset` of the triangles. If holes are as large as a
//     fifth of the mesh, samples decide. The mesh is rejected if less than three quarters of the
//     area have an inside behind them. It is also rejected if the membranes get signs wrong at more
//     than 2 % of points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

enum class SignMethod : std::uint8_t {
  kAuto,  // Winding if it is meaningful, otherwise unsigned.
  // Sign of the nearest feature; an Error unless the mesh is closed, manifold, oriented and free of
  // self-intersection (Baerentzen and Aanaes 2005).
  kPseudonormal,
  kWinding,   // An Error if winding numbers are meaningless.
  kUnsigned,  // The shell around the triangles.
};
std::string_view name(SignMethod method);  // "auto", "pseudonormal", "winding", "unsigned"

enum class NestedRule : std::uint8_t {
  kWinding,  // Inside if the winding number is at least 1.
  // Inside if it is odd: a body inside another is a cavity, however it faces.
  kEvenOdd,
};

struct SurfaceSettings {
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  // Metres, positive: the fineness of membranes, and the shell's default.
  double voxel_size = 0;
  double shell_offset = 0;  // Metres; 0: one voxel (only for unsigned).
  // Walls within the body, where two parts share a side. Winding numbers are the same with them.
  bool drop_cancelling_pairs = true;
  Threads threads{};
  Monitor monitor{};
};

struct SignReport {
  SignMethod method = SignMethod::kWinding;  // Never kAuto.
  std::string reason;                        // One sentence: the reason for this method.
  bool watertight = false;                   // The input mesh, with equal positions merged.
  std::size_t holes = 0;                     // Closed by membranes.
  std::size_t hole_edges = 0;                // Boundary edges around them.
  std::size_t membrane_triangles = 0;
  // Metres: about the diameter of its rim's bounding sphere.
  double largest_hole = 0;
  double membrane_area = 0;   // Square metres.
  double membrane_share = 0;  // Share of the given triangles' area.
  // Pairs of triangles on the same corners, within the body.
  std::size_t cancelled_pairs = 0;
  std::size_t turned_components = 0;  // Components that faced inwards.
  // Components whose triangles disagreed, and were made to agree.
  std::size_t consistent_components = 0;
  std::size_t dropped_triangles = 0;  // Not finite, collapsed, or cancelling another.
  double shell_offset = 0;            // Metres; 0 unless unsigned.
  std::vector<std::string> warnings;  // In words.
};

// The surface to which builders compute distances.
struct Surface {
  // Welded and finite; the membranes last. Every edge is traversed as often in one direction as in
  // the other, unless the method is kUnsigned. Membranes may have triangles without area (never
  // without three distinct vertices), if they cut long rim edges into pieces.
  TriangleMesh mesh;
  std::size_t given_triangles = 0;  // The first ones; the others are membranes.
  NestedRule nested = NestedRule::kWinding;
  SignReport report;
};

// Throws Error for a mesh without usable triangles, and if the settings ask for a sign that the
// mesh does not have. Throws Cancelled if the monitor's token was set. The result has the same
// bytes for any number of threads. Cost on one thread: about 0.1 microseconds per triangle if
// closed; holes add some ten milliseconds each, two seconds or so at most.
Surface prepare_surface(const TriangleMesh& mesh, const SurfaceSettings& settings);

}  // namespace isotact
