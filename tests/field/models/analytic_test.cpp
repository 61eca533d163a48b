#include "isotact/field/models/analytic.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/models/terrain_field.h"

#include "field/field_checks.h"

namespace isotact {
namespace {

const PlaneField kPlane{.normal = {0.6, 0, -0.8}, .offset = 0.3};
const SphereField kSphere{.center = {0.2, -0.1, 0.3}, .radius = 0.7};
const BoxField kBox{.center = {0.1, 0.2, -0.3}, .half_size = {0.9, 0.3, 0.6}};
const CapsuleField kCapsule{.a = {-0.7, 0.2, 0.1}, .b = {0.5, -0.4, 0.6}, .radius = 0.3};
const CylinderField kCylinder{.center = {-0.2, 0.1, 0.1}, .radius = 0.6, .height = 1.4};
const ConeField kCone{.center = {0.1, 0.1, -0.2}, .radius = 0.7, .height = 1.1};
const TorusField kTorus{.center = {0.1, -0.2, 0}, .radius = 0.8, .tube_radius = 0.25};

TEST(Analytic, KeepsTheContract) {
  check_field(kPlane);
  check_field(kSphere);
  check_field(kBox);
  check_field(kCapsule, {.range_is_exact = false});
  check_field(kCylinder);
  check_field(kCone, {.range_is_exact = false});
  check_field(kTorus);
}

TEST(Analytic, DefaultPlaneIsTheGroundOfXb14) {
  EXPECT_EQ(PlaneField{}.value({3, 0.25, -7}), 0.25);
  EXPECT_EQ(PlaneField{}.sample({3, -2, -7}).gradient, (Vec3{0, 1, 0}));
}

TEST(Analytic, KnowsDistancesByHand) {
  const BoxField box{.center = {1, 1, 1}, .half_size = {1, 2, 3}};
  EXPECT_EQ(box.value({1, 1, 1}), -1);
  EXPECT_EQ(box.value({5, 7, 1}), 5);  // 3 and 4 from an edge
  EXPECT_EQ(box.value({1, 2.75, 1}), -0.25);
  const CylinderField can{.radius = 1, .height = 2};
  EXPECT_EQ(can.value({4, 5, 0}), 5);
  EXPECT_EQ(can.value({0, 0.75, 0}), -0.25);
  EXPECT_EQ(can.value({0.75, 0, 0}), -0.25);
  const ConeField cone{.center = {0, 2, 0}, .radius = 3, .height = 4};  // sides 3, 4, 5
  EXPECT_EQ(cone.value({0, -1, 0}), 1);
  EXPECT_EQ(cone.value({6, -4, 0}), 5);  // 3 and 4 from the rim
  EXPECT_EQ(cone.value({0, 6, 0}), 2);
  EXPECT_NEAR(cone.value({1.5 + 4, 2 + 3, 0}), 5, 1e-12);  // square to the side's middle
  EXPECT_NEAR(cone.value({0, 1.5, 0}), -1.5, 1e-12);       // in the middle of the inscribed circle
  EXPECT_EQ(cone.value({1, 0.25, 0}), -0.25);
  const TorusField ring{.radius = 2, .tube_radius = 0.5};
  EXPECT_EQ(ring.value({0, 0, 0}), 1.5);
  EXPECT_EQ(ring.value({0, 0.25, -2}), -0.25);
  const CapsuleField pill{.a = {0, 0, 0}, .b = {2, 0, 0}, .radius = 1};
  EXPECT_EQ(pill.value({5, 4, 0}), 4);
  EXPECT_EQ(pill.value({1, 0, 3}), 2);
}

// Walking against the gradient by the distance must end on the surface, from both sides; else
// the distance or the direction is wrong.
template <Field F>
void expect_exact(const F& field) {
  Random random(21);
  int inside = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random.in_box({-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}) * random.uniform();
    const FieldSample s = field.sample(p);
    ASSERT_NEAR(length(s.gradient), 1, 1e-12);
    ASSERT_NEAR(field.value(p - s.gradient * s.distance), 0, 1e-12);
    const Interval d = field.distance_bounds(p);
    ASSERT_TRUE(contains(d, s.distance));
    ASSERT_LT(d.upper - d.lower, 1e-13);
    inside += s.distance < 0 ? 1 : 0;
  }
  EXPECT_GT(inside, 100);
}

TEST(Analytic, GradientLeadsToTheSurface) {
  expect_exact(kPlane);
  expect_exact(kSphere);
  expect_exact(kBox);
  expect_exact(kCapsule);
  expect_exact(kCylinder);
  expect_exact(kCone);
  expect_exact(kTorus);
}

TEST(Analytic, HasUnitGradientsOnCreases) {
  EXPECT_EQ(length(kSphere.sample(kSphere.center).gradient), 1);
  EXPECT_EQ(length(kBox.sample(kBox.center).gradient), 1);
  EXPECT_NEAR(length(kCapsule.sample(kCapsule.a).gradient), 1, 1e-12);
  EXPECT_NEAR(length(kCapsule.sample(lerp(kCapsule.a, kCapsule.b, 0.5)).gradient), 1, 1e-12);
  EXPECT_EQ(length(CapsuleField{.a = {}, .b = {}}.sample({}).gradient), 1);
  EXPECT_EQ(length(CylinderField{}.sample({}).gradient), 1);
  EXPECT_NEAR(length(ConeField{}.sample({}).gradient), 1, 1e-12);
  EXPECT_NEAR(length(ConeField{}.sample({0, 0.5, 0}).gradient), 1, 1e-12);  // the apex
  EXPECT_NEAR(length(ConeField{}.sample({0.5, -0.5, 0}).gradient), 1, 1e-12);
  EXPECT_EQ(length(TorusField{}.sample({}).gradient), 1);
  EXPECT_EQ(length(TorusField{}.sample({TorusField{}.radius, 0, 0}).gradient), 1);
}

TEST(Analytic, RangesOfAllOfSpaceAreSound) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  EXPECT_EQ(PlaneField{}.range(all_of_space()), (Interval{-kFar, kFar}));
  EXPECT_EQ(kSphere.range(all_of_space()), (Interval{-0.7, kFar}));
  EXPECT_EQ(kBox.range(all_of_space()), (Interval{-0.3, kFar}));
  EXPECT_EQ(kCapsule.range(all_of_space()), (Interval{-0.3, kFar}));
  EXPECT_EQ(kCylinder.range(all_of_space()), (Interval{-0.6, kFar}));
  EXPECT_NEAR(ConeField({.radius = 3, .height = 4}).range(all_of_space()).lower, -1.5, 1e-12);
  EXPECT_EQ(kCone.range(all_of_space()).upper, kFar);
  EXPECT_EQ(kTorus.range(all_of_space()), (Interval{-0.25, kFar}));
}

