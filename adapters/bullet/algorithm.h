// The collision algorithm of all pairs with one of our shapes. Private to the plug-in.
#pragma once

#include <cstdint>
#include <memory>

#include <BulletCollision/CollisionDispatch/btActivatingCollisionAlgorithm.h>
#include <BulletCollision/CollisionShapes/btCollisionShape.h>

namespace isotact::bullet_detail {

enum class PairKind : std::uint8_t {
  kSolid,        // Ours and a convex shape or a plane.
  kMesh,         // Ours and triangles.
  kOurs,         // Both ours.
  kUnsupported,  // Reports the pair once, and finds nothing.
};

// Returns how ours meets a shape of this type; kOurs for ours.
PairKind kind_of(int shape_type);
// Looks at the shape itself: GImpact's compounds are none of its meshes.
PairKind kind_of(const btCollisionShape& shape);

struct PairState;
class BudgetState;

// All state belongs to the object: pairs may be dispatched on any number of threads. The state is
// on the heap: the dispatcher's pool is sized for Bullet's own algorithms and does not check.
class PairAlgorithm final : public btActivatingCollisionAlgorithm {
 public:
  // `ours_is_0`: body 0 has our shape. If both are ours, the first.
  PairAlgorithm(const btCollisionAlgorithmConstructionInfo& info,
                const btCollisionObjectWrapper* wrap_0, const btCollisionObjectWrapper* wrap_1,
                PairKind kind, bool ours_is_0, const std::shared_ptr<BudgetState>& budget = {});
  ~PairAlgorithm() override;

  void processCollision(const btCollisionObjectWrapper* wrap_0,
                        const btCollisionObjectWrapper* wrap_1, const btDispatcherInfo& info,
                        btManifoldResult* result) override;
  // processCollision handles fast bodies.
  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray& manifolds) override;

 private:
  std::unique_ptr<PairState> state_;
};
static_assert(sizeof(PairAlgorithm) <= 32);

}  // namespace isotact::bullet_detail
