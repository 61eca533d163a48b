// The parts of a shell, each with the distance that it may move before one of its points can change
// sides.
//
// A front is a set of nodes of the tree, and of points below opened clusters, that together contain
// all points once. Each position p (a point, or the centre of a node's sphere) has a free distance
// c (`room`), relative to a reference R. The reference is a map of the shell into the field, one
// for all. All of the field within c of R p is on one side of the isosurface. For a node this holds
// within c plus the radius of its sphere. Let a motion be a chain of straight pieces between maps
// M_0 ... M_n. Positions move straight between these, and a ball is convex. Let |M_k p - R p| < c
// for all k. Then p, or every point of the node, stays on its side during the whole motion. A step
// only tests this, for eight positions at a time. Poses that others set in between do not matter,
// and neither does the path to the current pose: a trembling body uses nothing up.
//
// A position that has moved by its free distance is awake. Its free distance is measured anew at
// the end of the motion. If that is more than it moved during the motion, nothing more is to be
// done. Otherwise a node is replaced by its children, and a point is traced.
//
// A front without positions that are awake or inside is quiet. It is not even tested until some
// part of the shell has moved by its least free distance.
//
// If bodies keep sliding, a free distance measured at M_n must be reduced by |M_n p - R p| to hold
// around R. When that has cost as many tests as moving the reference takes, all free distances are
// reduced once, and M_n is the new R. A cluster whose points wake up far away is closed again.
// Other nodes are not merged, but from time to time a front begins anew from the root. All rules
// depend only on free distances and counts.
//
// A free distance comes from a value v of the field: |v - margin| divided by a bound of its slope.
// The bound is that of the position's block up to the block's side. Beyond, it is that of the
// blocks around it, and finally that of the whole field (Steepness). Far outside, the distances
// between blocks are better (free_space.h). Free distances are reduced by possible rounding: of
// positions to floats of metres and of cells, and of values, in the traces as well as here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/swept/detail/free_space.h"
#include "isotact/queries/swept/detail/swept_lanes.h"
#include "isotact/queries/swept/swept.h"

namespace isotact::detail {

// The slope of a field around a position. The Lipschitz bound of a whole field is that of its worst
// cell, three to six where kinks and quantisation meet. Elsewhere most slopes are near one.
//
// In a cell the field is trilinear. Its slope along x is a mean of the cell's four edges along x,
// and likewise for y and z. The slope's length is therefore at most the root of the sum of squares
// of the steepest edge along each axis. A block of 8^3 cells (free_space.h) has the steepest of its
// cells. Between two positions the field changes by no more than the slope of the steepest cell
// between them allows: it is continuous.
//
// Blocks are measured at their first use, some microseconds each, and kept: 4 bytes per block. Any
// number of threads may use it.
class Steepness {
 public:
  // Takes one of the fields, which must outlive it. `open`: some value on the sides of its box may
  // be negative, so that the extension is steeper (field.h).
  Steepness(const BrickField* bricks, const DenseGrid* grid, bool open);

  struct Slopes {
    float here;    // In the block.
    float around;  // Within a block's side of any position in it, also outside the box.
  };
  Slopes find(const Index3& block) const;

 private:
  // The upper half of a float, rounded up; 0: not yet measured.
  using Stored = std::atomic<std::uint16_t>;

  void make_room() const;
  float measure(const Index3& block) const;
  float find_here(const Index3& block) const;

  const BrickField* bricks_;
  const DenseGrid* grid_;
  bool open_;
  float steepest_;
  Index3 blocks_{};
  mutable std::once_flag made_;
  mutable std::unique_ptr<Stored[]> here_, around_;
};

// A field with its derived data: one with cells, or one of any kind.
struct RoomProbe {
  const BrickField* bricks;
  const DenseGrid* grid;
  const AnyField* any;
  double margin;            // Metres.
  double cell;              // Metres.
  Lattice lattice;          // For a field with cells.
  const FreeSpace* space;   // For a field with cells.
  const Steepness* slopes;  // For a field with cells.
};

// The remembered state.
struct SweptFront {
  struct Node {
    std::uint32_t level, place;
  };

