#include "soft_algorithm.h"

#include <algorithm>
#include <cmath>

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyInternals.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"

#include "gather.h"

namespace isotact::bullet_detail {
namespace {

class SoftContacts {
 public:
  SoftContacts(btSoftBody& soft, const btCollisionObjectWrapper& wrap)
      : soft_(soft),
        object_(*wrap.getCollisionObject()),
        rigid_(const_cast<btRigidBody*>(btRigidBody::upcast(&object_))),
        margin_(soft.getCollisionShape()->getMargin()),
        ours_(view(static_cast<const IsotactShape&>(*wrap.getCollisionShape()),
                   wrap.getWorldTransform(), true)) {
    wrap.getCollisionShape()->getAabb(wrap.getWorldTransform(), lower_, upper_);
    const btVector3 grow(margin_, margin_, margin_);
    lower_ -= grow, upper_ += grow;
  }

  // Of nodes in our field.
  void add_nodes() {
    const ShellTarget& target = *ours_.body().target;
    const Pose shape_from_world = inverse(ours_.world_from_shape);
    for (int i = 0; i < soft_.m_nodes.size(); ++i) {
      btSoftBody::Node& node = soft_.m_nodes[i];
      if (node.m_battach != 0 || !is_near(node.m_x, node.m_x)) continue;
      const Vec3 place = transform_point(shape_from_world, from_bullet(node.m_x)) / ours_.scale;
      const FieldSample sample = target.sample(place, {});
      if (length_sq(sample.gradient) < 0.5) continue;
      const double apart =
          sample.distance * ours_.scale - ours_.margin - static_cast<double>(margin_);
      if (!(apart < 0)) continue;
      const btVector3 out = to_bullet(transform_vector(ours_.world_from_shape, sample.gradient));
      add(node, out, static_cast<btScalar>(apart) - node.m_x.dot(out));
    }
  }

  // Of our points that a face would let through between its nodes. The three nodes are moved by as
  // much as the deepest point of each face needs.
  void add_faces() {
    if (ours_.tree == nullptr) return;
    const ShellTarget& target = *ours_.body().target;
    const Pose shape_from_world = inverse(ours_.world_from_shape);
    const ShellPlacement placement{.field_from_shell = ours_.world_from_shape,
                                   .shell_scale = ours_.scale};
    for (int i = 0; i < soft_.m_faces.size(); ++i) {
      btSoftBody::Face& face = soft_.m_faces[i];
      btVector3 low = face.m_n[0]->m_x, high = low;
      for (const btSoftBody::Node* node : face.m_n) low.setMin(node->m_x), high.setMax(node->m_x);
      if (!is_near(low, high)) continue;
      const Vec3 a = from_bullet(face.m_n[0]->m_x), b = from_bullet(face.m_n[1]->m_x),
                 c = from_bullet(face.m_n[2]->m_x);
      // The side of the face that looks at our body.
      const Vec3 middle = transform_point(shape_from_world, (a + b + c) / 3.0) / ours_.scale;
      const FieldSample sample = target.sample(middle, {});
      Vec3 toward = normalized(cross(b - a, c - a));
      const Vec3 out = transform_vector(ours_.world_from_shape, sample.gradient);
      const bool is_turned = dot(toward, out) > 0;
      if (is_turned) toward = -toward;
      hits_.clear();
      find_hits_triangle(*ours_.tree, placement, a, is_turned ? c : b, is_turned ? b : c,
                         {.margin = static_cast<double>(margin_) + ours_.margin,
                          .thickness = 0.25 * ours_.body().smallest_side * ours_.scale},
                         hits_);
      if (hits_.empty()) continue;
      const ShellHit& deepest = *std::min_element(
          hits_.begin(), hits_.end(),
          [](const ShellHit& x, const ShellHit& y) { return x.distance < y.distance; });
      const double apart =
          static_cast<double>(deepest.distance) - ours_.margin - static_cast<double>(margin_);
      if (!(apart < 0)) continue;
      const btVector3 normal = to_bullet(-toward);
      for (btSoftBody::Node* node : face.m_n)
        if (node->m_battach == 0)
          add(*node, normal, static_cast<btScalar>(apart) - node->m_x.dot(normal));
    }
  }

