// Bodies that bend and wander (MDL06, section 7): what broad and narrow phases find of them, on
// every frame, beside all against all.
#include <cmath>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/broad_phase/box_tree.h"
#include "isotact/queries/deformable/features.h"
#include "isotact/queries/deformable/object_tree.h"

#include "dynamics/soft/soft_bodies.h"
#include "mdl06/scene_octree.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

struct CrowdSettings {
  int count = 10;
  double space = 0.6;  // m^3 a body
  int frequency = 3;   // of the balls
  bool contact = false;
  SoftIntegrator integrator = SoftIntegrator::kVerlet;
};

SoftWorld make_crowd(const CrowdSettings& s) {
  const double half = std::cbrt(s.space * s.count) / 2;
  SoftWorld world({.step = 1.0 / 60,
                   .gravity = {},
                   .integrator = s.integrator,
                   .cube = Aabb{{-half, -half, -half}, {half, half, half}},
                   .contact = s.contact,
                   .energies = false});
  Random random(9);
  const double reach = half - 0.36;
  for (int i = 0; i < s.count; ++i) {
    SoftBodySettings body{
        .name = "ball",
        .mesh = make_sphere({.radius = random.uniform(0.15, 0.35), .frequency = s.frequency}),
        .pose = {.rotation = random.rotation()},
        .angular_velocity = random.in_unit_ball() * 4.0,
        .mass = 0.3,
        .material = {.stiffness = 1, .damping = 0.001},
        .steering =
            Steering{.speed = 1.5, .period = 0.5, .seed = 100 + static_cast<std::uint64_t>(i)}};
    body.pose.translation = random.in_box({-reach, -reach, -reach}, {reach, reach, reach});
    world.add_body(body);
  }
  return world;
}

// Boxes, or spheres of both of the paper's constructions, of where bodies are now.
enum class Volumes { kBoxes, kSpheres, kSpheresOfCubes };

void put(const SoftWorld& world, Volumes volumes, BroadPhase& phase) {
  for (SoftId id = 0; id < world.body_count(); ++id) {
    const bool there = phase.contains(id);
    if (volumes == Volumes::kBoxes) {
      there ? phase.update(id, world.bounds(id)) : void(phase.insert(world.bounds(id)));
      continue;
    }
    const Sphere sphere = volumes == Volumes::kSpheres ? world.bounding_sphere(id)
                                                       : sphere_around_cube(world.bounds(id));
    there ? phase.update(id, sphere) : void(phase.insert(sphere));
  }
}

struct Found {
  std::size_t pairs = 0, events = 0;
};

Found compare_on_every_frame(const CrowdSettings& settings, Volumes volumes, int frames) {
  SoftWorld world = make_crowd(settings);
  const double side = extent(*world.settings().cube).x;
  const int level = SceneOctree::level_for(side, 0.7);
  BruteForceBroadPhase all;
  BoxTree boxes;
  SceneOctree arvo({.size = side, .max_level = level}),
      grown({.size = side, .max_level = level, .region_test = RegionTest::kGrownBox});
  Found found;
  for (int frame = 0; frame < frames; ++frame) {
    world.step();
    EXPECT_FALSE(world.trouble());
    for (BroadPhase* phase : {static_cast<BroadPhase*>(&all), static_cast<BroadPhase*>(&boxes),
                              static_cast<BroadPhase*>(&arvo), static_cast<BroadPhase*>(&grown)}) {
      put(world, volumes, *phase);
      phase->step({2});
      const auto same = [](std::span<const ObjectPair> a, std::span<const ObjectPair> b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
      };
      EXPECT_TRUE(same(phase->pairs(), all.pairs())) << frame;
      EXPECT_TRUE(same(phase->begun(), all.begun())) << frame;
      EXPECT_TRUE(same(phase->ended(), all.ended())) << frame;
    }
    // The grown box takes what Arvo's test takes, and more: corners.
    if (volumes != Volumes::kBoxes) {
      EXPECT_GE(grown.work().pair_tests, arvo.work().pair_tests) << frame;
    }
    found.pairs += all.pairs().size();
    if (frame > 0) found.events += all.begun().size() + all.ended().size();
  }
  return found;
}

TEST(SoftWandering, PairsAreThoseOfAllAgainstAllOnEveryFrame) {
  struct Case {
    int count, frequency, frames;
  };
  for (const Case c : {Case{10, 3, unless_slow(400, 60)}, Case{100, 3, unless_slow(100, 20)},
                       Case{1000, 2, unless_slow(30, 5)}})
    for (const Volumes volumes : {Volumes::kBoxes, Volumes::kSpheres, Volumes::kSpheresOfCubes}) {
      SCOPED_TRACE(std::to_string(c.count) + " " + std::to_string(static_cast<int>(volumes)));
      const Found found =
          compare_on_every_frame({.count = c.count, .frequency = c.frequency}, volumes, c.frames);
      const auto looks = static_cast<std::size_t>(c.count) * static_cast<std::size_t>(c.frames);
      EXPECT_GT(found.pairs, looks / 20);
      EXPECT_LT(found.pairs, looks * 5);
      EXPECT_GT(found.events, looks / 500);
    }
}

