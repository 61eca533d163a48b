// A nut that turns down its bolt under its own weight: an M16 x 2 pair, ours and that of the
// Factory paper. It must follow pitch times angle for the whole descent.
#include <algorithm>
#include <cmath>

#include "isotact/base/trig.h"
#include "isotact/scene/run/run.h"

#include "dynamics_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr double kPitch = 0.002;
// A tenth of the pitch. Play along the axis is 0.12 mm either way for a clearance of 0.1 mm.
constexpr double kPlay = 0.0002;
constexpr double kSafeStep = 1e-3;  // seconds: it must be stable up to here
constexpr std::size_t kNut = 1;

struct Pair {
  const char* name;
  SceneShape bolt, nut;
  Quat upright;   // turns the bolt's axis to y
  double height;  // of the nut's origin at the start, metres
  double depth;   // that it sinks by, metres
};

Pair make_own_pair() {
  return {.name = "procedural",
          .bolt = {.name = "bolt",
                   .source = MadeShape{.name = "bolt"},
                   .voxel_size = 0.0002,
                   .points = 0},
          .nut = {.name = "nut",
                  .source = MadeShape{.name = "nut"},
                  .voxel_size = 0.0004,
                  .spacing = 0.001},
          .upright = {},
          .height = 0.036,
          .depth = 0.013};
}

// Along z; at the same origin the nut is mated, its lower face 16 mm above the bolt's head.
Pair make_factory_pair() {
  const auto file = [](const char* name) {
    return MeshFile{.path = data_folder() / "03_mech" / name};
  };
  return {.name = "Factory",
          .bolt = {.name = "bolt",
                   .source = file("factory_bolt_m16_tight.obj"),
                   .voxel_size = 0.0002,
                   .points = 0},
          .nut = {.name = "nut",
                  .source = file("factory_nut_m16_tight_subdiv_3x.obj"),
                  .voxel_size = 0.0004,
                  .spacing = 0.001},
          .upright = rotation_about({1, 0, 0}, -kPi / 2),
          .height = 0.010,
          .depth = 0.008};
}

// How forces are found in a step.
struct Rule {
  const char* name;
  ForceSolve solve;
  std::vector<double> steps;  // seconds, ascending
};
std::vector<Rule> make_rules(bool quick) {
  if (quick) return {{"implicit", ForceSolve::kImplicit, {1e-3}}};
  return {{"implicit", ForceSolve::kImplicit, {1e-4, 2e-4, 5e-4, 1e-3, 2e-3}},
          {"own", ForceSolve::kStep, {2e-4, 5e-4, 1e-3, 2e-3}},
          {"explicit", ForceSolve::kExplicit, {2e-4, 4e-4}}};
}

Scene make_scene(const Pair& pair, const Rule& rule, double step) {
  Scene scene;
  scene.world.step = step;
  scene.world.solve = rule.solve;
  // The nut's weight of 0.3 N rests on flanks of 3 cm^2 two micrometres deep.
  scene.materials = {{.name = "oiled", .surface = {.stiffness = 1e9, .friction = 0.01}}};
  scene.shapes = {pair.bolt, pair.nut};
  scene.bodies = {{.name = "bolt",
                   .kind = BodyKind::kStatic,
                   .shape = 0,
                   .material = 0,
                   .pose = {pair.upright, {}}},
                  {.name = "nut",
                   .shape = 1,
                   .material = 0,
                   .density = 7800,
                   .pose = {pair.upright, {0, pair.height, 0}}}};
  return scene;
}

// How far a body has turned about y, whole turns counted.
class Turns {
 public:
  explicit Turns(const Quat& start) : last_(start) {}
  void follow(const Quat& rotation) {
    Quat step = rotation * conjugate(last_);
    if (step.w < 0) step = {-step.w, -step.x, -step.y, -step.z};
    angle_ += 2 * std::atan2(step.y, step.w);
    last_ = rotation;
  }
  double angle() const { return angle_; }

 private:
  Quat last_;
  double angle_ = 0;
};

struct Descent {
  std::uint64_t steps = 0;
  double processor = 0;  // seconds a step
  PhaseTimes seconds{};  // of all
  double time = 0;       // simulated
  double turned = 0;     // radians
  double sunk = 0;       // metres
  double off = 0;        // metres: most that it was off pitch times angle
  double deepest = 0;
  std::size_t points = 0;  // of the nut
  bool is_there = false;   // has sunk as far as it should
  std::string trouble{};
};

constexpr double kLongest = 4;  // simulated seconds

