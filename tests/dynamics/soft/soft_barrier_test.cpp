// Contact inside of the solve: nothing crosses, at any step, mass, stiffness and speed.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/deformable/features.h"

#include "dynamics/soft/soft_bodies.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

// By exact arithmetic, over all pairs of triangles: no search is trusted.
std::size_t count_all_crossings(const SoftWorld& world, SoftId a, SoftId b) {
  const SoftBodySettings &sa = world.body_settings(a), &sb = world.body_settings(b);
  const SurfaceTopology ta = make_topology(sa.mesh.triangles, sa.mesh.positions.size());
  const SurfaceTopology tb = make_topology(sb.mesh.triangles, sb.mesh.positions.size());
  std::vector<TrianglePair> all, crossing;
  for (std::uint32_t i = 0; i < ta.triangles.size(); ++i)
    for (std::uint32_t j = a == b ? i + 1 : 0; j < tb.triangles.size(); ++j) all.push_back({i, j});
  if (a == b)
    find_self_intersections({&ta, world.positions(a)}, all, crossing);
  else
    find_intersections({&ta, world.positions(a)}, {&tb, world.positions(b)}, all, crossing);
  return crossing.size();
}

double total_energy(const SoftReport& r) { return r.kinetic + r.potential + r.springs; }

// A sheet, a ball and a cube that fly at each other above a ground.
struct RandomScene {
  World ground;
  SoftWorld soft;

  explicit RandomScene(Random& random, double step)
      : ground({.step = step}), soft({.step = step, .integrator = SoftIntegrator::kBarrier}) {
    ground.add_body(
        {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
    const TriangleMesh meshes[] = {
        make_sheet(0.4, 6), make_sphere({.radius = 0.1, .frequency = 2}),
        make_box({.size_x = 0.15, .size_y = 0.15, .size_z = 0.15, .segments = 3})};
    double height = 0.15;
    for (const TriangleMesh& mesh : meshes) {
      const bool is_sheet = &mesh == meshes;
      const double stiffness = std::pow(10, random.uniform(-1, 5));
      SoftBodySettings body{
          .name = "body",
          .mesh = mesh,
          .pose = {.rotation = is_sheet ? Quat{} : rotation_about(random.unit_vector(), 1),
                   .translation = {random.uniform(-0.05, 0.05), height,
                                   random.uniform(-0.05, 0.05)}},
          .mass = std::pow(10, random.uniform(-3, 3)),
          .material = {.stiffness = stiffness,
                       .damping = 0,
                       .bending = 0.1 * stiffness,
                       .struts = is_sheet ? 0 : 0.3 * stiffness,
                       .air_friction = 0,
                       .max_strain = 0,
                       .friction = random.uniform(0, 1)},
          .self_contact = true};
      body.velocity = random.unit_vector() * random.uniform(0, 3);
      body.velocity.y = -std::pow(10, random.uniform(-1, 1.477));  // To 30 m/s.
      soft.add_body(body);
      height += 0.3;
    }
  }
};

TEST(SoftBarrier, NothingCrossesInRandomScenes) {
  constexpr int kSteps = 12;
  int touching = 0, held = 0;
  const int count = unless_slow(40, 6);
  for (int k = 0; k < count; ++k) {
    Random random(test_seed(2024), static_cast<std::uint64_t>(k));
    RandomScene scene(random, std::pow(10, random.uniform(-3.3, -1.48)));
    double largest = 0, least = 0;
    bool met = false;
    for (int i = 0; i < kSteps; ++i) {
      const SoftReport& r = scene.soft.step(&scene.ground);
      ASSERT_FALSE(scene.soft.trouble()) << k << ' ' << i;
      for (SoftId a = 0; a < 3; ++a)
        for (SoftId b = a; b < 3; ++b)
          ASSERT_EQ(count_all_crossings(scene.soft, a, b), 0U) << k << ' ' << i << ' ' << a << b;
      for (SoftId a = 0; a < 3; ++a)
        for (const Vec3& x : std::as_const(scene.soft).positions(a))
          ASSERT_GT(x.y, 0) << k << ' ' << i;
      largest = std::max(largest, r.kinetic + r.springs + std::abs(r.potential));
      if (i == 0) least = total_energy(r);
      least = std::min(least, total_energy(r));
      ASSERT_LT(total_energy(r) - least, 0.01 * largest) << k << ' ' << i;
      met = met || r.touching > 0;
      held += r.held > 0 ? 1 : 0;
    }
    touching += met ? 1 : 0;
  }
  EXPECT_GT(touching, count / 3);
  EXPECT_GT(held, 0);
}

// The same bytes for any number of threads, and from a snapshot.
TEST(SoftBarrier, SameBytesForAnyThreadsAndAfterARestore) {
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 7}) {
    World ground({.step = 5e-3});
    ground.add_body({.name = "ball",
                     .kind = BodyKind::kStatic,
                     .shape = Shape::from_analytic(SphereField{.radius = 0.1})});
    SoftWorld soft({.step = 5e-3, .integrator = SoftIntegrator::kBarrier, .threads = {threads}});
    soft.add_body({.name = "cloth",
                   .mesh = make_sheet(0.5, 12),
                   .pose = {.translation = {0.01, 0.12, 0}},
                   .mass = 0.05,
                   .material = {.stiffness = 30, .bending = 0.1},
                   .self_contact = true});
    std::vector<std::byte> middle;
    for (int i = 0; i < 30; ++i) {
      if (i == 15) middle = soft.save();
      soft.step(&ground);
    }
    EXPECT_GT(soft.report().contacts, 5U);
    hashes.push_back(soft.hash());
    soft.restore(middle);
    for (int i = 15; i < 30; ++i) soft.step(&ground);
    hashes.push_back(soft.hash());
  }
  for (const std::uint64_t h : hashes) EXPECT_EQ(h, hashes.front());
}

