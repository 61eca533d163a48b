// Implicit solids into meshes with a wished number of triangles.
#pragma once

#include <functional>

#include "isotact/base/aabb.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// A solid where value() is negative, wholly inside the bounds. value() is called from many threads.
struct ImplicitSolid {
  std::function<double(const Vec3&)> value;
  Aabb bounds;
  double detail;  // cells of this size still catch every part in its right topology
};

// A mesh in double precision, while it is worked on.
struct WorkMesh {
  std::vector<Vec3> points;
  std::vector<Triangle> triangles;
};

// Marching tetrahedra on a body-centred cubic lattice (Chan and Purisima 1998): always closed,
// manifold and free of self-intersection. Vertices keep off the lattice points, so that no triangle
// is degenerate; they are near the surface, not on it.
WorkMesh march_tetrahedra(const ImplicitSolid& solid, double cell);

// The surface with `triangles` triangles, a whole even number, and vertices on the surface: marched
// somewhat finer, then made coarser and more even (remesh.h). Deterministic.
TriangleMesh polygonise(const ImplicitSolid& solid, std::size_t triangles);

// Evens out a closed mesh of an implicit surface: fewer, rounder triangles.

// Brings a closed manifold mesh down to `triangles` by collapsing its shortest edges, flips edges
// towards a Delaunay triangulation, and moves vertices along the surface to the middle of their
// neighbours, in turns; triangles are smaller where the surface bends more (after Botsch and
// Kobbelt, "A Remeshing Approach to Multiresolution Modeling", 2004). Stays closed and manifold
// with the same genus; no triangle turns over. A mesh that cannot be brought down so far stays
// finer. Single-threaded, some 20 microseconds a triangle.
void remesh(WorkMesh& mesh, const ImplicitSolid& solid, std::size_t triangles);

}  // namespace isotact::detail
