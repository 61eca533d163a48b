#include "isotact/queries/intersection/intersection_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "support/intersection_scene.h"

namespace isotact {
namespace {

using Scene = IntersectionScene;

IdfResult intersect(const Scene& scene, const IdfSettings& settings) {
  IdfScratch scratch;
  IdfResult result;
  intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, result, scratch);
  return result;
}

void expect_same_contacts(const IdfResult& a, const IdfResult& b) {
  EXPECT_EQ(a.first_contact, b.first_contact);
  EXPECT_EQ(a.arrived, b.arrived);
  EXPECT_EQ(a.resolution, b.resolution);
  EXPECT_EQ(a.particles, b.particles);
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i)
    ASSERT_TRUE(same(a.contacts[i], b.contacts[i])) << i;
}

std::size_t pairs_in_contact(const IdfResult& r) {
  return static_cast<std::size_t>(
      std::count_if(r.arrived.begin(), r.arrived.end(), [](std::uint32_t n) { return n > 0; }));
}

std::span<const Contact> contacts_of(const IdfResult& r, std::size_t pair) {
  return std::span(r.contacts)
      .subspan(r.first_contact[pair], r.first_contact[pair + 1] - r.first_contact[pair]);
}

const Contact& deepest_of(const IdfResult& r, std::size_t pair = 0) {
  return contacts_of(r, pair).front();
}

// Points along the middle line have the depth r_a + r_b - distance, by either side.
TEST(IntersectionField, SpheresHaveTheDepthAndNormalOfTheFormula) {
  Random random(3);
  const SphereField small{.radius = 0.3};
  const IdfShape sampled{texels_of(small, IdfShape{small}.body(), 32)};
  for (int i = 0; i < 60; ++i) {
    Scene scene({});
    scene.shapes = {IdfShape{SphereField{.radius = 0.5}}, i % 2 == 0 ? IdfShape{small} : sampled};
    const Vec3 where = random.in_box({-9, -9, -9}, {9, 9, 9}), normal = random.unit_vector();
    const double scale = random.uniform(0.5, 3), depth = random.uniform(0.05, 0.25) * scale;
    const double between = 0.8 * scale - depth;
    scene.bodies = {{0, placed(where + normal * between), scale}, {1, placed(where), scale}};
    scene.pairs = {{0, 1}};
    const double margin = 1e-4 * scale;
    const IdfResult result = intersect(scene, {.samples = 20, .margin = margin});
    ASSERT_GT(result.arrived[0], 0U);
    const Contact& contact = deepest_of(result);
    // Particles stand in a grid, so none is on the line itself.
    const double cell = 2 * scale / 20;
    EXPECT_LE(contact.depth, depth + 2 * margin);
    EXPECT_GE(contact.depth, depth - cell * cell / scale - 2 * margin);
    EXPECT_GT(dot(contact.normal, normal), 0.95);
    for (const Contact& c : contacts_of(result, 0)) {
      EXPECT_NEAR(length(c.point_on_b - c.point_on_a), std::abs(c.depth), 1e-9);
      EXPECT_NEAR(length(c.point_on_b - where), 0.3 * scale, 4 * margin);
      EXPECT_NEAR(length(c.point_on_a - (where + normal * between)), 0.5 * scale,
                  c.sampled_by == Body::kA ? 2 * margin : 4 * margin);
    }
  }
}

TEST(IntersectionField, ABoxStandsInTheGround) {
  for (const bool plane_is_a : {false, true}) {
    Scene scene({IdfShape{BoxField{}}, IdfShape{PlaneField{}}});
    scene.bodies = {{0, placed({2, 0.45, 3})}, {1, {}}};
    scene.pairs = {plane_is_a ? IdfPair{1, 0} : IdfPair{0, 1}};
    const IdfResult result = intersect(scene, {.samples = 10, .margin = 1e-4, .max_contacts = 8});
    ASSERT_EQ(result.contacts.size(), 8U);
    EXPECT_NEAR(deepest_of(result).depth, 0.05, 2e-4);
    for (const Contact& c : result.contacts)
      if (c.depth > 0.049) {
        EXPECT_NEAR(c.normal.y, plane_is_a ? -1 : 1, 1e-6);
      }
    // Spread out: not all in one corner.
    Aabb spread;
    for (const Contact& c : result.contacts) extend(spread, c.position);
    EXPECT_GT(length(extent(spread)), 0.7);
  }
}

