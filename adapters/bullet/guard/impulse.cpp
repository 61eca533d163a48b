#include "impulse.h"

#include <vector>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "isotact/adapters/bullet/convert.h"

#include "manifolds.h"

namespace isotact::bullet_detail {
namespace {

constexpr double kBounceSpeed = 0.2;  // m/s, as btContactSolverInfo's

// One body along one direction at one place.
class Pushed {
 public:
  Pushed(btCollisionObject& object, const btVector3& place, const btVector3& direction)
      : place_(place), direction_(direction) {
    if (auto* link = btMultiBodyLinkCollider::upcast(&object)) {
      prepare(*link->m_multiBody, link->m_link);
      return;
    }
    speed_ = dot(from_bullet(direction), velocity_at(object, from_bullet(place)));
    btRigidBody* rigid = btRigidBody::upcast(&object);
    if (rigid == nullptr || object.isStaticOrKinematicObject()) return;
    rigid_ = rigid;
    mobility_ = static_cast<double>(rigid->computeImpulseDenominator(place, direction));
  }

  double mobility() const { return mobility_; }  // 1/kg
  double speed() const { return speed_; }        // m/s along the direction
  void push(double impulse) {
    const auto size = static_cast<btScalar>(impulse);
    if (rigid_ != nullptr)
      rigid_->applyImpulse(direction_ * size, place_ - rigid_->getWorldTransform().getOrigin());
    if (multi_ != nullptr) multi_->applyDeltaVeeMultiDof(change_.data(), size);
  }

 private:
  void prepare(btMultiBody& body, int link) {
    const auto count = static_cast<std::size_t>(6 + body.getNumDofs());
    jacobian_.assign(count, 0), change_.assign(count, 0);
    btAlignedObjectArray<btScalar> r;
    btAlignedObjectArray<btVector3> v;
    btAlignedObjectArray<btMatrix3x3> m;
    r.resize(6 + body.getNumDofs()), v.resize(2 * body.getNumLinks() + 2);
    m.resize(body.getNumLinks() + 1);
    body.fillContactJacobianMultiDof(link, place_, direction_, jacobian_.data(), r, v, m);
    body.calcAccelerationDeltasMultiDof(jacobian_.data(), change_.data(), r, v);
    const btScalar* velocity = body.getVelocityVector();
    for (std::size_t i = 0; i < count; ++i) {
      mobility_ += static_cast<double>(jacobian_[i] * change_[i]);
      speed_ += static_cast<double>(jacobian_[i] * velocity[i]);
    }
    if (mobility_ > 0) multi_ = &body;
  }

  btVector3 place_, direction_;
  btRigidBody* rigid_ = nullptr;
  btMultiBody* multi_ = nullptr;
  std::vector<btScalar> jacobian_, change_;
  double mobility_ = 0, speed_ = 0;
};

}  // namespace

void push_apart_at(btCollisionObject& a, btCollisionObject& b, const Vec3& place,
                   const Vec3& normal) {
  if (!(length_sq(normal) > 0.5) || !is_finite(place)) return;
  const btVector3 at = to_bullet(place), way = to_bullet(normal);
  Pushed first(a, at, way), second(b, at, way);
  const double approach = second.speed() - first.speed();
  const double mobility = first.mobility() + second.mobility();
  if (!(approach > 0) || !(mobility > 0)) return;
  const double e = approach > kBounceSpeed
                       ? static_cast<double>(gCalculateCombinedRestitutionCallback(&a, &b))
                       : 0;
  const double impulse = (1 + e) * approach / mobility;
  first.push(impulse);
  second.push(-impulse);
}

}  // namespace isotact::bullet_detail
