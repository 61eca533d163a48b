// Octrees of soft bodies: MDL06, section 6. A tree is made once from the rest shape. If vertices
// move, bounds of nodes become stale and are refitted only when a search visits them. Nodes bound
// whole triangles: boxes of vertices alone, as in the paper, miss objects that pierce the middle of
// a face.
//
//   ObjectTree a(mesh_a_positions, mesh_a.triangles), b(...);
//   for (;;) {
//     a.set_positions(moved_a), b.set_positions(moved_b);
//     find_triangle_pairs(a, b, {.margin = 0}, pairs);
//   }
//
// The box of a triangle is that of its corners at both ends of their paths. A coordinate that is
// NaN is ignored: a triangle with three of them on one axis is in no pair. Infinite and huge
// coordinates are allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

enum class NodeVolume : std::uint8_t {
  kBox,
  // A leaf's sphere is tight: about the centre of its box, through its farthest vertex. A node's
  // sphere encloses those of its children, so that no leaf sticks out. Slower than boxes (decision
  // 0011).
  kSphere,
};

// Subdivision of nodes.
enum class TreeCut : std::uint8_t {
  kRegular,   // At the centre of their cube, as in the paper.
  kBalanced,  // Into up to `arity` equal parts, across the longest side.
  // Bottom-up: triangles along a Hilbert curve fill leaves, and leaves fill nodes.
  kCurve,
};

struct ObjectTreeSettings {
  int arity = 8;  // Children per node: 2, 4 or 8.
  NodeVolume volume = NodeVolume::kBox;
  TreeCut cut = TreeCut::kBalanced;
  int leaf_triangles = 8;  // A node with so many or fewer is a leaf; at least 1.
  // The paper's level-allowed: all nodes of this level are leaves; 0 to 32.
  int max_level = 16;
  // Nodes with so many triangles or fewer are fitted with everything below them, at the first visit
  // of a search. Nodes above are fitted from the vertices, in each first search. It changes no
  // result. 1: only leaves are fitted so. With spheres, leaves always are.
  int part_triangles = 128;
};

// Can be moved, but not copied. Memory: about 60 bytes per triangle.
class ObjectTree {
 public:
  // `positions` is the rest shape, and the current shape until set_positions is called. Throws
  // Error for an index beyond the positions, and for settings out of range. Cost: less than a
  // microsecond per triangle.
  ObjectTree(std::span<const Vec3> positions, std::span<const Triangle> triangles,
             const ObjectTreeSettings& settings = {});
  ~ObjectTree();
  ObjectTree(ObjectTree&& other) noexcept;
  ObjectTree& operator=(ObjectTree&& other) noexcept;

  // Sets the current positions of vertices, or the start and end of their straight paths. The spans
  // must live until the next call, or the last search. An empty at_t1 means that they rest. Costs
  // nothing: searches fit the bounds. Call it again after every change of the data. Throws Error if
  // the number of positions differs from that of the rest shape.
  void set_positions(std::span<const Vec3> positions);
  void set_positions(std::span<const Vec3> at_t0, std::span<const Vec3> at_t1);

  const ObjectTreeSettings& settings() const;
  std::size_t vertex_count() const;
  std::size_t triangle_count() const;
  std::size_t leaf_count() const;
  std::span<const std::uint32_t> leaf(std::size_t index) const;  // Its triangles.
  std::size_t bytes() const;

  // For searches.
  struct State;
  State& state() { return *state_; }
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct TrianglePair {
  std::uint32_t a = 0, b = 0;
  friend constexpr bool operator==(const TrianglePair&, const TrianglePair&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): it takes the 0 of comparisons for a pointer
  friend constexpr auto operator<=>(const TrianglePair&, const TrianglePair&) = default;
};

struct TreeSearch {
  double margin = 0;  // Metres: boxes that are no further apart are pairs.
  Threads threads{1};
};

struct TreeWork {
  std::uint64_t node_tests = 0, nodes_fitted = 0, vertices_read = 0, pairs = 0;
};

// Appends all pairs of triangles whose own boxes (over their whole paths) are no further apart than
// the margin on any axis. Their order is unspecified, but the same for any number of threads. If
// both trees have spheres, pairs are left out if the spheres of their leaves prove a larger
// distance than the margin. If one tree has spheres, the other must have spheres as well. Fits the
// visited nodes: two threads must not search one tree at once. Throws Error for a margin that is
// negative or NaN.
TreeWork find_triangle_pairs(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                             std::vector<TrianglePair>& pairs);
// Pairs within one body, a < b, including neighbours.
TreeWork find_self_pairs(ObjectTree& tree, const TreeSearch& search,
                         std::vector<TrianglePair>& pairs);

// Result of the paper's narrow phase: triangles of one body that are near the other, and their
// vertices. They are all those in leaves that are within the margin of a leaf of the other, by
// their boxes or spheres. The settings leaf_triangles and max_level determine its fineness.
// Ascending, each once.
struct ContactSets {
  std::vector<std::uint32_t> vertices_a, vertices_b, triangles_a, triangles_b;
  friend bool operator==(const ContactSets&, const ContactSets&) = default;
};
TreeWork find_contact_sets(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                           ContactSets& sets);

// The same by comparing all with all: the oracles of the fast ones.
TreeWork find_triangle_pairs_brute_force(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                                         std::vector<TrianglePair>& pairs);
TreeWork find_self_pairs_brute_force(ObjectTree& tree, const TreeSearch& search,
                                     std::vector<TrianglePair>& pairs);
TreeWork find_contact_sets_brute_force(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                                       ContactSets& sets);

// Returns a flaw ("triangle 7 is in two leaves", "node 3 does not bound triangle 12"), or nothing.
// Fits the whole tree.
std::optional<std::string> find_flaw(ObjectTree& tree);

}  // namespace isotact