TEST(SoftWandering, TenThousandAreComparedOnEveryFrame) {
  const int frames = unless_slow(5, 2);
  const Found found = compare_on_every_frame({.count = unless_slow(10000, 2000), .frequency = 1},
                                             Volumes::kBoxes, frames);
  EXPECT_GT(found.pairs, unless_slow(5000U, 300U));
  EXPECT_GT(found.events, unless_slow(300U, 10U));
}

// At the same leaf size: the paper's octree of an object, boxes and spheres, level limit and all.
TEST(SoftWandering, ContactSetsAreThoseOfAllLeavesAgainstAll) {
  for (const NodeVolume volume : {NodeVolume::kBox, NodeVolume::kSphere}) {
    SoftWorld world = make_crowd({.count = 12, .space = 0.3});
    const ObjectTreeSettings settings{.arity = 8,
                                      .volume = volume,
                                      .cut = TreeCut::kRegular,
                                      .leaf_triangles = 2,
                                      .max_level = 3};
    std::vector<ObjectTree> trees;
    for (SoftId id = 0; id < world.body_count(); ++id)
      trees.emplace_back(std::as_const(world).positions(id), world.body_settings(id).mesh.triangles,
                         settings);
    std::size_t meeting = 0, apart = 0, parts = 0;
    for (int frame = 0; frame < unless_slow(60, 10); ++frame) {
      world.step();
      for (SoftId id = 0; id < trees.size(); ++id)
        trees[id].set_positions(std::as_const(world).positions(id));
      for (SoftId a = 0; a < trees.size(); ++a)
        for (SoftId b = a + 1; b < trees.size(); ++b) {
          ContactSets sets, all;
          find_contact_sets(trees[a], trees[b], {}, sets);
          find_contact_sets_brute_force(trees[a], trees[b], {}, all);
          ASSERT_EQ(sets, all) << frame << ' ' << a << ' ' << b;
          (sets.triangles_a.empty() ? apart : meeting) += 1;
          parts += !sets.triangles_a.empty() && sets.triangles_a.size() <
                                                    world.body_settings(a).mesh.triangles.size() / 2
                       ? 1U
                       : 0U;
        }
    }
    EXPECT_GT(meeting, unless_slow(100U, 15U));
    EXPECT_GT(apart, meeting);
    EXPECT_GT(parts, meeting / 4);  // only the parts that touch
  }
}

// With contact they get apart: no two cross in any frame, and they still come to meet.
TEST(SoftWandering, BodiesThatMeetGetApart) {
  SoftWorld world(
      {.step = 5e-3, .gravity = {}, .cube = Aabb{{-0.85, -0.85, -0.85}, {0.85, 0.85, 0.85}}});
  for (int i = 0; i < 12; ++i) {
    SoftBodySettings body{
        .name = "ball",
        .mesh = make_sphere({.radius = 0.2, .frequency = 3}),
        .mass = 0.3,
        .material = {.stiffness = 20, .damping = 0.02, .struts = 5},
        .steering =
            Steering{.speed = 1.5, .period = 0.4, .seed = 40 + static_cast<std::uint64_t>(i)}};
    body.pose.translation = {0.6 * (i % 3 - 1), 0.6 * (i / 3 % 2) - 0.3, 0.6 * (i / 6) - 0.3};
    world.add_body(body);
  }
  std::vector<SurfaceTopology> topologies;
  for (SoftId id = 0; id < world.body_count(); ++id)
    topologies.push_back(
        make_topology(world.body_settings(id).mesh.triangles, world.positions(id).size()));
  std::uint32_t touching = 0;
  for (int frame = 0; frame < unless_slow(400, 60); ++frame) {
    world.step();
    ASSERT_FALSE(world.trouble());
    touching += world.report().touching;
    if (frame % 10 != 0) continue;
    for (SoftId a = 0; a < world.body_count(); ++a)
      for (SoftId b = a + 1; b < world.body_count(); ++b) {
        if (!overlaps(world.bounds(a), world.bounds(b))) continue;
        ObjectTree tree_a(std::as_const(world).positions(a), topologies[a].triangles),
            tree_b(std::as_const(world).positions(b), topologies[b].triangles);
        std::vector<TrianglePair> candidates, crossing;
        find_triangle_pairs(tree_a, tree_b, {}, candidates);
        find_intersections({&topologies[a], std::as_const(world).positions(a)},
                           {&topologies[b], std::as_const(world).positions(b)}, candidates,
                           crossing);
        ASSERT_TRUE(crossing.empty()) << frame << ' ' << a << ' ' << b;
      }
  }
  EXPECT_GT(touching, unless_slow(40U, 2U));
}

