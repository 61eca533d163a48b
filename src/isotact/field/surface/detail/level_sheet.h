// The surface on which a winding number is a half modulo 1, traced through a lattice.
//
// Away from the rims, a phase modulo 1 has a level surface like any function. It ends on the rims,
// around which the phase runs once through all values (it is a Seifert surface of them). Here it is
// made of quads dual to the crossed edges of a lattice (surface nets: Gibson, Constrained Elastic
// Surface Nets, 1998): one vertex per cell. If the phase turns once around the corners of a lattice
// face, a rim pierces that face. The quads end exactly there, in the cells of pierced faces,
// whatever the shape and number of the rims.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/lattice.h"
#include "isotact/field/surface/detail/phase.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::surface_detail {

struct SheetSettings {
  Vec3 origin{};
  double spacing = 0;
  std::size_t max_cells = 0;
  Threads threads{};
  Monitor monitor{};
};

struct SheetCell {
  Index3 index{};
  // Element 4 d + u + 2 v is for the edge along axis d with offsets u and v along the next two. It
  // is +1 if the surface faces along d, -1 if it faces against d, 0 if it does not cross the edge.
  std::array<std::int8_t, 12> crossings{};
  bool crossed = false;
  bool pierced = false;
  Vec3 vertex{};  // on the surface, roughly where pierced; meaningless unless crossed
};

struct LevelSheet {
  std::vector<SheetCell> cells;
  std::vector<std::array<std::uint32_t, 4>> quads;  // of cells, facing the lower number
  bool complete = false;                            // false: more cells than allowed
};

// Returns all of the surface that is connected with cells in which a seed lies, or next to them.
LevelSheet trace_level_sheet(const WindingPhase& phase, const std::vector<Vec3>& seeds,
                             const SheetSettings& settings);

Index3 cell_of(const Vec3& point, const SheetSettings& settings);
std::uint64_t key_of(const Index3& index);

// Membranes move nearer to their level surface if a coarse lattice left them off it.

// Triangles to be added to a mesh.
struct Patch {
  std::vector<Vec3f> positions;  // numbered from the mesh's own on
  std::vector<Triangle> triangles;
};

struct RefineSettings {
  double tolerance = 0;  // metres between an edge's middle and the surface
  std::size_t max_triangles = 0;
  Threads threads{};
};

// Splits edges whose middle is further than the tolerance off the surface on which the phase is a
// half. The split is at the point of the surface above or below. This is done again and again. Net
// edges of the patch are never split, so they stay the same.
void refine(Patch& patch, const TriangleMesh& mesh, const WindingPhase& phase,
            const RefineSettings& settings);

}  // namespace isotact::surface_detail
