#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/deformable/features.h"

#include "dynamics/rigid/part.h"
#include "dynamics/soft/soft_bodies.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

SoftMaterial make_cloth(double friction = 0.4) {
  return {.stiffness = 60,
          .damping = 0.02,
          .bending = 0.5,
          .air_friction = 0.2,
          .max_strain = 0.1,
          .friction = friction};
}
SoftMaterial make_jelly_material(double friction = 0.4) {
  return {.stiffness = 150, .damping = 0.2, .struts = 60, .volume = 5e3, .friction = friction};
}
BodySettings make_still(const AnalyticSolid& solid, double friction = 0.4) {
  return {.name = "still",
          .kind = BodyKind::kStatic,
          .shape = Shape::from_analytic(solid),
          .material = {.friction = friction}};
}

// All triangles against all, exactly.
std::size_t count_crossings(const SoftWorld& world, SoftId a, SoftId b) {
  const auto topology = [&](SoftId id) {
    return make_topology(world.body_settings(id).mesh.triangles, world.positions(id).size());
  };
  const SurfaceTopology ta = topology(a), tb = topology(b);
  std::vector<TrianglePair> candidates, crossing;
  for (std::uint32_t i = 0; i < ta.triangles.size(); ++i)
    for (std::uint32_t j = a == b ? i + 1 : 0; j < tb.triangles.size(); ++j) {
      Aabb p, q;
      for (std::size_t k = 0; k < 3; ++k) {
        extend(p, world.positions(a)[ta.triangles[i][k]]);
        extend(q, world.positions(b)[tb.triangles[j][k]]);
      }
      if (overlaps(p, q)) candidates.push_back({i, j});
    }
  if (a == b)
    find_self_intersections({&ta, world.positions(a)}, candidates, crossing);
  else
    find_intersections({&ta, world.positions(a)}, {&tb, world.positions(b)}, candidates, crossing);
  return crossing.size();
}

TEST(SoftContact, ClothOnASphereIsNeverInside) {
  const SphereField ball{.radius = 0.3};
  World rigid({.step = 2e-3});
  rigid.add_body(make_still(ball));
  for (const double speed : {0.0, 30.0}) {  // 30 m/s: six centimetres a step
    SoftWorld soft({.step = 2e-3});
    const SoftId id = soft.add_body({.name = "cloth",
                                     .mesh = make_sheet(1, 20),
                                     .pose = {.translation = {0.05, 0.4, 0}},
                                     .velocity = {0, -speed, 0},
                                     .mass = 0.3,
                                     .material = make_cloth()});
    std::size_t touching = 0;
    for (int i = 0; i < unless_slow(400, 100); ++i) {
      const SoftReport& r = soft.step(&rigid);
      ASSERT_FALSE(soft.trouble());
      ASSERT_EQ(r.depth, 0) << i;
      for (const Vec3& x : std::as_const(soft).positions(id)) ASSERT_GT(ball.value(x), 0) << i;
      touching += r.contacts > 10 ? 1U : 0U;
    }
    EXPECT_GT(touching, unless_slow(120U, 20U));
    // It hangs over the ball, above its middle.
    if (!kSlowBuild && speed == 0) {
      EXPECT_GT(center_of_mass(soft, id).y, -0.2);
    }
  }
}

// A wall a hundredth as thick as the way of a step.
TEST(SoftContact, FastVerticesDoNotTunnel) {
  World rigid({.step = 1e-2});
  const BoxField wall{.half_size = {2, 0.0005, 2}};
  rigid.add_body(make_still(wall));
  SoftWorld soft({.step = 1e-2});
  const SoftId id = soft.add_body({.name = "cloth",
                                   .mesh = make_sheet(1, 8),
                                   .pose = {rotation_about({1, 0, 1}, 0.3), {0, 0.5, 0}},
                                   .velocity = {0, -15, 0},
                                   .mass = 0.3,
                                   .material = make_cloth(),
                                   .margin = 0.01});
  for (int i = 0; i < 60; ++i) {
    soft.step(&rigid);
    for (const Vec3& x : std::as_const(soft).positions(id)) ASSERT_GT(x.y, 0.0005) << i;
  }
  EXPECT_LT(center_of_mass(soft, id).y, 0.3);
}