// A soft cube between a ground and a plate that comes down on it to where no room is left: the run
// stops with a message, and nothing has crossed.
TEST(SoftBarrier, APressWithoutRoomEndsInTrouble) {
  World world({.step = 5e-3});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  const BodyId plate = world.add_body(
      {.name = "plate",
       .kind = BodyKind::kKinematic,
       .shape = Shape::from_mesh(make_box({.size_x = 0.4, .size_y = 0.02, .size_z = 0.4}),
                                 {.field = {.resolution = 16}}),
       .pose = {.translation = {0, 0.15, 0}}});
  SoftWorld soft({.step = 5e-3, .integrator = SoftIntegrator::kBarrier});
  const SoftId cube =
      soft.add_body({.name = "cube",
                     .mesh = make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.1, .segments = 3}),
                     .pose = {.translation = {0, 0.06, 0}},
                     .mass = 0.1,
                     .material = {.stiffness = 50, .struts = 20},
                     .self_contact = true});
  bool squeezed = false;
  for (int i = 0; i < 60 && !soft.trouble(); ++i) {
    world.move_to(plate, {.translation = {0, 0.15 - 0.003 * (i + 1), 0}});
    world.step();
    soft.step(&world);
    ASSERT_EQ(count_all_crossings(soft, cube, cube), 0U) << i;
    const Aabb box = soft.bounds(cube);
    squeezed = squeezed || extent(box).y < 0.08;
    ASSERT_GT(box.lower.y, 0) << i;
    if (!soft.trouble()) {
      ASSERT_LT(box.upper.y, world.pose(plate).translation.y - 0.01) << i;
    }
  }
  EXPECT_TRUE(squeezed);
  ASSERT_TRUE(soft.trouble());
  EXPECT_NE(soft.trouble()->message.find("no place"), std::string::npos);
}

