// Bodies that fall, rest, slide, bounce and fly, in a world of Bullet's.
#include <cmath>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

constexpr double kTube = 0.125;  // of the torus: where its middle rests

// Falls flat onto y = 0 and must lie there without moving.
void expect_torus_rests(BulletWorld& bullet, const Vec3& from = {0, 0.3, 0}) {
  IsotactShape torus = copy(torus_shape());
  {
    btRigidBody& body = bullet.add(torus, 1, from, rotation_about({1, 0, 0.4}, 0.2));
    bullet.step(240);
    EXPECT_NEAR(place(body).y, kTube, 2e-3);
    EXPECT_LT(static_cast<double>(body.getLinearVelocity().length()), 0.01);
    EXPECT_LT(static_cast<double>(body.getAngularVelocity().length()), 0.03);
    EXPECT_GE(bullet.contact_count(), 3);
    bullet.remove_last();
  }
}

TEST(BulletDynamics, RestsOnAPlaneAndOnABox) {
  {
    BulletWorld bullet;
    btStaticPlaneShape plane({0, 1, 0}, 0);
    bullet.add(plane, 0);
    expect_torus_rests(bullet);
  }
  BulletWorld bullet;
  btBoxShape box({2, 0.5F, 2});
  bullet.add(box, 0, {0, -0.5, 0});
  expect_torus_rests(bullet);
}

TEST(BulletDynamics, RestsOnACompound) {
  BulletWorld bullet;
  btBoxShape box({0.5F, 0.5F, 2});
  btCompoundShape floor;
  floor.addChildShape(to_bullet(Pose{{}, {0.5, -0.5, 0}}), &box);
  floor.addChildShape(to_bullet(Pose{{}, {-0.5, -0.5, 0}}), &box);
  bullet.add(floor, 0);
  expect_torus_rests(bullet);
}

TEST(BulletDynamics, IsAChildOfACompound) {
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  IsotactShape torus = copy(torus_shape());
  btCompoundShape pair;  // two, side by side
  pair.addChildShape(to_bullet(Pose{{}, {0.6, 0, 0}}), &torus);
  pair.addChildShape(to_bullet(Pose{{}, {-0.6, 0, 0}}), &torus);
  btRigidBody& body = bullet.add(pair, 2, {0, 0.3, 0}, rotation_about({1, 0, 0.4}, 0.1));
  bullet.step(240);
  EXPECT_NEAR(place(body).y, kTube, 2e-3);
  EXPECT_LT(static_cast<double>(body.getLinearVelocity().length()), 0.01);
}

TEST(BulletDynamics, RestsOnTrianglesAndHeightFields) {
  {
    BulletWorld bullet;
    btTriangleMesh triangles;
    for (int i = -4; i < 4; ++i)
      for (int j = -4; j < 4; ++j) {
        const auto at = [](int x, int z) {
          return btVector3(static_cast<btScalar>(x) / 4, 0, static_cast<btScalar>(z) / 4);
        };
        triangles.addTriangle(at(i, j), at(i, j + 1), at(i + 1, j));
        triangles.addTriangle(at(i + 1, j), at(i, j + 1), at(i + 1, j + 1));
      }
    btBvhTriangleMeshShape mesh(&triangles, true);
    bullet.add(mesh, 0);
    expect_torus_rests(bullet);
  }
  for (const int axis : {1, 2}) {
    SCOPED_TRACE(axis);
    BulletWorld bullet;
    std::vector<float> heights(9 * 9, 0.0F);
    btHeightfieldTerrainShape field(9, 9, heights.data(), btScalar(1), btScalar(-1), btScalar(1),
                                    axis, PHY_FLOAT, false);
    field.setLocalScaling({0.5F, 0.5F, 0.5F});
    bullet.add(field, 0, {}, axis == 2 ? rotation_about({1, 0, 0}, -kPi / 2) : Quat{});
    expect_torus_rests(bullet);
  }
}

TEST(BulletDynamics, HangsOnAnotherOfItsKind) {
  BulletWorld bullet;
  IsotactShape torus = copy(torus_shape());
  // One stands still, upright; the other hangs in it like a link of a chain.
  bullet.add(torus, 0, {0, 1, 0}, rotation_about({1, 0, 0}, kPi / 2));
  btRigidBody& link = bullet.add(torus, 1, {0, 1 - 0.5, 0}, rotation_about({0, 0, 1}, kPi / 2));
  bullet.step(360);
  // Inner radius 0.25 each: tube on tube, its middle 0.5 below.
  EXPECT_NEAR(place(link).y, 0.5, 0.01);
  EXPECT_LT(static_cast<double>(link.getLinearVelocity().length()), 0.05);
}

