// Mends what can be mended without guessing: every function takes a mesh and returns a new one with
// a report of what was changed. All need indices in range (find_flaw) and take any positions. None
// depends on the number of threads; all are safe from many threads. Cost: O(n log n), unless said.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

inline constexpr std::uint32_t kRemoved = 0xffffffffU;

struct WeldSettings {
  double tolerance = 0;  // metres; must be finite and not negative
  Threads threads{};
};

struct WeldResult {
  TriangleMesh mesh;               // vertices keep their order; triangles keep theirs
  std::vector<std::uint32_t> map;  // new index of each old vertex
  std::size_t merged = 0;          // vertices that are gone
  std::size_t collapsed = 0;       // triangles that lost a corner now (kept: remove_degenerate)
  double longest_move = 0;         // metres
};

// Merges vertices. With tolerance 0, those at the same position (-0 equals +0). With a positive
// tolerance, vertices are taken in their order: one that has a kept vertex within the tolerance
// becomes the nearest of these (the first of equals), any other is kept. So no vertex moves
// further than the tolerance, however long a chain of close vertices is, kept vertices are further
// apart than it, and two close vertices may end at different kept ones. Positions that are not
// finite are never merged. A tolerance below 2^-149 is as good as 0: no two floats are closer.
WeldResult weld(const TriangleMesh& mesh, const WeldSettings& settings = {});

struct RemoveResult {
  TriangleMesh mesh;
  std::vector<std::uint32_t> map;  // new index of each old triangle (remove_unreferenced: vertex),
                                   // or kRemoved
  std::size_t removed = 0;
};

struct RemoveDegenerateSettings {
  // Also triangles whose three distinct corners lie exactly on one line. Where such a triangle
  // fills the slit between one long edge and two short ones, removing it opens the mesh.
  bool collinear = false;
};

// Removes triangles with two corners at one vertex or position; that never opens a mesh.
RemoveResult remove_degenerate(const TriangleMesh& mesh,
                               const RemoveDegenerateSettings& settings = {});

struct RemoveDuplicatesSettings {
  bool same_winding_only = false;  // keep a triangle whose twin faces the other way
};

// Of the triangles on the same three positions, in any order, keeps the first.
RemoveResult remove_duplicates(const TriangleMesh& mesh,
                               const RemoveDuplicatesSettings& settings = {});

// Removes vertices that no triangle uses.
RemoveResult remove_unreferenced(const TriangleMesh& mesh);

enum class Outward {
  kLeave,     // components that agree within themselves stay as they are
  kAll,       // every closed component gets a positive volume
  kByNesting  // the same, but one inside an odd number of others becomes a cavity
};

struct OrientSettings {
  Outward outward = Outward::kLeave;
  Threads threads{};
};

struct OrientResult {
  TriangleMesh mesh;  // flipped triangles have their last two corners swapped
  std::size_t components = 0;
  std::size_t made_consistent = 0;  // components whose triangles disagreed before
  std::size_t turned = 0;           // closed components turned over for `outward`
  std::size_t non_orientable = 0;   // one-sided like a Moebius strip: left as they are
  std::size_t flipped_triangles = 0;
};

// Makes neighbours agree. A component here is what hangs together over edges with exactly two
// triangles (edges with more join nothing: which sheets belong together there is a guess), with
// equal positions as one vertex. Within one, the side with fewer triangles is flipped, or at equal
// numbers the side without the first triangle. Closed means that all its edges have two triangles.
// Nesting asks for the winding number of each closed component around a vertex of the others
// (whose boxes contain it), exactly. Cost of that: O(n log n) for components beside each other,
// plus, for each pair of a component and another whose box contains its vertex, a ray through that
// other. So k components all inside each other cost k^2 / 2 rays of a tenth of a microsecond or
// more: seconds for ten thousand, minutes for fifty thousand.
OrientResult orient(const TriangleMesh& mesh, const OrientSettings& settings = {});

}  // namespace isotact
