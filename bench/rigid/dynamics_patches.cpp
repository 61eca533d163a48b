// Contact patches against every point: the same steps of a nut, a stack of boxes and a dragon, with
// forces found in both ways. And the stiffness of a box on a plane as its points get denser.
#include <algorithm>
#include <cmath>

#include "isotact/base/trig.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/swept/swept.h"

#include "support/measure.h"
#include "xb14/dynamics_report.h"

namespace isotact::bench {
namespace {

constexpr double kMostOff = 0.01;      // of the force of a role
constexpr double kMostSpread = 0.02;   // of the stiffness, over numbers of points
constexpr double kFewerSamples = 3.9;  // times; the aim is 5

struct PatchScene {
  std::string name{};
  World world;
  ContactMaterial material{};
  std::size_t settle = 0, steps = 0;
};

WorldSettings make_settings(double step) { return {.step = step, .threads = {1}}; }

PatchScene make_nut_scene(bool quick) {
  const Shape bolt = Shape::from_mesh(
      make_bolt({}), {.field = {.voxel_size = quick ? 0.0004 : 0.0002, .threads = {1}}});
  const TriangleMesh mesh = make_nut({});
  const Shape nut =
      Shape::from_mesh(mesh, {.field = {.voxel_size = 0.0004, .threads = {1}}, .spacing = 0.001});
  PatchScene scene{.name = "nut", .world = World(make_settings(2e-4)), .settle = 500, .steps = 200};
  const SurfaceMaterial oiled{.stiffness = 1e9, .friction = 0.01};
  scene.material = {.stiffness = 5e8, .damping = 1e3, .friction = 0.01};
  scene.world.add_body(
      {.name = "bolt", .kind = BodyKind::kStatic, .shape = bolt, .material = oiled});
  scene.world.add_body({.name = "nut",
                        .shape = nut,
                        .mass = make_body_mass(compute_mass_properties(mesh), 7800),
                        .pose = {{}, {0, 0.036, 0}},
                        .material = oiled});
  return scene;
}

PatchScene make_stack_scene() {
  const TriangleMesh mesh = make_box({.size_x = 0.1, .size_y = 0.1, .size_z = 0.1, .segments = 4});
  const Shape box =
      Shape::from_mesh(mesh, {.field = {.resolution = 40, .threads = {1}}, .points = 1600});
  PatchScene scene{
      .name = "stack of 5 boxes", .world = World(make_settings(1e-3)), .settle = 300, .steps = 40};
  const SurfaceMaterial wood{.stiffness = 1e8};
  scene.material = {.stiffness = 5e7, .damping = 1e4, .friction = 0.5};
  scene.world.add_body({.name = "ground",
                        .kind = BodyKind::kStatic,
                        .shape = Shape::from_analytic(PlaneField{}),
                        .material = wood});
  for (int i = 0; i < 5; ++i)
    scene.world.add_body({.name = fmt::format("box {}", i + 1),
                          .shape = box,
                          .mass = make_body_mass(compute_mass_properties(mesh), 500),
                          .pose = {rotation_about({0, 1, 0}, 0.2 * i), {0, 0.05 + 0.1 * i, 0}},
                          .material = wood});
  return scene;
}

PatchScene make_dragon_scene(const Options& options) {
  const DropBody body = make_drop_body(DropModel::kDragon, options);
  PatchScene scene{
      .name = body.name, .world = World(make_settings(1e-3)), .settle = 150, .steps = 150};
  const SurfaceMaterial clay{.stiffness = 2e8};
  scene.material = {.stiffness = 1e8, .damping = 1e4, .friction = 0.5};
  scene.world.add_body({.name = "ground",
                        .kind = BodyKind::kStatic,
                        .shape = Shape::from_analytic(PlaneField{}),
                        .material = clay});
  scene.world.add_body(
      {.name = "twin", .kind = BodyKind::kStatic, .shape = body.shape, .material = clay});
  scene.world.add_body({.name = "body",
                        .shape = body.shape,
                        .mass = body.mass,
                        .pose = {{}, {0.02, 0.25, 0}},
                        .material = clay});
  return scene;
}

// ---- the same step in both ways ----

struct PatchCost {
  double impulse = 0, off = 0, worst = 0, bias = 0, stated = 0;  // N s
  double moment_off = 0;  // N m s, over the radius of the shell
  std::uint64_t samples = 0, fine_samples = 0, points = 0, roles = 0;
  double seconds = 0, fine_seconds = 0;
};

BodyStep step_of(const World& world, BodyId id, const Pose& from) {
  const RigidBody& body = world.body(id);
  const double h = world.settings().step;
  BodyStep s;
  s.motion = {from, world.pose(id), body.mass.center};
  s.center_from = transform_point(from, body.mass.center);
  s.center_to = body.state.center;
  s.velocity = (s.center_to - s.center_from) / h;
  s.angular_velocity = angular_velocity(body);
  return s;
}

void compare_role(const PatchScene& scene, BodyId shell, BodyId field,
                  const std::vector<Pose>& from, PatchCost& cost) {
  const World& world = scene.world;
  const PointSphereTree* tree = world.points(shell);
  const Shape& shape = *world.body_settings(field).shape;
  if (tree == nullptr) return;
  const BodyStep a = step_of(world, shell, from[shell]), b = step_of(world, field, from[field]);
  const ShellMotion motion{.shell = a.motion, .field = b.motion};
  const auto tracer = shape.swept_tracer({});
  SweptResults swept;
  tracer->trace(*tree, motion, swept);
  if (swept.hits.empty()) return;
  ShellPath path;
  compute_shell_path(motion, ball_of(*tree), shape.cell() / 32, path);
  const RoleInput input{*tree,      path, swept.hits, swept.intervals, a, b, world.settings().step,
                        a.center_to};
  ForceSettings forces{.material = scene.material};
  const auto run = [&](PointRule rule, double& seconds) {
    forces.points = rule;
    std::vector<PointStick> sticks;
    RoleImpulse result;
    seconds += seconds_of([&] {
                 result = shape.solid()
                              ? compute_role_impulse(shape.any_field(), input, forces, sticks)
                              : compute_role_impulse(shape.brick_field(), input, forces, sticks);
               }).processor;
    return result;
  };
  const RoleImpulse fine = run(PointRule::kEvery, cost.fine_seconds);
  const RoleImpulse patches = run(PointRule::kPatches, cost.seconds);
  const double off = length(patches.impulse - fine.impulse), size = length(fine.impulse);
  ++cost.roles;
  cost.points += fine.points;
  cost.samples += patches.samples;
  cost.fine_samples += fine.samples;
  cost.impulse += size;
  cost.off += off;
  cost.bias += patches.response.normal - fine.response.normal;
  cost.stated += patches.error;
  cost.worst = std::max(cost.worst, off);
  const auto moment_of = [&](const RoleImpulse& r) {
    return r.angular_impulse - cross(a.center_to, r.impulse);
  };
  cost.moment_off += length(moment_of(patches) - moment_of(fine)) / ball_of(*tree).radius;
}

PatchCost compare_scene(PatchScene& scene) {
  PatchCost cost;
  World& world = scene.world;
  const std::size_t n = world.body_count();
  for (std::size_t i = 0; i < scene.settle + scene.steps; ++i) {
    std::vector<Pose> from;
    for (BodyId id = 0; id < n; ++id) from.push_back(world.pose(id));
    world.step();
    if (i < scene.settle) continue;
    for (const PairContact& c : world.contacts()) {
      compare_role(scene, c.pair.a, c.pair.b, from, cost);
      compare_role(scene, c.pair.b, c.pair.a, from, cost);
    }
  }
  return cost;
}

// ---- stiffness by number of points ----

// N s of a box of 20 cm that is 10 micrometres in a plane for a step.
double compute_box_impulse(std::uint32_t points, AreaRule areas) {
  const TriangleMesh mesh = make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2, .segments = 4});
  const Shape box =
      Shape::from_mesh(mesh, {.field = {.resolution = 32, .threads = {1}}, .points = points});
  const Shape plane = Shape::from_analytic(PlaneField{});
  BodyStep a, b;
  a.motion = at_rest({{}, {0, 0.1 - 1e-5, 0}});
  const ShellMotion motion{.shell = a.motion};
  SweptResults swept;
  plane.swept_tracer({})->trace(*box.tree(), motion, swept);
  ShellPath path;
  compute_shell_path(motion, ball_of(*box.tree()), 1e-4, path);
  std::vector<PointStick> sticks;
  const ForceSettings forces{.material = {.stiffness = 1e9}, .areas = areas};
  return compute_role_impulse(plane.any_field(),
                              {*box.tree(), path, swept.hits, swept.intervals, a, b, 1e-3}, forces,
                              sticks)
      .impulse.y;
}

