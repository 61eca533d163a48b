#include "broad_peers.h"

#include <algorithm>
#include <cstdint>

#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <LinearMath/btScalar.h>
#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/config.h>
#include <fcl/geometry/shape/sphere.h>

namespace isotact::bench {
namespace {

btVector3 bullet_vector(const Vec3& v) {
  return {static_cast<btScalar>(v.x), static_cast<btScalar>(v.y), static_cast<btScalar>(v.z)};
}

// FCL makes boxes from shapes and poses; ours are given.
class BoxObject : public fcl::CollisionObjectd {
 public:
  BoxObject(const std::shared_ptr<fcl::CollisionGeometryd>& shape, std::uint32_t its_number)
      : CollisionObject(shape), number(its_number) {}
  void set_box(const Aabb& box) {
    aabb.min_ = {box.lower.x, box.lower.y, box.lower.z};
    aabb.max_ = {box.upper.x, box.upper.y, box.upper.z};
  }
  std::uint32_t number;
};

ObjectPair in_order(std::uint32_t a, std::uint32_t b) {
  return a < b ? ObjectPair{a, b} : ObjectPair{b, a};
}

}  // namespace

std::string describe_broad_peers() {
  return "Bullet " + std::to_string(btGetVersion()) +
         " (single precision) and FCL " FCL_VERSION ", packaged";
}

struct BulletBroadPhase::Scene {
  btDbvtBroadphase broad_phase;
  std::vector<btBroadphaseProxy*> proxies;
  std::vector<std::uint32_t> numbers;  // which proxies point at
};

BulletBroadPhase::BulletBroadPhase(std::span<const Aabb> boxes) : scene_(new Scene) {
  scene_->numbers.resize(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    scene_->numbers[i] = static_cast<std::uint32_t>(i);
    scene_->proxies.push_back(scene_->broad_phase.createProxy(bullet_vector(boxes[i].lower),
                                                              bullet_vector(boxes[i].upper), 0,
                                                              &scene_->numbers[i], 1, 1, nullptr));
  }
}
BulletBroadPhase::~BulletBroadPhase() = default;

void BulletBroadPhase::step(std::span<const Aabb> boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i)
    scene_->broad_phase.setAabb(scene_->proxies[i], bullet_vector(boxes[i].lower),
                                bullet_vector(boxes[i].upper), nullptr);
  scene_->broad_phase.calculateOverlappingPairs(nullptr);
}

std::size_t BulletBroadPhase::kept() const {
  auto& cache = const_cast<btDbvtBroadphase&>(scene_->broad_phase);
  return static_cast<std::size_t>(cache.getOverlappingPairCache()->getNumOverlappingPairs());
}

std::vector<ObjectPair> BulletBroadPhase::pairs(std::span<const Aabb> boxes) const {
  auto& broad_phase = const_cast<btDbvtBroadphase&>(scene_->broad_phase);
  const btBroadphasePair* kept =
      broad_phase.getOverlappingPairCache()->getOverlappingPairArrayPtr();
  std::vector<ObjectPair> pairs;
  for (std::size_t i = 0; i < this->kept(); ++i) {
    const auto a = *static_cast<const std::uint32_t*>(kept[i].m_pProxy0->m_clientObject);
    const auto b = *static_cast<const std::uint32_t*>(kept[i].m_pProxy1->m_clientObject);
    if (overlaps(boxes[a], boxes[b])) pairs.push_back(in_order(a, b));
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

struct FclBroadPhase::Scene {
  std::vector<std::unique_ptr<BoxObject>> objects;
  fcl::DynamicAABBTreeCollisionManagerd manager;
};

FclBroadPhase::FclBroadPhase(std::span<const Aabb> boxes) : scene_(new Scene) {
  const auto shape = std::make_shared<fcl::Sphered>(1.0);
  std::vector<fcl::CollisionObjectd*> objects;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    scene_->objects.push_back(std::make_unique<BoxObject>(shape, static_cast<std::uint32_t>(i)));
    scene_->objects.back()->set_box(boxes[i]);
    objects.push_back(scene_->objects.back().get());
  }
  scene_->manager.registerObjects(objects);
  scene_->manager.setup();
}
FclBroadPhase::~FclBroadPhase() = default;

void FclBroadPhase::step(std::span<const Aabb> boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i) scene_->objects[i]->set_box(boxes[i]);
  scene_->manager.update();
  pairs_.clear();
  scene_->manager.collide(
      &pairs_, [](fcl::CollisionObjectd* a, fcl::CollisionObjectd* b, void* pairs) {
        static_cast<std::vector<ObjectPair>*>(pairs)->push_back(
            in_order(static_cast<BoxObject*>(a)->number, static_cast<BoxObject*>(b)->number));
        return false;
      });
}

}  // namespace isotact::bench
