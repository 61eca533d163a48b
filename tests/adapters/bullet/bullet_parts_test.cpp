// Parts of Bullet other than steps: queries, files, drawing, ghosts, characters.
#include <cmath>

#include <BulletCollision/CollisionDispatch/btGhostObject.h>
#include <BulletDynamics/Character/btKinematicCharacterController.h>
#include <LinearMath/btIDebugDraw.h>
#include <LinearMath/btSerializer.h>
#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/io/asset.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "support/scratch_folder.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

struct DeepestOfPair final : btCollisionWorld::ContactResultCallback {
  btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper*, int, int,
                           const btCollisionObjectWrapper*, int, int) override {
    distance = std::min(distance, static_cast<double>(point.getDistance()));
    return 0;
  }
  double distance = 1e9;
};

double pair_distance(BulletWorld& bullet, const IsotactShape& a, const Pose& pose_a,
                     const IsotactShape& b, const Pose& pose_b, double threshold) {
  IsotactShape shape_a = copy(a), shape_b = copy(b);
  btCollisionObject first, second;
  first.setCollisionShape(&shape_a), second.setCollisionShape(&shape_b);
  first.setWorldTransform(to_bullet(pose_a)), second.setWorldTransform(to_bullet(pose_b));
  bullet.world.addCollisionObject(&first), bullet.world.addCollisionObject(&second);
  DeepestOfPair deepest;
  deepest.m_closestDistanceThreshold = static_cast<btScalar>(threshold);
  bullet.world.contactPairTest(&first, &second, deepest);
  bullet.world.removeCollisionObject(&first), bullet.world.removeCollisionObject(&second);
  return deepest.distance;
}

TEST(BulletParts, PairsHaveTheDepthOfCollide) {
  BulletWorld bullet;
  Random random(31);
  int touching = 0;
  for (int i = 0; i < 40; ++i) {
    const IsotactShape &a = i % 2 == 0 ? torus_shape() : cube_shape(), &b = torus_shape();
    const Pose pose_a{random.rotation(), {}};
    const Pose pose_b{random.rotation(), random.in_unit_ball() * 0.6};
    const CollideResult r =
        collide(a.body().shape, pose_a, b.body().shape, pose_b, {.accuracy = Accuracy::kField});
    if (r.contacts.empty()) continue;
    double depth = 0;
    for (const Contact& c : r.contacts) depth = std::max(depth, c.depth);
    if (depth < 1e-3) continue;
    ++touching;
    EXPECT_NEAR(-pair_distance(bullet, a, pose_a, b, pose_b, 0), depth, 1e-5 + 1e-3 * depth);
  }
  EXPECT_GT(touching, 10);
}

// Also far beyond the padding of the fields.
TEST(BulletParts, PairsHaveTheirTrueDistance) {
  BulletWorld bullet;
  Random random(32);
  for (int i = 0; i < 20; ++i) {
    const Pose pose_a{random.rotation(), {}};
    const Pose pose_b{random.rotation(), random.unit_vector() * random.uniform(1.1, 2)};
    const DistanceResult r =
        distance(torus_shape().body().shape, pose_a, cube_shape().body().shape, pose_b);
    ASSERT_GT(r.distance, 0);
    EXPECT_NEAR(pair_distance(bullet, torus_shape(), pose_a, cube_shape(), pose_b, 3), r.distance,
                1e-5);
    EXPECT_GT(pair_distance(bullet, torus_shape(), pose_a, cube_shape(), pose_b, 0.9 * r.distance),
              1e8);
  }
}

