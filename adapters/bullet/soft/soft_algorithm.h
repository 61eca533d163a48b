// Soft bodies of Bullet's against ours. Private to the plug-in.
#pragma once

#include <vector>

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>

namespace isotact::bullet_detail {

// Nodes as points in our field, and our points against faces. The contacts are those that Bullet's
// soft bodies make with rigid ones (btSoftBody::RContact).
class SoftAlgorithm final : public btCollisionAlgorithm {
 public:
  SoftAlgorithm(const btCollisionAlgorithmConstructionInfo& info, bool ours_is_0)
      : btCollisionAlgorithm(info), ours_is_0_(ours_is_0) {}
  void processCollision(const btCollisionObjectWrapper* wrap_0,
                        const btCollisionObjectWrapper* wrap_1, const btDispatcherInfo& info,
                        btManifoldResult* result) override;
  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray&) override {}

 private:
  bool ours_is_0_;
};

}  // namespace isotact::bullet_detail