TEST(SoftContact, ABlockOnASlopeObeysCoulomb) {
  const double friction = 0.5;
  for (const double slope : {0.8, 1.25}) {  // of the critical one
    const double angle = std::atan(slope * friction);
    // The plane stays, gravity turns.
    const Vec3 gravity{9.81 * std::sin(angle), -9.81 * std::cos(angle), 0};
    World rigid({.step = 2e-3});
    rigid.add_body(make_still(PlaneField{}, friction));
    SoftWorld soft({.step = 2e-3, .gravity = gravity});
    const SoftId id = soft.add_body(
        {.name = "block",
         .mesh = make_box({.size_x = 0.3, .size_y = 0.1, .size_z = 0.3, .segments = 6}),
         .pose = {.translation = {0, 0.055, 0}},
         .mass = 0.5,
         .material = make_jelly_material(friction)});
    for (int i = 0; i < 400; ++i) soft.step(&rigid);
    const double before = center_of_mass(soft, id).x;
    const double speed = momentum(soft, id).x / 0.5;
    for (int i = 0; i < 200; ++i) soft.step(&rigid);
    const double way = center_of_mass(soft, id).x - before;
    if (slope < 1) {
      EXPECT_LT(way, 2e-3);
    } else {
      const double want = 9.81 * (std::sin(angle) - friction * std::cos(angle));
      const double gained = momentum(soft, id).x / 0.5 - speed;
      EXPECT_NEAR(gained / 0.4, want, 0.15 * want);
    }
    EXPECT_FALSE(soft.trouble());
    EXPECT_EQ(soft.report().depth, 0);
  }
}

// A jelly cube that stands on the ground keeps its shape by struts and pressure; a skin alone
// collapses.
TEST(SoftContact, StrutsKeepAJellyInShape) {
  double height[2];
  for (const int struts : {0, 1}) {
    World rigid({.step = 2e-3});
    rigid.add_body(make_still(PlaneField{}));
    SoftWorld soft({.step = 2e-3});
    SoftMaterial material = make_jelly_material();
    if (struts == 0) material.struts = material.volume = 0;
    const SoftId id = soft.add_body(
        {.name = "jelly",
         .mesh = make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2, .segments = 5}),
         .pose = {.translation = {0, 0.15, 0}},
         .mass = 0.5,
         .material = material});
    for (int i = 0; i < unless_slow(1000, 400); ++i) soft.step(&rigid);
    height[struts] = extent(soft.bounds(id)).y;
    EXPECT_FALSE(soft.trouble());
  }
  EXPECT_GT(height[1], 0.18);  // of 0.2
  EXPECT_LT(height[0], 0.15);
}

const Part& heavy_ball() {  // of radius 0.1, 2 kg
  static const Part part = [] {
    const TriangleMesh mesh = make_sphere({.radius = 0.1, .frequency = 10});
    return Part{Shape::from_mesh(mesh, {.field = {.resolution = 32}, .points = 800}),
                make_body_mass(compute_mass_properties(mesh), 2 / 0.00418)};
  }();
  return part;
}

// Ball and net in free space: what one loses the other gets.
TEST(SoftContact, ABallAndANetShareMomentum) {
  World rigid({.step = 1e-3, .gravity = {}});
  const BodyId ball = rigid.add_body({.name = "ball",
                                      .shape = heavy_ball().shape,
                                      .mass = heavy_ball().mass,
                                      .pose = {.translation = {0.03, 0.15, 0.02}},
                                      .velocity = {0.2, -2, 0}});
  SoftWorld soft({.step = 1e-3, .gravity = {}});
  SoftBodySettings settings{
      .name = "net", .mesh = make_sheet(1, 16), .mass = 1, .material = make_cloth()};
  settings.material.air_friction = 0;
  const SoftId net = soft.add_body(settings);
  const auto all = [&] { return momentum(soft, net) + rigid.body(ball).state.momentum; };
  const Vec3 before = all();
  std::uint32_t contacts = 0;
  for (int i = 0; i < 300; ++i) {
    soft.step(&rigid);
    contacts = std::max(contacts, soft.report().contacts);
    rigid.step();
    ASSERT_LT(length(all() - before), 1e-9 * length(before)) << i;
  }
  EXPECT_GT(contacts, 3U);
  EXPECT_LT(rigid.body(ball).state.momentum.y, 0);
  EXPECT_GT(rigid.body(ball).state.momentum.y, -3);  // of -4: the net has the rest
}

