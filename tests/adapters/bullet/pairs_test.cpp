// Every kind of pair, in both orders, against Bullet's own sphere in the place of our ball.
#include <cmath>
#include <functional>
#include <string>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <gtest/gtest.h>

#include "isotact/base/random.h"

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

struct Deepest final : btCollisionWorld::ContactResultCallback {
  btScalar addSingleResult(btManifoldPoint& p, const btCollisionObjectWrapper* wrap_0, int, int,
                           const btCollisionObjectWrapper*, int, int) override {
    ++count;
    if (static_cast<double>(p.getDistance()) >= distance) return 0;
    distance = static_cast<double>(p.getDistance());
    // Towards `first`, whichever of the two Bullet calls A.
    const bool is_a = wrap_0->getCollisionObject() == first;
    normal = from_bullet(p.m_normalWorldOnB) * (is_a ? 1.0 : -1.0);
    on_first = from_bullet(is_a ? p.m_positionWorldOnA : p.m_positionWorldOnB);
    return 0;
  }
  const btCollisionObject* first = nullptr;
  int count = 0;
  double distance = 1e9;
  Vec3 normal{}, on_first{};
};

Deepest find_deepest(btCollisionWorld& world, btCollisionObject& first, btCollisionObject& second,
                     bool exchanged, double threshold = 0) {
  Deepest deepest;
  deepest.first = &first;
  deepest.m_closestDistanceThreshold = static_cast<btScalar>(threshold);
  if (exchanged)
    world.contactPairTest(&second, &first, deepest);
  else
    world.contactPairTest(&first, &second, deepest);
  return deepest;
}

// Balls in random places around a body half a metre in size or so, that touch it by up to 2 cm.
void compare_with_sphere(btCollisionShape& shape, const std::string& name, double tolerance = 1e-3,
                         bool from_above = false, int cases = 60) {
  SCOPED_TRACE(name);
  BulletWorld bullet;
  btSphereShape sphere(static_cast<btScalar>(kBallRadius));
  IsotactShape ours = copy(ball_shape());
  Random random(7);
  int touching = 0, apart = 0, aligned = 0, in_place = 0;
  for (int i = 0; i < cases; ++i) {
    btCollisionObject theirs, ball, round;
    theirs.setCollisionShape(&shape);
    theirs.setWorldTransform(from_above
                                 ? btTransform::getIdentity()
                                 : to_bullet(Pose{random.rotation(), random.in_unit_ball()}));
    // From a place outside, towards the body, until Bullet's sphere is as near as we want.
    const Vec3 middle = place(theirs);
    Vec3 direction = random.unit_vector();
    if (from_above) direction = normalized(Vec3{0.3 * direction.x, 1, 0.3 * direction.z});
    round.setCollisionShape(&sphere);
    ball.setCollisionShape(&ours);
    const double wanted = random.uniform(-0.02, 0.01);
    double lower = 0, upper = 2;
    for (int k = 0; k < 24; ++k) {
      const double t = (lower + upper) / 2;
      round.setWorldTransform(to_bullet(Pose{{}, middle + direction * t}));
      const Deepest found = find_deepest(bullet.world, round, theirs, false, 0.5);
      (found.count > 0 && found.distance < wanted ? lower : upper) = t;
    }
    ball.setWorldTransform(to_bullet(Pose{random.rotation(), place(round)}));
    const Deepest truth = find_deepest(bullet.world, round, theirs, false, 0.5);
    for (const bool exchanged : {false, true}) {
      const Deepest found = find_deepest(bullet.world, ball, theirs, exchanged, 0.5);
      ASSERT_GT(found.count, 0) << "case " << i;
      EXPECT_NEAR(found.distance, truth.distance, tolerance) << "case " << i;
      // At sharp edges there is more than one way out.
      EXPECT_GT(dot(found.normal, truth.normal), 0.8) << "case " << i;
      if (dot(found.normal, truth.normal) > 0.98) ++aligned;
      if (length(found.on_first - truth.on_first) < 0.05) ++in_place;
      // Without a threshold: contact where they touch, none where they are well apart.
      const Deepest touch = find_deepest(bullet.world, ball, theirs, exchanged);
      if (truth.distance < -tolerance) {
        EXPECT_GT(touch.count, 0) << "case " << i;
      }
      if (truth.distance > 0.002 + tolerance) {
        EXPECT_EQ(touch.count, 0) << "case " << i;
      }
    }
    ++(truth.distance < 0 ? touching : apart);
  }
  EXPECT_GE(touching, cases / 3);
  EXPECT_GE(apart, cases / 12);
  EXPECT_GE(aligned, 2 * cases * 5 / 6);
  EXPECT_GE(in_place, 2 * cases * 9 / 10);  // between two slopes there are two places
}

