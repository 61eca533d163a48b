// Flaws of a mesh, counted and with examples, and the facts that `isotact info` prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/geometry/repair/self_intersection.h"

namespace ISOTACT_PUBLIC isotact {

struct FlawSettings {
  // Vertices at exactly the same position count as one, since STL and glTF files repeat them. The
  // indices in results are then the lowest at that position. If false, indices alone define
  // vertices.
  bool merge_equal_positions = true;
  bool self_intersections = false;  // Costs more than all the rest together.
  std::size_t max_examples = 16;    // Per flaw.
  Threads threads{};
  Monitor monitor{};  // For the search for self-intersections; all else takes negligible time.
};

template <typename T>
struct FlawList {
  std::size_t count = 0;
  std::vector<T> examples;  // The first ones, in ascending order.
};

using MeshEdge = std::array<std::uint32_t, 2>;  // Its vertices, lower first.

// The rim of a hole or sheet: its vertices in the direction in which the triangles traverse it,
// starting from the lowest. No vertex appears twice: a boundary that touches itself is cut into
// several loops there. An open chain remains if a boundary ends at a non-manifold edge.
struct BoundaryLoop {
  std::vector<std::uint32_t> vertices;
  bool closed = true;
};

struct DuplicateTriangle {
  std::uint32_t triangle = 0;
  std::uint32_t first = 0;  // The earlier one on the same three vertices.
  bool opposite = false;    // Has the opposite orientation.
};

// A part of the mesh that is connected over edges.
struct MeshShell {
  std::uint32_t first_triangle = 0;
  std::size_t triangles = 0;  // Collapsed ones are in no shell.
  // Closed and oriented: all edges are traversed as often in one direction as in the other.
  bool closed = true;
  double volume = 0;  // Signed; meaningless unless closed.
};

// Edges, loops, shells and components are those of the triangles with three distinct vertices;
// collapsed triangles are only counted.
struct MeshFlaws {
  std::size_t merged_vertices = 0;  // Vertices that repeat the position of a lower one.

  FlawList<MeshEdge> boundary_edges;      // With one triangle.
  FlawList<BoundaryLoop> boundary_loops;  // The boundary edges, joined to chains.
  FlawList<MeshEdge> non_manifold_edges;  // With more than two triangles.
  // With two triangles that traverse it in the same direction.
  FlawList<MeshEdge> inconsistent_edges;
  // Vertices whose triangles are not one fan or one disk: all ends of non-manifold edges, and
  // bow-ties. At a bow-tie parts touch only in the vertex and share no edge.
  FlawList<std::uint32_t> non_manifold_vertices;
  FlawList<std::uint32_t> bow_tie_vertices;
  FlawList<std::uint32_t> collapsed_triangles;  // Two corners at one vertex or position.
  FlawList<std::uint32_t> collinear_triangles;  // The others whose corners lie exactly on a line.
  // Triangles on the same three vertices as an earlier one, in any order: n equal triangles are n -
  // 1 duplicates. Those with the opposite orientation to the first are included, and counted again
  // below.
  FlawList<DuplicateTriangle> duplicate_triangles;
  std::size_t opposite_duplicates = 0;
  // Vertices that no triangle names, regardless of equal positions.
  FlawList<std::uint32_t> unreferenced_vertices;
  FlawList<std::uint32_t> non_finite_vertices;  // NaN or infinite, used or not.
  std::size_t non_finite_triangles = 0;         // Triangles that use one.
  FlawList<MeshShell> shells;                   // No flaw by themselves.
  // Closed shells with negative volume. They are right for cavities, wrong for everything else.
  std::size_t inward_shells = 0;
  std::optional<SelfIntersections> self_intersections;  // If requested.

  // Every edge has exactly two triangles, there are some, and their corners are finite. This says
  // nothing about orientation.
  bool watertight = false;
  bool watertight_as_stored = false;  // The same without merging equal positions.
  bool manifold = false;              // No non-manifold edge or vertex; may have a boundary.
  bool oriented = false;              // No inconsistent edge.
  // Each edge is traversed as often in one direction as in the other, and corners are finite.
  // Winding numbers are then integers and volume is meaningful, even if sheets meet at non-manifold
  // edges.
  bool balanced = false;
  bool inward = false;  // Balanced, and the volume is negative.

  // The facts of `isotact info`, by the names of its keys; manifold, watertight and boundary_loops
  // are above.
  std::size_t vertices = 0;   // As stored.
  std::size_t triangles = 0;  // As stored.
  Aabbf bounds{};             // Box of the finite positions that triangles use.
  // Parts that are connected over vertices: one or more shells each.
  std::size_t components = 0;
  std::size_t degenerate = 0;  // Collapsed and collinear triangles.
  double area = 0;
  // Signed; present only if balanced, since otherwise it would depend on the origin.
  std::optional<double> volume{};
};

// Needs indices in range (isotact::find_flaw); takes any positions. The result is the same for any
// number of threads. Throws Cancelled if the monitor's token was set. Cost: O(n log n) without
// self-intersections, about 0.4 s for a million triangles. With them, see find_self_intersections,
// which may give up.
MeshFlaws find_flaws(const TriangleMesh& mesh, const FlawSettings& settings = {});

// Returns find_flaws(mesh).balanced, in a third of the time. Needs indices in range.
bool is_balanced(const TriangleMesh& mesh, Threads threads = {});

// Returns one sentence per flaw, worst first: "5 holes (223 boundary edges)". Empty for a clean
// mesh.
std::vector<std::string> describe(const MeshFlaws& flaws);

}  // namespace isotact