TEST(Analytic, NamesWhatIsWrong) {
  EXPECT_FALSE(find_flaw(kPlane) || find_flaw(kSphere) || find_flaw(kBox) || find_flaw(kCapsule) ||
               find_flaw(kCylinder) || find_flaw(kCone) || find_flaw(kTorus));
  EXPECT_EQ(find_flaw(SphereField{.radius = -1}), "radius is -1, must be positive");
  EXPECT_TRUE(find_flaw(PlaneField{.normal = {1, 1, 0}}));
  EXPECT_TRUE(find_flaw(BoxField{.half_size = {1, 0, 1}}));
  EXPECT_TRUE(find_flaw(CapsuleField{.a = {std::nan(""), 0, 0}}));
  EXPECT_TRUE(find_flaw(CylinderField{.height = std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(find_flaw(ConeField{.height = 0}), "height is 0, must be positive");
  EXPECT_TRUE(find_flaw(TorusField{.radius = 1, .tube_radius = 1.5}));
}

TerrainHeights bumpy_terrain() {
  TerrainHeights t{.origin_x = -1, .origin_z = -1.2, .spacing = 0.25, .cells_x = 8, .cells_z = 9};
  Random random(31);
  for (int i = 0; i < 9 * 10; ++i) t.heights.push_back(static_cast<float>(random.uniform(-.1, .1)));
  return t;
}

TEST(Terrain, KeepsTheContract) {
  check_field(TerrainField(bumpy_terrain()), {.range_is_exact = false});
}

TEST(Terrain, InterpolatesAndClampsHeights) {
  const TerrainField field({.spacing = 2, .cells_x = 1, .cells_z = 1, .heights = {0, 1, 2, 3}});
  EXPECT_EQ(field.height(0, 0), 0);
  EXPECT_EQ(field.height(1, 1), 1.5);
  EXPECT_EQ(field.height(-5, 1), 1);
  EXPECT_EQ(field.height(9, 9), 3);
  EXPECT_EQ(field.max_slope(), std::sqrt(0.25 + 1));
  EXPECT_EQ(field.sample({-5, 0, 1}).gradient.x, 0);
  EXPECT_EQ(field.sample({1, 0, -5}).gradient.z, 0);
}

// The nearest of a fine net of surface points is the true distance to within the net's mesh.
TEST(Terrain, BoundsTheTrueDistance) {
  const TerrainField field(bumpy_terrain());
  constexpr int kSide = 160;
  constexpr double kMesh = 3.0 / kSide;
  std::vector<Vec3> net;
  for (int j = 0; j <= kSide; ++j)
    for (int i = 0; i <= kSide; ++i) {
      const double x = -1.5 + kMesh * i, z = -1.5 + kMesh * j;
      net.push_back({x, field.height(x, z), z});
    }
  const double covering =
      kMesh * std::sqrt(0.5) * std::sqrt(1 + field.max_slope() * field.max_slope());
  Random random(32);
  int tight = 0;
  for (int i = 0; i < 200; ++i) {
    const Vec3 p = random.in_box({-1, -0.3, -1}, {1, 0.5, 1});
    double nearest_sq = 1e30;
    for (const Vec3& q : net) nearest_sq = std::min(nearest_sq, length_sq(p - q));
    const double most = std::sqrt(nearest_sq), least = std::max(0.0, most - covering);
    const bool below = p.y < field.height(p.x, p.z);
    const Interval bounds = field.distance_bounds(p);
    ASSERT_LE(bounds.lower, below ? -least : most);
    ASSERT_GE(bounds.upper, below ? -most : least);
    tight += bounds.upper - bounds.lower < 0.1 ? 1 : 0;
  }
  EXPECT_GT(tight, 50);
}

TEST(Terrain, SurfaceLiesOnTheGround) {
  const TerrainField field(bumpy_terrain());
  const TriangleMesh surface = make_surface(field.terrain());
  EXPECT_EQ(surface.triangles.size(), 2U * 8 * 9);
  for (const Vec3f& p : surface.positions) EXPECT_NEAR(field.value(to_double(p)), 0, 1e-6);
  for (const Triangle& t : surface.triangles) {
    const Vec3 a = to_double(surface.positions[t[0]]), b = to_double(surface.positions[t[1]]),
               c = to_double(surface.positions[t[2]]);
    EXPECT_GT(cross(b - a, c - a).y, 0);
  }
  EXPECT_THROW(make_surface({.cells_x = 2, .cells_z = 2, .heights = {1, 2, 3}}), Error);
}

TEST(Terrain, RefusesBadHeights) {
  EXPECT_THROW(TerrainField({.cells_x = 2, .cells_z = 2, .heights = {1, 2, 3}}), Error);
  EXPECT_THROW(TerrainField({.cells_x = 0, .cells_z = 2}), Error);
  EXPECT_THROW(TerrainField({.cells_x = 1 << 30, .cells_z = 1 << 30}), Error);
  EXPECT_THROW(TerrainField({.cells_x = 1, .cells_z = 1, .heights = {1, std::nanf(""), 1, 1}}),
               Error);
  EXPECT_THROW(TerrainField({.spacing = 0, .cells_x = 1, .cells_z = 1, .heights = {1, 1, 1, 1}}),
               Error);
}

}  // namespace
}  // namespace isotact
