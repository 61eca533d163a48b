// The conventions of FCL: frames, normals, signs, and the early end.
#include "isotact/adapters/fcl.h"

#include <gtest/gtest.h>

#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

Eigen::Isometry3d at(double x, double y, double z) {
  Eigen::Isometry3d tf = Eigen::Isometry3d::Identity();
  tf.translation() = Eigen::Vector3d(x, y, z);
  return tf;
}

TEST(Fcl, NormalsPointFromTheFirstObjectToTheSecond) {
  const fcl::CollisionObject a(fcl::make_sphere(0.5)), b(fcl::make_box(1, 1, 1), at(0.9, 0, 0));
  fcl::CollisionResult result;
  const std::size_t count =
      fcl::collide(&a, &b, {.num_max_contacts = 4, .enable_contact = true}, result);
  ASSERT_GT(count, 0U);
  EXPECT_EQ(count, result.numContacts());
  EXPECT_TRUE(result.isCollision());
  EXPECT_GT(result.getContact(0).normal.x(), 0.9);
  EXPECT_GT(result.getContact(0).penetration_depth, 0.05);
  EXPECT_EQ(result.getContact(0).o1, &a);
}

TEST(Fcl, QueriesWithoutContactsSayYesOrNo) {
  const Shape gear = Shape::from_mesh(make_gear({}), {.field = {.resolution = 48}});
  const fcl::CollisionObject a(gear);
  fcl::CollisionObject b(gear, at(0.05, 0, 0));
  fcl::CollisionResult result;
  EXPECT_EQ(fcl::collide(&a, &b, {}, result), 1U);
  EXPECT_TRUE(result.isCollision());
  EXPECT_EQ(result.numContacts(), 0U);
  b.setTranslation({5, 0, 0});
  result.clear();
  EXPECT_EQ(fcl::collide(&a, &b, {}, result), 0U);
  EXPECT_FALSE(result.isCollision());
}

TEST(Fcl, RoundSolidsLieAlongZ) {
  const fcl::CollisionObject along(fcl::make_sphere(0.05), at(0, 0, 0.9)),
      across(fcl::make_sphere(0.05), at(0, 0.9, 0));
  for (const fcl::CollisionGeometry& solid :
       {fcl::make_capsule(0.1, 2), fcl::make_cylinder(0.1, 2), fcl::make_cone(0.1, 2)}) {
    const fcl::CollisionObject pin(solid);
    fcl::CollisionResult result;
    EXPECT_EQ(fcl::collide(&pin, &along, {}, result), 1U);
    EXPECT_EQ(fcl::collide(&pin, &across, {}, result), 0U);
  }
  // A cone's tip is at +z.
  const fcl::CollisionObject cone(fcl::make_cone(0.5, 2)),
      low(fcl::make_sphere(0.05), at(0.35, 0, -0.9)),
      high(fcl::make_sphere(0.05), at(0.35, 0, 0.9));
  fcl::CollisionResult result;
  EXPECT_EQ(fcl::collide(&cone, &low, {}, result), 1U);
  EXPECT_EQ(fcl::collide(&cone, &high, {}, result), 0U);
}

TEST(Fcl, DistancesAndFirstContacts) {
  const fcl::CollisionObject a(fcl::make_sphere(0.5)), b(fcl::make_sphere(0.5), at(2, 0, 0)),
      deep(fcl::make_sphere(0.5), at(0.8, 0, 0)),
      ground(fcl::make_halfspace(Eigen::Vector3d(0, 0, 2), -4));
  fcl::DistanceResult near;
  EXPECT_NEAR(fcl::distance(&a, &b, {.enable_nearest_points = true}, near), 1, 1e-9);
  EXPECT_NEAR(near.nearest_points[1].x(), 1.5, 1e-9);
  EXPECT_EQ(fcl::distance(&a, &deep, {}, near), 0);
  EXPECT_NEAR(fcl::distance(&a, &deep, {.enable_signed_distance = true}, near), -0.2, 1e-6);
  EXPECT_NEAR(fcl::distance(&a, &ground, {}, near), 1.5, 1e-9);
  fcl::ContinuousCollisionResult first;
  EXPECT_NEAR(fcl::continuousCollide(&a, at(2, 0, 0), &b, at(2, 0, 0), {}, first), 0.5, 1e-3);
  EXPECT_TRUE(first.is_collide);
  EXPECT_EQ(fcl::continuousCollide(&a, at(-2, 0, 0), &b, at(2, 0, 0), {}, first), 1);
  EXPECT_FALSE(first.is_collide);
}

TEST(Fcl, TwoHalfSpacesAreAnError) {
  const fcl::CollisionObject a(fcl::make_halfspace({0, 0, 1}, 0));
  fcl::CollisionResult result;
  EXPECT_THROW(fcl::collide(&a, &a, {}, result), Error);
  EXPECT_THROW(fcl::make_halfspace({0, 0, 0}, 0), Error);
}

}  // namespace
}  // namespace isotact
