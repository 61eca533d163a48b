// Closed parts assembled from rings of points.
#pragma once

#include <functional>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

using PointRing = std::vector<Vec3>;

// A point of a profile that is rotated about x.
struct LathePoint {
  double x = 0, radius = 0;
};

class PartMesh {
 public:
  // Applies to all points that are added from now on.
  void place(const Pose& mesh_from_part) { placement_ = mesh_from_part; }

  // Adds a skin over rings of the same size, which run in the positive sense about the direction
  // from first to last. Fans about `first` and `last` close both ends. It has 2 * points * rings
  // triangles.
  void add_loft(const std::vector<PointRing>& rings, const Vec3& first, const Vec3& last);
  // The same with fans about the centres of the end rings.
  void add_loft(const std::vector<PointRing>& rings);
  // The last ring meets the first again: a tube bent to a ring. It has as many triangles.
  void add_loop(const std::vector<PointRing>& rings);
  // Adds a profile rotated about x; it starts and ends on the axis. The outside is on the side of
  // larger radii if the profile runs to +x. Segments of the profile are cut into pieces of at most
  // `step`.
  void add_lathe(const std::vector<LathePoint>& profile, int around, double step);
  // Each side is cut into cuts * cuts * 2 triangles.
  void add_box(const Vec3& center, const Vec3& half_size, int cuts);
  // Adds a mesh with a placement of its own.
  void add_mesh(const TriangleMesh& mesh, const Pose& mesh_from_part);
  // Loose quads, counter-clockwise seen from outside; weld() joins their equal points.
  void add_quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
  void add_triangle(const Vec3& a, const Vec3& b, const Vec3& c);

  std::size_t triangles() const { return mesh_.triangles.size(); }
  TriangleMesh take() { return std::move(mesh_); }
  // Merges equal points with index `first_point` or higher.
  void weld(std::size_t first_point, std::size_t first_triangle);
  std::size_t points() const { return mesh_.positions.size(); }

 private:
  std::uint32_t add(const Vec3& point);
  std::uint32_t add_ring(const PointRing& ring);
  void stitch(std::uint32_t from, std::uint32_t to, std::uint32_t size);

  TriangleMesh mesh_;
  Pose placement_{};
};

// Returns `around` points about x, between a circle (squareness 0) and a square (1).
PointRing make_section(double x, double y, double half_height, double half_width, double squareness,
                       int around);

// Cuts the longest edges in two, one after the other, until the mesh has this many triangles. The
// surface stays the same, and closed. With `place`, new points are moved to the positions that it
// returns. Throws Error if there are more triangles already, or the difference is odd, or an edge
// does not have two triangles.
using PlacePoint = std::function<Vec3f(const Vec3f&)>;
void refine_to(TriangleMesh& mesh, std::size_t triangles, const PlacePoint& place = {});

}  // namespace isotact
