// Signed distances of a few solids, operations that join them smoothly, and meshes of the result
// with a given number of triangles. Negative inside. Joined and squeezed ones are no longer
// distances, but keep their sign and a gradient near 1. Basic arithmetic and sqrt only.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

struct Vec2 {
  double x, y;
};

inline double implicit_sphere(const Vec3& p, const Vec3& center, double radius) {
  return length(p - center) - radius;
}

// First-order distance: exact on the surface, and close to it near by.
inline double implicit_ellipsoid(const Vec3& p, const Vec3& center, const Vec3& radii) {
  const Vec3 d = p - center;
  const Vec3 unit{d.x / radii.x, d.y / radii.y, d.z / radii.z};
  const Vec3 slope{unit.x / radii.x, unit.y / radii.y, unit.z / radii.z};
  const double k = length(unit), g = length(slope);
  return g > 1e-9 ? k * (k - 1) / g : -std::min({radii.x, radii.y, radii.z});
}

// The hull of two spheres, up to the slight tilt of its cone: the radius changes linearly along the
// segment.
inline double implicit_cone(const Vec3& p, const Vec3& a, const Vec3& b, double radius_a,
                            double radius_b) {
  const Vec3 ab = b - a;
  const double t = std::clamp(dot(p - a, ab) / length_sq(ab), 0.0, 1.0);
  return length(p - (a + ab * t)) - (radius_a + (radius_b - radius_a) * t);
}

// A box of any sort in the coordinates (u, v), each the distance to its own limit, with rounded
// edges.
inline double implicit_corner(double u, double v, double rounding) {
  const double a = u + rounding, b = v + rounding;
  const double p = std::max(a, 0.0), q = std::max(b, 0.0);
  return std::min(std::max(a, b), 0.0) + std::sqrt(p * p + q * q) - rounding;
}

// A cylinder along x with rounded edges.
inline double implicit_cylinder_x(const Vec3& p, const Vec3& center, double half_length,
                                  double radius, double rounding) {
  const Vec3 d = p - center;
  return implicit_corner(std::sqrt(d.y * d.y + d.z * d.z) - radius, std::abs(d.x) - half_length,
                         rounding);
}

// Distance to a polygon in the plane, negative inside.
inline double implicit_polygon(const Vec2& p, std::span<const Vec2> corners) {
  double nearest = 1e300;
  bool inside = false;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec2 a = corners[i], b = corners[i + 1 == corners.size() ? 0 : i + 1];
    const double ex = b.x - a.x, ey = b.y - a.y, wx = p.x - a.x, wy = p.y - a.y;
    const double t = std::clamp((wx * ex + wy * ey) / (ex * ex + ey * ey), 0.0, 1.0);
    const double dx = wx - ex * t, dy = wy - ey * t;
    nearest = std::min(nearest, dx * dx + dy * dy);
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + ex * (p.y - a.y) / ey) inside = !inside;
  }
  const double distance = std::sqrt(nearest);
  return inside ? -distance : distance;
}

// The union with a fillet: both are pulled together where they differ by less than `blend`.
inline double implicit_union(double a, double b, double blend) {
  const double h = std::max(blend - std::abs(a - b), 0.0);
  return std::min(a, b) - h * h / (4 * blend);
}

// The part in both, with a rounded edge.
inline double implicit_intersection(double a, double b, double blend) {
  return -implicit_union(-a, -b, blend);
}

// The part in a but not in b, with a rounded edge.
inline double implicit_difference(double a, double b, double blend) {
  return implicit_intersection(a, -b, blend);
}

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
// somewhat finer, then made coarser and more even (remesh). Deterministic.
TriangleMesh polygonise(const ImplicitSolid& solid, std::size_t triangles);

// Evens out a closed mesh of an implicit surface. Brings a closed manifold mesh down to
// `triangles`. In turns, it collapses the shortest edges, flips edges towards a Delaunay
// triangulation, and moves vertices along the surface to the middle of their neighbours. Triangles
// are smaller if the surface bends more. The method is after Botsch and Kobbelt ("A Remeshing
// Approach to Multiresolution Modeling", 2004). Stays closed and manifold with the same genus; no
// triangle turns over. A mesh that cannot be brought down so far stays finer. Single-threaded, 20
// microseconds per triangle.
void remesh(WorkMesh& mesh, const ImplicitSolid& solid, std::size_t triangles);

}  // namespace isotact::detail