void bench_sampling(Report& report) {
  Table table = report.table({.id = "sampling",
                              .title = "A box of 20 cm on a plane: its stiffness by points",
                              .columns = {{"points", Of::kKey},
                                          {"projected", Of::kOurs, "% of k A", 2},
                                          {"whole", Of::kOurs, "% of k A", 2}}});
  const double exact = 1e9 * 0.04 * 1e-5 * 1e-3;  // N s
  double least = 1e300, most = 0;
  Json rows = Json::array();
  for (const std::uint32_t points : {200U, 400U, 800U, 1600U, 6400U}) {
    const double projected = compute_box_impulse(points, AreaRule::kProjected) / exact;
    const double whole = compute_box_impulse(points, AreaRule::kWhole) / exact;
    if (points >= 400) {
      least = std::min(least, projected);
      most = std::max(most, projected);
    }
    table.row({points, projected * 100, whole * 100});
    rows.push_back({{"points", points}, {"projected", projected}, {"whole", whole}});
  }
  report.check(most / least - 1 < kMostSpread,
               "a box is as stiff with any number of points from 400 on",
               fmt::format("{:.2f} %", 100 * (most / least - 1)));
  report.json["sampling"] = rows;
}

}  // namespace

void bench_patches(const Options& options, Report& report) {
  Table table = report.table(
      {.id = "patches",
       .title = "Contact patches and every point: the same steps",
       .columns = {{"scene", Of::kKey},
                   {"roles", Of::kOurs},
                   {"points", Of::kOurs, "a role", 0},
                   {"every", Of::kOurs, "samples a point", 2},
                   {"patches", Of::kOurs, "samples a point", 2},
                   {"fewer", Of::kOurs, "times", 1},
                   {"faster", Of::kOurs, "times", 1},
                   {"mean off", Of::kOurs, "%", 3},
                   {"worst off", Of::kOurs, "%", 2},
                   {"bias", Of::kOurs, "%", 3},
                   {"moment", Of::kOurs, "%", 3},
                   {"stated", Of::kOurs, "%", 2}},
       .note = "Off: of the impulse of a role; worst: of the mean impulse. Moment: of the impulse "
               "times "
               "the radius. Stated: RoleImpulse::error. The points of a nut are too far apart for "
               "patches: each has one sample instead of four."});
  Json rows = Json::array();
  std::vector<PatchScene> scenes;
  scenes.push_back(make_nut_scene(options.quick));
  scenes.push_back(make_stack_scene());
  scenes.push_back(make_dragon_scene(options));
  for (PatchScene& scene : scenes) {
    const PatchCost c = compare_scene(scene);
    const auto points = static_cast<double>(c.points);
    const double fewer = static_cast<double>(c.fine_samples) / static_cast<double>(c.samples);
    const double off = c.off / c.impulse;
    const double worst = c.worst * static_cast<double>(c.roles) / c.impulse;
    table.row({scene.name, c.roles, points / static_cast<double>(c.roles),
               static_cast<double>(c.fine_samples) / points,
               static_cast<double>(c.samples) / points, fewer, c.fine_seconds / c.seconds,
               100 * off, 100 * worst, 100 * c.bias / c.impulse, 100 * c.moment_off / c.impulse,
               100 * c.stated / c.impulse});
    rows.push_back({{"scene", scene.name},
                    {"fewer_samples", fewer},
                    {"faster", c.fine_seconds / c.seconds},
                    {"mean_off", off},
                    {"worst_off", worst},
                    {"stated", c.stated / c.impulse}});
    report.check(off < kMostOff, "forces of patches are those of all points within 1 %",
                 fmt::format("{}: {:.2f} %", scene.name, 100 * off));
    report.check(fewer > kFewerSamples,
                 "patches need about four times fewer field samples or better",
                 fmt::format("{}: {:.1f}", scene.name, fewer));
  }
  report.json["patches"] = rows;
  bench_sampling(report);
}

}  // namespace isotact::bench
