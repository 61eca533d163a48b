// How smoothly a round body rolls (the claim beside SSL14's Figure 9), and how long a stack of
// spheres stands (4.1).
#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives/primitives.h"

#include "bullet_fall.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr double kRadius = 0.1, kSpeed = 1, kStep = 1.0 / 200;

TriangleMesh make_round(double radius) { return make_sphere({.radius = radius, .frequency = 48}); }

OwnedShape make_round_shape(const TriangleMesh& mesh, std::uint32_t points) {
  const PointSphereTree tree = build_point_sphere_tree(
      sample_by_repulsion(mesh, {.common = {.sample_edges = false}, .count = points}));
  return own(
      fmt::format("ours, {} points", points),
      cook_bullet_shape(Shape::from_parts({.field = build_field(mesh, {.resolution = 128}).field,
                                           .tree = tree,
                                           .mesh = std::make_shared<TriangleMesh>(mesh)})));
}

struct Rolling {
  double jerk = 0;      // m/s^3, root of the mean square of the third difference of the height
  double shake = 0;     // rad/s^2, the same of changes of the angular velocity
  double bumps = 0;     // metres, least to most height
  double left = 0;      // of the speed, after 2 s
  double sideways = 0;  // metres off the straight line
};

Rolling run_roll(const OwnedShape& shape, Ground ground) {
  Stage stage({.ground = ground, .step = kStep, .friction = 0.8});
  const auto i = static_cast<btScalar>(0.4 * kRadius * kRadius);
  btRigidBody& body = stage.add(shape, {.inertia = {i, i, i}, .pose = {{}, {-1.2, kRadius, 0}}});
  body.setLinearVelocity({btScalar(kSpeed), 0, 0});
  body.setAngularVelocity({0, 0, btScalar(-kSpeed / kRadius)});
  constexpr int kSettle = 40, kSteps = 440;
  std::vector<double> heights;
  std::vector<Vec3> spins;
  for (int s = 0; s < kSteps; ++s) {
    stage.step();
    if (s < kSettle) continue;
    heights.push_back(pose_of(body).translation.y);
    const btVector3 w = body.getAngularVelocity();
    spins.push_back({w.x(), w.y(), w.z()});
  }
  Rolling result;
  for (std::size_t s = 3; s < heights.size(); ++s) {
    const double third = heights[s] - 3 * heights[s - 1] + 3 * heights[s - 2] - heights[s - 3];
    result.jerk += third * third;
    result.shake += length_sq(spins[s] - spins[s - 1]);
  }
  const auto n = static_cast<double>(heights.size() - 3);
  result.jerk = std::sqrt(result.jerk / n) / (kStep * kStep * kStep);
  result.shake = std::sqrt(result.shake / n) / kStep;
  const auto [least, most] = std::minmax_element(heights.begin(), heights.end());
  result.bumps = *most - *least;
  result.left = static_cast<double>(body.getLinearVelocity().x()) / kSpeed;
  result.sideways = std::abs(pose_of(body).translation.z);
  return result;
}

// As SSL14 has its ball; three of them.
constexpr int kStacked = 3;
constexpr double kStackRadius = 0.5;

// Each turned in its own way. Until a ball has come down by half a radius; seconds, or `most`.
double stack_time(const OwnedShape& shape, int seed, double most) {
  Stage stage({.ground = Ground::kPlane, .step = kStep, .friction = 0.8});
  std::vector<btRigidBody*> bodies;
  const auto i = static_cast<btScalar>(0.4 * kStackRadius * kStackRadius);
  for (int b = 0; b < kStacked; ++b)
    bodies.push_back(&stage.add(shape, {.inertia = {i, i, i},
                                        .pose = {start_rotation(kStacked * seed + b),
                                                 {0, kStackRadius * (2 * b + 1), 0}}}));
  const auto steps = static_cast<int>(most / kStep);
  for (int s = 0; s < steps; ++s) {
    stage.step();
    for (int b = 0; b < kStacked; ++b)
      if (pose_of(*bodies[static_cast<std::size_t>(b)]).translation.y <
          kStackRadius * (2 * b + 0.5))
        return s * kStep;
  }
  return most;
}

}  // namespace

