#include "batch_pair.h"

#include <typeinfo>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>

#include "batch_queue.h"

namespace isotact::bullet_detail {

BatchPair::BatchPair(const btCollisionAlgorithmConstructionInfo& info,
                     const btCollisionObjectWrapper* wrap_0, const btCollisionObjectWrapper* wrap_1,
                     Batch& batch)
    : btActivatingCollisionAlgorithm(info, wrap_0, wrap_1),
      state_(std::make_unique<BatchPairState>(batch, *info.m_dispatcher1)) {}

// Compounds drop pairs of children in the middle of a step.
BatchPair::~BatchPair() { state_->batch.forget(*state_); }

void BatchPair::processCollision(const btCollisionObjectWrapper* wrap_0,
                                 const btCollisionObjectWrapper* wrap_1,
                                 const btDispatcherInfo& info, btManifoldResult* result) {
  Batch& batch = state_->batch;
  const bool is_plain = typeid(*result) == typeid(btManifoldResult);
  if (batch.is_open() && is_plain) {
    batch.add(*state_, *wrap_0, *wrap_1);
    return;
  }
  // A query outside a step, or in the middle of it for another purpose: run alone, and now. (A
  // batch in preparation cannot be run here.)
  if (batch.is_open()) return;
  batch.add(*state_, *wrap_0, *wrap_1);
  batch.run(static_cast<double>(info.m_timeStep), is_plain ? nullptr : result);
}

void BatchPair::getAllContactManifolds(btManifoldArray& manifolds) {
  state_->manifolds.list(manifolds);
}

}  // namespace isotact::bullet_detail
