#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/soft/soft_bodies.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

// A triangle with two pinned corners, as flat as floats allow: the third corner swings along the
// line between them, where the two springs act as one of twice the stiffness. It is held on that
// line, which is no stable place to be for one that is pushed from an end.
constexpr double kStiffness = 40, kMass = 3;

TriangleMesh make_line_triangle() { return {{{-1, 0, 0}, {1, 0, 0}, {0, 1e-5F, 0}}, {{0, 1, 2}}}; }

struct Swing {
  SoftWorld world;
  double mass = 0;  // of the vertex that moves

  Swing(SoftIntegrator integrator, double step, double damping = 0)
      : world({.step = step, .gravity = {}, .integrator = integrator, .contact = false}) {
    world.add_body({.name = "swing",
                    .mesh = make_line_triangle(),
                    .mass = kMass,
                    .material = {.stiffness = kStiffness,
                                 .damping = damping,
                                 .air_friction = 0,
                                 .max_strain = 0},
                    .pinned = {0, 1}});
    mass = world.masses(0)[2];
  }
  const SoftReport& step() {
    world.positions(0)[2].y = 1e-5;
    world.velocities(0)[2].y = 0;
    return world.step();
  }
  double frequency() const { return std::sqrt(2 * kStiffness / mass); }
  double x() const { return std::as_const(world).positions(0)[2].x; }
  double v() const { return std::as_const(world).velocities(0)[2].x; }
};

// Verlet's own solution is known: x = A cos(n theta) with sin(theta / 2) = h w / 2.
TEST(SoftMotion, VerletSwingsAsItsFormulaSays) {
  const double h = 0.02, amplitude = 0.1;
  Swing s(SoftIntegrator::kVerlet, h);
  ASSERT_GT(s.world.stable_step(0), h);
  s.world.positions(0)[2].x = amplitude;
  const double theta = 2 * std::asin(h * s.frequency() / 2);
  for (int n = 1; n <= 20000; ++n) {
    s.step();
    ASSERT_NEAR(s.x(), amplitude * std::cos(n * theta), 1e-5 * amplitude) << n;
  }
  // The period of the spring itself, to second order.
  EXPECT_NEAR(theta / h, s.frequency(), s.frequency() * std::pow(h * s.frequency(), 2) / 20);
}

TEST(SoftMotion, VerletKeepsEnergyBounded) {
  const double h = 0.05, amplitude = 0.1;
  Swing s(SoftIntegrator::kVerlet, h);
  s.world.positions(0)[2].x = amplitude;
  const double start = kStiffness * amplitude * amplitude;
  double least = start, most = 0, late_least = start, late_most = 0;
  const int steps = 40000;  // about 1600 periods
  for (int n = 0; n < steps; ++n) {
    const SoftReport& r = s.step();
    const double energy = r.kinetic + r.springs;
    (n < 2000 ? least : late_least) = std::min(n < 2000 ? least : late_least, energy);
    (n < 2000 ? most : late_most) = std::max(n < 2000 ? most : late_most, energy);
  }
  // Kinetic energy is that of half a step before: it swings by h w / 2, but does not drift.
  const double swing = h * s.frequency() / 2;
  EXPECT_LT(most, start * (1 + 1.1 * swing));
  EXPECT_GT(least, start * (1 - 1.1 * swing));
  EXPECT_NEAR(late_most, most, 1e-3 * start);
  EXPECT_NEAR(late_least, least, 1e-3 * start);
}

