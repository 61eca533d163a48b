// Paths of bodies within a step. Private to the plug-in.
#pragma once

#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>

#include "isotact/base/pose.h"

namespace isotact::bullet_detail {

// Poses at equal times, from 0 to 1; between them bodies move at constant rates.
struct Path {
  std::vector<Pose> knots{};

  bool moves() const { return knots.size() > 1; }
  Pose at(double time) const;
  // Metres per step, of points no further than `radius` from the origin.
  double fastest(double radius) const;
};

Path path_between(const btTransform& from, const btTransform& to);

// Where a multibody and its joints are.
struct Configuration {
  btVector3 place{0, 0, 0};
  btQuaternion world_to_base{0, 0, 0, 1};
  std::vector<btScalar> joints{};  // of all links, in their order
};
Configuration configuration_of(const btMultiBody& body);
Configuration between(const btMultiBody& body, const Configuration& from, const Configuration& to,
                      double time);
// Also moves the colliders of all links.
void configure(btMultiBody& body, const Configuration& configuration);
// Returns the number of pieces between two configurations in which no joint turns far.
int count_pieces(const btMultiBody& body, const Configuration& from, const Configuration& to);

}  // namespace isotact::bullet_detail