TEST(BulletPairs, Boxes) {
  btBoxShape box({0.3F, 0.2F, 0.25F});
  box.setMargin(btScalar(0.001));  // Bullet rounds edges by it when asked for closest points
  compare_with_sphere(box, "box");
}

TEST(BulletPairs, Planes) {
  btStaticPlaneShape plane({0, 1, 0}, btScalar(0.1));
  compare_with_sphere(plane, "plane", 1e-3, true);
}

TEST(BulletPairs, SpheresAndCapsules) {
  btSphereShape sphere(btScalar(0.3));
  compare_with_sphere(sphere, "sphere");
  btCapsuleShape y(btScalar(0.1), btScalar(0.4));
  btCapsuleShapeX x(btScalar(0.1), btScalar(0.4));
  btCapsuleShapeZ z(btScalar(0.1), btScalar(0.4));
  compare_with_sphere(y, "capsule");
  compare_with_sphere(x, "capsule x");
  compare_with_sphere(z, "capsule z");
}

TEST(BulletPairs, CylindersAndCones) {
  // Bullet rounds their edges by the margin; ours are sharp.
  const auto thin = [](auto& shape) { shape.setMargin(btScalar(0.002)); };
  btCylinderShape y({0.2F, 0.3F, 0.2F});
  btCylinderShapeX x({0.3F, 0.2F, 0.2F});
  btCylinderShapeZ z({0.2F, 0.2F, 0.3F});
  thin(y), thin(x), thin(z);
  compare_with_sphere(y, "cylinder", 2.5e-3);
  compare_with_sphere(x, "cylinder x", 2.5e-3);
  compare_with_sphere(z, "cylinder z", 2.5e-3);
  btConeShape cone_y(btScalar(0.3), btScalar(0.5));
  btConeShapeX cone_x(btScalar(0.3), btScalar(0.5));
  btConeShapeZ cone_z(btScalar(0.3), btScalar(0.5));
  compare_with_sphere(cone_y, "cone", 2.5e-3);
  compare_with_sphere(cone_x, "cone x", 2.5e-3);
  compare_with_sphere(cone_z, "cone z", 2.5e-3);
}

TEST(BulletPairs, Hulls) {
  btConvexHullShape hull;
  Random random(3);
  for (int i = 0; i < 30; ++i) hull.addPoint(to_bullet(random.in_unit_ball() * 0.4), false);
  hull.recalcLocalAabb();
  compare_with_sphere(hull, "hull", 1.5e-3);
}

TEST(BulletPairs, OtherConvexShapesByTheirSupportPoints) {
  const btVector3 centers[2] = {{0.1F, 0, 0}, {-0.1F, 0.05F, 0}};
  const btScalar radii[2] = {btScalar(0.2), btScalar(0.15)};
  btMultiSphereShape spheres(centers, radii, 2);
  compare_with_sphere(spheres, "multi-sphere", 6e-3, false, 20);
}

void add_to(btTriangleMesh& made, const TriangleMesh& mesh) {
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    made.addTriangle(to_bullet(to_double(c[0])), to_bullet(to_double(c[1])),
                     to_bullet(to_double(c[2])));
  }
}

TEST(BulletPairs, TriangleMeshes) {
  btTriangleMesh triangles;
  add_to(triangles, make_box({.size_x = 0.6, .size_y = 0.5, .size_z = 0.4, .segments = 3}));
  btBvhTriangleMeshShape mesh(&triangles, true);
  mesh.setMargin(0);
  compare_with_sphere(mesh, "mesh", 2.5e-3);
  btScaledBvhTriangleMeshShape scaled(&mesh, {1.2F, 0.8F, 1});
  scaled.setMargin(0);
  compare_with_sphere(scaled, "scaled mesh", 2.5e-3);
}

TEST(BulletPairs, HeightFields) {
  std::vector<float> heights(17 * 17);
  for (std::size_t i = 0; i < heights.size(); ++i)
    heights[i] = 0.1F * static_cast<float>((i % 17 + 2 * (i / 17)) % 5 == 0);
  btHeightfieldTerrainShape field(17, 17, heights.data(), btScalar(1), btScalar(-1), btScalar(1), 1,
                                  PHY_FLOAT, false);
  field.setLocalScaling({0.25F, 1, 0.25F});
  field.setMargin(0);
  compare_with_sphere(field, "height field", 5e-3, true);
}

TEST(BulletPairs, OursWithOurs) {
  IsotactShape other = copy(ball_shape());
  btSphereShape sphere(static_cast<btScalar>(kBallRadius));
  BulletWorld bullet;
  Random random(11);
  IsotactShape ours = copy(ball_shape());
  for (int i = 0; i < 60; ++i) {
    btCollisionObject a, b;
    a.setCollisionShape(&ours), b.setCollisionShape(&other);
    const Vec3 direction = random.unit_vector();
    const double gap = random.uniform(-0.03, 0.005);
    a.setWorldTransform(to_bullet(Pose{random.rotation(), direction * (2 * kBallRadius + gap)}));
    b.setWorldTransform(to_bullet(Pose{random.rotation(), {}}));
    const Deepest found = find_deepest(bullet.world, a, b, i % 2 == 0, 0.1);
    ASSERT_GT(found.count, 0);
    EXPECT_NEAR(found.distance, gap, 1.5e-3);
    EXPECT_GT(dot(found.normal, direction), 0.99);
  }
}