// Each step of backward Euler multiplies a swing by 1 / (1 - i h w).
TEST(SoftMotion, BackwardEulerDecaysAtItsRate) {
  for (const double h : {0.005, 0.05, 0.5}) {
    Swing s(SoftIntegrator::kBackwardEuler, h);
    s.world.positions(0)[2].x = 0.1;
    const double w = s.frequency();
    double x = 0.1, v = 0;
    for (int n = 1; n <= 40; ++n) {
      s.step();
      const double next = (v - h * w * w * x) / (1 + h * h * w * w);
      v = next;
      x += h * v;
      ASSERT_NEAR(s.x(), x, 1e-5 * 0.1) << h << ' ' << n;
    }
    const double left = w * w * s.x() * s.x() + s.v() * s.v();
    const double rate = std::pow(1 + h * h * w * w, -40);
    EXPECT_NEAR(left / (w * w * 0.01), rate, 1e-3 * rate + 1e-9) << h;
  }
}

TEST(SoftMotion, DampingDecaysAtItsRate) {
  const double c = 1.5, h = 1e-3;
  Swing s(SoftIntegrator::kVerlet, h, c);
  s.world.positions(0)[2].x = 0.1;
  const double w = s.frequency(), rate = c / s.mass;  // two springs: 2 c / (2 m)
  const double damped = std::sqrt(w * w - rate * rate);
  for (int n = 1; n <= 5000; ++n) {
    s.step();
    const double t = n * h;
    const double want =
        0.1 * std::exp(-rate * t) * (std::cos(damped * t) + rate / damped * std::sin(damped * t));
    ASSERT_NEAR(s.x(), want, 2e-4) << n;
  }
}

SoftBodySettings make_jelly(const TriangleMesh& mesh) {
  return {.name = "jelly",
          .mesh = mesh,
          .mass = 0.5,
          .material = {.stiffness = 60,
                       .damping = 0.05,
                       .bending = 5,
                       .struts = 10,
                       .area = 1e4,
                       .volume = 2e3,
                       .air_friction = 0,
                       .max_strain = 0}};
}

// Springs, dampers, areas and pressure are inner forces, and so are strain limits. These move
// vertices, too, which does not keep angular momentum exactly.
TEST(SoftMotion, AFreeBodyKeepsItsMomenta) {
  for (const double strain : {0.0, 0.05}) {
    SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
    SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 5}));
    settings.velocity = {0.3, -0.2, 0.1};
    settings.angular_velocity = {1, 4, -2};
    settings.material.max_strain = strain;
    const SoftId id = world.add_body(settings);
    Random random(1);
    for (Vec3& x : world.positions(id)) x += random.in_unit_ball() * 0.02;
    const Vec3 p = momentum(world, id), l = angular_momentum(world, id);
    double most = 0;
    for (int i = 0; i < unless_slow(2000, 300); ++i) {
      world.step();
      most = std::max(most, world.report().springs);
    }
    ASSERT_FALSE(world.trouble());
    EXPECT_GT(most, 1e-3);  // it swings
    EXPECT_LT(length(momentum(world, id) - p), 1e-12 * length(p));
    EXPECT_LT(length(angular_momentum(world, id) - l), (strain > 0 ? 0.05 : 1e-10) * length(l));
  }
}

TEST(SoftMotion, BackwardEulerKeepsMomentum) {
  SoftWorld world({.step = 5e-3,
                   .gravity = {},
                   .integrator = SoftIntegrator::kBackwardEuler,
                   .contact = false});
  SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 4}));
  settings.velocity = {0.3, -0.2, 0.1};
  const SoftId id = world.add_body(settings);
  Random random(1);
  for (Vec3& x : world.positions(id)) x += random.in_unit_ball() * 0.02;
  const Vec3 p = momentum(world, id);
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < unless_slow(50, 10); ++i) {
    world.step();
    const double energy = world.report().kinetic + world.report().springs;
    EXPECT_LT(energy, 1.001 * last);  // it never gains
    last = energy;
  }
  EXPECT_LT(length(momentum(world, id) - p), 1e-10 * length(p));
}