// A rigid ball of a hundred times the mass of a net with wide cells does not pass through it, and
// its momentum goes to the net.
TEST(SoftBarrier, AMovingBallDoesNotPassBetweenVertices) {
  for (const double speed : {3.0, 30.0}) {
    World world({.step = 2e-3, .gravity = {}});
    const TriangleMesh mesh = make_sphere({.radius = 0.03, .frequency = 3});
    BodySettings ball{.name = "ball",
                      .shape = Shape::from_mesh(mesh, {.field = {.resolution = 24}}),
                      .pose = {.translation = {0.013, 0.05, 0.007}},
                      .velocity = {0, -speed, 0}};
    ball.mass = make_body_mass(ball.shape->mass(), 1000);
    const BodyId id = world.add_body(ball);
    SoftWorld soft({.step = 2e-3, .gravity = {}, .integrator = SoftIntegrator::kBarrier});
    const double mass = ball.mass.mass;
    const SoftId net = soft.add_body({.name = "net",
                                      .mesh = make_sheet(0.6, 8),
                                      .mass = 0.02,
                                      .material = {.stiffness = 100, .air_friction = 0},
                                      .self_contact = true});
    soft.note_poses(world);
    for (int i = 0; i < 60; ++i) {
      world.step();
      soft.step(&world);
      ASSERT_FALSE(soft.trouble());
      // The net is below the ball's centre, an odd number of times.
      const Vec3 center = world.pose(id).translation;
      const auto x = std::as_const(soft).positions(net);
      int below = 0;
      for (const Triangle& t : soft.body_settings(net).mesh.triangles) {
        const auto side = [&](std::uint32_t i0, std::uint32_t i1) {
          const Vec3 a = x[i0] - center, b = x[i1] - center;
          return a.x * b.z - a.z * b.x;
        };
        const double u = side(t[1], t[2]), v = side(t[2], t[0]), w = side(t[0], t[1]);
        const bool is_hit = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
        const double height = (x[t[0]].y * u + x[t[1]].y * v + x[t[2]].y * w) / (u + v + w);
        if (is_hit && height < center.y) ++below;
      }
      ASSERT_EQ(below % 2, 1) << speed << ' ' << i << ' ' << below << ' ' << center.x << ' '
                              << center.y << ' ' << center.z;
    }
    EXPECT_GT(soft.report().contacts, 0U);
    const double after = velocity(world.body(id)).y * mass + momentum(soft, net).y;
    EXPECT_NEAR(after, -speed * mass, 0.02 * speed * mass) << speed;
  }
}

// Cubes slide on slopes that are steeper than their friction allows, and only on those.
TEST(SoftBarrier, CoulombsAngle) {
  const double friction = 0.4;
  for (const double share : {0.8, 1.25}) {
    const double angle = std::atan(friction * share);
    World world({.step = 2e-3});
    world.add_body({.name = "slope",
                    .kind = BodyKind::kStatic,
                    .shape = Shape::from_analytic(PlaneField{}),
                    .pose = {.rotation = rotation_about({0, 0, 1}, angle)},
                    .material = {.friction = friction}});
    SoftWorld soft({.step = 2e-3, .integrator = SoftIntegrator::kBarrier});
    const Quat turn = rotation_about({0, 0, 1}, angle);
    const SoftId id =
        soft.add_body({.name = "cloth",
                       .mesh = make_sheet(0.2, 4),
                       .pose = {.rotation = turn, .translation = rotate(turn, {0, 2e-3, 0})},
                       .mass = 0.1,
                       .material = {.stiffness = 500, .air_friction = 0, .friction = friction}});
    const Vec3 down = rotate(turn, {-1, 0, 0});
    for (int i = 0; i < 200; ++i) soft.step(&world);
    const double early = dot(center_of_mass(soft, id), down);
    const double speed = dot(momentum(soft, id), down) / 0.1;
    for (int i = 0; i < 100; ++i) soft.step(&world);
    const double way = dot(center_of_mass(soft, id), down) - early;
    const double pull = 9.81 * (std::sin(angle) - friction * std::cos(angle));
    if (share < 1) {
      EXPECT_LT(std::abs(way), 1e-3);
    } else {
      EXPECT_NEAR(way, speed * 0.2 + 0.5 * pull * 0.04, 0.1 * way);
    }
  }
}

}  // namespace
}  // namespace isotact
