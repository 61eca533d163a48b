// The broad phases of Bullet and FCL, fed with boxes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/queries/broad_phase/broad_phase.h"

namespace isotact::bench {

std::string describe_broad_peers();

// btDbvtBroadphase as it comes: boxes with a margin of 5 cm, pairs that have parted dropped bit by
// bit. What it keeps is more than the pairs, which its users' next stage sorts out.
class BulletBroadPhase {
 public:
  explicit BulletBroadPhase(std::span<const Aabb> boxes);
  ~BulletBroadPhase();
  void step(std::span<const Aabb> boxes);
  // Of those kept, those whose boxes overlap; sorted.
  std::vector<ObjectPair> pairs(std::span<const Aabb> boxes) const;
  std::size_t kept() const;

 private:
  struct Scene;
  std::unique_ptr<Scene> scene_;
};

// DynamicAABBTreeCollisionManager.
class FclBroadPhase {
 public:
  explicit FclBroadPhase(std::span<const Aabb> boxes);
  ~FclBroadPhase();
  void step(std::span<const Aabb> boxes);
  const std::vector<ObjectPair>& pairs() const { return pairs_; }  // in its own order

 private:
  struct Scene;
  std::unique_ptr<Scene> scene_;
  std::vector<ObjectPair> pairs_;
};

}  // namespace isotact::bench