TEST(BulletDynamics, SlidesAsBulletsBoxDoes) {
  const auto slide = [](btCollisionShape& shape, btCollisionShape& floor, const Vec3& under) {
    BulletWorld bullet;
    bullet.add(floor, 0, under).setFriction(btScalar(0.5));
    btRigidBody& body = bullet.add(shape, 1, {-1, 0.25, 0});
    body.setFriction(btScalar(0.6));
    body.setLinearVelocity({2, 0, 0});
    bullet.step(120);
    return place(body);
  };
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btBoxShape box({0.25F, 0.25F, 0.25F}), floor({5, 0.5F, 5});
  IsotactShape cube = copy(cube_shape());
  const double expected = -1 + 2.0 * 2 / (2 * 0.3 * 10);
  EXPECT_NEAR(slide(box, plane, {}).x, expected, 0.03);
  EXPECT_NEAR(slide(cube, plane, {}).x, expected, 0.03);
  EXPECT_NEAR(slide(cube, floor, {0, -0.5, 0}).x, expected, 0.03);
  // Over the edges between triangles, without catching on them.
  btTriangleMesh triangles;
  for (int i = -30; i < 30; ++i) {
    const auto at = [](int x, int z) {
      return btVector3(static_cast<btScalar>(x) / 10, 0, static_cast<btScalar>(z));
    };
    triangles.addTriangle(at(i, -1), at(i, 1), at(i + 1, -1));
    triangles.addTriangle(at(i + 1, -1), at(i, 1), at(i + 1, 1));
  }
  btBvhTriangleMeshShape mesh(&triangles, true);
  const Vec3 end = slide(cube, mesh, {});
  EXPECT_NEAR(end.x, expected, 0.03);
  EXPECT_NEAR(end.y, 0.25, 3e-3);
}

TEST(BulletDynamics, RollsAsASphereDoes) {
  // Down a slope of 10 degrees: a = 5/7 g sin.
  BulletWorld bullet;
  const double angle = 10 * kPi / 180;
  const SinCos slope = sin_cos(angle);
  btStaticPlaneShape plane(to_bullet(Vec3{slope.sin, slope.cos, 0}), 0);
  bullet.add(plane, 0).setFriction(1);
  IsotactShape ball = copy(ball_shape());
  const Vec3 up{slope.sin, slope.cos, 0}, down{slope.cos, -slope.sin, 0};
  btRigidBody& body = bullet.add(ball, 1, up * kBallRadius);
  body.setFriction(1);
  bullet.step(120);
  const double expected = 0.5 * (5.0 / 7) * 10 * slope.sin * 4;
  EXPECT_NEAR(dot(place(body), down), expected, 0.1 * expected);  // 3000 points: it has facets
  EXPECT_NEAR(dot(place(body), up), kBallRadius, 2e-3);
}

// SSL14, Figure 6 and Table 1: a ball of radius 0.5 m, its middle 1 m above a plane, at 200 Hz.
TEST(BulletDynamics, BouncesToTheRightHeight) {
  const auto ball = cook_bullet_shape(make_sphere({.radius = 0.5, .frequency = 24}),
                                      {.shape = {.field = {.resolution = 48}, .points = 6000}});
  for (const double e : {0.1, 0.5, 0.9})
    for (const bool on_box : {false, true}) {
      SCOPED_TRACE(e);
      BulletWorld bullet;
      btStaticPlaneShape plane({0, 1, 0}, 0);
      btBoxShape box({2, 0.5F, 2});
      if (on_box)
        bullet.add(box, 0, {0, -0.5, 0}).setRestitution(1);
      else
        bullet.add(plane, 0).setRestitution(1);
      btRigidBody& body = bullet.add(*ball, 1, {0, 1, 0});
      body.setRestitution(static_cast<btScalar>(e));
      double lowest = 1, peak = 0;
      bool rises = false;
      for (int i = 0; i < 300; ++i) {
        bullet.step(1, 1.0 / 200);
        const double y = place(body).y - 0.5;
        const bool now = body.getLinearVelocity().y() > 0;
        if (rises && !now) break;
        rises = now;
        lowest = std::min(lowest, y);
        if (rises) peak = std::max(peak, y);
      }
      EXPECT_NEAR(peak, e * e * 0.5, 0.05 * e * e * 0.5);
      EXPECT_GT(lowest, -0.016);  // the travel of one step
    }
}

