#include "mdl06/scene_octree.h"

#include <gtest/gtest.h>

#include "queries/deformable/wandering.h"

namespace isotact {
namespace {

Aabb around(const Vec3& at, double half) {
  return {at - Vec3{half, half, half}, at + Vec3{half, half, half}};
}

TEST(SceneOctree, ExpandsAndReducesStepByStep) {
  SceneOctree scene({.center = {4, 4, 4}, .size = 8, .max_level = 3});
  const ObjectHandle a = scene.insert(around({1, 1, 1}, 0.2));
  scene.step();
  EXPECT_EQ(scene.work().regions, 1U);  // alone: the root
  const ObjectHandle b = scene.insert(around({7, 7, 7}, 0.2));
  scene.step();
  EXPECT_EQ(scene.work().regions, 9U);
  EXPECT_EQ(scene.work().deepest, 1U);
  EXPECT_EQ(scene.work().pair_tests, 0U);
  scene.update(b, around({3, 3, 3}, 0.2));  // the same octant
  scene.step();
  EXPECT_EQ(scene.work().regions, 17U);
  EXPECT_EQ(scene.work().expanded, 1U);
  scene.update(b, around({1.6, 1, 1}, 0.2));  // neighbours on the last level
  scene.step();
  EXPECT_EQ(scene.work().deepest, 3U);
  EXPECT_EQ(scene.work().regions, 25U);
  EXPECT_TRUE(scene.pairs().empty());
  scene.update(b, around({1.3, 1, 1}, 0.2));
  scene.step();
  EXPECT_EQ(scene.begun().size(), 1U);
  scene.update(b, around({7, 1, 1}, 0.2));
  scene.step();
  EXPECT_EQ(scene.ended().size(), 1U);
  EXPECT_EQ(scene.work().regions, 9U);
  EXPECT_EQ(scene.work().reduced, 2U);
  scene.remove(a);
  scene.step();
  EXPECT_EQ(scene.work().regions, 1U);
}

TEST(SceneOctree, LevelLimitsChangeTheWorkNotThePairs) {
  BruteForceBroadPhase truth;
  Wanderers scene({.count = 150, .side = 10, .speed = 0.2}, 2);
  std::vector<std::unique_ptr<SceneOctree>> octrees;
  for (int level = 0; level <= 5; ++level)
    octrees.push_back(std::make_unique<SceneOctree>(
        SceneOctreeSettings{.center = {5, 5, 5}, .size = 10, .max_level = level}));
  for (const Aabb& box : scene.boxes) {
    truth.insert(box);
    for (const auto& octree : octrees) octree->insert(box);
  }
  for (int frame = 0; frame < 10; ++frame) {
    truth.step();
    for (std::size_t level = 0; level < octrees.size(); ++level) {
      octrees[level]->step();
      ASSERT_NO_FATAL_FAILURE(expect_same_pairs(*octrees[level], truth)) << level;
      EXPECT_LE(octrees[level]->work().deepest, level);
      EXPECT_EQ(octrees[level]->work().regions == 1, level == 0);
    }
    EXPECT_LT(octrees[2]->work().pair_tests, octrees[0]->work().pair_tests / 2);
    scene.step();
    for (ObjectHandle i = 0; i < scene.boxes.size(); ++i) {
      truth.update(i, scene.boxes[i]);
      for (const auto& octree : octrees) octree->update(i, scene.boxes[i]);
    }
  }
}

// Regions tile the root; each has the objects that overlap it, and no others.
TEST(SceneOctree, RegionsHaveTheirObjects) {
  SceneOctree octree({.center = {5, 5, 5}, .size = 10, .max_level = 4});
  Wanderers scene({.count = 60, .side = 10, .speed = 0.3, .least_size = 0.1, .most_size = 2}, 4);
  for (const Aabb& box : scene.boxes) octree.insert(box);
  for (int frame = 0; frame < 30; ++frame) {
    octree.step();
    double volume = 0;
    for (const SceneOctree::Leaf& leaf : octree.leaves()) {
      const Vec3 e = extent(leaf.box);
      volume += e.x * e.y * e.z;
      std::vector<ObjectHandle> got(leaf.objects.begin(), leaf.objects.end()), want;
      for (ObjectHandle i = 0; i < scene.boxes.size(); ++i)
        if (overlaps(scene.boxes[i], leaf.box)) want.push_back(i);
      std::sort(got.begin(), got.end());
      ASSERT_EQ(got, want);
      if (leaf.level < 4 && got.size() > 1)  // nothing could be told apart in it
        for (const ObjectHandle i : got) {
          const Vec3 in = clamp_to(scene.boxes[i], leaf.box.lower) - leaf.box.lower;
          ASSERT_EQ(length_sq(in), 0);
        }
    }
    ASSERT_NEAR(volume, 1000, 1e-9);
    scene.step();
    for (ObjectHandle i = 0; i < scene.boxes.size(); ++i) octree.update(i, scene.boxes[i]);
  }
}

TEST(SceneOctree, ObjectsOutsideOfTheRoot) {
  BruteForceBroadPhase truth;
  SceneOctree octree({.center = {5, 5, 5}, .size = 7, .max_level = 3});
  Wanderers scene({.count = 120, .side = 10, .speed = 0.3}, 6);
  for (const Aabb& box : scene.boxes) {
    truth.insert(box);
    octree.insert(box);
  }
  for (int frame = 0; frame < 40; ++frame) {
    truth.step();
    octree.step();
    ASSERT_NO_FATAL_FAILURE(expect_same_pairs(octree, truth));
    EXPECT_GT(octree.work().outside, 20U);
    EXPECT_LT(octree.work().outside, 120U);
    scene.step();
    for (ObjectHandle i = 0; i < scene.boxes.size(); ++i) {
      truth.update(i, scene.boxes[i]);
      octree.update(i, scene.boxes[i]);
    }
  }
}

TEST(SceneOctree, LevelForObjects) {
  EXPECT_EQ(SceneOctree::level_for(8, 10), 0);
  EXPECT_EQ(SceneOctree::level_for(8, 4), 1);
  EXPECT_EQ(SceneOctree::level_for(8, 1), 3);
  EXPECT_EQ(SceneOctree::level_for(8, 0), 10);
}

// Both hold all points. Equation 4 as printed would not.
TEST(BoundingSphere, HoldsItsPoints) {
  Random random(1);
  int missed_by_print = 0;
  for (int round = 0; round < 500; ++round) {
    const Vec3 far = random.in_unit_ball() * (round % 2 == 0 ? 1 : 1e6);
    const Vec3 size = random.in_box({0.1, 0.1, 0.1}, {3, 3, 3});
    std::vector<Vec3> points;
    Aabb box;
    for (int i = 0; i < 20; ++i) {
      const Vec3 p = random.in_unit_ball();
      points.push_back(far + Vec3{p.x * size.x, p.y * size.y, p.z * size.z});
      extend(box, points.back());
    }
    const Sphere cube = sphere_around_cube(box);
    const Sphere tight = sphere_around_points<double>(box, points);
    const Vec3 e = extent(box);
    const Sphere printed{cube.center, std::max({e.x, e.y, e.z}) / 2};
    bool missed = false;
    for (const Vec3& p : points) {
      EXPECT_TRUE(contains(cube, p));
      EXPECT_TRUE(contains(tight, p));
      missed = missed || !contains(printed, p);
    }
    missed_by_print += missed ? 1 : 0;
    for (int corner = 0; corner < 8; ++corner)
      EXPECT_TRUE(contains(cube, {corner % 2 == 0 ? box.lower.x : box.upper.x,
                                  corner / 2 % 2 == 0 ? box.lower.y : box.upper.y,
                                  corner / 4 == 0 ? box.lower.z : box.upper.z}));
    EXPECT_LT(tight.radius, cube.radius);
  }
  EXPECT_GT(missed_by_print, 100);
}

}  // namespace
}  // namespace isotact