// A damper acts on the rate of a spring's length. One on the whole relative velocity, as equation 2
// of the paper may be read, would stop a body that turns.
TEST(SoftMotion, DampingLeavesRigidTurningAlone) {
  SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
  SoftBodySettings settings =
      make_jelly(make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2, .segments = 4}));
  settings.material = {.stiffness = 400, .damping = 0.3, .struts = 100, .air_friction = 0};
  settings.angular_velocity = {0, 3, 0};
  const SoftId id = world.add_body(settings);
  const double start = angular_momentum(world, id).y;
  for (int i = 0; i < unless_slow(4000, 500); ++i) world.step();
  EXPECT_NEAR(angular_momentum(world, id).y, start, 1e-9 * start);
  // It still turns as a whole: hardly any energy is gone but for what stretched it.
  const double turning = world.report().kinetic;
  for (int i = 0; i < unless_slow(4000, 500); ++i) world.step();
  EXPECT_NEAR(world.report().kinetic, turning, 2e-3 * turning);
}

TEST(SoftMotion, AirStopsWhatMoves) {
  SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
  SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 3}));
  settings.material.air_friction = 2;
  settings.velocity = {1, 0, 0};
  const SoftId id = world.add_body(settings);
  for (int i = 0; i < 1000; ++i) world.step();
  EXPECT_NEAR(momentum(world, id).x, 0.5 * std::exp(-2.0), 0.5 * std::exp(-2.0) * 3e-3);
}

TEST(SoftMotion, VolumeAndAreasAreKept) {
  double lost[2], shrunk[2];
  for (const int keep : {0, 1}) {
    // Springs half as long as edges pull it together.
    SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
    SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 4}));
    settings.material.struts = settings.material.bending = 0;
    settings.material.damping = 0.2;
    settings.material.volume = keep == 1 ? 2e4 : 0;
    settings.material.area = keep == 1 ? 1e6 : 0;
    settings.pinned = {};
    const SoftId id = world.add_body(settings);
    const double before = world.volume(id);
    for (Vec3& x : world.positions(id)) x = Vec3{x.x * 1.3, x.y * 0.75, x.z};
    for (int i = 0; i < 300; ++i) world.step();
    lost[keep] = std::abs(world.volume(id) / before - 1);
    double area = 0, rest = 0;
    const TriangleMesh& mesh = world.body_settings(id).mesh;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto c = corners(mesh, t);
      rest += length(cross(c[1] - c[0], c[2] - c[0]));
      const auto x = world.positions(id);
      const Triangle& i = mesh.triangles[t];
      area += length(cross(x[i[1]] - x[i[0]], x[i[2]] - x[i[0]]));
    }
    shrunk[keep] = std::abs(area / rest - 1);
  }
  EXPECT_LT(lost[1], 0.01);
  EXPECT_LT(shrunk[1], 0.01);
  EXPECT_GT(lost[0] + 1e-3, lost[1]);
}

// Pressure against a load: a ball pulled together by its springs keeps the volume at which both are
// in balance, p (V0 - V) / V0.
TEST(SoftMotion, PressureBearsWhatPullsItTogether) {
  double volume[2];
  for (const int keep : {0, 1}) {
    SoftWorld world({.step = 1e-3, .gravity = {0, -9.81, 0}, .contact = false});
    SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 4}));
    settings.material = {
        .stiffness = 30, .damping = 0.1, .volume = keep == 1 ? 1e4 : 0.0, .air_friction = 1};
    for (std::uint32_t i = 0; i < 30; ++i) settings.pinned.push_back(i);  // hangs
    const SoftId id = world.add_body(settings);
    const double before = world.volume(id);
    for (int i = 0; i < unless_slow(1500, 600); ++i) world.step();
    volume[keep] = world.volume(id) / before;
  }
  EXPECT_LT(std::abs(volume[1] - 1), 0.02);
  EXPECT_GT(std::abs(volume[0] - 1), 2 * std::abs(volume[1] - 1));
}

