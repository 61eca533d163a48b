// Conversions to and from Bullet, in either of its precisions.
#pragma once

#include <LinearMath/btQuaternion.h>
#include <LinearMath/btTransform.h>
#include <LinearMath/btVector3.h>

#include "isotact/base/pose.h"
#include "isotact/base/vec.h"

namespace isotact {

inline btVector3 to_bullet(const Vec3& v) {
  return {static_cast<btScalar>(v.x), static_cast<btScalar>(v.y), static_cast<btScalar>(v.z)};
}
inline btQuaternion to_bullet(const Quat& q) {
  return {static_cast<btScalar>(q.x), static_cast<btScalar>(q.y), static_cast<btScalar>(q.z),
          static_cast<btScalar>(q.w)};
}
inline btTransform to_bullet(const Pose& p) {
  return btTransform(to_bullet(p.rotation), to_bullet(p.translation));
}

inline Vec3 from_bullet(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
// Normalised again in double: Bullet's single-precision quaternions are unit only to 1e-7.
inline Quat from_bullet(const btQuaternion& q) {
  return normalized(Quat{q.w(), q.x(), q.y(), q.z()});
}
inline Pose from_bullet(const btTransform& t) {
  return {from_bullet(t.getRotation()), from_bullet(t.getOrigin())};
}

}  // namespace isotact
