// The algorithm of pairs that are tested in batches. Private to the plug-in.
#pragma once

#include <cstdint>
#include <memory>

#include <BulletCollision/CollisionDispatch/btActivatingCollisionAlgorithm.h>

#include "manifolds.h"

namespace isotact::bullet_detail {

class Batch;

// A contact of the step before, to be tested again.
struct KeptContact {
  std::uint64_t key = 0;
  Vec3 place{};      // On the surface, in metres of the unscaled shape.
  bool on_0 = true;  // The body of the surface and shape.
};

struct BatchPairState {
  BatchPairState(Batch& batch_in, btDispatcher& dispatcher)
      : batch(batch_in), manifolds(dispatcher, nullptr) {}
  Batch& batch;
  Manifolds manifolds;
  KeptContact kept[kMostChosen]{};
  std::size_t kept_count = 0;
  std::uint64_t next_key = 1;
  bool is_waiting = false;  // The pair is in the batch.
};

// Runs no query by itself: within a step it only joins the queue. The batch does the rest. Its
// state is on the heap, as that of PairAlgorithm.
class BatchPair final : public btActivatingCollisionAlgorithm {
 public:
  BatchPair(const btCollisionAlgorithmConstructionInfo& info,
            const btCollisionObjectWrapper* wrap_0, const btCollisionObjectWrapper* wrap_1,
            Batch& batch);
  ~BatchPair() override;

  void processCollision(const btCollisionObjectWrapper* wrap_0,
                        const btCollisionObjectWrapper* wrap_1, const btDispatcherInfo& info,
                        btManifoldResult* result) override;
  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray& manifolds) override;

 private:
  std::unique_ptr<BatchPairState> state_;
};
static_assert(sizeof(BatchPair) <= 32);

}  // namespace isotact::bullet_detail