TEST(BulletDynamics, WithoutRestitutionDoesNotBounce) {
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  IsotactShape ball = copy(ball_shape());
  btRigidBody& body = bullet.add(ball, 1, {0, 1, 0});
  double highest = 0;
  for (int i = 0; i < 120; ++i) {
    bullet.step(1);
    if (i > 30) highest = std::max(highest, place(body).y);
  }
  EXPECT_LT(highest, kBallRadius + 2e-3);
}

TEST(BulletDynamics, ContactsPersistAndKeepTheirImpulses) {
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  IsotactShape torus = copy(torus_shape());
  bullet.add(torus, 1, {0, kTube, 0});
  bullet.step(120);
  ASSERT_EQ(bullet.dispatcher.getNumManifolds(), 1);
  const btPersistentManifold& manifold = *bullet.dispatcher.getManifoldByIndexInternal(0);
  ASSERT_GE(manifold.getNumContacts(), 3);
  double impulse = 0;
  for (int i = 0; i < manifold.getNumContacts(); ++i) {
    EXPECT_GT(manifold.getContactPoint(i).getLifeTime(), 50);
    impulse += static_cast<double>(manifold.getContactPoint(i).getAppliedImpulse());
  }
  EXPECT_NEAR(impulse, 10.0 / 60, 0.01);  // its weight, a step
}

TEST(BulletDynamics, SegmentsHaveManifoldsOfTheirOwn) {
  const auto shape = cook_bullet_shape(
      Shape::from_parts(torus_shape().body().field, torus_shape().body().tree), {.patches = 15});
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  btRigidBody& body = bullet.add(*shape, 1, {0, 0.2, 0}, rotation_about({1, 0, 0.4}, 0.2));
  bullet.step(240);
  EXPECT_NEAR(place(body).y, kTube, 2e-3);
  EXPECT_GE(bullet.dispatcher.getNumManifolds(), 4);
  for (int i = 0; i < bullet.dispatcher.getNumManifolds(); ++i)
    EXPECT_LE(bullet.dispatcher.getManifoldByIndexInternal(i)->getNumContacts(), 1);
  // And none is left when they part.
  body.setWorldTransform(to_bullet(Pose{{}, {0, 0.4, 0}}));
  bullet.step(1);
  EXPECT_EQ(bullet.contact_count(), 0);
  EXPECT_LE(bullet.dispatcher.getNumManifolds(), 1);
}

TEST(BulletDynamics, FastBodiesDoNotTunnel) {
  IsotactShape torus = copy(torus_shape());
  torus.setLocalScaling({0.1F, 0.1F, 0.1F});
  const auto plate =
      cook_bullet_shape(make_box({.size_x = 2, .size_y = 0.02, .size_z = 2, .segments = 8}),
                        {.shape = {.field = {.voxel_size = 0.01}, .points = 4000}});
  btBoxShape box({1, 0.01F, 1});
  for (btCollisionShape* thin :
       {static_cast<btCollisionShape*>(&box), static_cast<btCollisionShape*>(plate.get())})
    for (int i = 0; i < 8; ++i) {
      BulletWorld bullet({0, 0, 0});
      bullet.add(*thin, 0);
      btRigidBody& body =
          bullet.add(torus, 1, {0.1, 1.0 + 0.21 * i, 0.05 * i}, rotation_about({1, 0.3, 0}, 0.7));
      body.setLinearVelocity({0, -100, 10});
      bullet.step(4);
      EXPECT_GT(place(body).y, 0) << i;
    }
}

TEST(BulletDynamics, FallsFromRemovedAndMovedBodiesWithoutTrace) {
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  IsotactShape torus = copy(torus_shape());
  btRigidBody& body = bullet.add(torus, 1, {0, kTube, 0});
  bullet.step(30);
  bullet.world.getBroadphase()->getOverlappingPairCache()->cleanProxyFromPairs(
      body.getBroadphaseProxy(), &bullet.dispatcher);
  EXPECT_EQ(bullet.dispatcher.getNumManifolds(), 0);
  bullet.step(30);
  EXPECT_NEAR(place(body).y, kTube, 2e-3);
  bullet.remove_last();
  EXPECT_EQ(bullet.dispatcher.getNumManifolds(), 0);
}

}  // namespace
}  // namespace isotact
