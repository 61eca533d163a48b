// Objects of a scene that may touch: pairs whose boxes or spheres overlap, kept from step to step,
// with begun and ended pairs. This is the common interface. Implementations are
// BruteForceBroadPhase and BoxTree (the fast one).
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
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Small numbers from 0, usable as an index. Handles of removed objects are reused, lowest first,
// but not before the step that reports their pairs as ended.
using ObjectHandle = std::uint32_t;

struct ObjectPair {
  ObjectHandle a = 0, b = 0;  // a < b

  friend constexpr bool operator==(const ObjectPair&, const ObjectPair&) = default;
  friend constexpr bool operator<(const ObjectPair& x, const ObjectPair& y) {
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  }
};

// Two boxes are a pair if they share a point, touching included. Two spheres are a pair if their
// boxes overlap and they overlap themselves; likewise for a box and a sphere. Computed in double,
// exactly as overlaps() of base/aabb.h, in every implementation.
//
// Boxes may be flat, points, or infinite. Empty ones (lower > upper on some axis) make no pairs.
// NaN, a sphere that is not finite, and a negative radius throw Error; the object is then
// unchanged.
class BroadPhase {
 public:
  virtual ~BroadPhase() = default;
  BroadPhase(const BroadPhase&) = delete;
  BroadPhase& operator=(const BroadPhase&) = delete;

  ObjectHandle insert(const Aabb& box);
  ObjectHandle insert(const Sphere& sphere);
  // An object may change from a box to a sphere, and back. An unchanged object costs nothing.
  void update(ObjectHandle object, const Aabb& box);
  void update(ObjectHandle object, const Sphere& sphere);
  void remove(ObjectHandle object);

  bool contains(ObjectHandle object) const { return object < live_.size() && live_[object] != 0; }
  std::size_t size() const { return size_; }
  const Aabb& box_of(ObjectHandle object) const { return boxes_[object]; }

  // Finds the pairs of all objects inserted, updated and removed until now. The result is the same
  // for any number of threads.
  void step(Threads threads = {1});

  // Pairs of the last step, each list sorted. A pair of a removed object ends.
  std::span<const ObjectPair> pairs() const { return pairs_; }
  std::span<const ObjectPair> begun() const { return begun_; }
  std::span<const ObjectPair> ended() const { return ended_; }

 protected:
  BroadPhase() = default;

  // Sets pairs_, begun_ and ended_. changed() lists the differences from the step before, including
  // removed objects, each once, in the order of first change. It is never empty.
  virtual void find_pairs(Threads threads) = 0;
  std::span<const ObjectHandle> changed() const { return changed_; }
  // One more than the largest handle that was ever used.
  std::size_t handle_count() const { return boxes_.size(); }
  bool has_spheres() const { return !spheres_.empty(); }
  // Null for boxes.
  const Sphere* sphere_of(ObjectHandle object) const {
    return object < spheres_.size() && spheres_[object].radius >= 0 ? &spheres_[object] : nullptr;
  }
  bool is_pair(ObjectHandle a, ObjectHandle b) const;
  // Sets pairs_ to `found`, which must be sorted and receives the former pairs_. Events follow from
  // the difference.
  void replace_pairs(std::vector<ObjectPair>& found);

  std::vector<ObjectPair> pairs_, begun_, ended_;

 private:
  ObjectHandle take_handle();
  void set(ObjectHandle object, const Aabb& box, const Sphere& sphere);
  void mark(ObjectHandle object);

  std::vector<Aabb> boxes_;
  std::vector<Sphere> spheres_;  // As long as needed. A negative radius means a box.
  std::vector<std::uint8_t> live_, marked_;
  std::vector<ObjectHandle> changed_;
  std::vector<ObjectHandle> free_, removed_;  // A heap, lowest on top; free after the next step.
  std::size_t size_ = 0;
};

// Tests all pairs.
class BruteForceBroadPhase final : public BroadPhase {
 private:
  void find_pairs(Threads threads) override;

  std::vector<ObjectPair> found_;
};

}  // namespace isotact
