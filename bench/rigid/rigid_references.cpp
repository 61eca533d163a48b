// Balances of isolated systems, and motions whose outcome is known.
#include <algorithm>
#include <cmath>
#include <vector>

#include "isotact/base/trig.h"
#include "isotact/field/models/analytic.h"

#include "rigid_report.h"

namespace isotact::bench {
namespace {

using namespace throw_cases;

struct Sums {
  Vec3 momentum{}, angular{};
  double size = 0, angular_size = 0;  // of the parts, without their signs
};

Sums sum_up(const World& world) {
  Sums s;
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const RigidBody& b = world.body(id);
    if (b.kind != BodyKind::kDynamic) continue;
    const Vec3 orbit = cross(b.state.center, b.state.momentum);
    s.momentum += b.state.momentum;
    s.angular += orbit + b.state.angular_momentum;
    s.size += length(b.state.momentum);
    s.angular_size += length(orbit) + length(b.state.angular_momentum);
  }
  return s;
}

// A cloud that falls into its middle, some of it jointed.
World make_cloud(Random& random, double step) {
  World world({.step = step, .gravity = {}, .threads = {1}});
  const auto& all = all_thrown();
  const double restitution = random.uniform(), friction = random.uniform();
  for (int i = 0; i < 12; ++i) {
    const Thrown& t = all[random.below(static_cast<std::uint32_t>(all.size()))];
    BodySettings body;
    body.name = t.name;
    body.shape = t.part.shape;
    body.mass = t.part.mass;
    const Vec3 at{0.5 * (i % 3 - 1), 0.5 * (i / 3 % 2) - 0.25, 0.5 * (i / 6) - 0.25};
    body.pose = {random.rotation(), at};
    body.velocity = at * -random.uniform(2, 20) + random.unit_vector();
    body.angular_velocity = random.unit_vector() * random.uniform(0, 60);
    body.material = {.friction = friction, .restitution = restitution};
    world.add_body(body);
  }
  for (BodyId id = 0; id + 1 < 6; id += 2) {
    JointSettings j;
    j.kind = id == 0 ? JointKind::kBall : id == 2 ? JointKind::kHinge : JointKind::kFixed;
    j.a = id;
    j.b = id + 1;
    const Vec3 middle = (world.pose(id).translation + world.pose(id + 1).translation) * 0.5;
    const JointFrames frames =
        compute_joint_frames(world.pose(id), world.pose(id + 1), middle, random.unit_vector());
    j.a_from_joint = frames.a_from_joint;
    j.b_from_joint = frames.b_from_joint;
    world.add_joint(j);
  }
  return world;
}

// ---- references ----

// How much of the speed a ball keeps at its first bounce, by the height to which it rises.
double measure_bounce(double restitution, double step) {
  constexpr double kRadius = 0.05, kHeight = 0.5;
  World world({.step = step, .threads = {1}});
  const SurfaceMaterial material{.friction = 0.3, .restitution = restitution};
  world.add_body({.name = "ground",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_analytic(PlaneField{}),
                  .material = material});
  BodySettings ball;
  ball.name = "ball";
  ball.shape = Shape::from_analytic(SphereField{.radius = kRadius});
  ball.mass = make_body_mass(1, {}, identity3() * (0.4 * kRadius * kRadius));
  ball.pose = {{}, {0, kRadius + kHeight, 0}};
  ball.material = material;
  const BodyId id = world.add_body(ball);
  double top = 0;
  bool rises = false;
  while (world.time() < 2) {
    world.step();
    const Vec3 v = velocity(world.body(id));
    const double height = world.body(id).state.center.y - kRadius;
    if (v.y > 0) {
      rises = true;
      // The height that it would reach: apexes lie between steps. Velocities are those of half a
      // step before the positions.
      const double now = std::max(v.y - 0.5 * 9.81 * step, 0.0);
      top = std::max(top, height + now * now / (2 * 9.81));
    } else if (rises) {
      break;
    }
  }
  return std::sqrt(top / kHeight);
}

void bench_balls(Report& report) {
  Table table = report.table({.id = "rigid-balls",
                              .title = "Restitution of a ball that falls half a metre",
                              .columns = {{"material", Of::kKey},
                                          {"0.1 ms", Of::kOurs},
                                          {"1 ms", Of::kOurs},
                                          {"2 ms", Of::kOurs},
                                          {"5 ms", Of::kOurs},
                                          {"10 ms", Of::kOurs}}});
  for (const double e : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    std::vector<Cell> cells = {e};
    for (const double step : {1e-4, 1e-3, 2e-3, 5e-3, 1e-2}) {
      const double measured = measure_bounce(e, step);
      cells.emplace_back(measured);
      report.check(std::abs(measured / e - 1) <= 0.01, "balls bounce by their restitution",
                   fmt::format("{} at {} s: {:.4g}", e, step, measured));
    }
    table.row(cells);
  }
}

// Balls in a row; the first one comes.
void bench_cradle(Report& report) {
  constexpr double kRadius = 0.05;
  Table table = report.table({.id = "rigid-cradle",
                              .title = "Newton's cradle: speeds after one ball has come at 1 m/s",
                              .columns = {{"step, ms", Of::kKey},
                                          {"balls at rest", Of::kKey},
                                          {"last ball", Of::kOurs},
                                          {"fastest of the others", Of::kOurs}}});
  for (const double step : {1e-3, 4e-3, 1e-2})
    for (const int rest : {2, 4, 9}) {
      World world({.step = step, .gravity = {}, .threads = {1}});
      for (int i = 0; i <= rest; ++i) {
        BodySettings ball;
        ball.name = fmt::format("ball {}", i);
        ball.shape = Shape::from_analytic(SphereField{.radius = kRadius});
        ball.mass = make_body_mass(1, {}, identity3() * (0.4 * kRadius * kRadius));
        ball.pose = {{}, {i == 0 ? -0.3 : 2 * kRadius * (i - 1), 0, 0}};
        if (i == 0) ball.velocity = {1, 0, 0};
        ball.material = {.friction = 0, .restitution = 1};
        world.add_body(ball);
      }
      while (world.time() < 0.4) world.step();
      double others = 0;
      for (BodyId id = 0; id < static_cast<BodyId>(rest); ++id)
        others = std::max(others, length(velocity(world.body(id))));
      const double last = velocity(world.body(static_cast<BodyId>(rest))).x;
      table.row({1e3 * step, rest, last, others});
      // Normals are those of the sampled point that meets the other ball, a hundredth off the axis.
      report.check(std::abs(last - 1) < 0.01 && others < 0.02,
                   "Newton's cradle passes the blow on to the last ball",
                   fmt::format("{} balls, {} s: {:.4g}, {:.4g}", rest, step, last, others));
    }
}

// A box that falls flat stays flat.
void bench_flat(Report& report) {
  Table table = report.table({.id = "rigid-flat",
                              .title = "Boxes that fall flat: how fast they turn",
                              .columns = {{"box", Of::kKey},
                                          {"step, ms", Of::kKey},
                                          {"fastest turn", Of::kOurs, "rad/s"},
                                          {"after 1 s", Of::kOurs, "rad/s"}}});
  for (const double flatness : {1.0, 0.2})
    for (const double step : {1e-3, 1e-2}) {
      World world({.step = step, .threads = {1}});
      const SurfaceMaterial material{.friction = 0.5, .restitution = 0.3};
      world.add_body({.name = "ground",
                      .kind = BodyKind::kStatic,
                      .shape = Shape::from_analytic(PlaneField{}),
                      .material = material});
      const double half = 0.1 * flatness;
      BodySettings box;
      box.shape = Shape::from_analytic(BoxField{.half_size = {0.1, half, 0.1}});
      box.mass = make_body_mass(
          compute_mass_properties(make_box({.size_x = 0.2, .size_y = 2 * half, .size_z = 0.2})),
          1000);
      box.pose = {{}, {0, half + 0.3, 0}};
      box.material = material;
      const BodyId id = world.add_body(box);
      double fastest = 0;
      while (world.time() < 1) {
        world.step();
        fastest = std::max(fastest, length(angular_velocity(world.body(id))));
      }
      const double last = length(angular_velocity(world.body(id)));
      table.row({flatness == 1 ? "cube" : "slab", 1e3 * step, fastest, last});
      report.check(fastest < 0.05, "boxes that fall flat do not turn",
                   fmt::format("{} at {} s: {:.3g} rad/s", half, step, fastest));
    }
}

// A block on a slope slides with g (sin - mu cos) or stays, and a ball rolls with 5/7 g sin.
void bench_slopes(Report& report) {
  Table table = report.table({.id = "rigid-slopes",
                              .title = "Down a slope of 20 degrees: acceleration",
                              .columns = {{"body", Of::kKey},
                                          {"friction", Of::kKey},
                                          {"step, ms", Of::kKey},
                                          {"known", Of::kKey, "m/s^2"},
                                          {"measured", Of::kOurs, "m/s^2"}}});
  const double slope = 20 * kPi / 180, g = 9.81;
  for (const double step : {1e-3, 1e-2})
    for (const bool rolls : {false, true})
      for (const double friction : {0.2, 0.5}) {
        World world({.step = step,
                     .gravity = {g * std::sin(slope), -g * std::cos(slope), 0},
                     .threads = {1}});
        const SurfaceMaterial material{.friction = friction, .restitution = 0};
        world.add_body({.name = "slope",
                        .kind = BodyKind::kStatic,
                        .shape = Shape::from_analytic(PlaneField{}),
                        .material = material});
        BodySettings body;
        body.material = material;
        if (rolls) {
          body.shape = Shape::from_analytic(SphereField{.radius = 0.1});
          body.mass = make_body_mass(4, {}, identity3() * (0.4 * 4 * 0.01));
        } else {
          body.shape = Shape::from_analytic(BoxField{.half_size = {0.1, 0.05, 0.1}});
          body.mass = make_body_mass(
              compute_mass_properties(make_box({.size_x = 0.2, .size_y = 0.1, .size_z = 0.2})),
              1000);
        }
        body.pose = {{}, {0, rolls ? 0.1 : 0.05, 0}};
        const BodyId id = world.add_body(body);
        while (world.time() < 0.5) world.step();
        const double first = velocity(world.body(id)).x, at = world.time();
        while (world.time() < 1.5) world.step();
        const double measured = (velocity(world.body(id)).x - first) / (world.time() - at);
        const double known =
            rolls ? 5.0 / 7 * g * std::sin(slope)
                  : std::max(0.0, g * (std::sin(slope) - friction * std::cos(slope)));
        table.row({rolls ? "ball" : "block", friction, 1e3 * step, known, measured});
        report.check(std::abs(measured - known) < 0.02 * g * std::sin(slope),
                     "bodies slide and roll as they should",
                     fmt::format("{} at {} s: {:.4g}, not {:.4g}", rolls ? "ball" : "block", step,
                                 measured, known));
      }
}

// A top on a ball joint, started in steady precession.
void bench_top(Report& report) {
  Table table = report.table({.id = "rigid-top",
                              .title = "A top in steady precession for 2 s",
                              .columns = {{"step, ms", Of::kKey},
                                          {"precession error", Of::kOurs, "rad"},
                                          {"tilt error", Of::kOurs, "rad"}}});
  constexpr double kMass = 1, kArm = 0.1, kRadius = 0.08, kTilt = 0.6, kRate = 2;
  const double axial = 0.5 * kMass * kRadius * kRadius;
  const double across = 0.25 * kMass * kRadius * kRadius;
  const double about_foot = across + kMass * kArm * kArm;
  // m g l = rate (axial spin - about_foot rate cos tilt), spin about the axis in all.
  const double spin = (kMass * 9.81 * kArm / kRate + about_foot * kRate * std::cos(kTilt)) / axial;
  for (const double step : {1e-4, 1e-3, 4e-3}) {
    World world({.step = step, .threads = {1}});
    const BodyId foot = world.add_body({.name = "foot", .kind = BodyKind::kStatic});
    BodySettings top;
    top.name = "top";
    const Mat3 inertia = diagonal3({across, axial, across});
    top.mass = make_body_mass(kMass, {}, inertia);
    const Quat tilted = rotation_about({0, 0, 1}, -kTilt);
    const Vec3 axis = rotate(tilted, {0, 1, 0});
    top.pose = {tilted, axis * kArm};
    top.angular_velocity = axis * (spin - kRate * std::cos(kTilt)) + Vec3{0, kRate, 0};
    top.velocity = cross(top.angular_velocity, axis * kArm);
    const BodyId id = world.add_body(top);
    JointSettings joint;
    joint.a = foot;
    joint.b = id;
    joint.b_from_joint = {{}, {0, -kArm, 0}};
    world.add_joint(joint);
    const double seconds = 2;
    while (world.time() < seconds - 0.5 * step) world.step();
    const Vec3 now = rotate(world.body(id).state.rotation, {0, 1, 0});
    // From x towards -z for a turn about +y.
    double turned = std::atan2(-now.z, now.x) - kRate * seconds;
    turned -= 2 * kPi * std::round(turned / (2 * kPi));
    const double tilt = std::acos(std::clamp(now.y, -1.0, 1.0)) - kTilt;
    table.row({1e3 * step, turned, tilt});
    report.check(std::abs(turned) < 0.05 && std::abs(tilt) < 0.02, "tops precess as they should",
                 fmt::format("{} s: {:.3g}, {:.3g} rad", step, turned, tilt));
  }
}

}  // namespace