// The same force as the difference of energies: gradients are exact.
TEST(SoftMotion, ForcesAreGradientsOfEnergies) {
  SoftWorld world({.step = 1e-6, .gravity = {}, .contact = false});
  SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 2}));
  settings.material.damping = 0;
  const SoftId id = world.add_body(settings);
  Random random(3);
  for (Vec3& x : world.positions(id)) x += random.in_unit_ball() * 0.03;
  const std::vector<Vec3> start(world.positions(id).begin(), world.positions(id).end());
  // A step of almost no length: v = a h / 2 of the first, half kick.
  const auto state = world.save();
  world.step();
  std::vector<Vec3> force;
  for (std::size_t i = 0; i < start.size(); ++i)
    force.push_back(world.velocities(id)[i] * (world.masses(id)[i] / 0.5e-6));
  const double step = 1e-6;
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{20}})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double energy[2];
      for (const int side : {0, 1}) {
        world.restore(state);
        world.positions(id)[i][axis] += side == 0 ? -step : step;
        world.step();  // moves by 1e-12 of anything
        energy[side] = world.report().springs;
      }
      const double want = -(energy[1] - energy[0]) / (2 * step);
      EXPECT_NEAR(force[i][axis], want, 1e-4 * length(force[i]) + 1e-6);
    }
}

TEST(SoftMotion, PlasticBodiesKeepTheirNewShape) {
  double height[2];
  for (const int plastic : {0, 1}) {
    SoftWorld world({.step = 1e-3, .gravity = {}, .contact = false});
    SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 4}));
    settings.material.damping = 0.3;
    settings.material.yield = plastic == 1 ? 0.02 : 0;
    settings.material.creep = 50;
    const SoftId id = world.add_body(settings);
    for (int i = 0; i < unless_slow(300, 100); ++i) {
      for (Vec3& x : world.positions(id)) x.y = std::clamp(x.y, -0.12, 0.12);
      world.step();
    }
    for (int i = 0; i < unless_slow(2000, 600); ++i) world.step();
    height[plastic] = extent(world.bounds(id)).y;
  }
  EXPECT_GT(height[0], 0.38);  // 0.4 at rest
  EXPECT_LT(height[1], 0.30);
}

TEST(SoftMotion, StrainStaysWithinItsLimits) {
  SoftWorld world({.step = 1e-3, .contact = false});
  const TriangleMesh sheet = make_sheet(1, 8);
  SoftBodySettings settings{.name = "net", .mesh = sheet, .mass = 5, .pinned = {0, 8}};
  settings.material = {.stiffness = 5, .damping = 0.05, .max_strain = 0.1};
  const SoftId id = world.add_body(settings);
  std::size_t all = 0, at_limit = 0, beyond = 0;
  for (int i = 0; i < unless_slow(2000, 400); ++i) {
    world.step();
    for (const Triangle& t : sheet.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = t[k], b = t[(k + 1) % 3];
        const double rest = length(to_double(sheet.positions[b]) - to_double(sheet.positions[a]));
        const double strain = length(world.positions(id)[b] - world.positions(id)[a]) / rest - 1;
        ++all;
        at_limit += strain > 0.095 ? 1U : 0U;
        beyond += strain > 0.102 ? 1U : 0U;
        ASSERT_LT(strain, 0.5);
      }
  }
  EXPECT_GT(at_limit, all / 50);  // springs alone would be many times as long
  EXPECT_LT(beyond, all / 500);   // sweeps end early where edges are in each other's way
}

