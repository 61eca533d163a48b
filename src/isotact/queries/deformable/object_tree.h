// Octrees of bodies that bend: MDL06, section 6. Made once from the rest shape; when vertices move,
// bounds of nodes are stale and are fitted again only where a search comes by. Nodes bound whole
// triangles: boxes of vertices alone, as in the paper, miss what pierces the middle of a face.
//
//   ObjectTree a(mesh_a_positions, mesh_a.triangles), b(...);
//   for (;;) {
//     a.set_positions(moved_a), b.set_positions(moved_b);
//     find_triangle_pairs(a, b, {.margin = 0}, pairs);
//   }
//
// The box of a triangle is that of its corners, at both ends of their ways. A coordinate that is
// NaN counts for nothing: a triangle with three of them on one axis is in no pair. Infinite and
// huge coordinates are welcome.
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
#include "isotact/geometry/mesh.h"

namespace isotact {

enum class NodeVolume : std::uint8_t {
  kBox,
  // A leaf's is tight: about the middle of its box, through its farthest vertex. A node's encloses
  // those of its children, so that no leaf sticks out. Slower than boxes (decision 0011).
  kSphere,
};

// How nodes are cut.
enum class TreeCut : std::uint8_t {
  kRegular,   // at the middle of their cube, as the paper does
  kBalanced,  // into up to `arity` equal parts, across the longest side
  kCurve,     // bottom-up: triangles along a Hilbert curve fill leaves, and these nodes
};

struct ObjectTreeSettings {
  int arity = 8;  // children of a node: 2, 4 or 8
  NodeVolume volume = NodeVolume::kBox;
  TreeCut cut = TreeCut::kBalanced;
  int leaf_triangles = 8;  // a node with so many or fewer is a leaf; 1 or more
  // The paper's level-allowed: nodes there are leaves, whatever they hold; 0 to 32.
  int max_level = 16;
  // Nodes with so many triangles or fewer are fitted with all that is below them, when a search
  // first comes there; those above from the vertices, in each first search. It changes no answer.
  // 1: leaves are. Spheres: leaves always are.
  int part_triangles = 128;
};

// Moves, but does not copy. Memory: about 60 bytes a triangle.
class ObjectTree {
 public:
  // `positions` is the rest shape, and where the body is until set_positions is called. Throws
  // Error for an index beyond the positions, and for settings out of range. Cost: about 0.5
  // microseconds a triangle.
  ObjectTree(std::span<const Vec3> positions, std::span<const Triangle> triangles,
             const ObjectTreeSettings& settings = {});
  ~ObjectTree();
  ObjectTree(ObjectTree&& other) noexcept;
  ObjectTree& operator=(ObjectTree&& other) noexcept;

  // The vertices are here now, or go straight from here to there. The spans must live until the
  // next call, or the last search; an empty at_t1: they rest. Costs nothing: bounds are fitted by
  // searches. Whoever changes what the spans show calls this again. Throws Error where there are
  // not as many positions as the rest shape had.
  void set_positions(std::span<const Vec3> positions);
  void set_positions(std::span<const Vec3> at_t0, std::span<const Vec3> at_t1);

  const ObjectTreeSettings& settings() const;
  std::size_t vertex_count() const;
  std::size_t triangle_count() const;
  std::size_t leaf_count() const;
  std::span<const std::uint32_t> leaf(std::size_t index) const;  // its triangles
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
  friend constexpr auto operator<=>(const TrianglePair&, const TrianglePair&) = default;
};

struct TreeSearch {
  double margin = 0;  // metres: boxes that are no further apart are pairs
  Threads threads{1};
};

struct TreeWork {
  std::uint64_t node_tests = 0, nodes_fitted = 0, vertices_read = 0, pairs = 0;
};

// All pairs of triangles whose own boxes (over their whole ways) are no further apart than the
// margin on any axis, in no particular order (but the same for any number of threads), appended.
// Where both trees have spheres: without those whose leaves' spheres show that they are further
// apart than the margin; where one has, the other's must be spheres, too. Fits what it visits: not
// for two threads at once on one tree. Throws Error for a margin that is negative or NaN.
TreeWork find_triangle_pairs(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                             std::vector<TrianglePair>& pairs);
// Within one body, a < b, neighbours included.
TreeWork find_self_pairs(ObjectTree& tree, const TreeSearch& search,
                         std::vector<TrianglePair>& pairs);

// What the paper's narrow phase gives: all triangles, and their vertices, of leaves of one body
// that come no further apart than the margin from a leaf of the other, by their boxes or spheres.
// How fine it is, leaf_triangles and max_level say. Ascending, each once.
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

// "triangle 7 is in two leaves", "node 3 does not bound triangle 12"; nothing where all is well.
// Fits the whole tree.
std::optional<std::string> find_flaw(ObjectTree& tree);

}  // namespace isotact
