// Pointshells: the surface of a body as points, each with its normal and the area it stands for.
//
// Points are not the surface. Each shell therefore states its covering radius: no point of the
// surface is further than that from a sample, proved (detail/measure.h), not estimated. Whoever
// tests the samples alone against a field misses nothing that goes deeper than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/base/vec.h"
#include "isotact/field/any_field.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/voxmap.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Metres, in the mesh's frame. The three arrays are of one length.
struct PointShell {
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;   // unit, OUTWARD. (SSL14 has them point into the body.) Zero where
                                // the mesh has no direction there: only degenerate triangles
  std::vector<float> areas;     // m^2: of the surface that is nearer to this sample than to others;
                                // they sum to the surface's area
  double covering_radius = 0;   // metres: an upper bound, at most covering_tolerance too large
  double spacing = 0;           // metres: what was asked for, or follows from count and area
  double surface_area = 0;      // m^2
  std::size_t edge_points = 0;  // samples put on sharp edges and corners on purpose; the first ones
  std::string how;              // one line in words: "vertices", "repulsion, 16 rounds"
};

inline constexpr std::uint32_t kMaxShellPoints = 1U << 27U;

// What all makers share.
struct ShellSettings {
  // Edges whose two faces' normals turn by more than this, edges with one face only or more than
  // two, and the corners where they end, meet or bend as sharply, get samples of their own, about a
  // spacing apart (XB14 section 6 names them as the weakness of point sampling).
  bool sample_edges = true;
  double sharp_degrees = 30;         // 0 to 180
  double covering_tolerance = 0.02;  // share of the covering radius, 0.001 to 1; finer costs time
  std::uint64_t max_memory = 0;      // bytes; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
};

// All makers: need a mesh without flaw (find_flaw), closed or not. Samples lie on its triangles, to
// within float rounding. Normals come from the mesh: a face's own, on edges and corners the mean
// weighted by angle; take_normals has the other source. Degenerate and non-finite triangles are
// left out. The same bytes for any number of threads. Throw Error for a mesh without area,
// settings out of range, and more points or memory than allowed; Cancelled when the monitor says
// so.

// Every vertex that a triangle uses, once for each position, in their order, behind the samples
// added on sharp edges that are longer than `edge_spacing`.
struct VertexShellSettings {
  ShellSettings common{};
  // Keeps vertices at equal positions, for shells of as many points as the mesh has vertices; all
  // but the first of them stand for no area.
  bool keep_equal = false;
  double edge_spacing = 0;  // metres; 0: twice the mean spacing of the vertices
};
PointShell sample_vertices(const TriangleMesh& mesh, const VertexShellSettings& settings = {});

// SSL14 section 2.1.2: centres of surface voxels, projected onto the surface and thinned: no two
// samples are nearer than alpha voxels. The paper projects each centre onto each triangle around;
// we take the nearest point of the whole surface, which gives one candidate a voxel however fine
// the mesh is. Every surface point has a candidate within sqrt(3) voxels, so the covering radius is
// at most (sqrt(3) + alpha) voxels; what is stated is measured and smaller. Needs layers or support
// (Error), of the same mesh.
struct ProjectionShellSettings {
  ShellSettings common{};
  double alpha = 1.4142135623730951;  // 0.1 to 10
};
PointShell sample_surface_voxels(const TriangleMesh& mesh, const Voxmap& voxmap,
                                 const ProjectionShellSettings& settings = {});

// XB14 section 5: an even spread by particles that repel each other and stay on the surface.
// Starts from a deterministic spread in proportion to area. Either count or spacing must be given;
// the other follows, as for a hexagonal pattern. Corners and edges are sampled first and stand
// still; where they would take more than half of the count they are thinned.
// Cost: some two microseconds a point and round on one thread.
struct RepulsionShellSettings {
  ShellSettings common{};
  std::uint32_t count = 0;  // points in all
  double spacing = 0;       // metres
  int rounds = 16;          // 0 to 1000
};
PointShell sample_by_repulsion(const TriangleMesh& mesh, const RepulsionShellSettings& settings);

// Replaces normals by the field's gradient at the points, where it is longer than a half (at ridges
// of the field it vanishes): the other source of SSL14 2.1.2.
void take_normals(PointShell& shell, const BrickField& field, Threads threads = {});
void take_normals(PointShell& shell, const AnyField& field, Threads threads = {});

}  // namespace isotact