TEST(SoftContact, ABallOnATrampolineComesBack) {
  World rigid({.step = 1e-3});
  const BodyId ball = rigid.add_body({.name = "ball",
                                      .shape = heavy_ball().shape,
                                      .mass = heavy_ball().mass,
                                      .pose = {.translation = {0, 0.5, 0}}});
  SoftWorld soft({.step = 1e-3});
  const int cells = 16;
  SoftBodySettings settings{.name = "trampoline", .mesh = make_sheet(1, cells), .mass = 1};
  settings.material = {.stiffness = 500, .damping = 0.05, .max_strain = 0};
  for (std::uint32_t i = 0; i < settings.mesh.positions.size(); ++i) {
    const Vec3f& p = settings.mesh.positions[i];
    if (std::abs(p.x) > 0.499F || std::abs(p.z) > 0.499F) settings.pinned.push_back(i);
  }
  const SoftId net = soft.add_body(settings);
  double lowest = 1, back = 0;
  for (int i = 0; i < unless_slow(1200, 500); ++i) {
    soft.step(&rigid);
    rigid.step();
    const double y = rigid.body(ball).state.center.y;
    lowest = std::min(lowest, y);
    if (y > lowest) back = std::max(back, y);
    ASSERT_GT(y, -0.5);
    // Vertices of the net stay out of the ball: to within what it moves in a step beside what was
    // foreseen.
    for (const Vec3& x : std::as_const(soft).positions(net))
      ASSERT_GT(length(x - rigid.body(ball).state.center), 0.1 - 2e-3) << i;
  }
  EXPECT_LT(lowest, 0.05);
  EXPECT_FALSE(soft.trouble());
  if (!kSlowBuild) {
    EXPECT_GT(back, 0.2);
  }
}

// A corner that points at the middle of a face: no vertex of the cloth is near.
TEST(SoftContact, PointsOfRigidBodiesPushFaces) {
  const TriangleMesh box = make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.1, .segments = 8});
  const Shape shape = Shape::from_mesh(box, {.field = {.resolution = 32}, .points = 1500});
  World rigid({.step = 1e-3, .gravity = {}});
  const Pose on_corner{rotation_about({1, 0, -1}, std::atan(std::sqrt(2.0))), {0.08, 0.1, 0.06}};
  const BodyId id = rigid.add_body({.name = "box",
                                    .shape = shape,
                                    .mass = make_body_mass(compute_mass_properties(box), 200),
                                    .pose = on_corner,
                                    .velocity = {0, -1, 0}});
  SoftWorld soft({.step = 1e-3, .gravity = {}});
  const SoftId net = soft.add_body({.name = "net",
                                    .mesh = make_sheet(1, 2),
                                    .mass = 5,
                                    .material = {.stiffness = 500, .damping = 0.1},
                                    .margin = 0.005});
  for (int i = 0; i < 300; ++i) {
    soft.step(&rigid);
    rigid.step();
  }
  EXPECT_LT(momentum(soft, net).y, -0.05);  // of -0.2 in all
  EXPECT_GT(rigid.body(id).state.momentum.y, -0.15);
}

// Three sheets thrown at each other, at up to four centimetres a step.
// The story: the ears of a rabbit, thinner than a cell of the cloth, came through between vertices.
// Points of what rests stay on their side of all faces.
TEST(SoftContact, AThinPoleDoesNotPierceACloth) {
  World rigid({.step = 2e-3});
  const Shape pole =
      Shape::from_mesh(make_capsule({.radius = 0.012, .length = 0.3, .segments = 12}),
                       {.field = {.voxel_size = 0.003}, .spacing = 0.005});
  // Turned about itself by an angle that no rounding forgives.
  rigid.add_body({.name = "pole",
                  .kind = BodyKind::kStatic,
                  .shape = pole,
                  .pose = {.rotation = rotation_about({0, 1, 0}, 0.7)}});
  SoftWorld soft({.step = 2e-3});
  const SoftId id = soft.add_body({.name = "cloth",
                                   .mesh = make_sheet(0.8, 16),  // cells of five centimetres
                                   .pose = {.translation = {0.013, 0.2, 0.021}},
                                   .velocity = {0, -5, 0},  // a fifth of a cell in a step
                                   .mass = 0.2,
                                   .material = make_cloth()});
  // Which triangle of the cloth is above the tip; how high, on the tip's axis.
  const auto height = [&] {
    double highest = -1;
    const std::span<const Vec3> x = std::as_const(soft).positions(id);
    for (const Triangle& t : soft.body_settings(id).mesh.triangles) {
      const Vec3 a = x[t[0]], b = x[t[1]], c = x[t[2]];
      const Vec3 n = cross(b - a, c - a);
      if (std::abs(n.y) < 1e-12) continue;
      const double y = a.y + (n.x * a.x + n.z * a.z) / n.y;
      const Vec3 p{0, y, 0};
      const double u = dot(cross(b - a, p - a), n), v = dot(cross(c - b, p - b), n),
                   w = dot(cross(a - c, p - c), n);
      if (u >= 0 && v >= 0 && w >= 0) highest = std::max(highest, y);
    }
    return highest;
  };
  EXPECT_NEAR(height(), 0.2, 1e-6);
  for (int i = 0; i < unless_slow(300, 150); ++i) {
    soft.step(&rigid);
    rigid.step();
    // The tip is at 0.162; between points of its shell a face may sag.
    ASSERT_GT(height(), 0.162 - 0.004) << i;
  }
  EXPECT_GT(soft.report().contacts, 0U);
  EXPECT_LT(soft.bounds(id).lower.y, 0.05);  // it hangs down around it
}

