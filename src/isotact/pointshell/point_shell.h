// The surface of a body as points, each with its normal and the area that it represents.
//
// Points are not the surface. Each shell therefore states its covering radius: no point of the
// surface is further than that from a sample. This bound is proved (detail/shell_passes.h), not
// estimated. A test of the samples alone against a field misses nothing that goes deeper than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// Metres, in the mesh's frame. The three arrays have equal lengths.
struct PointShell {
  std::vector<Vec3f> points;
  // Unit and OUTWARD. (SSL14's normals point into the body.) Zero if the mesh has no direction
  // there: only degenerate triangles.
  std::vector<Vec3f> normals;
  // m^2 of the surface that is nearer to this sample than to others. They sum to the surface area.
  std::vector<float> areas;
  double covering_radius = 0;   // Metres. An upper bound, at most covering_tolerance too large.
  double spacing = 0;           // Metres, as requested or derived from count and area.
  double surface_area = 0;      // m^2
  std::size_t edge_points = 0;  // Samples placed on sharp edges and corners; the first ones.
  std::string how;              // One line in words: "vertices", "repulsion, 12 rounds".
};

inline constexpr std::uint32_t kMaxShellPoints = 1U << 27U;

// Settings that all makers share.
struct ShellSettings {
  // Sharp edges and corners get samples of their own, about a spacing apart (XB14 section 6 names
  // them as the weakness of point sampling). Edges are sharp if the normals of their two faces
  // differ by more than sharp_degrees, or if they have only one face or more than two. Corners are
  // the vertices at which such edges end, meet or bend as sharply.
  bool sample_edges = true;
  double sharp_degrees = 30;  // 0 to 180.
  // Fraction of the covering radius, 0.001 to 1. Smaller values take more time.
  double covering_tolerance = 0.02;
  std::uint64_t max_memory = 0;  // Bytes. 0: the memory of the machine.
  Threads threads{};
  Monitor monitor{};
};

// All makers need a mesh without flaw (find_flaw), closed or not. Samples lie on its triangles, to
// within float rounding. Normals come from the mesh: a face's own, and on edges and corners the
// mean weighted by angle. take_normals has the other source. Degenerate and non-finite triangles
// are left out. Results have the same bytes for any number of threads. Makers throw Error for a
// mesh without area, settings out of range, and more points or memory than allowed. They throw
// Cancelled if the monitor requests it.

// Returns every vertex that a triangle uses, once per position and in their order. They follow the
// samples added on sharp edges that are longer than `edge_spacing`.
struct VertexShellSettings {
  ShellSettings common{};
  // Keeps vertices at equal positions, for shells with as many points as the mesh has vertices. All
  // but the first of them have zero area.
  bool keep_equal = false;
  double edge_spacing = 0;  // Metres. 0: twice the mean spacing of the vertices.
};
PointShell sample_vertices(const TriangleMesh& mesh, const VertexShellSettings& settings = {});

// SSL14 section 2.1.2: centres of surface voxels are projected to the surface and thinned. No two
// samples are nearer than alpha voxels. The paper projects each centre to each triangle around it.
// We take the nearest point of the whole surface, which gives one candidate per voxel for a mesh of
// any fineness. Every surface point has a candidate within sqrt(3) voxels, so the covering radius
// is at most (sqrt(3) + alpha) voxels. The stated radius is measured and smaller. Needs layers or
// support of the same mesh; throws Error without them.
struct ProjectionShellSettings {
  ShellSettings common{};
  double alpha = 1.4142135623730951;  // 0.1 to 10.
};
PointShell sample_surface_voxels(const TriangleMesh& mesh, const Voxmap& voxmap,
                                 const ProjectionShellSettings& settings = {});

// XB14 section 5: particles that repel each other and stay on the surface spread evenly. They start
// from a deterministic distribution in proportion to area. Either count or spacing must be given;
// the other follows, as for a hexagonal pattern. Corners and edges are sampled first and do not
// move. They are thinned if they would take more than half of the count. Particles walk along the
// triangles; at borders and cracks an exact search finds their place. Cost on one thread: about a
// quarter of a microsecond per point and round, and two per point to measure the result.
struct RepulsionShellSettings {
  ShellSettings common{};
  std::uint32_t count = 0;  // Total number of points.
  double spacing = 0;       // Metres.
  int rounds = 12;          // 0 to 1000.
};
PointShell sample_by_repulsion(const TriangleMesh& mesh, const RepulsionShellSettings& settings);

// Replaces normals by the field's gradient at the points if the gradient is longer than a half (it
// vanishes at ridges of the field). This is the other source of SSL14 2.1.2.
void take_normals(PointShell& shell, const BrickField& field, Threads threads = {});
void take_normals(PointShell& shell, const AnyField& field, Threads threads = {});

}  // namespace isotact