TEST(BulletParts, SweepsHitWhereTheyDoOnTriangles) {
  const TriangleMesh& mesh = *torus_shape().body().mesh;
  btTriangleMesh triangles;
  for (const auto& t : mesh.triangles) {
    const auto corner = [&](std::size_t i) { return to_bullet(to_double(mesh.positions[t[i]])); };
    triangles.addTriangle(corner(0), corner(1), corner(2));
  }
  btBvhTriangleMeshShape theirs(&triangles, true);
  IsotactShape ours = copy(torus_shape());
  BulletWorld bullet[2];
  btCollisionObject objects[2];
  objects[0].setCollisionShape(&ours), objects[1].setCollisionShape(&theirs);
  for (int w = 0; w < 2; ++w) bullet[w].world.addCollisionObject(&objects[w]);
  btBoxShape box({0.05F, 0.02F, 0.08F});
  btSphereShape ball(0.03F);
  Random random(33);
  int hits = 0;
  for (int i = 0; i < unless_slow(60, 6); ++i) {
    const Vec3 way = random.unit_vector(), aim = random.in_unit_ball() * 0.5;
    const btTransform from = to_bullet(Pose{random.rotation(), aim - way * 2.0});
    btTransform to = from;
    to.setOrigin(to_bullet(aim + way * 2.0));
    const btConvexShape* shape = &ball;
    if (i % 2 == 0) shape = &box;
    double fraction[2];
    for (int w = 0; w < 2; ++w) {
      btCollisionWorld::ClosestConvexResultCallback first(from.getOrigin(), to.getOrigin());
      bullet[w].world.convexSweepTest(shape, from, to, first);
      fraction[w] = static_cast<double>(first.m_closestHitFraction);
    }
    hits += fraction[1] < 1 ? 1 : 0;
    EXPECT_NEAR(fraction[0], fraction[1], 2e-4) << i;
  }
  EXPECT_GT(hits, unless_slow(15, 1));
  for (int w = 0; w < 2; ++w) bullet[w].world.removeCollisionObject(&objects[w]);
}

void write_ring(const std::string& path, int resolution) {
  const Shape ring =
      Shape::from_mesh(make_torus({}), {.field = {.resolution = resolution}, .points = 500});
  Asset asset;
  asset.field = ring.field();
  set_point_sphere_tree(asset, *ring.tree());
  write_asset(path, asset);
}

TEST(BulletParts, FilesHaveTheAssetAndItsHash) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "ring one.isotact").string();
  write_ring(path, 32);
  IsotactShape ring(cook_bullet_shape(read_asset(path))->shared_body(),
                    {rotation_about({1, 2, 3}, 0.5), {0.1, 0.2, 0.3}});
  ring.set_asset(path);
  ring.setLocalScaling({2, 2, 2});
  ring.setMargin(btScalar(0.01));
  BulletWorld bullet;
  bullet.add(ring, 1, {0, 1, 0});
  btDefaultSerializer serializer;
  bullet.world.serialize(&serializer);
  const std::span bytes(reinterpret_cast<const std::byte*>(serializer.getBufferPointer()),
                        static_cast<std::size_t>(serializer.getCurrentBufferSize()));
  const std::vector<SerializedShape> shapes = load_serialized_shapes(bytes);
  ASSERT_EQ(shapes.size(), 1U);
  btVector3 lower[2], upper[2];
  ring.getAabb(btTransform::getIdentity(), lower[0], upper[0]);
  shapes[0].shape->getAabb(btTransform::getIdentity(), lower[1], upper[1]);
  EXPECT_LT((lower[0] - lower[1]).length(), 1e-5F);
  EXPECT_LT((upper[0] - upper[1]).length(), 1e-5F);
  // Damage is an error, wherever it is.
  const std::string name = shapes[0].name;
  for (std::size_t i = 0; i < name.size(); i += 3) {
    std::string damaged = name.substr(0, i);
    EXPECT_THROW(load_serialized_shape(damaged), Error) << i;
  }
  write_ring(path, 24);
  EXPECT_THROW(load_serialized_shape(name), Error);
  bullet.remove_last();
}

TEST(BulletParts, AFileWithoutAssetIsReported) {
  forget_bullet_errors();
  std::string said;
  set_bullet_error_handler([&](const std::string& message) { said += message; });
  IsotactShape torus = copy(torus_shape());
  BulletWorld bullet;
  bullet.add(torus, 1);
  btDefaultSerializer serializer;
  bullet.world.serialize(&serializer);
  set_bullet_error_handler({});
  EXPECT_NE(said.find("set_asset"), std::string::npos);
  bullet.remove_last();
}

class LineCounter final : public btIDebugDraw {
 public:
  void drawLine(const btVector3& from, const btVector3& to, const btVector3&) override {
    ++lines;
    farthest = std::max({farthest, from.length(), to.length()});
  }
  void drawContactPoint(const btVector3&, const btVector3&, btScalar, int,
                        const btVector3&) override {}
  void reportErrorWarning(const char*) override {}
  void draw3dText(const btVector3&, const char*) override {}
  void setDebugMode(int) override {}
  int getDebugMode() const override { return DBG_DrawWireframe; }
  int lines = 0;
  btScalar farthest = 0;
};