// A ring around a rod that touches its inside.
TEST(IntersectionField, ATorusHangsOnACapsule) {
  const TorusField torus{};
  Scene scene({IdfShape{torus},
               IdfShape{CapsuleField{.a = {0, -1, 0}, .b = {0, 1, 0}, .radius = 0.1}},
               IdfShape{texels_of(torus, IdfShape{torus}.body(), 64)}});
  scene.bodies = {{0, {}}, {1, placed({0.16, 0.1, 0})}, {2, {}}};
  scene.pairs = {{0, 1}, {2, 1}};
  const IdfResult result = intersect(scene, {.samples = 16, .margin = 1e-4});
  for (std::size_t pair = 0; pair < 2; ++pair) {
    ASSERT_GT(result.arrived[pair], 0U);
    EXPECT_NEAR(deepest_of(result, pair).depth, 0.01, 5e-4);
    EXPECT_GT(deepest_of(result, pair).normal.x, 0.97);
  }
}

TEST(IntersectionField, EqualsBruteForceToTheLastBit) {
  const IdfSettings cases[] = {
      {.samples = 6},
      {.samples = 9, .max_contacts = 8},
      {.samples = 4, .resolution = 0.02},
      {.samples = 5, .search = IdfSearch::kPaper},
      {.samples = 5,
       .sampling = IdfSampling::kLowDiscrepancy,
       .search = IdfSearch::kPaper,
       .one_per_voxel = true},
      {.samples = 5, .normal = IdfNormal::kPaper, .relaxation = 1.4},
      {.samples = 3, .max_steps = 2, .relaxation = 2, .one_per_voxel = true},
  };
  std::uint64_t seed = 1;
  for (const IdfSettings& settings : cases) {
    const Scene scene = random_scene(++seed, 300);
    const IdfResult fast = intersect(scene, settings);
    IdfScratch scratch;
    IdfResult slow;
    intersect_fields_brute_force(scene.shapes, scene.bodies, scene.pairs, settings, slow, scratch);
    expect_same_contacts(fast, slow);
    const std::size_t touching = pairs_in_contact(fast);
    EXPECT_GT(touching, 80U);
    EXPECT_LT(touching, 280U);
  }
}

TEST(IntersectionField, ThreadsDoNotMatter) {
  const Scene scene = random_scene(77, 300);
  IdfSettings settings{.samples = 8, .max_contacts = 8, .threads = {1}};
  const IdfResult one = intersect(scene, settings);
  settings.threads = {7};
  const IdfResult many = intersect(scene, settings);
  expect_same_contacts(one, many);
  EXPECT_EQ(one.evaluations, many.evaluations);
}

TEST(IntersectionField, FarFewerValuesThanBruteForce) {
  const Scene scene = random_scene(5, 40);
  const IdfSettings settings{.samples = 20};
  const IdfResult fast = intersect(scene, settings);
  IdfScratch scratch;
  IdfResult slow;
  intersect_fields_brute_force(scene.shapes, scene.bodies, scene.pairs, settings, slow, scratch);
  expect_same_contacts(fast, slow);
  IdfResult paper = intersect(scene, {.samples = 20, .search = IdfSearch::kPaper});
  EXPECT_LT(fast.evaluations * 4, paper.evaluations);
}

double value_of(const Scene& scene, const IdfBody& body, const Vec3& p) {
  const Vec3 local = transform_point(inverse(body.world_from_body), p) / body.scale;
  return body.scale *
         std::visit(
             [&](const auto& solid) -> double {
               using Solid = std::decay_t<decltype(solid)>;
               if constexpr (std::is_same_v<Solid, std::shared_ptr<const FieldTexels>>)
                 return static_cast<double>(sample(*solid, to_float(local)).distance);
               else if constexpr (std::is_same_v<Solid, std::shared_ptr<const BrickField>>)
                 return solid->value(local);
               else
                 return solid.value(local);
             },
             scene.shapes[body.shape].solid());
}

TEST(IntersectionField, AnyContactIsEnough) {
  const Scene scene = random_scene(31, 400);
  const IdfSettings settings{.samples = 12, .margin = 1e-3, .max_contacts = 8};
  IdfSettings any = settings;
  any.any_contact = true;
  const IdfResult all = intersect(scene, settings), some = intersect(scene, any);
  EXPECT_LT(some.evaluations * 2, all.evaluations);
  for (std::size_t i = 0; i < scene.pairs.size(); ++i) {
    const std::uint32_t found = some.first_contact[i + 1] - some.first_contact[i];
    EXPECT_LE(found, 1U);
    if (all.arrived[i] > 0) {
      EXPECT_EQ(found, 1U) << "pair " << i;
    }
    if (found == 0) continue;
    const Contact& c = some.contacts[some.first_contact[i]];
    const Vec3& at = c.sampled_by == Body::kA ? c.point_on_a : c.point_on_b;
    EXPECT_LT(value_of(scene, scene.bodies[scene.pairs[i].a], at), 2.1e-3);
    EXPECT_LT(value_of(scene, scene.bodies[scene.pairs[i].b], at), 2.1e-3);
  }
}

