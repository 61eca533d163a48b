// Shapes by themselves: boxes, scaling, inertia, triangles, rays and sweeps; cooking; bodies.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/pointshell/asset_section.h"

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

TEST(BulletShape, BoxHoldsTheBody) {
  IsotactShape torus = copy(torus_shape());
  torus.setLocalScaling({2, 2, 2});
  torus.setMargin(btScalar(0.1));
  btVector3 lower, upper;
  torus.getAabb(to_bullet(Pose{{}, {1, 2, 3}}), lower, upper);
  EXPECT_NEAR(static_cast<double>(lower.y()), 2 - 0.25 - 0.1, 1e-3);
  EXPECT_NEAR(static_cast<double>(upper.x()), 1 + 1.0 + 0.1, 1e-2);
  EXPECT_EQ(torus.getShapeType(), FAST_CONCAVE_MESH_PROXYTYPE);
  EXPECT_TRUE(torus.isConcave());
}

TEST(BulletShape, RefusesScalingThatIsNone) {
  forget_bullet_errors();
  int said = 0;
  set_bullet_error_handler([&](const std::string&) { ++said; });
  IsotactShape torus = copy(torus_shape());
  torus.setLocalScaling({2, 2, 2});
  torus.setLocalScaling({1, 0, 1});
  torus.setLocalScaling({1, 0, 1});
  torus.setLocalScaling({0, 0, 0});
  // A pointshell alone has nothing to cook.
  const auto points = cook_bullet_shape(Shape::from_parts({.tree = torus_shape().body().tree}));
  points->setLocalScaling({1, 2, 1});
  set_bullet_error_handler({});
  EXPECT_EQ(said, 3);
  EXPECT_EQ(torus.scale(), 2);
  EXPECT_EQ(torus.getLocalScaling(), btVector3(2, 2, 2));
  EXPECT_EQ(points->getLocalScaling(), btVector3(1, 1, 1));
}

TEST(BulletShape, OtherThanUniformScalingIsCookedAnew) {
  const auto cube = cook_bullet_shape(make_box({.size_x = 0.4, .size_y = 0.4, .size_z = 0.4}),
                                      {.shape = {.field = {.resolution = 32}, .points = 800}});
  IsotactShape turned(cube->shared_body(), {{}, {0.1, 0, 0}});
  turned.setLocalScaling({-2, 1, 0.5F});  // From 0.1 to -0.2, and mirrored.
  btVector3 lower, upper;
  turned.getAabb(btTransform::getIdentity(), lower, upper);
  EXPECT_NEAR(lower.x(), -0.6, 2e-3);
  EXPECT_NEAR(upper.x(), 0.2, 2e-3);
  EXPECT_NEAR(upper.y(), 0.2, 2e-3);
  EXPECT_NEAR(upper.z(), 0.1, 2e-3);
  // Not inside out.
  btVector3 inertia;
  turned.calculateLocalInertia(1, inertia);
  EXPECT_NEAR(turned.body().mass->volume, 0.8 * 0.4 * 0.2, 1e-5);
  EXPECT_LT(turned.body().target->sample({-0.2, 0, 0}, {}).distance, -0.09);
  const auto body = turned.shared_body();
  turned.setLocalScaling({-2, 1, 0.5F});
  EXPECT_EQ(turned.shared_body(), body);  // Cooked once.
  turned.setLocalScaling({2, 2, 2});
  EXPECT_EQ(turned.shared_body(), cube->shared_body());
  // Children of compounds keep their places: all or none is scaled.
  btCompoundShape pair;
  IsotactShape child(cube->shared_body());
  pair.addChildShape(to_bullet(Pose{{}, {1, 0, 0}}), &child);
  pair.setLocalScaling({2, 1, 1});
  pair.getAabb(btTransform::getIdentity(), lower, upper);
  EXPECT_NEAR(upper.x(), 2.4, 0.02);
  EXPECT_NEAR(lower.x(), 1.6, 0.02);
}

