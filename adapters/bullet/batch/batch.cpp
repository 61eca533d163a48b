#include "isotact/adapters/bullet/batch.h"

#include <new>
#include <utility>

#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>

#include "isotact/adapters/bullet/install.h"

#include "algorithm.h"
#include "batch_queue.h"

namespace isotact {
namespace bullet_detail {

// A pair for the batch. Pairs that it cannot take use points: those without a field, or with a
// manifold that others write to.
class CreateBatchPair final : public btCollisionAlgorithmCreateFunc {
 public:
  CreateBatchPair(Batch& batch, PairKind kind, bool ours_is_0)
      : batch_(batch), kind_(kind), ours_is_0_(ours_is_0) {}
  btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                 const btCollisionObjectWrapper* wrap_0,
                                                 const btCollisionObjectWrapper* wrap_1) override {
    const bool can_take =
        info.m_manifold == nullptr &&
        batch_.can_take(*wrap_0->getCollisionShape(), *wrap_1->getCollisionShape());
    if (can_take) {
      void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(BatchPair));
      return new (memory) BatchPair(info, wrap_0, wrap_1, batch_);
    }
    void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(PairAlgorithm));
    return new (memory) PairAlgorithm(info, wrap_0, wrap_1, kind_, ours_is_0_);
  }

 private:
  Batch& batch_;
  PairKind kind_;
  bool ours_is_0_;
};

}  // namespace bullet_detail

namespace {

constexpr int kOurs = FAST_CONCAVE_MESH_PROXYTYPE;
constexpr int kFormulas[] = {STATIC_PLANE_PROXYTYPE, SPHERE_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE,
                             CAPSULE_SHAPE_PROXYTYPE, CYLINDER_SHAPE_PROXYTYPE};

}  // namespace

BatchQuery cpu_batch_query() {
  return [](const BatchStep& step, IdfResult& result, IdfScratch& scratch) {
    intersect_fields(step.shapes, step.bodies, step.pairs, step.settings, result, scratch);
  };
}

struct BatchDispatcher::Functions {
  using PairKind = bullet_detail::PairKind;
  Functions(btCollisionDispatcher& dispatcher, bullet_detail::Batch& batch)
      : plugin(dispatcher),
        ours(batch, PairKind::kOurs, true),
        ours_first(batch, PairKind::kSolid, true),
        ours_second(batch, PairKind::kSolid, false) {}
  BulletPlugin plugin;
  bullet_detail::CreateBatchPair ours, ours_first, ours_second;
};

BatchDispatcher::BatchDispatcher(btCollisionConfiguration* configuration, BatchSettings settings)
    : btCollisionDispatcher(configuration),
      batch_(std::make_unique<bullet_detail::Batch>(std::move(settings))),
      functions_(std::make_unique<Functions>(*this, *batch_)) {
  register_pairs();
}

BatchDispatcher::~BatchDispatcher() = default;

void BatchDispatcher::register_pairs() {
  registerCollisionCreateFunc(kOurs, kOurs, &functions_->ours);
  for (const int type : kFormulas) {
    registerCollisionCreateFunc(kOurs, type, &functions_->ours_first);
    registerCollisionCreateFunc(type, kOurs, &functions_->ours_second);
  }
}

void BatchDispatcher::dispatchAllCollisionPairs(btOverlappingPairCache* pairs,
                                                const btDispatcherInfo& info,
                                                btDispatcher* dispatcher) {
  // Another install() would have replaced pairs.
  if (m_doubleDispatchContactPoints[kOurs][kOurs] != &functions_->ours) register_pairs();
  batch_->open();
  btCollisionDispatcher::dispatchAllCollisionPairs(pairs, info, dispatcher);
  batch_->run(static_cast<double>(info.m_timeStep));
}

const BatchReport& BatchDispatcher::report() const { return batch_->report(); }

}  // namespace isotact