// The largest ball in what both have in common, at least: as far as random points find it.
double deepest_value(const Scene& scene, const IdfPair& pair, Random& random) {
  const IdfBody &a = scene.bodies[pair.a], &b = scene.bodies[pair.b];
  // Around a place inside of both, ever closer to the deepest.
  const Vec3 middle = b.world_from_body.translation;
  double reach = b.scale, best = std::numeric_limits<double>::infinity();
  Vec3 at_best = middle;
  for (int round = 0; round < 12; ++round, reach *= 0.6) {
    const Vec3 around = at_best;
    for (int i = 0; i < 150; ++i) {
      const Vec3 p = around + random.in_unit_ball() * reach;
      const double value = std::max(value_of(scene, a, p), value_of(scene, b, p));
      if (value < best) {
        best = value;
        at_best = p;
      }
    }
  }
  return best;
}

// What a stated resolution means: where both values are below minus it somewhere, as they are in
// the middle of a ball of that radius, the pair is found.
TEST(IntersectionField, NothingLargerThanTheResolutionIsMissed) {
  Random random(21);
  for (const auto& [samples, resolution] :
       {std::pair{1, 0.0}, {2, 0.0}, {3, 0.0}, {5, 0.0}, {2, 0.05}, {4, 0.02}}) {
    const Scene scene = random_scene(100 + static_cast<std::uint64_t>(samples), 200);
    const IdfResult result =
        intersect(scene, {.samples = samples, .margin = 1e-4, .resolution = resolution});
    int just_above = 0;
    for (std::size_t i = 0; i < scene.pairs.size(); ++i) {
      const double depth = -deepest_value(scene, scene.pairs[i], random);
      const auto known = static_cast<double>(result.resolution[i]);
      if (result.arrived[i] == 0 && resolution > 0) {
        EXPECT_LE(known, resolution * 1.001);
      }
      const double limit = resolution > 0 ? resolution : known;
      if (depth < limit || !(depth > 0)) continue;
      just_above += depth < 3 * limit ? 1 : 0;
      EXPECT_GT(result.arrived[i], 0U) << samples << " samples, pair " << i << ", depth " << depth;
    }
    if (samples >= 4 || resolution > 0) {
      EXPECT_GT(just_above, 5) << samples;
    }
  }
}

// KGM's Figure 4: two plates at a small angle that overlap along one edge only. Between them
// particles go to and fro without getting anywhere.
TEST(IntersectionField, NearlyParallelPlatesAreFound) {
  Scene scene({IdfShape{BoxField{.half_size = {1, 0.05, 1}}}});
  const double tilt = 0.1;
  // The upper plate's lower face passes 0.01 below the other's upper one at x = 1.
  const Quat turn = rotation_about({0, 0, 1}, -tilt);
  const Vec3 face = rotate(turn, {1, -0.05, 0});
  scene.bodies = {{0, placed(Vec3{0.99, 0.04, 0} - face, turn)}, {0, {}}};
  scene.pairs = {{0, 1}};
  IdfSettings settings{.samples = 3, .margin = 1e-4, .search = IdfSearch::kPaper};
  EXPECT_EQ(intersect(scene, settings).arrived[0], 0U);
  settings.max_steps = 64;
  EXPECT_EQ(intersect(scene, settings).arrived[0], 0U);
  settings.max_steps = 16;
  settings.search = IdfSearch::kCells;
  EXPECT_EQ(intersect(scene, settings).arrived[0], 0U);
  settings.resolution = 0.004;
  const IdfResult found = intersect(scene, settings);
  ASSERT_GT(found.arrived[0], 0U);
  EXPECT_GT(found.contacts[0].depth, 0);
  EXPECT_NEAR(found.contacts[0].normal.y, 1, 0.01);
}

// Two plates a hair apart: too near for any cell to be sure, too far to be in contact.
TEST(IntersectionField, ARidiculousResolutionEnds) {
  Scene scene({IdfShape{BoxField{.half_size = {1, 0.05, 1}}}});
  const Quat turn = rotation_about({1, 2, 3}, 0.7);
  scene.bodies = {{0, placed(rotate(turn, {0, 0.1 + 5e-7, 0}), turn)}, {0, placed({}, turn)}};
  scene.pairs = {{0, 1}};
  const IdfResult result =
      intersect(scene, {.samples = 2, .margin = 1e-9, .max_steps = 1, .resolution = 1e-30});
  EXPECT_EQ(result.arrived[0], 0U);
  EXPECT_GT(result.resolution[0], 1e-4F);  // what was reached
  EXPECT_LT(result.resolution[0], 0.1F);
}