Descent run_descent(const Pair& pair, const Rule& rule, double step, double part) {
  SceneRun run(make_scene(pair, rule, step),
               {.threads = {1}, .keep_frames = false, .keep_log = false});
  Descent d;
  const World& world = run.world();
  d.points = world.body_settings(kNut).shape->tree()->point_count();
  Turns turns(world.pose(kNut).rotation);
  const double start = world.pose(kNut).translation.y;
  d.processor = seconds_of([&] {
                  run.go(static_cast<std::uint64_t>(kLongest / step), [&](const StepReport& r) {
                    turns.follow(world.pose(kNut).rotation);
                    d.sunk = start - world.pose(kNut).translation.y;
                    d.off = std::max(d.off, std::abs(d.sunk + kPitch * turns.angle() / (2 * kPi)));
                    d.seconds.broad += r.seconds.broad;
                    d.seconds.detection += r.seconds.detection;
                    d.seconds.forces += r.seconds.forces;
                    d.seconds.motion += r.seconds.motion;
                    return d.sunk < part * pair.depth && d.off < kPitch;
                  });
                }).processor;
  d.steps = world.report().number;
  d.processor /= static_cast<double>(d.steps);
  d.time = world.time();
  d.turned = turns.angle();
  d.deepest = run.deepest();
  d.is_there = d.sunk >= part * pair.depth && d.off < kPlay && !world.trouble();
  if (world.trouble()) d.trouble = world.trouble()->message;
  return d;
}

void print_row(const Pair& pair, const Rule& rule, double step, const Descent& d, Json& rows,
               Table& table) {
  const PhaseTimes& s = d.seconds;
  const double all = s.broad + s.detection + s.forces + s.motion;
  table.row({pair.name, d.points, rule.name, step * 1e3, d.steps, -d.turned / (2 * kPi),
             d.sunk * 1e3, d.off * 1e3, d.deepest * 1e3, d.is_there ? "yes" : "NO",
             d.processor * 1e3, 100 * s.detection / all, 100 * s.forces / all, step / d.processor});
  rows.push_back({{"pair", pair.name},
                  {"points", d.points},
                  {"solve", rule.name},
                  {"step", step},
                  {"steps", d.steps},
                  {"turns", -d.turned / (2 * kPi)},
                  {"sunk", d.sunk},
                  {"off_the_thread", d.off},
                  {"deepest", d.deepest},
                  {"stable", d.is_there},
                  {"seconds_a_step", d.processor},
                  {"detection_share", s.detection / all},
                  {"force_share", s.forces / all},
                  {"real_time_factor", step / d.processor}});
}

void bench_pair(const Options& options, const Pair& pair, Json& rows, Table& table,
                Report& report) {
  double best = 0;
  for (const Rule& rule : make_rules(options.quick))
    for (const double step : rule.steps) {
      // The smallest step is there to see that the way does not depend on it: a part will do.
      const double part = options.quick ? 0.15 : step < 2e-4 ? 0.25 : 1;
      const Descent d = run_descent(pair, rule, step, part);
      print_row(pair, rule, step, d, rows, table);
      if (d.is_there) best = std::max(best, step / d.processor);
      if (step > kSafeStep) continue;
      report.check(d.is_there,
                   "the nut follows pitch times angle within a tenth of the pitch, all the way",
                   fmt::format("{} nut at {} ms: off by {:.3f} mm{}", pair.name, step * 1e3,
                               d.off * 1e3, d.trouble.empty() ? "" : "; " + d.trouble));
    }
  report.check(best > 1, "faster than real time at some step",
               fmt::format("{} nut: {:.2f} times real time at best", pair.name, best));
}

}  // namespace

void bench_nut(const Options& options, Report& report) {
  Table table = report.table(
      {.id = "nut",
       .title = "An M16 x 2 nut down its bolt, friction 0.01, one core",
       .columns = {{"pair", Of::kKey},
                   {"points", Of::kKey},
                   {"solve", Of::kKey},
                   {"step", Of::kKey, "ms", 1},
                   {"steps", Of::kOurs},
                   {"turns", Of::kOurs, "", 2},
                   {"sunk", Of::kOurs, "mm", 2},
                   {"off", Of::kOurs, "mm", 3},
                   {"deepest", Of::kOurs, "mm", 3},
                   {"stable", Of::kOurs},
                   {"a step", Of::kOurs, "ms", 3},
                   {"detection", Of::kOurs, "%", 0},
                   {"forces", Of::kOurs, "%", 0},
                   {"real time", Of::kOurs, "times", 2}},
       .note = fmt::format(
           "Off: most that the nut was off pitch times angle; stable: never by more than a tenth "
           "of "
           "the pitch, {:.2f} mm. Published, not measured here: Factory (Narang et al. 2022), "
           "1,000 "
           "pairs in real time on one GPU; Newton, about 0.15 ms a pair and collision pass on a "
           "laptop's GPU.",
           kPlay * 1e3)});
  Json rows = Json::array();
  bench_pair(options, make_own_pair(), rows, table, report);
  if (has_data()) bench_pair(options, make_factory_pair(), rows, table, report);
  report.json["nut"] = rows;
}

}  // namespace isotact::bench