TEST(SoftMotion, SteeredBodiesStayInTheCube) {
  const Aabb cube{{-1, -1, -1}, {1, 1, 1}};
  SoftWorld world({.step = 5e-3, .cube = cube, .contact = false});
  SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.15, .frequency = 3}));
  settings.steering = Steering{.speed = 2, .period = 1.5, .seed = 7};
  const SoftId wanders = world.add_body(settings);
  settings.steering = Steering{.velocity = Vec3{3, 1, 0.5}};
  const SoftId goes = world.add_body(settings);
  int turned = 0;
  Vec3 last{};
  double sum = 0;
  const int steps = unless_slow(2000, 500);
  for (int i = 0; i < steps; ++i) {
    world.step();
    ASSERT_FALSE(world.trouble());
    for (const SoftId id : {wanders, goes})
      for (const Vec3& x : world.positions(id)) ASSERT_TRUE(contains(cube, x));
    const Vec3 v = momentum(world, goes) / 0.5;
    turned += dot(v, last) < 0.9 * length(v) * length(last) ? 1 : 0;
    last = v;
    sum += length(momentum(world, wanders)) / 0.5;
  }
  EXPECT_GT(turned, steps / 250);
  EXPECT_NEAR(sum / steps, 2, 0.1);
}

TEST(SoftMotion, ADeformerGoesItsOwnWay) {
  SoftWorld world({.step = 0.01, .contact = false});
  const TriangleMesh mesh = make_sheet(1, 2);
  const SoftId id =
      world.add_body({.name = "wave", .mesh = mesh, .deformer = [](double time, std::span<Vec3> x) {
                        for (Vec3& p : x) p.y = time * p.x;
                      }});
  for (int i = 0; i < 10; ++i) world.step();
  for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
    EXPECT_NEAR(world.positions(id)[i].y, 0.1 * mesh.positions[i].x, 1e-12);
    EXPECT_NEAR(world.velocities(id)[i].y, mesh.positions[i].x, 1e-9);
  }
  EXPECT_NEAR(world.bounds(id).upper.y, 0.05, 1e-12);
}

TEST(SoftMotion, BoundsHoldEveryVertex) {
  SoftWorld world({.step = 2e-3, .contact = false});
  SoftBodySettings settings = make_jelly(make_box({.segments = 4}));
  settings.angular_velocity = {3, 2, 1};
  settings.pinned = {5};
  const SoftId id = world.add_body(settings);
  for (int i = 0; i < 200; ++i) {
    world.step();
    Aabb box;
    for (const Vec3& x : std::as_const(world).positions(id)) {
      extend(box, x);
      EXPECT_LE(length(x - world.bounding_sphere(id).center), world.bounding_sphere(id).radius);
    }
    EXPECT_EQ(box, world.bounds(id));
  }
}

// Just below the step that is said to be stable it is, and the bound is not far too careful.
TEST(SoftMotion, TheStableStepIsOne) {
  const TriangleMesh mesh = make_sphere({.radius = 0.2, .frequency = 4});
  for (const double share : {0.98, 4.0}) {
    SoftBodySettings settings = make_jelly(mesh);
    settings.material.damping = 0;
    const SoftWorld probe = [&] {
      SoftWorld w({.step = 1e-5, .contact = false});
      w.add_body(settings);
      return w;
    }();
    // Backward Euler takes any step; its twin with Verlet is given the bound itself.
    const double step = share * probe.stable_step(0);
    settings.material.max_strain = 0;
    SoftWorld world(
        {.step = step, .gravity = {}, .contact = false, .max_substeps = share < 1 ? 2 : 8});
    const SoftId id = world.add_body(settings);
    Random random(5);
    for (Vec3& x : world.positions(id)) x += random.in_unit_ball() * 2e-4;
    double start = 0, most = 0;
    for (int i = 0; i < unless_slow(3000, 600); ++i) {
      world.step();
      const double energy = world.report().kinetic + world.report().springs;
      if (i == 0) start = energy;
      most = std::max(most, energy);
    }
    EXPECT_LT(most, 5 * start) << share;
    EXPECT_EQ(world.report().substeps, share < 1 ? 2U : 5U);
  }
}

