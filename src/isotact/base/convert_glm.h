// Conversions to and from glm, for users who have glm. Isotact itself does not use it.
#pragma once

#include <glm/gtc/quaternion.hpp>
#include <glm/mat4x4.hpp>
#include <glm/vec3.hpp>

#include "isotact/base/pose.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline glm::dvec3 to_glm(const Vec3& v) { return {v.x, v.y, v.z}; }
inline glm::vec3 to_glm(const Vec3f& v) { return {v.x, v.y, v.z}; }
// Sets the components by name, because glm's settings decide whether its constructor takes w first
// or last.
inline glm::dquat to_glm(const Quat& q) {
  glm::dquat g;
  g.w = q.w, g.x = q.x, g.y = q.y, g.z = q.z;
  return g;
}
inline glm::dmat4 to_glm(const Pose& p) {
  glm::dmat4 m = glm::mat4_cast(to_glm(p.rotation));
  m[3] = glm::dvec4(to_glm(p.translation), 1.0);
  return m;
}

inline Vec3 from_glm(const glm::dvec3& v) { return {v.x, v.y, v.z}; }
inline Vec3f from_glm(const glm::vec3& v) { return {v.x, v.y, v.z}; }
inline Quat from_glm(const glm::dquat& q) { return {q.w, q.x, q.y, q.z}; }
// The matrix m must be rigid.
inline Pose from_glm(const glm::dmat4& m) {
  return {from_glm(glm::quat_cast(m)), from_glm(glm::dvec3(m[3]))};
}

}  // namespace isotact