void bench_balance(const Options& options, Report& report) {
  const int number = options.quick ? 4 : 40;
  Table table = report.table(
      {.id = "rigid-balance",
       .title = "Clouds of twelve bodies, six of them jointed, that fall into their middle",
       .columns = {{"step, ms", Of::kKey},
                   {"clouds", Of::kKey},
                   {"impacts", Of::kOurs},
                   {"momentum lost", Of::kOurs},
                   {"angular momentum lost", Of::kOurs}},
       .note = "Shares of the sums of sizes."});
  for (const double step : {1e-3, 4e-3, 1e-2}) {
    double lost = 0, lost_angular = 0;
    std::int64_t impacts = 0;
    for (int i = 0; i < number; ++i) {
      Random random(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(i));
      World world = make_cloud(random, step);
      const Sums start = sum_up(world);
      double size = start.size, angular_size = start.angular_size;
      while (world.time() < 0.4) {
        impacts += world.step().impacts;
        const Sums now = sum_up(world);
        size = std::max(size, now.size);
        angular_size = std::max(angular_size, now.angular_size);
        lost = std::max(lost, length(now.momentum - start.momentum) / size);
        lost_angular = std::max(lost_angular, length(now.angular - start.angular) / angular_size);
      }
      report.check(!world.trouble(), "no cloud diverges",
                   fmt::format("seed {}, cloud {}, {} s", options.seed, i, step));
    }
    table.row({1e3 * step, number, impacts, lost, lost_angular});
    report.check(lost <= 1e-12, "isolated systems keep their momentum",
                 fmt::format("{} s: {:.3g}", step, lost));
    report.check(lost_angular <= 1e-12, "isolated systems keep their angular momentum",
                 fmt::format("{} s: {:.3g}", step, lost_angular));
  }
}

void bench_references(const Options&, Report& report) {
  bench_balls(report);
  bench_cradle(report);
  bench_flat(report);
  bench_slopes(report);
  bench_top(report);
}

}  // namespace isotact::bench