  AffineMap reference{}, end{};  // R, and the end of the last motion.
  float quiet_room = kNoRoom;    // If it is quiet, the least free distance.
  bool is_new = true;
  std::uint32_t looks = 0;  // Since it began.
  std::size_t places_at_start = 0;
  std::uint64_t wasted = 0;  // Tests that another reference would have saved.
  std::vector<Node> nodes{};
  std::vector<FrontNodes> node_blocks{};  // The same nodes.
  std::vector<FrontLeaf> leaves{};        // In the order of points.

  std::size_t place_count() const { return nodes.size() + 8 * leaves.size(); }
  std::uint64_t memory_bytes() const {
    return nodes.capacity() * sizeof(Node) + node_blocks.capacity() * sizeof(FrontNodes) +
           leaves.capacity() * sizeof(FrontLeaf);
  }
};

// See SweptScratch.
double compute_free_move(const SweptFront& front, const PointSphereTree& tree);

// A point that may be inside at some time.
struct FrontPoint {
  std::uint32_t point;
  bool inside;  // It is inside all the time; otherwise it must be traced.
};

// Returns whether a front can be used for a motion, and is likely to save work.
bool can_follow(const ShellPath& path, const PointSphereTree& tree, double cell);

// Tests fronts, one after the other; keeps nothing but memory.
class FrontLook {
 public:
  // Returns points in their order; those left out are outside all the time. Needs a path that can
  // be followed, and the tree that the front has always been used with.
  std::span<const FrontPoint> look(SweptFront& front, const PointSphereTree& tree,
                                   const ShellPath& path, const RoomProbe& probe,
                                   SweptWork& counts);

 private:
  using Node = SweptFront::Node;
  // Result for a position, at the end of the motion.
  struct Finding {
    float room;     // Relative to the reference.
    bool inside;    // Its side.
    bool is_clear;  // It, and all of its sphere, stayed on one side.
  };
  // A point that may be inside.
  struct Looking {
    std::uint32_t leaf;
    std::uint8_t lane;
    bool is_measured;  // Otherwise it is inside, or will be traced.
    bool inside;
  };

  bool is_quiet(const ShellPath& path) const;
  void start_motion(const ShellPath& path);
  void begin_at_root();
  bool wake_up();  // False: so many are awake that the front should begin anew.
  void clear_places();
  void add_place(const Vec3f& place, float radius);
  void add_place(const Node& node);
  void measure();  // Measures all positions.
  double compute_reach_around(std::size_t i) const;
  Finding judge(std::size_t i, double steps);
  void settle_nodes(SweptWork& counts);
  void split(SweptWork& counts);
  void add_node(const Node& node, const Vec3f& center, float room);
  void remove_node(std::size_t at);
  void open_leaf(std::uint32_t cluster);
  void close_leaves(SweptWork& counts);
  void settle_points(SweptWork& counts);
  void list_points(std::uint32_t i);
  void move_reference();

  SweptFront* front_ = nullptr;
  const PointSphereTree* tree_ = nullptr;
  const RoomProbe* probe_ = nullptr;
  std::vector<ShellLevel> levels_;  // Levels of the tree.
  Sphere ball_{};                   // Ball of the shell.
  double furthest_ = 0;  // Metres: distance of points from the origin of the shell's frame.
  Aabb box_{};           // Box of the field.
  double steepest_ = 1, margin_ = 0, rounding_ = 0, shift_error_ = 0;
  // Metres: largest motion of any position, and largest distance to the end.
  double most_moved_ = 0, most_away_ = 0;
  AffineMap from_reference_{};       // Map of the last vertex.
  std::vector<Shift> shifts_;        // Vertices relative to the reference.
  std::vector<AffineMap> back_;      // Vertices relative to the last one.
  std::vector<std::uint8_t> awake_;  // Bits of nodes.
  std::vector<Node> splitting_, children_;
  std::vector<std::uint32_t> waking_;
  std::vector<Looking> looking_;
  // To be measured:
  std::vector<Spheref> balls_;  // In the shell.
  // Their centres in the field at the end, moved to the nearest position in its box.
  std::vector<Vec3f> places_;
  std::vector<float> gaps_;  // Metres from there.
  std::vector<float> values_;
  std::vector<FrontPoint> found_;
};

}  // namespace isotact::detail
