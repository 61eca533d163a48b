#include "isotact/adapters/bullet/install.h"

#include <array>
#include <new>

#include <BulletCollision/BroadphaseCollision/btBroadphaseProxy.h>
#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>

#include "algorithm.h"
#include "soft/soft_algorithm.h"

namespace isotact {
namespace bullet_detail {

class CreatePair final : public btCollisionAlgorithmCreateFunc {
 public:
  CreatePair(PairKind kind, bool ours_is_0, const std::shared_ptr<BudgetState>& budget)
      : kind_(kind), ours_is_0_(ours_is_0), budget_(budget) {}
  btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                 const btCollisionObjectWrapper* wrap_0,
                                                 const btCollisionObjectWrapper* wrap_1) override {
    void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(PairAlgorithm));
    return new (memory) PairAlgorithm(info, wrap_0, wrap_1, kind_, ours_is_0_, budget_);
  }

 private:
  PairKind kind_;
  bool ours_is_0_;
  std::shared_ptr<BudgetState> budget_;
};

class CreateSoft final : public btCollisionAlgorithmCreateFunc {
 public:
  explicit CreateSoft(bool ours_is_0) : ours_is_0_(ours_is_0) {}
  btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                 const btCollisionObjectWrapper*,
                                                 const btCollisionObjectWrapper*) override {
    void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(SoftAlgorithm));
    return new (memory) SoftAlgorithm(info, ours_is_0_);
  }

 private:
  bool ours_is_0_;
};

struct CreateFunctions {
  explicit CreateFunctions(const std::shared_ptr<BudgetState>& budget)
      : of{both(PairKind::kSolid, budget), both(PairKind::kMesh, budget),
           both(PairKind::kOurs, budget), both(PairKind::kUnsupported, budget)} {}
  // By whether ours is first.
  static std::array<CreatePair, 2> both(PairKind kind, const std::shared_ptr<BudgetState>& budget) {
    return {CreatePair(kind, false, budget), CreatePair(kind, true, budget)};
  }
  CreateSoft soft[2] = {CreateSoft(false), CreateSoft(true)};
  std::array<CreatePair, 2> of[4];
};

}  // namespace bullet_detail

BulletPlugin::BulletPlugin(btCollisionDispatcher& dispatcher,
                           const std::shared_ptr<bullet_detail::BudgetState>& budget)
    : functions_(std::make_unique<bullet_detail::CreateFunctions>(budget)) {
  constexpr int kOurs = FAST_CONCAVE_MESH_PROXYTYPE;
  for (int type = 0; type < MAX_BROADPHASE_COLLISION_TYPES; ++type) {
    // Compounds are handled by their children; an empty shape has no contact with anything.
    if (type == COMPOUND_SHAPE_PROXYTYPE || type == EMPTY_SHAPE_PROXYTYPE) continue;
    if (type == SOFTBODY_SHAPE_PROXYTYPE) {
      dispatcher.registerCollisionCreateFunc(type, kOurs, &functions_->soft[0]);
      dispatcher.registerCollisionCreateFunc(kOurs, type, &functions_->soft[1]);
      continue;
    }
    auto& [second, first] = functions_->of[static_cast<int>(bullet_detail::kind_of(type))];
    if (type != kOurs) {
      dispatcher.registerCollisionCreateFunc(type, kOurs, &second);
      dispatcher.registerClosestPointsCreateFunc(type, kOurs, &second);
    }
    dispatcher.registerCollisionCreateFunc(kOurs, type, &first);
    dispatcher.registerClosestPointsCreateFunc(kOurs, type, &first);
  }
}

BulletPlugin::BulletPlugin(BulletPlugin&&) noexcept = default;
BulletPlugin& BulletPlugin::operator=(BulletPlugin&&) noexcept = default;
BulletPlugin::~BulletPlugin() = default;

BulletPlugin install(btCollisionDispatcher& dispatcher) { return BulletPlugin(dispatcher); }

}  // namespace isotact