void bench_roll(const Options&, Stock&, Report& report) {
  Table table = report.table({.id = "roll",
                              .title = "A ball of 0.1 m that rolls at 1 m/s",
                              .columns = {{"ground", Of::kKey},
                                          {"ball", Of::kKey},
                                          {"jerk of the height", Of::kOurs, "m/s^3", 2},
                                          {"angular acceleration", Of::kOurs, "rad/s^2", 2},
                                          {"bumps", Of::kOurs, "mm", 3},
                                          {"speed left", Of::kOurs, "", 3},
                                          {"aside", Of::kOurs, "mm", 2}},
                              .note = "200 Hz, 2 s; roots of mean squares."});
  const TriangleMesh mesh = make_round(kRadius);
  std::vector<OwnedShape> shapes{
      own("Bullet's sphere", std::make_unique<btSphereShape>(static_cast<btScalar>(kRadius)))};
  for (const std::uint32_t points : {1000U, 10000U, 25880U})
    shapes.push_back(make_round_shape(mesh, points));
  shapes.push_back(own("ours, formula",
                       cook_bullet_shape(Shape::from_analytic(SphereField{.radius = kRadius}))));
  shapes.push_back(make_hulls(make_sphere({.radius = kRadius, .frequency = 12}), {.hulls = 8}));
  for (const Ground ground : {Ground::kPlane, Ground::kBox}) {
    const char* name = ground == Ground::kPlane ? "plane" : "box";
    Rolling fine, hulls;
    for (const OwnedShape& shape : shapes) {
      const Rolling r = run_roll(shape, ground);
      if (&shape == &shapes[3]) fine = r;
      hulls = r;
      const bool is_ours = shape.name.starts_with("ours");
      table.row({name, shape.name, r.jerk, r.shake, r.bumps * 1e3, r.left, r.sideways * 1e3},
                is_ours ? Of::kOurs : Of::kPeer);
      report.json["roll"]["rows"].push_back({{"ground", name},
                                             {"name", shape.name},
                                             {"jerk", r.jerk},
                                             {"shake", r.shake},
                                             {"bumps_m", r.bumps}});
    }
    judge(report, "roll", fine.jerk < hulls.jerk && fine.shake < hulls.shake,
          fmt::format("on the {}: smoother than HACD, jerk {:.3g} times, shake {:.3g} times", name,
                      hulls.jerk / fine.jerk, hulls.shake / fine.shake));
  }
}

void bench_stack(const Options& options, Stock&, Report& report) {
  const double most = options.quick ? 5 : 20;
  const int seeds = options.quick ? 3 : 9;
  Table table = report.table(
      {.id = "stack",
       .paper = "SSL14",
       .place = "Section 4.1",
       .title = fmt::format("{} balls of 0.5 m on each other: how long they stand", kStacked),
       .columns = {{"ball", Of::kKey}, {"time", Of::kOurs, "s", 2}},
       .note = fmt::format(
           "200 Hz, nothing sleeps; at most {:g} s, median of {} seeds. SSL14 says that "
           "stacks stand better with more points, without numbers.",
           most, seeds)});
  const TriangleMesh mesh = make_round(kStackRadius);
  const auto median_of = [&](const OwnedShape& shape) {
    std::vector<double> times;
    for (int seed = 0; seed < seeds; ++seed) times.push_back(stack_time(shape, seed, most));
    return quantile(times, 0.5);
  };
  double coarsest = 0, finest = 0;
  for (const std::uint32_t points : {100U, 275U, 1000U, 5000U, 25880U}) {
    finest = median_of(make_round_shape(mesh, points));
    if (points == 100) coarsest = finest;
    table.row({fmt::format("ours, {} points", points), finest}, Of::kOurs);
    report.json["stack"]["rows"].push_back({{"points", points}, {"seconds", finest}});
  }
  const double bullet = median_of(
      own("sphere", std::make_unique<btSphereShape>(static_cast<btScalar>(kStackRadius))));
  table.row({"Bullet's sphere", bullet}, Of::kPeer);
  report.json["stack"]["bullet_seconds"] = bullet;
  judge(report, "stack", finest >= coarsest,
        "the finest stands as long as the coarsest or longer (SSL14 4.1)");
}

}  // namespace isotact::bench
