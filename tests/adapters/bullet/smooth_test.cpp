// The curved surface that a mesh stands for, and bodies that roll on it.
#include <cmath>
#include <functional>
#include <memory>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/bvh.h"

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"
#include "smooth/smooth_surface.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

using bullet_detail::SmoothPatch;
using bullet_detail::SmoothSurface;
constexpr double kCrease = 0.25;

struct Tally {
  int tried = 0, fitted = 0;
  double off = 0;       // Metres: the largest distance from the true surface at a patch's middle,
  double off_mesh = 0;  // and that of the triangles there.
  double turned = 0;    // Radians: the largest error of the normal.
  double turned_mesh = 0;
};

// Places on triangles; `truth` is the exact distance to the curved surface.
Tally compare(const TriangleMesh& mesh, const std::function<FieldSample(const Vec3&)>& truth,
              std::uint64_t seed) {
  const SmoothSurface surface(mesh, kCrease);
  Random random(test_seed(seed));
  Tally tally;
  for (int i = 0; i < test_cases(2000); ++i, ++tally.tried) {
    const auto t = random.below(static_cast<std::uint32_t>(mesh.triangles.size()));
    const auto corner = corners(mesh, t);
    double u = random.uniform(0, 1), v = random.uniform(0, 1);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const Vec3 a = to_double(corner[0]), ab = to_double(corner[1]) - a,
               ac = to_double(corner[2]) - a, place = a + ab * u + ac * v;
    const auto patch = surface.fit(mesh, t, place);
    if (!patch || patch->is_flat) continue;
    ++tally.fitted;
    const FieldSample s = patch->sample(place), exact = truth(place);
    const auto angle = [&](const Vec3& n) { return length(cross(n, exact.gradient)); };
    tally.off = std::max(tally.off, std::abs(s.distance - exact.distance));
    tally.off_mesh = std::max(tally.off_mesh, std::abs(exact.distance));
    tally.turned = std::max(tally.turned, angle(s.gradient));
    tally.turned_mesh = std::max(tally.turned_mesh, angle(normalized(cross(ab, ac))));
  }
  return tally;
}

TEST(BulletSmooth, PatchesAreThoseOfTheRoundBodyThatAMeshStandsFor) {
  const SphereField sphere{.radius = 0.1};
  const Tally ball = compare(
      make_sphere({.radius = 0.1, .frequency = 24}),
      [&](const Vec3& p) { return sphere.sample(p); }, 1);
  EXPECT_EQ(ball.fitted, ball.tried);
  EXPECT_LT(ball.off, ball.off_mesh / 50);
  EXPECT_LT(ball.turned, ball.turned_mesh / 30);

  const TorusField ring{.radius = 0.25, .tube_radius = 0.1};
  const Tally torus = compare(
      make_torus({.radius = 0.25, .tube_radius = 0.1, .segments = 96, .tube_segments = 48}),
      [&](const Vec3& p) { return ring.sample(p); }, 2);
  EXPECT_GT(torus.fitted, torus.tried * 95 / 100);
  EXPECT_LT(torus.turned, torus.turned_mesh / 5);
}

TEST(BulletSmooth, FlatAndSharpPartsAreNotRound) {
  const auto any = [](const Vec3&) { return FieldSample{}; };
  EXPECT_EQ(compare(make_box({.size_x = 0.5, .size_y = 0.5, .size_z = 0.5}), any, 3).fitted, 0);
  // Its faces meet at more than the crease angle.
  EXPECT_EQ(compare(make_cylinder({.radius = 0.1, .height = 0.2, .segments = 12}), any, 4).fitted,
            0);
  // Noise of a part in 500 hides the curvature of most of its places.
  TriangleMesh rough = make_sphere({.radius = 0.1, .frequency = 24});
  Random random(5);
  for (Vec3f& p : rough.positions) p = p * static_cast<float>(1 + 2e-3 * random.uniform(-1, 1));
  EXPECT_LT(compare(rough, any, 6).fitted, 200);
}