// The story: cubes stacked face on face, as copies in a row may be, hung in the air while their
// speeds grew: nothing can be put between them. That is said at once, and a small gap is enough.
TEST(SoftContact, CubesThatTouchFromTheStartAreTrouble) {
  for (const double gap : {0.0, 1e-3}) {
    World rigid({.step = 2e-3});
    rigid.add_body(make_still(PlaneField{}));
    SoftWorld soft({.step = 2e-3});
    for (const double y : {0.5, 0.7 + gap})
      soft.add_body({.name = y > 0.6 ? "upper" : "lower",
                     .mesh = make_box({0.2, 0.2, 0.2, 4}),
                     .pose = {.translation = {0, y, 0}},
                     .mass = 0.3,
                     .material = {.stiffness = 150, .damping = 0.2, .struts = 60}});
    for (int i = 0; i < 500; ++i) {
      soft.step(&rigid);
      rigid.step();
    }
    ASSERT_EQ(soft.trouble().has_value(), gap == 0);
    if (gap == 0) {
      const std::string& message = soft.trouble()->message;
      EXPECT_NE(message.find("'lower' and 'upper' touch"), std::string::npos) << message;
      continue;
    }
    EXPECT_NEAR(center_of_mass(soft, 0).y, 0.1, 0.02);
    EXPECT_NEAR(center_of_mass(soft, 1).y, 0.31, 0.03);
  }
}

// A way that is cut short takes the speed with it. (Springs that are stretched thereby keep some.)
TEST(SoftContact, HoldingAddsLittleEnergy) {
  World rigid({.step = 2e-3});
  const Shape pole =
      Shape::from_mesh(make_capsule({.radius = 0.012, .length = 0.3, .segments = 12}),
                       {.field = {.voxel_size = 0.003}, .spacing = 0.005});
  rigid.add_body({.name = "pole", .kind = BodyKind::kStatic, .shape = pole});
  SoftWorld soft({.step = 2e-3, .gravity = {}});
  SoftMaterial material = make_cloth();
  material.air_friction = 0;
  soft.add_body({.name = "cloth",
                 .mesh = make_sheet(0.8, 16),
                 .pose = {.translation = {0.013, 0.2, 0.021}},
                 .velocity = {0, -5, 0},
                 .mass = 0.2,
                 .material = material});
  const double start = 0.5 * 0.2 * 25;
  double most = 0;
  std::uint32_t held = 0;
  for (int i = 0; i < unless_slow(200, 60); ++i) {
    const SoftReport& report = soft.step(&rigid);
    rigid.step();
    held += report.held;
    most = std::max(most, report.kinetic + report.springs);
  }
  EXPECT_GT(held, 0U);
  EXPECT_LT(most, 2 * start);
}

TEST(SoftContact, ClothsDoNotCross) {
  for (const double speed : {1.0, 10.0}) {
    if (kSlowBuild && speed < 5) continue;
    SoftWorld soft({.step = 2e-3});
    for (int k = 0; k < 3; ++k) {
      SoftBodySettings s{
          .name = "cloth", .mesh = make_sheet(0.8, 10), .mass = 0.2, .material = make_cloth()};
      s.pose = {rotation_about({1, 0.3 * k, 0.5}, 0.1 * k), {0.05 * k, 0.2 * k, 0.03 * k}};
      s.velocity = {0, k == 0 ? speed : k == 2 ? -speed : 0, 0};
      s.self_contact = true;
      soft.add_body(s);
    }
    std::uint32_t touching = 0, held = 0;
    const int steps = unless_slow(200, 30);
    for (int i = 0; i < steps; ++i) {
      soft.step();
      ASSERT_FALSE(soft.trouble());
      touching += soft.report().touching;
      held += soft.report().held;
      if (i % 15 != 0) continue;
      for (SoftId a = 0; a < 3; ++a)
        for (SoftId b = a; b < 3; ++b)
          ASSERT_EQ(count_crossings(soft, a, b), 0U) << speed << ' ' << i << ' ' << a << b;
    }
    EXPECT_GT(touching, static_cast<std::uint32_t>(steps / 4));
    if (speed > 5) {
      EXPECT_GT(held, 0U);  // impulses alone do not stop all of them
    }
  }
}

