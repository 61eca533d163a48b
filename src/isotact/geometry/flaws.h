// What is wrong with a mesh, counted and shown, and the facts that `isotact info` prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/geometry/mesh.h"
#include "isotact/geometry/self_intersection.h"

namespace isotact {

struct FlawSettings {
  // Vertices at exactly the same position count as one, since STL and glTF files repeat them; then
  // the indices in results are the lowest at that position. Off: vertices are what indices say.
  bool merge_equal_positions = true;
  bool self_intersections = false;  // costs more than all the rest together
  std::size_t max_examples = 16;    // of each flaw
  Threads threads{};
  Monitor monitor{};  // of the search for self-intersections; all else takes no time to speak of
};

template <typename T>
struct FlawList {
  std::size_t count = 0;
  std::vector<T> examples;  // the first ones, in ascending order
};

using MeshEdge = std::array<std::uint32_t, 2>;  // its vertices, lower first

// The rim of a hole or sheet, as its vertices in the direction in which the triangles run it, from
// the lowest one on. No vertex appears twice: a boundary that touches itself is cut into several
// loops there. An open chain is left over where a boundary ends at a non-manifold edge.
struct BoundaryLoop {
  std::vector<std::uint32_t> vertices;
  bool closed = true;
};

struct DuplicateTriangle {
  std::uint32_t triangle = 0;
  std::uint32_t first = 0;  // the earlier one on the same three vertices
  bool opposite = false;    // faces the other way
};

// A part of the mesh that hangs together over edges.
struct MeshShell {
  std::uint32_t first_triangle = 0;
  std::size_t triangles = 0;  // collapsed ones are in no shell
  bool closed = true;         // and oriented: all edges are run as often one way as the other
  double volume = 0;          // signed; meaningless unless closed
};

// Edges, loops, shells and components are those of the triangles with three distinct vertices;
// collapsed triangles are only counted.
struct MeshFlaws {
  std::size_t merged_vertices = 0;  // that repeat the position of a lower one

  FlawList<MeshEdge> boundary_edges;      // with one triangle
  FlawList<BoundaryLoop> boundary_loops;  // the boundary edges, strung together
  FlawList<MeshEdge> non_manifold_edges;  // with more than two triangles
  FlawList<MeshEdge> inconsistent_edges;  // with two triangles that run it the same way
  // Vertices whose triangles are not one fan or one disk: all ends of non-manifold edges, and
  // bow-ties, where parts touch only in the vertex and share no edge there.
  FlawList<std::uint32_t> non_manifold_vertices;
  FlawList<std::uint32_t> bow_tie_vertices;
  FlawList<std::uint32_t> collapsed_triangles;  // two corners at one vertex or position
  FlawList<std::uint32_t> collinear_triangles;  // the others whose corners lie exactly on a line
  // Triangles on the same three vertices as an earlier one, in any order: n equal triangles are
  // n - 1 duplicates. Those facing the other way than the first count too, and again below.
  FlawList<DuplicateTriangle> duplicate_triangles;
  std::size_t opposite_duplicates = 0;
  FlawList<std::uint32_t> unreferenced_vertices;  // that no triangle names, equal positions or not
  FlawList<std::uint32_t> non_finite_vertices;    // NaN or infinite, used or not
  std::size_t non_finite_triangles = 0;           // that use one
  FlawList<MeshShell> shells;                     // no flaw by themselves
  // Closed shells with negative volume. Right for cavities, wrong for everything else.
  std::size_t inward_shells = 0;
  std::optional<SelfIntersections> self_intersections;  // where they were asked for

  // Every edge has exactly two triangles, there are some, and their corners are finite. Says
  // nothing about orientation.
  bool watertight = false;
  bool watertight_as_stored = false;  // the same without merging equal positions
  bool manifold = false;              // no non-manifold edge or vertex; may have a boundary
  bool oriented = false;              // no inconsistent edge
  // Each edge is run as often one way as the other (and corners are finite): winding numbers are
  // whole and volume means something, even where sheets meet at non-manifold edges.
  bool balanced = false;
  bool inward = false;  // balanced, and the volume is negative

  // The facts of `isotact info`, by the names of its keys; manifold, watertight and boundary_loops
  // are above.
  std::size_t vertices = 0;    // as stored
  std::size_t triangles = 0;   // as stored
  Aabbf bounds{};              // of the finite positions that triangles use
  std::size_t components = 0;  // parts that hang together over vertices: one or more shells each
  std::size_t degenerate = 0;  // collapsed and collinear triangles
  double area = 0;
  std::optional<double>
      volume{};  // signed; only where balanced, else it would depend on the origin
};

// Needs indices in range (isotact::find_flaw); takes any positions. Same result for any number of
// threads. Throws Cancelled when the monitor says so. Cost: O(n log n) without self-intersections,
// about 0.4 s for a million triangles; with them, see find_self_intersections, which may give up.
MeshFlaws find_flaws(const TriangleMesh& mesh, const FlawSettings& settings = {});

// One sentence a flaw, worst first: "5 holes (223 boundary edges)". Empty for a clean mesh.
std::vector<std::string> describe(const MeshFlaws& flaws);

}  // namespace isotact