TEST(BulletShape, InertiaIsThatOfTheSolid) {
  const auto plank = cook_bullet_shape(make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.2}),
                                       {.shape = {.field = {.resolution = 32}}});
  btBoxShape box({1, 0.4F, 0.2F});
  plank->setLocalScaling({2, 2, 2});
  btVector3 ours, theirs;
  plank->calculateLocalInertia(3, ours);
  box.calculateLocalInertia(3, theirs);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(ours[i]), static_cast<double>(theirs[i]), 1e-4);
  // Without mesh, from the field.
  const auto again = cook_bullet_shape(Shape::from_parts({.field = plank->body().field}));
  again->setLocalScaling({2, 2, 2});
  again->calculateLocalInertia(3, ours);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(ours[i]), static_cast<double>(theirs[i]),
                0.1 * static_cast<double>(theirs[i]));  // edges are cut at 32 cells
}

// Turned and shifted, it must move as the same body cooked in its principal frame does.
TEST(BulletShape, BodiesHaveTheirCentreAndAxes) {
  TriangleMesh mesh = make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.2});
  const Pose odd{rotation_about({1, 2, 3}, 1.0), {3, -1, 2}};
  for (Vec3f& p : mesh.positions) p = to_float(transform_point(odd, to_double(p)));
  const auto cooked = cook_bullet_shape(mesh, {.shape = {.field = {.resolution = 32}}});
  cooked->setLocalScaling({0.5F, 0.5F, 0.5F});
  const BodyInfo info = make_body_info(*cooked, {.density = 1000});
  EXPECT_NEAR(static_cast<double>(info.mass), 1000 * 0.08 / 8, 1e-3);
  const double m = static_cast<double>(info.mass);
  EXPECT_NEAR(static_cast<double>(info.inertia.x()), m / 12 * (0.04 + 0.01), 1e-3);
  EXPECT_NEAR(static_cast<double>(info.inertia.z()), m / 12 * (0.25 + 0.04), 1e-3);
  btVector3 lower, upper;
  info.shape->getAabb(btTransform::getIdentity(), lower, upper);
  EXPECT_NEAR(static_cast<double>((lower + upper).length()), 0, 1e-5);
  EXPECT_NEAR(static_cast<double>(upper.z()), 0.05, 1e-4);  // moments ascend: x is the longest
  // The motion state gives the pose of the mesh.
  const Pose world_from_mesh{rotation_about({0, 1, 0}, 0.3), {1, 1, 1}};
  btDefaultMotionState state(to_bullet(world_from_mesh), info.center_of_mass_offset());
  btTransform body;
  state.getWorldTransform(body);
  EXPECT_LT(length(from_bullet(body.getOrigin()) -
                   transform_point(world_from_mesh, odd.translation * 0.5)),
            1e-5);
  EXPECT_LT(length(info.world_from_mesh(body).translation - world_from_mesh.translation), 1e-5);
  EXPECT_THROW(make_body_info(*cook_bullet_shape(Shape::from_parts({.tree = cooked->body().tree}))),
               Error);
}

TEST(BulletShape, RaysHitTheMesh) {
  BulletWorld bullet;
  IsotactShape torus = copy(torus_shape());
  torus.setLocalScaling({2, 2, 2});
  const Pose pose{rotation_about({1, 1, 0}, 0.8), {0.5, 0.2, 0}};
  bullet.add(torus, 0, pose.translation, pose.rotation);
  const Bvh bvh(*torus.body().mesh);
  Random random(2);
  int hits = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3 from = pose.translation + random.unit_vector() * 3.0;
    const Vec3 to = pose.translation + random.in_unit_ball() * 1.2 - (from - pose.translation);
    btCollisionWorld::ClosestRayResultCallback ray(to_bullet(from), to_bullet(to));
    bullet.world.rayTest(to_bullet(from), to_bullet(to), ray);
    const Vec3f a = to_float(transform_point(inverse(pose), from) / 2.0);
    const Vec3f b = to_float(transform_point(inverse(pose), to) / 2.0);
    const RayHit truth = find_first_hit(bvh, {.origin = a, .direction = b - a, .t_max = 1});
    ASSERT_EQ(ray.hasHit(), truth.triangle != kNoTriangle) << i;
    if (!ray.hasHit()) continue;
    ++hits;
    EXPECT_NEAR(static_cast<double>(ray.m_closestHitFraction), static_cast<double>(truth.t), 1e-4);
    btCollisionWorld::AllHitsRayResultCallback all(to_bullet(from), to_bullet(to));
    bullet.world.rayTest(to_bullet(from), to_bullet(to), all);
    EXPECT_GE(all.m_hitFractions.size(), 2);  // in and out
  }
  EXPECT_GT(hits, 60);
  EXPECT_LT(hits, 290);
}

