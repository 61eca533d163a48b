// The parts of a shell, each with how far it may move before one of its points can change sides.
//
// A front is a set of nodes of the tree, and of points below opened clusters, that together hold
// all points once. Each place p (a point, or the centre of a node's sphere) has a room c, with
// regard to a reference R: a map of the shell into the field, one for all. Whatever the field has
// within c of R p is on one side of the isosurface; for a node, also what is further away by the
// radius of its sphere. Let a motion be a chain of straight pieces between maps M_0 ... M_n. Places
// go straight between these, and a ball is convex: where |M_k p - R p| < c for all k, p, or every
// point of the node, stays on its side all the way. That is all a step has to look at, for eight
// places at a time. Poses between which bodies were moved by others do not matter, and neither does
// how they came to be where they are: a body that trembles uses nothing up.
//
// A place that has moved as far as it may is awake. Its room is measured anew at the end of the
// motion, and if that is more than it moved in all of the motion, no more is to be done. Else a
// node gives way to its children, and a point is to be traced.
//
// A front none of whose places is awake or inside is quiet: as long as nothing of the shell has
// moved by its least room, it need not even be looked at.
//
// Where bodies slide on, a room measured at M_n has to be cut by |M_n p - R p| to hold around R.
// When that has cost as many looks as it takes to move the reference, all rooms are cut by that
// once, and M_n is the new R. A cluster whose points wake up far away is closed again; other nodes
// are not put together, but now and then a front begins anew from the root. All rules depend on
// rooms and counts alone.
//
// Room comes from a value v of the field: |v - iso| over a bound of its slope: that of the place's
// block as far as the block goes, that of the blocks around it beyond, and at last that of the
// whole field (steepness.h). Far outside the distances between blocks say more (free_space.h). Room
// is less by what rounding may do: of places to floats of metres and of cells, and of values, in
// the traces as well as here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/detail/free_space.h"
#include "isotact/queries/detail/front_lanes.h"
#include "isotact/queries/detail/steepness.h"
#include "isotact/queries/swept.h"

namespace isotact::detail {

// A field and what is known of it: either one with cells, or one of any kind.
struct RoomProbe {
  const BrickField* bricks;
  const DenseGrid* grid;
  const AnyField* any;
  double iso;               // metres
  double cell;              // metres
  Lattice lattice;          // of a field with cells
  const FreeSpace* space;   // of the same
  const Steepness* slopes;  // of the same
};

// What is remembered.
struct SweptFront {
  struct Node {
    std::uint32_t level, place;
  };

  AffineMap reference{}, end{};  // R, and where the last motion ended
  float quiet_room = kNoRoom;    // if it is quiet, the least room
  bool is_new = true;
  std::uint32_t looks = 0;  // since it began
  std::size_t places_at_start = 0;
  std::uint64_t wasted = 0;  // looks that another reference would have saved
  std::vector<Node> nodes{};
  std::vector<FrontNodes> node_blocks{};  // the same nodes
  std::vector<FrontLeaf> leaves{};        // in the order of points

  std::size_t place_count() const { return nodes.size() + 8 * leaves.size(); }
  std::uint64_t memory_bytes() const {
    return nodes.capacity() * sizeof(Node) + node_blocks.capacity() * sizeof(FrontNodes) +
           leaves.capacity() * sizeof(FrontLeaf);
  }
};

// A point that may be inside at some time.
struct FrontPoint {
  std::uint32_t point;
  bool inside;  // it is, all the time; else it must be traced
};

// Whether a front can tell something about a motion, and is likely to gain by it.
bool can_follow(const ShellPath& path, const PointSphereTree& tree, double cell);

// Looks at fronts, one after the other; keeps nothing but memory.
class FrontLook {
 public:
  // In the order of points; those left out are outside all the time. For a path that can be
  // followed, of the tree that the front has always been asked about.
  std::span<const FrontPoint> look(SweptFront& front, const PointSphereTree& tree,
                                   const ShellPath& path, const RoomProbe& probe,
                                   SweptCounts& counts);

 private:
  using Node = SweptFront::Node;
  // Of a place, at the end of the motion.
  struct Finding {
    float room;     // with regard to the reference
    bool inside;    // where it is
    bool is_clear;  // it, and all of its sphere, stayed on one side
  };
  // A point that may be inside.
  struct Looking {
    std::uint32_t leaf;
    std::uint8_t lane;
    bool is_measured;  // else it is inside, or will be traced
    bool inside;
  };

  bool is_quiet(const ShellPath& path) const;
  void start_motion(const ShellPath& path);
  void begin_at_root();
  bool wake_up();  // false: so many are awake that the front should begin anew
  void clear_places();
  void add_place(const Vec3f& place, float radius);
  void add_place(const Node& node);
  void measure();  // all places
  double find_room(std::size_t i) const;
  Finding judge(std::size_t i, double steps);
  void settle_nodes(SweptCounts& counts);
  void split(SweptCounts& counts);
  void add_node(const Node& node, const Vec3f& center, float room);
  void remove_node(std::size_t at);
  void open_leaf(std::uint32_t cluster);
  void close_leaves(SweptCounts& counts);
  void settle_points(SweptCounts& counts);
  void list_points(std::uint32_t i);
  void move_reference();

  SweptFront* front_ = nullptr;
  const PointSphereTree* tree_ = nullptr;
  const RoomProbe* probe_ = nullptr;
  std::vector<ShellLevel> levels_;  // of the tree
  Sphere ball_{};                   // of the shell
  double furthest_ = 0;             // metres: of points from the origin of the shell's frame
  Aabb box_{};                      // of the field
  double steepest_ = 1, margin_ = 0, rounding_ = 0, shift_error_ = 0;
  double most_moved_ = 0, most_away_ = 0;  // metres: of any place, from there to the end
  AffineMap from_reference_{};             // of the last vertex
  std::vector<Shift> shifts_;              // of vertices from the reference
  std::vector<AffineMap> back_;            // of vertices from the last one
  std::vector<std::uint8_t> awake_;        // bits of nodes
  std::vector<Node> splitting_, children_;
  std::vector<std::uint32_t> waking_;
  std::vector<Looking> looking_;
  // To be measured:
  std::vector<Spheref> balls_;  // in the shell
  std::vector<Vec3f> places_;   // of their centres in the field at the end; the nearest in its box
  std::vector<float> gaps_;     // metres from there
  std::vector<float> values_;
  std::vector<FrontPoint> found_;
};

}  // namespace isotact::detail