TEST(SoftWandering, AScriptSteers) {
  SoftWorld world({.step = 0.01, .cube = Aabb{{-1, -1, -1}, {1, 1, 1}}, .contact = false});
  SoftBodySettings body{.name = "ball",
                        .mesh = make_sphere({.radius = 0.1, .frequency = 2}),
                        .material = {.stiffness = 20}};
  body.steering = Steering{.keys = {{0.1, {1, 0, 0}}, {0.2, {0, 2, 0}}, {0.5, {8, 0, 0}}}};
  const SoftId id = world.add_body(body);
  const auto mean = [&] { return momentum(world, id); };  // of one kilogram
  std::vector<std::byte> half;
  for (int i = 1; i <= 50; ++i) {
    world.step();
    const Vec3 want = i <= 10 ? Vec3{} : i <= 20 ? Vec3{1, 0, 0} : Vec3{0, 2, 0};
    ASSERT_LT(length(mean() - want), 1e-3) << i;
    if (i == 25) half = world.save();
  }
  EXPECT_NEAR(center_of_mass(world, id).x, 0.1, 1e-3);
  EXPECT_NEAR(center_of_mass(world, id).y, 0.6, 1e-3);
  // A wall turns it around, for as long as no other key comes.
  for (int i = 0; i < 20; ++i) world.step();
  EXPECT_LT(mean().x, -4);
  const std::uint64_t hash = world.hash();
  world.restore(half);
  for (int i = 25; i < 70; ++i) world.step();
  EXPECT_EQ(world.hash(), hash);
}

TEST(SoftWandering, WrongScriptsAreErrors) {
  const double nan = std::nan("");
  for (const Steering& steering :
       {Steering{.velocity = Vec3{1, 0, 0}, .keys = {{0, {1, 0, 0}}}},
        Steering{.keys = {{0, {nan, 0, 0}}}}, Steering{.keys = {{nan, {1, 0, 0}}}},
        Steering{.keys = {{1, {1, 0, 0}}, {1, {2, 0, 0}}}}, Steering{.speed = nan}}) {
    SoftWorld world({.contact = false});
    SoftBodySettings body{.name = "ball", .mesh = make_sphere({.frequency = 2})};
    body.steering = steering;
    EXPECT_THROW(world.add_body(body), Error);
  }
}

// The story: bodies that wandered without touching anything kept their shapes, and did not bend.
TEST(SoftWandering, WobblingBodiesBend) {
  double bent[2];
  for (const bool wobbles : {false, true}) {
    SoftWorld world({.step = 0.005, .gravity = {}, .contact = false});
    SoftBodySettings body{.name = "ball",
                          .mesh = make_sphere({.radius = 0.2, .frequency = 3}),
                          .material = {.stiffness = 20, .damping = 0.01, .struts = 2}};
    body.steering = Steering{.speed = 1, .period = 0.5, .seed = 3, .wobble = wobbles ? 4.0 : 0.0};
    const SoftId id = world.add_body(body);
    double most = 0;
    for (int i = 0; i < 400; ++i) {
      world.step();
      double nearest = 1, farthest = 0;
      for (const Vec3& x : std::as_const(world).positions(id)) {
        const double r = length(x - center_of_mass(world, id));
        nearest = std::min(nearest, r);
        farthest = std::max(farthest, r);
      }
      most = std::max(most, farthest / nearest - 1);
      ASSERT_NEAR(length(momentum(world, id)), 1, 1e-2);  // of one kilogram
      const Vec3 orbit = cross(center_of_mass(world, id), momentum(world, id));
      ASSERT_LT(length(angular_momentum(world, id) - orbit), 2e-3);  // it does not begin to turn
    }
    bent[wobbles ? 1 : 0] = most;
  }
  EXPECT_LT(bent[0], 0.03);  // facets
  EXPECT_GT(bent[1], 0.15);
}

// The story: the number of drawn headings is time over period, which did not fit a number.
TEST(SoftWandering, TinyPeriodsAreNoTrouble) {
  SoftWorld world({.step = 0.01, .contact = false});
  SoftBodySettings body{
      .name = "ball", .mesh = make_sphere({.frequency = 2}), .material = {.stiffness = 20}};
  body.steering = Steering{.speed = 1, .period = 1e-300};
  world.add_body(body);
  for (int i = 0; i < 5; ++i) world.step();
  EXPECT_FALSE(world.trouble());
}

// Bounds come out of the loops that move vertices, of both integrators, with walls and limits.
TEST(SoftWandering, BoundsHoldEveryVertexOnEveryFrame) {
  for (const SoftIntegrator integrator :
       {SoftIntegrator::kVerlet, SoftIntegrator::kBackwardEuler}) {
    SoftWorld world = make_crowd({.count = 6, .frequency = 2, .integrator = integrator});
    for (int frame = 0; frame < unless_slow(120, 30); ++frame) {
      world.step();
      for (SoftId id = 0; id < world.body_count(); ++id) {
        Aabb box;
        for (const Vec3& x : std::as_const(world).positions(id)) {
          extend(box, x);
          ASSERT_TRUE(contains(world.bounding_sphere(id), x));
        }
        ASSERT_EQ(box, world.bounds(id));
      }
    }
  }
}

}  // namespace
}  // namespace isotact