TEST(BulletParts, IsDrawnAsItsTriangles) {
  BulletWorld bullet;
  IsotactShape torus = copy(torus_shape());
  torus.setLocalScaling({2, 2, 2});
  bullet.add(torus, 0);
  LineCounter lines;
  bullet.world.setDebugDrawer(&lines);
  bullet.world.debugDrawWorld();
  // Three of each triangle; some of Bullet's also draw the normal.
  EXPECT_GE(lines.lines, 3 * static_cast<int>(torus.body().mesh->triangles.size()));
  EXPECT_NEAR(lines.farthest, 1, 0.05);
  bullet.world.setDebugDrawer(nullptr);
  bullet.remove_last();
}

TEST(BulletParts, GhostsSeeIt) {
  BulletWorld bullet({0, 0, 0});
  btGhostPairCallback callback;
  bullet.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(&callback);
  IsotactShape torus = copy(torus_shape());
  btRigidBody& body = bullet.add(torus, 1, {0, 0, 2});
  IsotactShape area = copy(cube_shape());
  btPairCachingGhostObject ghost;
  ghost.setCollisionShape(&area);
  ghost.setCollisionFlags(btCollisionObject::CF_NO_CONTACT_RESPONSE);
  bullet.world.addCollisionObject(&ghost);
  bullet.step(1);
  EXPECT_EQ(ghost.getNumOverlappingObjects(), 0);
  body.setWorldTransform(to_bullet(Pose{{}, {0.5, 0, 0}}));  // Its tube is in the cube.
  bullet.step(2);
  EXPECT_EQ(ghost.getNumOverlappingObjects(), 1);
  EXPECT_GT(bullet.contact_count(), 0);
  EXPECT_NEAR(static_cast<double>(body.getLinearVelocity().length()), 0, 1e-6);  // No response.
  bullet.world.removeCollisionObject(&ghost);
  bullet.remove_last();
  bullet.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(nullptr);
}

// Where a character stands on a floor of 4 m, and where it stops before a post of half a metre.
struct Walk {
  Vec3 standing{}, walking{}, stopped{};
};
Walk walk(btCollisionShape& floor, btCollisionShape& post) {
  BulletWorld bullet;
  btGhostPairCallback callback;
  bullet.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(&callback);
  bullet.add(floor, 0, {0, -2, 0});
  bullet.add(post, 0, {1, 0.25, 0});
  btCapsuleShape capsule(0.1F, 0.3F);
  btPairCachingGhostObject ghost;
  ghost.setCollisionShape(&capsule);
  ghost.setCollisionFlags(btCollisionObject::CF_CHARACTER_OBJECT);
  ghost.setWorldTransform(to_bullet(Pose{{}, {-1, 0.3, 0}}));
  btKinematicCharacterController walker(&ghost, &capsule, btScalar(0.05), {0, 1, 0});
  walker.setGravity({0, -10, 0});
  bullet.world.addCollisionObject(&ghost, btBroadphaseProxy::CharacterFilter,
                                  btBroadphaseProxy::AllFilter);
  bullet.world.addAction(&walker);
  Walk result;
  bullet.step(30);
  result.standing = place(ghost);
  walker.setWalkDirection({0.02F, 0, 0});
  bullet.step(60);
  result.walking = place(ghost);
  bullet.step(120);
  result.stopped = place(ghost);
  bullet.world.removeAction(&walker);
  bullet.world.removeCollisionObject(&ghost);
  bullet.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(nullptr);
  return result;
}

TEST(BulletParts, CharactersWalkAsOnBulletsBoxes) {
  IsotactShape floor = copy(cube_shape()), post = copy(cube_shape());
  floor.setLocalScaling({8, 8, 8});
  btBoxShape box_floor({2, 2, 2}), box_post({0.25F, 0.25F, 0.25F});
  const Walk ours = walk(floor, post), boxes = walk(box_floor, box_post);
  EXPECT_LT(length(ours.standing - boxes.standing), 0.01);
  EXPECT_LT(length(ours.walking - boxes.walking), 0.02);
  EXPECT_LT(length(ours.stopped - boxes.stopped), 0.03);
  EXPECT_GT(ours.walking.x, -0.5);
  EXPECT_LT(ours.stopped.x, 0.75);
}

}  // namespace
}  // namespace isotact
