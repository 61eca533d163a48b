// The bouncing ball of SSL14's Figure 6 and Table 1, and the stack of spheres of its 4.1.
#include <algorithm>
#include <cmath>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/geometry/primitives/primitives.h"

#include "bullet_fall.h"
#include "support/plot.h"

namespace isotact::bench {
namespace {

constexpr double kRadius = 0.5, kFall = 1, kStep = 1.0 / 200, kVoxel = 0.005;
constexpr std::size_t kSteps = 500;

TriangleMesh make_ball_mesh(double radius) {
  return make_sphere({.radius = radius, .frequency = 64});
}

PointSphereTree make_ball_points(const TriangleMesh& mesh, std::uint32_t count) {
  return build_point_sphere_tree(
      sample_by_repulsion(mesh, {.common = {.sample_edges = false}, .count = count}));
}

// The ground as the paper has it: a map of 5 mm voxels and no formula. Its top is y = 0.
OwnedShape make_mapped_ground() {
  TriangleMesh mesh = make_box({.size_x = 0.8, .size_y = 0.2, .size_z = 0.8});
  for (Vec3f& p : mesh.positions) p.y -= 0.1F;
  const Lattice lattice = voxmap_lattice({{-0.4, -0.2, -0.4}, {0.4, 0, 0.4}}, kVoxel, 4);
  const Voxmap map = build_voxmap(mesh, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  return own("map", cook_bullet_shape(Shape::from_parts({.voxmap = map})));
}

struct Bounce {
  std::vector<double> heights{};  // of the centre, metres, every step
  double rebound = 0;             // metres above where the ball touches, first rebound
  double penetration = 0;         // metres, at the ends of steps
  double at_rest = 0;             // height of the centre where the ball touches
};

// What falls, on what, and how far its surface reaches down.
struct Ball {
  OwnedShape shape{};
  const OwnedShape* ground = nullptr;  // null: Bullet's box
  Quat turn{};
  double reach = kRadius;
};

Bounce run_bounce(const Ball& ball, double restitution) {
  const OwnedShape* ground = ball.ground;
  // Bullet multiplies both bodies' coefficients.
  Stage stage({.ground = ground == nullptr ? Ground::kBox : Ground::kNone,
               .step = kStep,
               .restitution = std::sqrt(restitution)});
  if (ground != nullptr) stage.add(*ground, {.mass = 0});
  Bounce bounce{.at_rest = ball.reach};
  btRigidBody& body =
      stage.add(ball.shape, {.mass = 1, .pose = {ball.turn, {0, bounce.at_rest + kFall, 0}}});
  enum class Phase { kFalls, kRises, kOver } phase = Phase::kFalls;
  for (std::size_t i = 0; i < kSteps; ++i) {
    stage.step();
    const double y = pose_of(body).translation.y;
    const auto speed = static_cast<double>(body.getLinearVelocity().y());
    bounce.heights.push_back(y);
    bounce.penetration = std::max(bounce.penetration, bounce.at_rest - y);
    if (phase == Phase::kFalls && speed > 0) phase = Phase::kRises;
    if (phase == Phase::kRises && speed < 0) phase = Phase::kOver;
    if (phase == Phase::kRises) bounce.rebound = std::max(bounce.rebound, y - bounce.at_rest);
  }
  return bounce;
}

// Turned so that one of its points is the lowest, below the centre: a ball that lands beside it
// would go on turning, and bounce less than an ideal one.
Ball make_ball(const TriangleMesh& mesh, const PointSphereTree& tree, const OwnedShape* ground) {
  Ball ball{.ground = ground};
  const Vec3 lowest = to_double(tree.point(0));
  ball.reach = length(lowest);
  const Vec3 axis = cross(lowest, Vec3{0, -1, 0});
  ball.turn = normalized(Quat{ball.reach - lowest.y, axis.x, axis.y, axis.z});
  ball.shape =
      own(fmt::format("ours, {} points{}", tree.point_count(), ground == nullptr ? ", box" : ""),
          cook_bullet_shape(Shape::from_parts({.tree = tree,
                                               .mesh = std::make_shared<TriangleMesh>(mesh),
                                               .mass = compute_mass_properties(mesh)})));
  return ball;
}

}  // namespace

void bench_ball(const Options& options, Stock&, Report& report) {
  Table table =
      report.table({.id = "ball",
                    .paper = "SSL14",
                    .place = "Table 1",
                    .title = "A bouncing ball: first rebound and deepest penetration",
                    .columns = {{"restitution", Of::kKey, "", 1},
                                {"ball", Of::kKey},
                                {"penetration", Of::kPaper, "mm", 1},
                                {"penetration", Of::kOurs, "mm", 2},
                                {"one step's travel", Of::kOurs, "mm", 2},
                                {"rebound", Of::kOurs, "mm", 2},
                                {"ideal rebound", Of::kOurs, "mm", 2},
                                {"off by", Of::kOurs, "%", 2}},
                    .note = "Radius 0.5 m, falls 1 m at g = 10, 200 Hz, ground with 5 mm voxels."});
  const TriangleMesh mesh = make_ball_mesh(kRadius);
  const OwnedShape ground = make_mapped_ground();
  const PointSphereTree low = make_ball_points(mesh, 275), high = make_ball_points(mesh, 25880);
  const Ball balls[] = {
      {own("Bullet's sphere, box", std::make_unique<btSphereShape>(btScalar(kRadius)))},
      make_ball(mesh, low, &ground),
      make_ball(mesh, high, &ground),
      make_ball(mesh, high, nullptr)};
  constexpr double kPaper[3][4] = {
      {42.5, 6.8, 3.5, 3.5}, {42.5, 9.5, 4.0, 4.0}, {42.5, 20.1, 19.2, 19.2}};
  constexpr double kRestitutions[] = {0.1, 0.5, 0.9};
  const double travel = std::sqrt(2 * kGravity * kFall) * kStep;
  std::vector<Plot> plots;
  for (const double e : kRestitutions)
    plots.push_back({.title = fmt::format("Height of the ball's centre, restitution {}", e),
                     .x_name = "s",
                     .y_name = "m"});
  for (std::size_t e = 0; e < 3; ++e)
    for (std::size_t b = 0; b < std::size(balls); ++b) {
      const double restitution = kRestitutions[e];
      const Bounce bounce = run_bounce(balls[b], restitution);
      const double ideal = restitution * restitution * kFall;
      const double off = (bounce.rebound / ideal - 1) * 100;
      table.row({restitution, balls[b].shape.name, kPaper[e][b], bounce.penetration * 1e3,
                 travel * 1e3, bounce.rebound * 1e3, ideal * 1e3, off},
                b == 0 ? Of::kPeer : Of::kOurs);
      report.json["ball"]["rows"].push_back({{"restitution", restitution},
                                             {"name", balls[b].shape.name},
                                             {"rebound_m", bounce.rebound},
                                             {"ideal_m", ideal},
                                             {"penetration_m", bounce.penetration}});
      PlotLine line{.name = balls[b].shape.name};
      for (std::size_t i = 0; i < bounce.heights.size(); ++i)
        line.points.push_back({static_cast<double>(i + 1) * kStep, bounce.heights[i]});
      plots[e].lines.push_back(std::move(line));
      if (b == 0) continue;
      judge(report, "ball", std::abs(off) <= 5,
            fmt::format("{}, e = {}: rebound within 5 % of the ideal", balls[b].shape.name,
                        restitution));
      judge(report, "ball", bounce.penetration <= travel,
            fmt::format("{}, e = {}: no deeper than one step's travel", balls[b].shape.name,
                        restitution));
    }
  write_plot(options.plots, "figure6_ball", plots);
  report.figure({.id = "figure6",
                 .paper = "SSL14",
                 .place = "Figure 6",
                 .title = "Height of a bouncing ball"},
                plots);
}

}  // namespace isotact::bench