TEST(BulletPairs, WhatIsInsideTouches) {
  BulletWorld bullet;
  IsotactShape ours = copy(ball_shape());
  IsotactShape large = copy(ball_shape());
  large.setLocalScaling({10, 10, 10});
  btBoxShape box({2, 2, 2});
  btSphereShape small(btScalar(0.02));
  btCollisionObject a, b;
  a.setCollisionShape(&ours);
  for (btCollisionShape* around :
       {static_cast<btCollisionShape*>(&box), static_cast<btCollisionShape*>(&large)}) {
    b.setCollisionShape(around);
    EXPECT_LT(find_deepest(bullet.world, a, b, false).distance, -1.5);
  }
  b.setCollisionShape(&small);  // between our points and far from all of them
  EXPECT_LT(find_deepest(bullet.world, a, b, true).distance, -0.15);
}

TEST(BulletPairs, AThinSpikeBetweenPointsIsSeen) {
  BulletWorld bullet;
  IsotactShape ours = copy(cube_shape());
  btBoxShape needle({0.001F, 0.2F, 0.001F});
  btCollisionObject a, b;
  a.setCollisionShape(&ours), b.setCollisionShape(&needle);
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    // From above, 1 cm into the cube's top.
    const Vec3 at{random.uniform(-0.2, 0.2), 0.25 + 0.2 - 0.01, random.uniform(-0.2, 0.2)};
    b.setWorldTransform(to_bullet(Pose{{}, at}));
    const Deepest found = find_deepest(bullet.world, a, b, i % 2 == 0);
    ASSERT_GT(found.count, 0);
    EXPECT_NEAR(found.distance, -0.01, 1e-3);
    EXPECT_LT(found.normal.y, -0.99);
  }
}

TEST(BulletPairs, ScaleAndMargin) {
  BulletWorld bullet;
  IsotactShape ours = copy(ball_shape());
  ours.setLocalScaling({2.5F, 2.5F, 2.5F});
  ours.setMargin(btScalar(0.03));
  btBoxShape box({1, 1, 1});
  IsotactShape other = copy(ball_shape());
  other.setLocalScaling({0.5F, 0.5F, 0.5F});
  btCollisionObject a, b;
  a.setCollisionShape(&ours), b.setCollisionShape(&box);
  a.setWorldTransform(to_bullet(Pose{{}, {0, 1 + 2.5 * kBallRadius, 0}}));
  EXPECT_NEAR(find_deepest(bullet.world, a, b, false).distance, -0.03, 2e-3);
  b.setCollisionShape(&other);
  a.setWorldTransform(to_bullet(Pose{{}, {0, 3 * kBallRadius, 0}}));
  EXPECT_NEAR(find_deepest(bullet.world, a, b, false).distance, -0.03, 2e-3);
}

TEST(BulletPairs, UnsupportedOnesSayItOnce) {
  forget_bullet_errors();
  std::vector<std::string> said;
  set_bullet_error_handler([&](const std::string& message) { said.push_back(message); });
  struct Odd final : btConcaveShape {
    Odd() { m_shapeType = CUSTOM_CONCAVE_SHAPE_TYPE; }
    void getAabb(const btTransform&, btVector3& l, btVector3& u) const override {
      l = {-1, -1, -1}, u = {1, 1, 1};
    }
    void setLocalScaling(const btVector3&) override {}
    const btVector3& getLocalScaling() const override { return one; }
    void calculateLocalInertia(btScalar, btVector3&) const override {}
    const char* getName() const override { return "ODD"; }
    void processAllTriangles(btTriangleCallback*, const btVector3&,
                             const btVector3&) const override {}
    btVector3 one{1, 1, 1};
  } odd;
  IsotactShape ours = copy(ball_shape());
  IsotactShape points = *cook_bullet_shape(Shape::from_parts({.tree = ours.body().tree}));
  BulletWorld bullet;
  btCollisionObject a, b;
  a.setCollisionShape(&ours), b.setCollisionShape(&odd);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(find_deepest(bullet.world, a, b, i == 1).count, 0);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("ODD"), std::string::npos);
  IsotactShape more = copy(points);
  a.setCollisionShape(&points), b.setCollisionShape(&more);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(find_deepest(bullet.world, a, b, false).count, 0);
  EXPECT_EQ(said.size(), 2U);
  set_bullet_error_handler({});
}

}  // namespace
}  // namespace isotact