 private:
  bool is_near(const btVector3& low, const btVector3& high) const {
    for (int i = 0; i < 3; ++i)
      if (!(low[i] <= upper_[i] && high[i] >= lower_[i])) return false;
    return true;
  }

  // As btSoftColliders::CollideSDF_RS.
  void add(btSoftBody::Node& node, const btVector3& normal, btScalar offset) {
    const btScalar mass_of_node = node.m_im;
    const btScalar mass_of_rigid = rigid_ != nullptr ? rigid_->getInvMass() : btScalar(0);
    if (!(mass_of_node + mass_of_rigid > 0)) return;
    const btTransform& world = object_.getWorldTransform();
    const btMatrix3x3 inertia = rigid_ != nullptr ? rigid_->getInvInertiaTensorWorld()
                                                  : btMatrix3x3(0, 0, 0, 0, 0, 0, 0, 0, 0);
    const btScalar step = soft_.m_sst.sdt;
    const btVector3 arm = node.m_x - world.getOrigin();
    const btVector3 carried =
        rigid_ != nullptr ? rigid_->getVelocityInLocalPoint(arm) * step : btVector3(0, 0, 0);
    const btVector3 relative = node.m_x - node.m_q - carried;
    const btScalar along = relative.dot(normal);
    const btVector3 aside = relative - normal * along;
    const btScalar friction = soft_.m_cfg.kDF * object_.getFriction();
    btSoftBody::RContact contact;
    contact.t1 = contact.t2 = btVector3(0, 0, 0);
    contact.m_cti.m_colObj = &object_;
    contact.m_cti.m_normal = normal;
    contact.m_cti.m_offset = offset;
    contact.m_node = &node;
    contact.m_c0 = ImpulseMatrix(step, mass_of_node, mass_of_rigid, inertia, arm);
    contact.m_c1 = arm;
    contact.m_c2 = mass_of_node * step;
    contact.m_c3 = aside.length2() < (along * friction) * (along * friction) ? 0 : 1 - friction;
    contact.m_c4 = object_.isStaticOrKinematicObject() ? soft_.m_cfg.kKHR : soft_.m_cfg.kCHR;
    soft_.m_rcontacts.push_back(contact);
    if (rigid_ != nullptr) rigid_->activate();
  }

  btSoftBody& soft_;
  const btCollisionObject& object_;
  btRigidBody* rigid_;
  btScalar margin_;
  Ours ours_;
  btVector3 lower_{}, upper_{};
  std::vector<ShellHit> hits_{};
};

}  // namespace

void SoftAlgorithm::processCollision(const btCollisionObjectWrapper* wrap_0,
                                     const btCollisionObjectWrapper* wrap_1,
                                     const btDispatcherInfo&, btManifoldResult*) {
  const btCollisionObjectWrapper& ours = ours_is_0_ ? *wrap_0 : *wrap_1;
  const btCollisionObjectWrapper& other = ours_is_0_ ? *wrap_1 : *wrap_0;
  const auto* soft = btSoftBody::upcast(other.getCollisionObject());
  if (soft == nullptr) return;
  const auto& shape = static_cast<const IsotactShape&>(*ours.getCollisionShape());
  if (!shape.body().target) {
    report_bullet_error(
        "a shape of Isotact's without a field has no contact with soft bodies: cook it with one");
    return;
  }
  // Bullet's own algorithm changes the soft body, too.
  SoftContacts contacts(const_cast<btSoftBody&>(*soft), ours);
  contacts.add_nodes();
  contacts.add_faces();
}

}  // namespace isotact::bullet_detail
