// Which objects of a scene may touch: pairs whose boxes or spheres overlap, kept from step to step,
// with those that began and those that ended. What all ways of finding them share; the ways are
// BruteForceBroadPhase, SceneOctree (MDL06, section 5) and BoxTree (the fast one).
//
//   BoxTree scene;
//   const ObjectHandle a = scene.insert(box_a), b = scene.insert(box_b);
//   for (;;) {
//     scene.update(a, moved_box_a);
//     scene.step();
//     for (const ObjectPair& pair : scene.begun()) ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/sphere.h"

namespace isotact {

// Small numbers from 0 on, fit to be an index. That of a removed object is given out again, lowest
// first, but not before the step that reports its pairs as ended.
using ObjectHandle = std::uint32_t;

struct ObjectPair {
  ObjectHandle a = 0, b = 0;  // a < b

  friend constexpr bool operator==(const ObjectPair&, const ObjectPair&) = default;
  friend constexpr bool operator<(const ObjectPair& x, const ObjectPair& y) {
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  }
};

// Two boxes are a pair where they share a point, touching included; two spheres where their boxes
// do and they do themselves; a box and a sphere likewise. Computed in double, exactly as overlaps()
// of base/aabb.h and base/sphere.h does, whatever finds the pair.
//
// Boxes may be flat, points, or infinite. Empty ones (lower > upper on some axis) make no pairs.
// NaN is an Error, as are a sphere that is not finite and a negative radius; the object is then as
// it was before the call.
class BroadPhase {
 public:
  virtual ~BroadPhase() = default;
  BroadPhase(const BroadPhase&) = delete;
  BroadPhase& operator=(const BroadPhase&) = delete;

  ObjectHandle insert(const Aabb& box);
  ObjectHandle insert(const Sphere& sphere);
  // An object may turn from a box into a sphere, and back. One that is as it was costs nothing.
  void update(ObjectHandle object, const Aabb& box);
  void update(ObjectHandle object, const Sphere& sphere);
  void remove(ObjectHandle object);

  bool contains(ObjectHandle object) const { return object < live_.size() && live_[object] != 0; }
  std::size_t size() const { return size_; }
  const Aabb& box_of(ObjectHandle object) const { return boxes_[object]; }

  // Finds the pairs of what has been inserted, updated and removed until now. The same for any
  // number of threads.
  void step(Threads threads = {1});

  // As of the last step, each sorted. A pair of an object that was removed ends.
  std::span<const ObjectPair> pairs() const { return pairs_; }
  std::span<const ObjectPair> begun() const { return begun_; }
  std::span<const ObjectPair> ended() const { return ended_; }

 protected:
  BroadPhase() = default;

  // Sets pairs_, begun_ and ended_. changed() is what differs from the step before, removed objects
  // included, each once, in the order of first change; never empty.
  virtual void find_pairs(Threads threads) = 0;
  std::span<const ObjectHandle> changed() const { return changed_; }
  // Handles ever given out, and one more.
  std::size_t handle_count() const { return boxes_.size(); }
  bool has_spheres() const { return !spheres_.empty(); }
  // Null for boxes.
  const Sphere* sphere_of(ObjectHandle object) const {
    return object < spheres_.size() && spheres_[object].radius >= 0 ? &spheres_[object] : nullptr;
  }
  bool is_pair(ObjectHandle a, ObjectHandle b) const;
  // pairs_ := found, which must be sorted and gets what was in pairs_; events from the difference.
  void replace_pairs(std::vector<ObjectPair>& found);

  std::vector<ObjectPair> pairs_, begun_, ended_;

 private:
  ObjectHandle take_handle();
  void set(ObjectHandle object, const Aabb& box, const Sphere& sphere);
  void mark(ObjectHandle object);

  std::vector<Aabb> boxes_;
  std::vector<Sphere> spheres_;  // as long as needed; a negative radius for a box
  std::vector<std::uint8_t> live_, marked_;
  std::vector<ObjectHandle> changed_;
  std::vector<ObjectHandle> free_, removed_;  // a heap, lowest on top; free after the next step
  std::size_t size_ = 0;
};

// All against all.
class BruteForceBroadPhase final : public BroadPhase {
 private:
  void find_pairs(Threads threads) override;

  std::vector<ObjectPair> found_;
};

}  // namespace isotact
