// What once went wrong, each with its story.
#include <algorithm>
#include <cmath>

#include <BulletCollision/CollisionShapes/btScaledBvhTriangleMeshShape.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

double energy_of(const btRigidBody& body) {
  const auto speed_sq = static_cast<double>(body.getLinearVelocity().length2());
  const btVector3 turn =
      body.getWorldTransform().getBasis().transpose() * body.getAngularVelocity();
  double twice = speed_sq;
  for (int i = 0; i < 3; ++i)
    twice += static_cast<double>(turn[i] * turn[i] / body.getInvInertiaDiagLocal()[i]);
  return twice / 2 + 10 * place(body).y;
}

// Tilted bodies that bounced with one point after the other came out with twice the energy.
TEST(BulletRegression, TiltedBouncesGainNothing) {
  Random random(71);
  int bounced = 0;
  for (int i = 0; i < unless_slow(12, 4); ++i) {
    BulletWorld bullet;
    btStaticPlaneShape plane({0, 1, 0}, 0);
    btRigidBody& ground = bullet.add(plane, 0);
    IsotactShape torus = copy(torus_shape());
    btRigidBody& body = bullet.add(torus, 1, {0, 1.5, 0}, random.rotation());
    for (btRigidBody* b : {&ground, &body}) b->setFriction(0), b->setRestitution(1);
    body.setRestitution(btScalar(0.9));
    const double before = energy_of(body);
    double lowest = 10;
    for (int step = 0; step < 180; ++step) {
      bullet.step(1);
      ASSERT_LT(energy_of(body), 1.1 * before) << i << " " << step;
      lowest = std::min(lowest, place(body).y);
      if (lowest < 0.6 && body.getLinearVelocity().y() > 1) {
        ++bounced;
        break;
      }
    }
  }
  EXPECT_GE(bounced, unless_slow(10, 3));
}

// Children of compounds lost their impact on the way: Bullet drops contacts in between.
TEST(BulletRegression, ChildrenOfCompoundsBounce) {
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0).setRestitution(1);
  IsotactShape ball = copy(ball_shape());
  btCompoundShape compound;
  compound.addChildShape(btTransform::getIdentity(), &ball);
  btRigidBody& body = bullet.add(compound, 1, {0, kBallRadius + 0.5, 0});
  body.setRestitution(btScalar(0.9));
  double highest = 0;
  bool has_hit = false;
  for (int step = 0; step < 60; ++step) {
    bullet.step(1);
    has_hit = has_hit || body.getLinearVelocity().y() > 0;
    if (has_hit) highest = std::max(highest, place(body).y - kBallRadius);
  }
  EXPECT_NEAR(highest, 0.81 * 0.5, 0.03);
}

// A ball that lies on the floor of a hollow body and goes at its wall was not looked for on its
// way.
TEST(BulletRegression, WhatTouchesIsStoppedByOtherPartsOfTheSameBody) {
  const auto tray = cook_bullet_shape(
      make_bowl({.radius = 1, .thickness = 0.05, .foot_radius = 0.2}),
      {.shape = {.field = {.resolution = 64}, .points = unless_slow(3000U, 1000U)}});
  BulletWorld bullet;
  bullet.add(*tray, 0);
  IsotactShape ball = copy(ball_shape());
  ball.setLocalScaling({0.5F, 0.5F, 0.5F});
  for (const double speed : {6.0, 12.0, 24.0}) {
    btRigidBody& body = bullet.add(ball, 1, {0, 0.15 + 0.001, 0});
    bullet.step(2);
    body.setLinearVelocity({static_cast<btScalar>(speed), 0, 0});
    for (int step = 0; step < 10; ++step) {
      bullet.step(1);
      // In the bowl, or above its rim.
      const Vec3 at = place(body) - Vec3{0, 1, 0};
      ASSERT_TRUE(at.y > -0.05 || length(at) < 1) << speed << " " << step;
    }
    bullet.remove_last();
  }
}

// A hull with another corner, or another box at the same address, was taken for the old one.
TEST(BulletRegression, ShapesThatChangeAreSeen) {
  BulletWorld bullet({0, 0, 0});
  btConvexHullShape hull;
  for (const double x : {-0.5, 0.5})
    for (const double z : {-0.5, 0.5})
      for (const double y : {-0.5, 0.0}) hull.addPoint(to_bullet(Vec3{x, y, z}));
  bullet.add(hull, 0);
  IsotactShape ball = copy(ball_shape());
  bullet.add(ball, 1, {0, 0.6, 0});
  bullet.step(1);
  EXPECT_EQ(bullet.contact_count(), 0);
  hull.addPoint({0, 0.6F, 0});
  bullet.step(1);
  EXPECT_GT(bullet.contact_count(), 0);
}

// A mirrored mesh was inside out.
TEST(BulletRegression, MirroredMeshesHold) {
  BulletWorld bullet;
  btTriangleMesh triangles;
  triangles.addTriangle({-2, 0, -2}, {-2, 0, 2}, {2, 0, -2});
  triangles.addTriangle({2, 0, -2}, {-2, 0, 2}, {2, 0, 2});
  btBvhTriangleMeshShape mesh(&triangles, true);
  btScaledBvhTriangleMeshShape mirrored(&mesh, {1, 1, -1});
  bullet.add(mirrored, 0);
  IsotactShape ball = copy(ball_shape());
  btRigidBody& body = bullet.add(ball, 1, {0.3, 0.4, 0.1});
  bullet.step(120);
  EXPECT_NEAR(place(body).y, kBallRadius, 0.01);
}

// Open meshes had negative moments of inertia, and flew away.
TEST(BulletRegression, InertiaIsThatOfABody) {
  TriangleMesh half = make_sphere({.radius = 0.2, .frequency = 12});
  std::erase_if(half.triangles, [&](const Triangle& t) { return half.positions[t[0]].y > 0.1F; });
  const auto shape = cook_bullet_shape(half, {.shape = {.field = {.resolution = 32}}});
  const BodyInfo info = make_body_info(*shape, {.density = 1000});
  EXPECT_GT(info.inertia.x(), 0);
  EXPECT_GT(info.inertia.y(), 0);
  EXPECT_GT(info.inertia.z(), 0);
  EXPECT_FALSE(shape->warnings().empty());  // a hole was closed
  MassProperties broken;
  broken.volume = broken.mass = 1;
  broken.principal_moments = {-1, 1, 1};
  const auto points =
      cook_bullet_shape(Shape::from_parts({.tree = shape->body().tree, .mass = broken}));
  EXPECT_THROW(make_body_info(*points, {.mass = 1.0}), Error);
}

// GImpact's compounds have the type of its meshes, and no triangles: bodies fell through in
// silence.
TEST(BulletRegression, CompoundsOfGImpactAreAnError) {
  std::string said;
  set_bullet_error_handler([&](const std::string& text) { said += text; });
  {
    BulletWorld bullet;
    btGImpactCompoundShape compound;
    btBoxShape box({1, 1, 1});
    compound.addChildShape(btTransform::getIdentity(), &box);
    compound.updateBound();
    bullet.add(compound, 0);
    IsotactShape ball = copy(ball_shape());
    bullet.add(ball, 1, {0, 1.1, 0});
    bullet.step(3);
  }
  set_bullet_error_handler({});
  EXPECT_NE(said.find("no contact"), std::string::npos) << said;
}

}  // namespace
}  // namespace isotact
