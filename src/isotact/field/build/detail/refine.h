// Membranes brought nearer to their level surface where a coarse lattice left them off it.
#pragma once

#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/build/detail/phase.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

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

// Splits edges whose middle is further off the surface on which the phase is a half, at the point
// of the surface above or below, again and again. Net edges of the patch are never split, so they
// stay the same.
void refine(Patch& patch, const TriangleMesh& mesh, const WindingPhase& phase,
            const RefineSettings& settings);

}  // namespace isotact::surface_detail