TEST(BulletShape, SweepsStopAtTheMesh) {
  BulletWorld bullet;
  IsotactShape cube = copy(cube_shape());
  bullet.add(cube, 0);
  btSphereShape ball(btScalar(0.1));
  for (const double x : {0.0, 0.1, 0.2, 0.5}) {
    const btTransform from = to_bullet(Pose{{}, {x, 2, 0}}), to = to_bullet(Pose{{}, {x, -2, 0}});
    btCollisionWorld::ClosestConvexResultCallback sweep(from.getOrigin(), to.getOrigin());
    bullet.world.convexSweepTest(&ball, from, to, sweep);
    ASSERT_EQ(sweep.hasHit(), x < 0.3);
    if (sweep.hasHit()) {
      EXPECT_NEAR(static_cast<double>(sweep.m_closestHitFraction), (2 - 0.35) / 4, 5e-3);
    }
  }
}

TEST(BulletShape, TrianglesInABox) {
  struct Count final : btTriangleCallback {
    void processTriangle(btVector3*, int, int) override { ++count; }
    int count = 0;
  } all, few;
  const IsotactShape& torus = torus_shape();
  torus.processAllTriangles(&all, {-1e18F, -1e18F, -1e18F}, {1e18F, 1e18F, 1e18F});
  torus.processAllTriangles(&few, {0.3F, -1, -0.1F}, {1, 1, 0.1F});
  EXPECT_EQ(all.count, static_cast<int>(torus.body().mesh->triangles.size()));
  EXPECT_GT(few.count, 10);
  EXPECT_LT(few.count, all.count / 4);
}

TEST(BulletShape, CooksBulletsMeshes) {
  const TriangleMesh mesh = make_torus({.segments = 24, .tube_segments = 12});
  btTriangleMesh made;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    made.addTriangle(to_bullet(to_double(c[0])), to_bullet(to_double(c[1])),
                     to_bullet(to_double(c[2])));
  }
  EXPECT_EQ(from_bullet(made).positions.size(), mesh.positions.size());
  made.setScaling({2, 2, 2});
  const auto shape = cook_bullet_shape(made, {.shape = {.field = {.resolution = 32}}});
  EXPECT_NEAR(shape->body().ball.radius, 2 * std::sqrt(0.25 + 0.25 + 0.125 * 0.125), 0.02);
  ASSERT_TRUE(shape->body().mass);
  EXPECT_EQ(shape->body().mass->status, MassStatus::kSolid);
}

// The three kinds of SSL14, and assets.
TEST(BulletShape, PointsFieldsAndVoxmapsMeetEachOther) {
  const TriangleMesh mesh = make_sphere({.radius = kBallRadius, .frequency = 12});
  const Voxmap map = build_voxmap(mesh, voxmap_lattice(to_double(bounds(mesh)), 0.01),
                                  {.encoding = VoxmapEncoding::kSupport})
                         .voxmap;
  const auto points = cook_bullet_shape(Shape::from_parts({.tree = ball_shape().body().tree}));
  const auto field = cook_bullet_shape(Shape::from_parts({.field = ball_shape().body().field}));
  const auto voxmap = cook_bullet_shape(Shape::from_parts({.voxmap = map}));
  Asset asset;
  asset.field = ball_shape().body().field;
  set_point_sphere_tree(asset, *ball_shape().body().tree);
  const auto mixed = cook_bullet_shape(asset);
  btStaticPlaneShape plane({0, 1, 0}, 0);
  for (IsotactShape* solid : {field.get(), voxmap.get(), mixed.get()})
    for (const bool exchanged : {false, true}) {
      BulletWorld bullet({0, 0, 0});
      btCollisionShape *a = points.get(), *b = solid;
      if (exchanged) std::swap(a, b);
      btRigidBody& moving = bullet.add(*a, 1, {0, 2 * kBallRadius - 0.01, 0});
      bullet.add(*b, 0);
      bullet.step(1);
      ASSERT_GT(bullet.contact_count(), 0);
      const btManifoldPoint& p =
          bullet.dispatcher.getManifoldByIndexInternal(0)->getContactPoint(0);
      EXPECT_NEAR(static_cast<double>(p.getDistance()), -0.01, 2e-3);
      EXPECT_GT(moving.getLinearVelocity().y(), 0);
    }
  // Triangles of a voxelmap's isosurface, for rays.
  EXPECT_GT(voxmap->body().surface().mesh->triangles.size(), 100U);
}