TEST(SoftMotion, TooStiffForTheStepIsAnErrorThatNamesIt) {
  SoftWorld world({.step = 0.1, .contact = false});
  SoftBodySettings settings = make_jelly(make_sphere({.radius = 0.2, .frequency = 4}));
  settings.material.stiffness = 1e7;
  try {
    world.add_body(settings);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the largest stable one is"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("'jelly'"), std::string::npos);
  }
  SoftWorld implicit({.step = 0.1, .integrator = SoftIntegrator::kBackwardEuler, .contact = false});
  EXPECT_NO_THROW(implicit.add_body(settings));
}

TEST(SoftMotion, WhatMakesNoSenseIsAnError) {
  const SoftBodySettings good{.name = "good", .mesh = make_sheet(1, 2)};
  const auto refuses = [&](auto&& change) {
    SoftBodySettings s = good;
    change(s);
    SoftWorld world({.contact = false, .max_substeps = 1000});
    EXPECT_THROW(world.add_body(s), Error);
    EXPECT_EQ(world.body_count(), 0U);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuses([](SoftBodySettings& s) { s.mass = -1; });
  refuses([&](SoftBodySettings& s) { s.mass = nan; });
  refuses([](SoftBodySettings& s) { s.mesh = {}; });
  refuses([](SoftBodySettings& s) { s.mesh.triangles = {}; });
  refuses([](SoftBodySettings& s) { s.mesh.triangles[0][1] = 99; });
  refuses([](SoftBodySettings& s) { s.mesh.positions.push_back({}); });
  refuses(
      [](SoftBodySettings& s) { s.mesh.positions[3].y = std::numeric_limits<float>::infinity(); });
  refuses([](SoftBodySettings& s) {
    for (Vec3f& p : s.mesh.positions) p = {1, 2, 3};
  });
  refuses([](SoftBodySettings& s) { s.pinned = {9}; });
  refuses([](SoftBodySettings& s) { s.material.stiffness = -1; });
  refuses([&](SoftBodySettings& s) { s.material.damping = nan; });
  refuses([](SoftBodySettings& s) { s.material.max_strain = 1; });
  refuses([](SoftBodySettings& s) { s.material.volume = 10; });  // it is open
  refuses([](SoftBodySettings& s) { s.material.struts = 10; });
  refuses([](SoftBodySettings& s) { s.margin = -1; });
  refuses([&](SoftBodySettings& s) { s.velocity = {nan, 0, 0}; });
  refuses([](SoftBodySettings& s) { s.pose.rotation = {2, 0, 0, 0}; });
  refuses([](SoftBodySettings& s) { s.steering = Steering{.speed = -1}; });
  refuses([](SoftBodySettings& s) { s.steering = Steering{.period = 0}; });
  EXPECT_THROW(SoftWorld({.step = 0}), Error);
  EXPECT_THROW(SoftWorld({.gravity = {nan, 0, 0}}), Error);
  EXPECT_THROW(SoftWorld({.contact_iterations = 0}), Error);
  EXPECT_THROW(SoftWorld({.cube = Aabb{}}), Error);
  SoftWorld small({.cube = Aabb{{0, 0, 0}, {1, 1, 1}}, .contact = false, .max_substeps = 1000});
  EXPECT_THROW(small.add_body(good), Error);
}

TEST(SoftMotion, WhatFliesApartIsTrouble) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool driven : {false, true}) {
    SoftWorld world({.step = 1e-3, .contact = false});
    SoftBodySettings settings{.name = "doomed", .mesh = make_sheet(1, 2), .mass = 10};
    if (driven) settings.deformer = [&](double, std::span<Vec3> x) { x[1].z = nan; };
    const SoftId id = world.add_body(settings);
    if (!driven) world.velocities(id)[4].x = nan;
    world.step();
    ASSERT_TRUE(world.trouble());
    EXPECT_EQ(world.trouble()->body, id);
    EXPECT_NE(world.trouble()->message.find("'doomed'"), std::string::npos);
    const std::uint64_t number = world.report().number;
    EXPECT_EQ(world.step().number, number);  // nothing goes on
  }
}

}  // namespace
}  // namespace isotact
