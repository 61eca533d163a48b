// The passes of prepare_surface, in its order. First only what can be measured: finite triangles
// with three distinct corners, equal positions merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/surface/detail/rims.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::surface_detail {

struct CleanMesh {
  TriangleMesh mesh;           // used vertices only, in their order; triangles keep theirs
  std::size_t not_finite = 0;  // triangles dropped for a corner that is not finite
  std::size_t collapsed = 0;   // for two corners at one position
  std::size_t merged = 0;      // vertices
};

// Needs indices in range. Like isotact::weld and remove_degenerate, in one pass over the mesh.
CleanMesh clean(const TriangleMesh& mesh);

// Marks those of the first `count` triangles that cancel: another one on the same three vertices
// faces the opposite side. As many are marked of each side, the first ones. Cost: about 0.1
// microseconds per triangle.
std::vector<std::uint8_t> find_cancelling(const TriangleMesh& mesh, std::size_t count);

// The pass over edges that nearly meet.

struct StitchResult {
  TriangleMesh mesh;
  std::size_t merged = 0;     // vertices
  double longest_move = 0;    // metres
  std::size_t collapsed = 0;  // triangles, dropped
};

// Merges the vertices of net edges that are within the tolerance of each other (isotact::weld says
// how); no other vertex moves.
StitchResult stitch(const TriangleMesh& mesh, std::span<const NetEdge> net, double tolerance);

// The pass over parts of a closed surface that face inwards.

// Turns over the parts that face inwards and lie in no other, and all parts inside those. A cavity
// therefore stays a cavity, also if a whole mesh is inside out. The mesh must be balanced, and
// `edges` must be its own. Cost: 10 ns per triangle; if one of many parts faces inwards, the cost
// of a WindingTree.
struct TurnResult {
  std::size_t turned = 0;  // parts
  double volume = 0;       // sum of the parts' volumes, each as a positive number
};
TurnResult turn_inward_parts(TriangleMesh& mesh, const EdgeReport& edges, Threads threads);

double compute_area(const TriangleMesh& mesh);

// Whether winding numbers mean something on an open mesh: evidence from samples, the same in every
// run.

// The share of the area behind which there is an inside, a winding number above one half. Nearly 1
// for a surface with holes; a half for random triangles and for a sheet with hills and valleys; 0
// for a flat sheet.
double compute_backed_share(const TriangleMesh& mesh, Threads threads);

// Returns a share of the points of the box that are further than `distance` from the closed
// surface. The share is that of points with two signs: the sign by its winding number (whole)
// differs from the sign by the given mesh's.
double compute_wrong_share(const TriangleMesh& given, const TriangleMesh& closed, double distance,
                           Threads threads);

// Membranes over holes, along the surface on which the winding number is a half.

struct MembraneSettings {
  double voxel_size = 0;
  Threads threads{};
  Monitor monitor{};
};

struct MembraneReport {
  std::size_t plain = 0;  // rims wider than two voxels that only a fan could close
};

// Adds triangles that close all rims: the mesh becomes balanced, its own triangles and vertices
// stay.
MembraneReport add_membranes(TriangleMesh& mesh, std::span<const Rim> rims,
                             const MembraneSettings& settings);

}  // namespace isotact::surface_detail