// A cylinder's side is round, its lids are flat, and its rim stays sharp.
TEST(BulletSmooth, ACylindersSideIsRoundUpToItsRim) {
  const double radius = 0.1, half = 0.1;
  const TriangleMesh mesh = make_cylinder({.radius = radius, .height = 2 * half, .segments = 48});
  const SmoothSurface surface(mesh, kCrease);
  const Aabb box = to_double(bounds(mesh));
  const std::size_t along = extent(box).y > extent(box).x * 0.999 && extent(box).y < 0.2001 ? 1 : 2;
  int round = 0, flat = 0;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    const Vec3 place = (to_double(c[0]) + to_double(c[1]) + to_double(c[2])) / 3;
    Vec3 across = place;
    across[along] = 0;
    const bool is_side = std::abs(std::abs(place[along]) - half) > 1e-6;
    const auto patch = surface.fit(mesh, t, place);
    ASSERT_TRUE(patch.has_value()) << t;
    ASSERT_EQ(patch->is_flat, !is_side) << t;
    (is_side ? round : flat)++;
    if (!is_side) continue;
    const FieldSample s = patch->sample(place);
    EXPECT_NEAR(s.distance, length(across) - radius, 1e-5);
    EXPECT_LT(length(cross(s.gradient, normalized(across))), 2e-3);
  }
  EXPECT_GT(round, 40);
  EXPECT_GT(flat, 40);
}

// Root of the mean square of the third difference of the height, m/s^3, of a ball that rolls along
// x at 1 m/s.
double rolling_jerk(btCollisionShape& ball, btCollisionShape& ground, double top, double radius) {
  constexpr double kStep = 1.0 / 200;
  BulletWorld world;
  btRigidBody& floor = world.add(ground, 0, {0, -top, 0});
  btRigidBody& body = world.add(ball, 1, {-0.7, radius, 0});
  floor.setFriction(1), body.setFriction(1);
  floor.setRestitution(0), body.setRestitution(0);
  body.setLinearVelocity({1, 0, 0});
  body.setAngularVelocity({0, 0, static_cast<btScalar>(-1 / radius)});
  std::vector<double> heights;
  for (int i = 0; i < 240; ++i) {
    world.step(1, kStep);
    if (i >= 40) heights.push_back(place(body).y);
  }
  EXPECT_GT(place(body).x, 0.3);  // It rolled.
  double sum = 0;
  for (std::size_t i = 3; i < heights.size(); ++i) {
    const double third = heights[i] - 3 * heights[i - 1] + 3 * heights[i - 2] - heights[i - 3];
    sum += third * third;
  }
  return std::sqrt(sum / static_cast<double>(heights.size() - 3)) / (kStep * kStep * kStep);
}

TEST(BulletSmooth, ABallRollsAsBulletsOwnDoes) {
  IsotactShape ball = copy(ball_shape());
  btSphereShape sphere{btScalar(kBallRadius)};
  btStaticPlaneShape plane({0, 1, 0}, 0);
  btBoxShape box({2, 0.25F, 2});
  btTriangleMesh triangles;
  for (int x = -8; x < 8; ++x)
    for (int z = -8; z < 8; ++z) {
      const auto at = [](int i, int k) {
        return btVector3(static_cast<btScalar>(0.21 * i), 0, static_cast<btScalar>(0.23 * k));
      };
      triangles.addTriangle(at(x, z), at(x, z + 1), at(x + 1, z + 1));
      triangles.addTriangle(at(x, z), at(x + 1, z + 1), at(x + 1, z));
    }
  btBvhTriangleMeshShape mesh(&triangles, true);
  const auto plate = cook_bullet_shape(make_box({.size_x = 3, .size_y = 0.5, .size_z = 1}),
                                       {.shape = {.field = {.resolution = 96}, .points = 2000}});
  struct Ground {
    const char* name;
    btCollisionShape* shape;
    double top;
  };
  for (const Ground& g : {Ground{"plane", &plane, 0}, Ground{"box", &box, 0.25},
                          Ground{"mesh", &mesh, 0}, Ground{"ours", plate.get(), 0.25}}) {
    const double ours = rolling_jerk(ball, *g.shape, g.top, kBallRadius);
    const double bullets = rolling_jerk(sphere, *g.shape, g.top, kBallRadius);
    EXPECT_LT(ours, 3 * std::max(bullets, 0.3)) << g.name;
  }
  // Grown by a margin, on a plate that is grown as well.
  constexpr double kMargin = 0.004;
  ball.setMargin(btScalar(kMargin)), plate->setMargin(btScalar(kMargin));
  EXPECT_LT(rolling_jerk(ball, *plate, 0.25 + kMargin, kBallRadius + kMargin), 3);
  // Without the curved surface it rolls over its facets.
  const auto facets = cook_bullet_shape(
      make_sphere({.radius = kBallRadius, .frequency = 32}),
      {.shape = {.field = {.resolution = 48}, .points = 3000}, .bullet = {.crease_angle = 0}});
  EXPECT_GT(rolling_jerk(*facets, plane, 0, kBallRadius), 100);
}

}  // namespace
}  // namespace isotact
