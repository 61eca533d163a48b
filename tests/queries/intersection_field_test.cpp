#include "isotact/queries/intersection_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/first_order_field.h"

namespace isotact {
namespace {

Pose at(const Vec3& where, const Quat& turn = {}) { return {turn, where}; }

template <Field F>
FieldTexels texels_of(const F& field, const Aabb& body, std::int32_t cells,
                      TexelOrder order = TexelOrder::kFirst) {
  const Vec3 size = extent(body);
  const double spacing = std::max({size.x, size.y, size.z}) / (cells - 6);
  Lattice lattice{.spacing = spacing};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lattice.cells[axis] = static_cast<std::int32_t>(std::ceil(size[axis] / spacing)) + 6;
    lattice.origin[axis] = center(body)[axis] - 0.5 * spacing * lattice.cells[axis];
  }
  const FirstOrderField sampled = sample_first_order(field, lattice);
  return order == TexelOrder::kFirst ? make_first_order_texels(sampled, body)
                                     : make_zeroth_order_texels(sampled, body);
}

IdfShape bricks_of(const TorusField& torus) {
  const Aabb body = IdfShape{torus}.body();
  const Lattice lattice = make_brick_lattice(body, 1.0 / 40);
  return {bake_field(AnyField{torus}, {.lattice = lattice}).field, body};
}

// One of each kind, all about a metre across.
std::vector<IdfShape> all_kinds() {
  const TorusField torus{};
  const BoxField box{.half_size = {0.5, 0.2, 0.35}};
  return {IdfShape{SphereField{}},
          IdfShape{box},
          IdfShape{torus},
          IdfShape{CapsuleField{}},
          IdfShape{CylinderField{.radius = 0.4, .height = 0.7}},
          IdfShape{texels_of(torus, IdfShape{torus}.body(), 32)},
          IdfShape{texels_of(box, IdfShape{box}.body(), 24)},
          IdfShape{texels_of(torus, IdfShape{torus}.body(), 24, TexelOrder::kZeroth)},
          bricks_of(torus),
          IdfShape{PlaneField{}}};
}

struct Scene {
  std::vector<IdfShape> shapes = all_kinds();
  std::vector<IdfBody> bodies;
  std::vector<IdfPair> pairs;
};

// Pairs of bodies beside each other, of which about half touch.
Scene random_scene(std::uint64_t seed, std::uint32_t pairs) {
  Random random(seed);
  Scene scene;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const Vec3 where = random.in_box({-50, -50, -50}, {50, 50, 50});
    const auto kinds = static_cast<std::uint32_t>(scene.shapes.size());
    const std::uint32_t a = random.below(kinds), b = random.below(kinds - 1);
    const double scale = random.below(2) == 0 ? 1 : random.uniform(0.5, 2);
    scene.bodies.push_back({a, at(where, random.rotation()), scale});
    const Vec3 away = random.unit_vector() * random.uniform(0.3, 0.9) * scale;
    scene.bodies.push_back({b, at(where + away, random.rotation()), scale});
    scene.pairs.push_back({2 * i, 2 * i + 1});
  }
  return scene;
}

IdfResult intersect(const Scene& scene, const IdfSettings& settings) {
  IdfState state;
  IdfResult result;
  intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, state, result);
  return result;
}

bool same(const Contact& a, const Contact& b) {
  return a.position == b.position && a.point_on_a == b.point_on_a && a.point_on_b == b.point_on_b &&
         a.normal == b.normal && a.depth == b.depth && a.sampled_by == b.sampled_by &&
         a.point == b.point;
}

