// Repairs that need no guess: every function takes a mesh and returns a new one with a report of
// the changes. All need indices in range (find_flaw) and take any positions. None depends on the
// number of threads; all are safe from many threads. Cost: O(n log n) unless stated otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr std::uint32_t kRemoved = 0xffffffffU;

struct WeldSettings {
  double tolerance = 0;  // Metres; must be finite and not negative.
  Threads threads{};
};

struct WeldResult {
  TriangleMesh mesh;               // Vertices keep their order; triangles keep theirs.
  std::vector<std::uint32_t> map;  // New index of each old vertex.
  std::size_t merged = 0;          // Vertices that were removed.
  std::size_t collapsed = 0;       // Triangles that lost a corner now (kept: remove_degenerate).
  double longest_move = 0;         // Metres.
};

// Merges vertices. With tolerance 0, those at the same position are merged (-0 equals +0). With a
// positive tolerance, vertices are taken in their order. A vertex that has a kept vertex within the
// tolerance becomes the nearest of these (the first of equals); any other is kept. So no vertex
// moves further than the tolerance, however long a chain of close vertices is. Kept vertices are
// further apart than the tolerance, and two close vertices may end at different kept ones.
// Positions that are not finite are never merged. A tolerance below 2^-149 is equivalent to 0: no
// two floats are closer.
WeldResult weld(const TriangleMesh& mesh, const WeldSettings& settings = {});

struct RemoveResult {
  TriangleMesh mesh;
  // New index of each old triangle (remove_unreferenced: vertex), or kRemoved.
  std::vector<std::uint32_t> map;
  std::size_t removed = 0;
};

struct RemoveDegenerateSettings {
  // Also removes triangles whose three distinct corners lie exactly on one line. If such a triangle
  // fills the slit between one long edge and two short ones, removing it opens the mesh.
  bool collinear = false;
};

// Removes triangles with two corners at one vertex or position; that never opens a mesh.
RemoveResult remove_degenerate(const TriangleMesh& mesh,
                               const RemoveDegenerateSettings& settings = {});

struct RemoveDuplicatesSettings {
  bool same_winding_only = false;  // Keeps a triangle whose duplicate has the opposite orientation.
};

// Keeps the first of the triangles on the same three positions, in any order.
RemoveResult remove_duplicates(const TriangleMesh& mesh,
                               const RemoveDuplicatesSettings& settings = {});

// Removes vertices that no triangle uses.
RemoveResult remove_unreferenced(const TriangleMesh& mesh);

// Keeps the components with the most area, the first of equals. A component is connected over
// vertices, with equal positions as one. `map` is of triangles; `removed` counts components.
// Vertices that no triangle uses are removed.
RemoveResult keep_largest_components(const TriangleMesh& mesh, std::size_t count);

struct FillResult {
  TriangleMesh mesh;          // The given triangles come first.
  std::size_t filled = 0;     // Holes.
  std::size_t left_open = 0;  // Rims that branch at a vertex, or that do not close.
  std::size_t added = 0;      // Triangles.
};

// Closes each hole by a polygon along its rim (triangulate_polygon), turned as its neighbours are.
// A rim is a loop of edges with one triangle, with equal positions as one vertex. A large hole that
// is not flat gets a flat patch: this is for small holes and for cut ends. (Fields close holes by
// themselves, and better.)
FillResult fill_holes(const TriangleMesh& mesh, Threads threads = {});

enum class Outward {
  kLeave,     // Components that agree within themselves stay unchanged.
  kAll,       // Every closed component gets a positive volume.
  kByNesting  // The same, but one inside an odd number of others becomes a cavity.
};

struct OrientSettings {
  Outward outward = Outward::kLeave;
  Threads threads{};
};

struct OrientResult {
  TriangleMesh mesh;  // Flipped triangles have their last two corners swapped.
  std::size_t components = 0;
  std::size_t made_consistent = 0;  // Components whose triangles disagreed before.
  std::size_t turned = 0;           // Closed components reversed for `outward`.
  std::size_t non_orientable = 0;   // One-sided like a Moebius strip: left unchanged.
  std::size_t flipped_triangles = 0;
};

// Makes neighbours agree. A component here is connected over edges with exactly two triangles, with
// equal positions as one vertex. Edges with more triangles join nothing: it would be a guess which
// sheets belong together there. Within a component, the side with fewer triangles is flipped, or at
// equal numbers the side without the first triangle. A component is closed if all its edges have
// two triangles. Nesting computes the exact winding number of each closed component around a vertex
// of the others (whose boxes contain it).
//
// Cost of nesting: O(n log n) for components beside each other. Each pair of a component and
// another whose box contains its vertex adds a ray through that other. So k components all inside
// each other cost k^2 / 2 rays of a tenth of a microsecond or more. That is seconds for ten
// thousand, minutes for fifty thousand.
OrientResult orient(const TriangleMesh& mesh, const OrientSettings& settings = {});

}  // namespace isotact