TEST(IntersectionField, TheOrderOfPairsDoesNotMatter) {
  Scene scene = random_scene(9, 200);
  const IdfSettings settings{.samples = 6, .max_contacts = 8};
  const IdfResult before = intersect(scene, settings);
  std::reverse(scene.pairs.begin(), scene.pairs.end());
  const IdfResult after = intersect(scene, settings);
  const std::size_t count = scene.pairs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = contacts_of(before, i), b = contacts_of(after, count - 1 - i);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(same(a[k], b[k]));
  }
}

TEST(IntersectionField, ExchangedBodiesTouchAtTheSamePlaces) {
  Scene scene = random_scene(10, 200);
  const IdfSettings settings{.samples = 6};
  const IdfResult before = intersect(scene, settings);
  for (IdfPair& pair : scene.pairs) std::swap(pair.a, pair.b);
  const IdfResult after = intersect(scene, settings);
  for (std::size_t i = 0; i < scene.pairs.size(); ++i) {
    ASSERT_EQ(before.arrived[i], after.arrived[i]);
    if (before.arrived[i] == 0) continue;
    EXPECT_NEAR(deepest_of(before, i).depth, deepest_of(after, i).depth, 1e-5);
  }
}

TEST(IntersectionField, SeedsKeepContactsThatTheGridWouldLose) {
  Scene scene({IdfShape{SphereField{}}});
  const Vec3 away = normalized(Vec3{0.7, 0.5, 0.48}) * 0.649;
  scene.bodies = {{0, placed(away), 0.3}, {0, {}}};
  scene.pairs = {{0, 1}};
  IdfSettings settings{
      .samples = 20, .margin = 1e-4, .max_steps = 4, .max_contacts = 4, .keep_seeds = true};
  IdfScratch scratch;
  IdfResult result;
  intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, result, scratch);
  ASSERT_GT(result.arrived[0], 0U);
  settings.samples = 1;
  EXPECT_EQ(intersect(scene, settings).arrived[0], 0U);
  for (int step = 0; step < 4; ++step) {  // the body moves on, its contacts with it
    scene.bodies[0].world_from_body.translation.z += 0.0003;
    intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, result, scratch);
    EXPECT_GT(result.arrived[0], 0U) << step;
    EXPECT_LE(result.contacts.size(), 4U);
  }
  scene.bodies[0].world_from_body.translation.x = 2;
  intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, result, scratch);
  EXPECT_TRUE(result.contacts.empty() && scratch.seeds.empty());
}

TEST(IntersectionField, OnePerVoxelAndTheDeepestOnly) {
  const Scene scene = random_scene(12, 100);
  const IdfResult all = intersect(scene, {.samples = 8});
  const IdfResult voxels = intersect(scene, {.samples = 8, .one_per_voxel = true});
  const IdfResult few = intersect(scene, {.samples = 8, .max_contacts = 3});
  EXPECT_EQ(all.arrived, voxels.arrived);
  EXPECT_EQ(all.arrived, few.arrived);
  EXPECT_LT(voxels.contacts.size(), all.contacts.size());
  for (std::size_t i = 0; i < scene.pairs.size(); ++i) {
    EXPECT_LE(contacts_of(few, i).size(), 3U);
    if (all.arrived[i] == 0) continue;
    const double deepest = deepest_of(all, i).depth;
    if (deepest < 1e-4) continue;  // gaps are all equal
    EXPECT_NEAR(deepest_of(voxels, i).depth, deepest, 1e-4);
    EXPECT_NEAR(deepest_of(few, i).depth, deepest, 1e-4);
  }
}

TEST(IntersectionField, NothingIsNotAnError) {
  const Scene empty({});
  const IdfResult none = intersect(empty, {});
  EXPECT_TRUE(none.contacts.empty());
  EXPECT_EQ(none.first_contact, std::vector<std::uint32_t>{0});
  Scene apart({IdfShape{SphereField{}}});
  apart.bodies = {{0, {}}, {0, placed({5, 0, 0})}};
  apart.pairs = {{0, 1}};
  const IdfResult result = intersect(apart, {});
  EXPECT_TRUE(result.contacts.empty());
  EXPECT_EQ(result.resolution[0], 0.0F);
  EXPECT_EQ(result.particles, 0U);
}

}  // namespace
}  // namespace isotact