// Fields alone fell through each other with a message, and through faces without.
TEST(BulletShape, FieldsAloneGetPointsWhenTheyMeet) {
  std::vector<std::string> said;
  forget_bullet_errors();
  set_bullet_error_handler([&](const std::string& message) { said.push_back(message); });
  const auto field = cook_bullet_shape(Shape::from_parts({.field = ball_shape().body().field}));
  const auto other = cook_bullet_shape(Shape::from_parts({.field = ball_shape().body().field}));
  EXPECT_FALSE(field->body().tree);
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btBoxShape box({5, 1, 5});
  btTriangleMesh triangles;
  triangles.addTriangle({-20, 0, -20}, {0, 0, 20}, {20, 0, -20});
  btBvhTriangleMeshShape floor(&triangles, true);
  struct Below {
    btCollisionShape* shape;
    double top;
  };
  for (const Below& below :
       {Below{other.get(), kBallRadius}, {&plane, 0}, {&box, 1}, {&floor, 0}}) {
    SCOPED_TRACE(below.shape->getName());
    for (const bool exchanged : {false, true}) {
      BulletWorld bullet;
      const Vec3 start{0, below.top + kBallRadius + 0.02, 0};
      if (exchanged) bullet.add(*below.shape, 0);
      btRigidBody& ball = bullet.add(*field, 1, start);
      if (!exchanged) bullet.add(*below.shape, 0);
      bullet.step(15);  // A ball does not stay on a ball for long.
      EXPECT_GT(bullet.contact_count(), 0);
      EXPECT_NEAR(place(ball).y, below.top + kBallRadius, 5e-3);
    }
  }
  EXPECT_TRUE(said.empty()) << said[0];
  set_bullet_error_handler({});
}

// Exact shapes without baking beforehand: points and cells are made when they are cooked.
TEST(BulletShape, AnalyticShapesRestOnBulletsPlane) {
  const auto cup =
      cook_bullet_shape(Shape::from_analytic(Difference{CylinderField{.radius = 0.1, .height = 0.2},
                                                        CylinderField{{0, 0.02, 0}, 0.08, 0.2}},
                                             {.field = {.resolution = 48}, .spacing = 0.02}));
  ASSERT_TRUE(cup->body().tree && cup->body().mass);
  EXPECT_NEAR(cup->body().mass->volume, 3.14159 * (0.01 * 0.2 - 0.0064 * 0.18), 1e-4);
  BulletWorld bullet;
  btStaticPlaneShape plane({0, 1, 0}, 0);
  bullet.add(plane, 0);
  btRigidBody& body = bullet.add(*cup, 1, {0, 0.12, 0});
  bullet.step(120);
  EXPECT_NEAR(place(body).y, 0.1, 2e-3);
}

TEST(BulletShape, SettingsOutOfRangeThrow) {
  const Shape parts = Shape::from_parts({.tree = ball_shape().body().tree});
  EXPECT_THROW(cook_bullet_shape(parts, {.margin = -1}), Error);
  EXPECT_THROW(cook_bullet_shape(parts, {.patches = 0}), Error);
  EXPECT_THROW(cook_bullet_shape(parts, {.points_per_manifold = 5}), Error);
  EXPECT_THROW(cook_bullet_shape(Shape::from_analytic(PlaneField{})), Error);
}

}  // namespace
}  // namespace isotact
