#include "isotact/base/pose.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

namespace isotact {
namespace {

Pose random_pose(Random& random) {
  return {random.rotation(), random.in_box({-5, -5, -5}, {5, 5, 5})};
}

void expect_near(const Vec3& a, const Vec3& b, double tolerance = 1e-12) {
  EXPECT_LE(length(a - b), tolerance);
}

TEST(Pose, ChainsReadFromRightToLeft) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Pose world_from_a = random_pose(random), a_from_b = random_pose(random);
    const Vec3 in_b = random.in_box({-1, -1, -1}, {1, 1, 1});
    expect_near(transform_point(world_from_a * a_from_b, in_b),
                transform_point(world_from_a, transform_point(a_from_b, in_b)));
    expect_near(transform_point(inverse(world_from_a), transform_point(world_from_a, in_b)), in_b);
  }
}

TEST(Pose, MatrixAndQuaternionAgreeBothWays) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const Quat q = random.rotation();
    const Vec3 v = random.in_unit_ball();
    expect_near(to_matrix(q) * v, rotate(q, v));
    expect_near(rotate(to_quat(to_matrix(q)), v), rotate(q, v));
    EXPECT_NEAR(determinant(to_matrix(q)), 1, 1e-12);
  }
  // Half turns, where the trace is -1 and the naive formula divides by zero.
  for (const Vec3 axis : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}, Vec3{1, 1, 0}}) {
    const Quat half_turn = rotation_about(axis, 3.14159265358979323846);
    expect_near(rotate(to_quat(to_matrix(half_turn)), {1, 2, 3}), rotate(half_turn, {1, 2, 3}));
  }
}

TEST(Pose, QuarterTurnAboutZTakesXToY) {
  expect_near(rotate(rotation_about({0, 0, 2}, 1.57079632679489661923), {1, 0, 0}), {0, 1, 0});
}

TEST(PoseText, ReadsBothOrdersAndDefaults) {
  EXPECT_EQ(parse_pose(""), Pose{});
  EXPECT_EQ(parse_pose("xyz=0,0.5,-1e3").translation, (Vec3{0, 0.5, -1000}));
  const auto turned = [](const char* text) {
    return rotate(parse_pose(text).rotation, Vec3{1, 2, 3});
  };
  EXPECT_LT(length(turned("axis=0,0,5,90") - Vec3{-2, 1, 3}), 1e-14);
  EXPECT_LT(length(turned("axis=0,0,1,-270") - Vec3{-2, 1, 3}), 1e-14);
  EXPECT_LT(length(turned("rpy=90,0,0") - Vec3{1, -3, 2}), 1e-14);
  EXPECT_LT(length(turned("rpy=90,0,90") - Vec3{3, 1, 2}), 1e-14);  // about x first
  EXPECT_THROW(parse_pose("axis=0,0,0,90"), Error);
  EXPECT_THROW(parse_pose("axis=0,0,1"), Error);
  EXPECT_THROW(parse_pose("rpy=1,2,3 wxyz=1,0,0,0"), Error);
  const Pose a = parse_pose("  wxyz=0,1,0,0   xyz=1,2,3 ");
  EXPECT_EQ(a, parse_pose("xyz=1,2,3 xyzw=1,0,0,0"));
  EXPECT_EQ(a.rotation, (Quat{0, 1, 0, 0}));
}

TEST(PoseText, RoundTripsExactly) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const Pose pose = random_pose(random);
    const Pose back = parse_pose(format_pose(pose));
    EXPECT_EQ(back.translation, pose.translation);
    EXPECT_NEAR(length_sq(back.rotation * conjugate(pose.rotation)), 1, 1e-15);
    expect_near(rotate(back.rotation, {1, 2, 3}), rotate(pose.rotation, {1, 2, 3}), 1e-14);
  }
}

TEST(PoseText, RefusesWhatItCannotTrust) {
  for (const char* text :
       {"1,2,3", "xyz=1,2", "xyz=1,2,3,4", "xyz=1,2,x", "xyz=1,,3", "xyz=nan,0,0", "xyz=inf,0,0",
        "quat=1,0,0,0", "wxyz=1,1,0,0", "wxyz=0,0,0,0", "wxyz=1,0,0", "xyz=0,0,0 xyz=0,0,0",
        "wxyz=1,0,0,0 xyzw=0,0,0,1", "xyz = 1,2,3", "xyz=1,2,3junk"})
    EXPECT_THROW(parse_pose(text), Error) << text;
}

}  // namespace
}  // namespace isotact
