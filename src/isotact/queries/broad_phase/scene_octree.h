// MDL06's broad phase (section 5): an octree of the scene. A region with two or more objects is
// split into eight, as long as the level limit allows; an object is in all regions that it
// overlaps; eight regions with fewer than two objects between them become one again. Only objects
// that share a region of the last level are compared. Regions follow the objects from step to step.
//
// It is here as the paper has it, for comparison and for small scenes in a known cube. BoxTree
// finds the same pairs many times faster. One thread.
//
// What differs from the paper:
// - An object may be in up to eight regions that meet in a corner, and in more where regions are
//   smaller than it; the paper says one, two or four.
// - A region that lies inside all of its objects is not split: nothing could be told apart in it.
// - Objects that leave the root cube, where the paper turns them back: they are in the regions that
//   they overlap, and in one more, which is all of space outside of the root and is never split.
//   All objects there are compared with each other: leave few of them outside.
// Cost: objects that change, times the regions around them; then all pairs in regions of the last
// level. Regions should be no smaller than objects (level_for). Two objects that overlap fill up to
// 8^max_level regions with their common surface.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isotact/queries/broad_phase/broad_phase.h"

namespace isotact {

// Whether a sphere overlaps a region.
enum class RegionTest {
  kArvo,  // exactly: by the point of the region that is nearest to the sphere's centre (Arvo 1990)
  kGrownBox,  // 5.1: whether the centre lies in the region grown by the radius on every side, which
              // also takes spheres that pass by its corners and edges
};

struct SceneOctreeSettings {
  Vec3 center{};
  double size = 100;  // the root cube's edge
  int max_level = 5;  // 0 to 10; the root is level 0
  RegionTest region_test = RegionTest::kArvo;
};

// What the last step did, and what there is.
struct SceneOctreeWork {
  std::size_t regions = 0, leaves = 0, deepest = 0, outside = 0;
  std::size_t expanded = 0, reduced = 0;  // regions
  std::size_t region_tests = 0, pair_tests = 0;
};

class SceneOctree final : public BroadPhase {
 public:
  // An Error if the cube has no finite size or the level limit is out of range.
  explicit SceneOctree(const SceneOctreeSettings& settings);

  // The last level whose regions are not smaller than objects of this extent.
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
    std::vector<ObjectHandle> objects{};  // of leaves
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
  std::vector<Region> regions_;             // the root, then groups of eight
  std::vector<std::uint32_t> free_groups_;  // first regions
  std::vector<Place> places_;               // by handle
  std::vector<ObjectHandle> outside_;
  std::vector<std::uint32_t> marked_, found_leaves_;
  std::vector<ObjectPair> found_;
};

}  // namespace isotact
