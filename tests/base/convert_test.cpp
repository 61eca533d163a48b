// The converters are compiled against each library's own types and turned back.
#include "isotact/adapters/bullet/convert.h"

#include <gtest/gtest.h>

#include "isotact/base/convert_eigen.h"
#include "isotact/base/convert_glm.h"
#include "isotact/base/random.h"

namespace isotact {
namespace {

constexpr Vec3 kProbe{0.3, -1.2, 2.5};

TEST(Convert, EigenPosesMovePointsAlike) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Pose pose{random.rotation(), random.in_unit_ball()};
    const Vec3 moved = from_eigen(Eigen::Vector3d(to_eigen(pose) * to_eigen(kProbe)));
    EXPECT_LE(length(moved - transform_point(pose, kProbe)), 1e-14);
    EXPECT_LE(length(transform_point(from_eigen(to_eigen(pose)), kProbe) - moved), 1e-14);
  }
  const Mat3 m{{Vec3{1, 2, 3}, Vec3{4, 5, 6}, Vec3{7, 8, 9}}};
  EXPECT_EQ(from_eigen(to_eigen(m)), m);
  EXPECT_EQ(from_eigen(Eigen::Vector3d(to_eigen(m) * to_eigen(kProbe))), m * kProbe);
}

TEST(Convert, GlmPosesMovePointsAlike) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const Pose pose{random.rotation(), random.in_unit_ball()};
    const Vec3 moved = from_glm(glm::dvec3(to_glm(pose) * glm::dvec4(to_glm(kProbe), 1)));
    EXPECT_LE(length(moved - transform_point(pose, kProbe)), 1e-14);
    EXPECT_LE(length(transform_point(from_glm(to_glm(pose)), kProbe) - moved), 1e-14);
  }
}

TEST(Convert, BulletPosesMovePointsAlike) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const Pose pose{random.rotation(), random.in_unit_ball()};
    const Vec3 moved = from_bullet(to_bullet(pose) * to_bullet(kProbe));
    EXPECT_LE(length(moved - transform_point(pose, kProbe)), 2e-6);  // Bullet is float32 here
    EXPECT_LE(length(transform_point(from_bullet(to_bullet(pose)), kProbe) - moved), 4e-6);
    EXPECT_NEAR(length_sq(from_bullet(to_bullet(pose)).rotation), 1, 1e-15);
  }
}

}  // namespace
}  // namespace isotact