void expect_same(const IdfResult& a, const IdfResult& b) {
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
  for (int i = 0; i < 100; ++i) {
    Scene scene;
    scene.shapes = {IdfShape{SphereField{.radius = 0.5}},
                    i % 2 == 0 ? IdfShape{SphereField{.radius = 0.3}}
                               : IdfShape{texels_of(SphereField{.radius = 0.3},
                                                    {{-0.3, -0.3, -0.3}, {0.3, 0.3, 0.3}}, 32)}};
    const Vec3 where = random.in_box({-9, -9, -9}, {9, 9, 9}), normal = random.unit_vector();
    const double scale = random.uniform(0.5, 3), depth = random.uniform(0.05, 0.25) * scale;
    const double between = 0.8 * scale - depth;
    scene.bodies = {{0, at(where + normal * between), scale}, {1, at(where), scale}};
    scene.pairs = {{0, 1}};
    const double epsilon = 1e-4 * scale;
    const IdfResult result = intersect(scene, {.samples = 20, .epsilon = epsilon});
    ASSERT_GT(result.arrived[0], 0U);
    const Contact& contact = deepest_of(result);
    // Particles stand in a grid, so none is on the line itself.
    const double cell = 2 * scale / 20;
    EXPECT_LE(contact.depth, depth + 2 * epsilon);
    EXPECT_GE(contact.depth, depth - cell * cell / scale - 2 * epsilon);
    EXPECT_GT(dot(contact.normal, normal), 0.95);
    for (const Contact& c : contacts_of(result, 0)) {
      EXPECT_NEAR(length(c.point_on_b - c.point_on_a), std::abs(c.depth), 1e-9);
      EXPECT_NEAR(length(c.point_on_b - where), 0.3 * scale, 4 * epsilon);
      EXPECT_NEAR(length(c.point_on_a - (where + normal * between)), 0.5 * scale,
                  c.sampled_by == Body::kA ? 2 * epsilon : 4 * epsilon);
    }
  }
}

TEST(IntersectionField, ABoxStandsInTheGround) {
  for (const bool plane_is_a : {false, true}) {
    Scene scene;
    scene.shapes = {IdfShape{BoxField{}}, IdfShape{PlaneField{}}};
    scene.bodies = {{0, at({2, 0.45, 3})}, {1, {}}};
    scene.pairs = {plane_is_a ? IdfPair{1, 0} : IdfPair{0, 1}};
    const IdfResult result = intersect(scene, {.samples = 10, .epsilon = 1e-4, .max_contacts = 8});
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
  Scene scene;
  const TorusField torus{};
  scene.shapes = {IdfShape{torus},
                  IdfShape{CapsuleField{.a = {0, -1, 0}, .b = {0, 1, 0}, .radius = 0.1}},
                  IdfShape{texels_of(torus, IdfShape{torus}.body(), 64)}};
  scene.bodies = {{0, {}}, {1, at({0.16, 0.1, 0})}, {2, {}}};
  scene.pairs = {{0, 1}, {2, 1}};
  const IdfResult result = intersect(scene, {.samples = 16, .epsilon = 1e-4});
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
    const Scene scene = random_scene(++seed, 150);
    const IdfResult fast = intersect(scene, settings);
    IdfState state;
    IdfResult slow;
    intersect_fields_brute_force(scene.shapes, scene.bodies, scene.pairs, settings, state, slow);
    expect_same(fast, slow);
    const std::size_t touching = pairs_in_contact(fast);
    EXPECT_GT(touching, 40U);
    EXPECT_LT(touching, 140U);
    if (settings.search == IdfSearch::kCells && settings.samples >= 9) {
      EXPECT_LT(fast.evaluations, slow.evaluations);
    }
  }
}

TEST(IntersectionField, ThreadsDoNotMatter) {
  const Scene scene = random_scene(77, 300);
  IdfSettings settings{.samples = 8, .max_contacts = 8, .threads = {1}};
  const IdfResult one = intersect(scene, settings);
  settings.threads = {7};
  const IdfResult many = intersect(scene, settings);
  expect_same(one, many);
  EXPECT_EQ(one.evaluations, many.evaluations);
}

}  // namespace
}  // namespace isotact
