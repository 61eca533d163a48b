// Whether winding numbers mean something on an open mesh: evidence from samples, the same in every
// run.
#pragma once

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

// The share of the area behind which there is an inside, a winding number above one half. Nearly 1
// for a surface with holes; a half for random triangles and for a sheet with hills and valleys; 0
// for a flat sheet.
double find_backed_share(const TriangleMesh& mesh, Threads threads);

// Of the points of the box further than `distance` from the closed surface, the share whose sign by
// its winding number (whole) differs from that of the given mesh's (above one half, or not).
double find_wrong_share(const TriangleMesh& given, const TriangleMesh& closed, double distance,
                        Threads threads);

}  // namespace isotact::surface_detail
