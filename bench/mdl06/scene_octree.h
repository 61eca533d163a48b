// MDL06's broad phase (section 5): an octree of the scene. A region with two or more objects is
// split into eight if the level limit allows. An object is in all regions that it overlaps. Eight
// regions with fewer than two objects between them are merged again. Only objects that share a
// region of the last level are compared. Regions follow the objects from step to step.
//
// It implements the paper for comparison. BoxTree, of the library, finds the same pairs many times
// faster. It uses one thread.
//
// Differences from the paper:
// - An object may be in up to eight regions that meet in a corner, and in more if regions are
//   smaller than the object. The paper says one, two or four.
// - A region that lies inside all of its objects is not split: a split could separate nothing.
// - Objects may leave the root cube; the paper turns them back. They are in the regions that they
//   overlap, and in one more: all of space outside of the root, which is never split. All objects
//   there are compared with each other, so few of them should be outside.
//
// Cost: changed objects, times the regions around them; then all pairs in regions of the last
// level. Regions should be no smaller than objects (level_for). Two overlapping objects fill up to
// 8^max_level regions with their common surface.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/queries/broad_phase/broad_phase.h"

namespace isotact {

// Test of a sphere against a region.
enum class RegionTest {
  // Exact: with the point of the region that is nearest to the sphere's centre (Arvo 1990).
  kArvo,
  // 5.1: tests if the centre lies in the region grown by the radius on every side. Also accepts
  // spheres that pass by its corners and edges.
  kGrownBox,
};

struct SceneOctreeSettings {
  Vec3 center{};
  double size = 100;  // Edge of the root cube.
  int max_level = 5;  // 0 to 10; the root is level 0.
  RegionTest region_test = RegionTest::kArvo;
};

// Work of the last step, and current sizes.
struct SceneOctreeWork {
  std::size_t regions = 0, leaves = 0, deepest = 0, outside = 0;
  std::size_t expanded = 0, reduced = 0;  // Regions.
  std::size_t region_tests = 0, pair_tests = 0;
};

class SceneOctree final : public BroadPhase {
 public:
  // Throws Error if the cube's size is not finite or the level limit is out of range.
  explicit SceneOctree(const SceneOctreeSettings& settings);

  // Returns the last level whose regions are not smaller than objects of this extent.
  static int level_for(double size, double extent);

  const SceneOctreeWork& work() const { return work_; }
  // The leaf regions and their objects, root first, for tests and pictures.
  struct Leaf {
    Aabb box;
    int level;
    std::span<const ObjectHandle> objects;
  };
  std::vector<Leaf> leaves() const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Region {
    Aabb box{};
    std::uint32_t parent = kNone, first_child = kNone;
    int level = 0;
    bool is_used = false, is_marked = false;
    std::vector<ObjectHandle> objects{};  // Only in leaves.
  };
  struct Place {
    std::vector<std::uint32_t> leaves{};
    bool is_outside = false;
  };

  void find_pairs(Threads threads) override;
  bool is_in(ObjectHandle object, const Aabb& region);
  bool covers(ObjectHandle object, const Aabb& region) const;
  void collect(std::uint32_t region, ObjectHandle object, std::vector<std::uint32_t>& leaves);
  void move(ObjectHandle object);
  void mark(std::uint32_t region);
  bool should_split(const Region& region) const;
  void expand(std::uint32_t region);
  void reduce(std::uint32_t parent);
  void compare(std::span<const ObjectHandle> objects);

  SceneOctreeSettings settings_;
  SceneOctreeWork work_;
  std::vector<Region> regions_;             // The root, then groups of eight.
  std::vector<std::uint32_t> free_groups_;  // First regions.
  std::vector<Place> places_;               // By handle.
  std::vector<ObjectHandle> outside_;
  std::vector<std::uint32_t> marked_, found_leaves_;
  std::vector<ObjectPair> found_;
};

// Spheres around deforming objects, by both methods of MDL06 (section 5.1).

// Returns the sphere of its equation 3, about the centre of the cube that has the box's lower
// corner and its longest edge L. Equation 4 gives the radius as L/2, which is the sphere *inside*
// that cube: corners of the box stick out, and contacts would be missed. The radius here is that of
// the sphere around the cube, L/2 times the root of three. It needs no vertices, and is "too large
// for the object", as the paper says. The box must not be empty.
inline Sphere sphere_around_cube(const Aabb& box) {
  const Vec3 e = extent(box);
  const double half = std::max({e.x, e.y, e.z}) / 2;
  // Covers the root of three, and rounding of the centre.
  const double slack =
      4 * std::numeric_limits<double>::epsilon() *
      (half + std::abs(box.lower.x) + std::abs(box.lower.y) + std::abs(box.lower.z));
  return {box.lower + Vec3{half, half, half}, half * 1.7320508075688774 + slack};
}

// Returns the sphere of its equation 5, which the paper chose: about the centre of the box, through
// the farthest vertex. The box must be that of the points. Cost: one pass over them. In a loop that
// moves them, the box comes from the same pass, and this is a second one.
template <typename T>
Sphere sphere_around_points(const Aabb& box, std::span<const Vector3<T>> points) {
  const Vec3 middle = center(box);
  double farthest = 0;
  for (const Vector3<T>& p : points) {
    const Vec3 to{static_cast<double>(p.x) - middle.x, static_cast<double>(p.y) - middle.y,
                  static_cast<double>(p.z) - middle.z};
    farthest = std::max(farthest, length_sq(to));
  }
  return {middle, std::sqrt(farthest) * (1 + 4 * std::numeric_limits<double>::epsilon())};
}

}  // namespace isotact