TEST(SoftContact, SoftBodiesShareMomentum) {
  SoftWorld soft({.step = 2e-3, .gravity = {}});
  SoftBodySettings s{.name = "a",
                     .mesh = make_sphere({.radius = 0.2, .frequency = 4}),
                     .mass = 0.5,
                     .material = make_jelly_material()};
  s.material.air_friction = 0;
  s.velocity = {1, 0, 0};
  s.angular_velocity = {0, 0, 5};
  soft.add_body(s);
  s.pose.translation = {0.5, 0.1, 0.05};
  s.velocity = {-1, 0, 0};
  s.mass = 1;
  soft.add_body(s);
  const auto p = [&] { return momentum(soft, 0) + momentum(soft, 1); };
  const Vec3 before = p();
  std::uint32_t touching = 0, held = 0;
  for (int i = 0; i < 300; ++i) {
    soft.step();
    touching += soft.report().touching;
    held += soft.report().held;
    ASSERT_LT(length(p() - before), 1e-12) << i;
  }
  EXPECT_EQ(held, 0U);
  EXPECT_GT(touching, 5U);
  EXPECT_LT(momentum(soft, 0).x, 0.2);  // of 0.5: it was hit
  EXPECT_EQ(count_crossings(soft, 0, 1), 0U);
  EXPECT_GT(center_of_mass(soft, 1).x, center_of_mass(soft, 0).x + 0.3);
}

// A plate that is driven by its deformer carries a jelly along, and a deformer may throw.
TEST(SoftContact, WhatADeformerMovesPushesOthers) {
  SoftWorld soft({.step = 2e-3, .gravity = {}});
  bool throws = false;
  SoftBodySettings plate{.name = "plate", .mesh = make_sheet(0.6, 6)};
  plate.deformer = [&](double time, std::span<Vec3> x) {
    if (throws) throw Error("no more");
    for (Vec3& p : x) p.y = time;
  };
  const SoftId a = soft.add_body(plate);
  const SoftId b = soft.add_body({.name = "jelly",
                                  .mesh = make_sphere({.radius = 0.1, .frequency = 3}),
                                  .pose = {.translation = {0, 0.15, 0}},
                                  .mass = 0.2,
                                  .material = make_jelly_material()});
  for (int i = 0; i < 150; ++i) soft.step();
  EXPECT_GT(momentum(soft, b).y, 0.5 * 0.2);
  for (const Vec3& x : std::as_const(soft).positions(b)) EXPECT_GT(x.y, 0.3);
  EXPECT_EQ(soft.bounds(a).upper.y, 0.3);
  throws = true;
  const std::uint64_t hash = soft.hash();
  EXPECT_THROW(soft.step(), Error);
  EXPECT_EQ(soft.hash(), hash);
}

// Soft bodies fell through pointshells without a word.
TEST(SoftContact, RefusesRigidBodiesWithoutField) {
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.1});
  World rigid({.step = 2e-3});
  rigid.add_body({.name = "dust",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_parts(std::nullopt, ball.points())});
  SoftWorld soft({.step = 2e-3});
  soft.add_body(
      {.name = "cloth", .mesh = make_sheet(0.4, 4), .mass = 0.1, .material = make_cloth()});
  const std::uint64_t hash = soft.hash();
  try {
    soft.step(&rigid);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'dust'"), std::string::npos) << message;
    EXPECT_NE(message.find("Shape::from_mesh"), std::string::npos) << message;
  }
  EXPECT_EQ(soft.hash(), hash);
  EXPECT_NO_THROW(soft.step());
}

