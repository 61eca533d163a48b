// Conversions to and from Eigen, for users who have Eigen. No other public header needs it.
#pragma once

#include <Eigen/Geometry>

#include "isotact/base/mat3.h"
#include "isotact/base/pose.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline Eigen::Vector3d to_eigen(const Vec3& v) { return {v.x, v.y, v.z}; }
inline Eigen::Vector3f to_eigen(const Vec3f& v) { return {v.x, v.y, v.z}; }
inline Eigen::Quaterniond to_eigen(const Quat& q) { return {q.w, q.x, q.y, q.z}; }
inline Eigen::Matrix3d to_eigen(const Mat3& m) {
  Eigen::Matrix3d e;
  for (int i = 0; i < 3; ++i) e.row(i) = to_eigen(m.rows[static_cast<std::size_t>(i)]).transpose();
  return e;
}
inline Eigen::Isometry3d to_eigen(const Pose& p) {
  Eigen::Isometry3d e = Eigen::Isometry3d::Identity();
  e.linear() = to_eigen(p.rotation).toRotationMatrix();
  e.translation() = to_eigen(p.translation);
  return e;
}

inline Vec3 from_eigen(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
inline Vec3f from_eigen(const Eigen::Vector3f& v) { return {v.x(), v.y(), v.z()}; }
inline Quat from_eigen(const Eigen::Quaterniond& q) { return {q.w(), q.x(), q.y(), q.z()}; }
inline Mat3 from_eigen(const Eigen::Matrix3d& m) {
  return {{Vec3{m(0, 0), m(0, 1), m(0, 2)}, Vec3{m(1, 0), m(1, 1), m(1, 2)},
           Vec3{m(2, 0), m(2, 1), m(2, 2)}}};
}
inline Pose from_eigen(const Eigen::Isometry3d& p) {
  return {to_quat(from_eigen(Eigen::Matrix3d(p.linear()))),
          from_eigen(Eigen::Vector3d(p.translation()))};
}

}  // namespace isotact