// A sheet that falls onto the ground and is folded over by a second push stays whole.
TEST(SoftContact, AClothFoldsWithoutCrossingItself) {
  World rigid({.step = 2e-3});
  rigid.add_body(make_still(PlaneField{}));
  SoftWorld soft({.step = 2e-3});
  SoftBodySettings s{.name = "cloth",
                     .mesh = make_sheet(0.6, 12),
                     .mass = 0.2,
                     .material = make_cloth(0.2),
                     .self_contact = true};
  s.pose = {rotation_about({1, 0, 0.2}, 1.3), {0, 0.4, 0}};
  const SoftId id = soft.add_body(s);
  const int steps = unless_slow(500, 100);
  for (int i = 0; i < steps; ++i) {
    soft.step(&rigid);
    ASSERT_FALSE(soft.trouble());
    ASSERT_EQ(soft.report().depth, 0);
    if (i % 10 == 0) {
      ASSERT_EQ(count_crossings(soft, id, id), 0U) << i;
    }
  }
  if (!kSlowBuild) {
    EXPECT_LT(center_of_mass(soft, id).y, 0.15);
  }
}

struct MixedScene {
  World rigid{{.step = 2e-3}};
  SoftWorld soft;

  explicit MixedScene(int threads) : soft({.step = 2e-3, .threads = {threads}}) {
    rigid.add_body(make_still(PlaneField{}));
    rigid.add_body({.name = "ball",
                    .shape = heavy_ball().shape,
                    .mass = heavy_ball().mass,
                    .pose = {.translation = {0, 0.4, 0}}});
    rigid.add_body({.name = "paddle",
                    .kind = BodyKind::kKinematic,
                    .shape = Shape::from_analytic(SphereField{.radius = 0.1}),
                    .pose = {.translation = {0.4, 0.15, 0}}});
    SoftBodySettings s{.name = "jelly",
                       .mesh = make_sphere({.radius = 0.12, .frequency = 3}),
                       .mass = 0.3,
                       .material = make_jelly_material()};
    for (int i = 0; i < 4; ++i) {
      s.pose.translation = {0.2 * i - 0.3, 0.13 + 0.16 * (i % 2), 0.02 * i};
      s.velocity = {i % 2 == 0 ? 0.5 : -0.5, 0, 0};
      soft.add_body(s);
    }
    soft.add_body({.name = "cloth",
                   .mesh = make_sheet(0.8, 8),
                   .pose = {.translation = {0, 0.6, 0}},
                   .mass = 0.2,
                   .material = make_cloth(),
                   .self_contact = true});
  }
  void step() {
    rigid.move_to(2, {.translation = {0.4 - 0.3 * rigid.time(), 0.15, 0}});
    soft.step(&rigid);
    rigid.step();
  }
};

TEST(SoftContact, ThreadsDoNotChangeTheBytes) {
  std::vector<std::uint64_t> hashes;
  std::uint32_t contacts = 0;
  for (const int threads : {1, 2, 7}) {
    MixedScene scene(threads);
    for (int i = 0; i < unless_slow(100, 50); ++i) {
      scene.step();
      contacts = std::max(contacts, scene.soft.report().touching);
    }
    ASSERT_FALSE(scene.soft.trouble());
    hashes.push_back(scene.soft.hash());
    hashes.push_back(scene.rigid.hash());
  }
  EXPECT_GT(contacts, 0U);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_EQ(hashes[0], hashes[4]);
  EXPECT_EQ(hashes[1], hashes[3]);
  EXPECT_EQ(hashes[1], hashes[5]);
}

TEST(SoftContact, WhatIsRestoredGoesOnTheSame) {
  MixedScene first(2), second(2);
  for (int i = 0; i < 60; ++i) first.step();
  const auto soft = first.soft.save(), rigid = first.rigid.save();
  for (int i = 0; i < 40; ++i) first.step();
  second.soft.restore(soft);
  second.rigid.restore(rigid);
  EXPECT_EQ(second.soft.save(), soft);
  for (int i = 0; i < 40; ++i) second.step();
  EXPECT_EQ(first.soft.hash(), second.soft.hash());
  EXPECT_EQ(first.soft.report().contacts, second.soft.report().contacts);

  std::vector<std::byte> cut(soft.begin(), soft.end() - 9);
  EXPECT_THROW(second.soft.restore(cut), Error);
  cut = soft;
  cut.push_back(std::byte{0});
  EXPECT_THROW(second.soft.restore(cut), Error);
  cut = soft;
  cut[0] = std::byte{0};
  EXPECT_THROW(second.soft.restore(cut), Error);
  SoftWorld other;
  EXPECT_THROW(other.restore(soft), Error);
  EXPECT_EQ(first.soft.hash(), second.soft.hash());  // as it was
}

}  // namespace
}  // namespace isotact
