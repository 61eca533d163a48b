// Scenes of the data folder and of the library: how deep bodies get by exact geometry, how scenes
// end, and what a step costs; Bullet's own shapes and our plug-in beside.
#include <algorithm>
#include <cmath>
#include <chrono>
#include <filesystem>
#include <map>

#include "isotact/adapters/bullet/scene_engine.h"

#include "support/data_folder.h"

#include "rigid_report.h"
#include "scene_trial.h"

namespace isotact::bench {
namespace {

// Of the smaller body's diagonal.
constexpr double kMostError = 1e-3, kMostCoarse = 5e-3, kMostFine = 1e-3;
constexpr double kFieldBytes = 3e8;  // Of one field.
constexpr double kCoarseStep = 0.01, kFineStep = 0.001;

struct Named {
  std::string name{}, group{};
  std::filesystem::path path{};
};

std::vector<Named> find_scenes() {
  std::vector<Named> all;
  if (has_data() && std::filesystem::is_directory(data_path() / "10_rigid_ipc"))
    for (const auto& entry : std::filesystem::directory_iterator(data_path() / "10_rigid_ipc"))
      all.push_back({entry.path().filename().string(), "data", entry.path() / "scene.json"});
  if (const auto one = find_scene("chain.json"))
    for (const auto& entry : std::filesystem::directory_iterator(one->parent_path()))
      if (entry.path().extension() == ".json")
        all.push_back({entry.path().stem().string(), "shipped", entry.path()});
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
    return std::tie(a.group, a.name) < std::tie(b.group, b.name);
  });
  return all;
}

// The lever's file has nothing to turn about.
Scene hang_lever(Scene scene) {
  scene.name += ", hinged";
  scene.bodies.push_back({.name = "pivot", .kind = BodyKind::kStatic});
  scene.joints.push_back({.name = "hinge",
                          .kind = JointKind::kHinge,
                          .a = scene.bodies.size() - 1,
                          .b = 0,
                          .axis = {0, 0, 1}});
  return scene;
}

struct Contender {
  std::string name{};   // In tables.
  std::string engine{};
  Of of = Of::kOurs;
};

struct Trial {
  bool done = false;
  std::string why{};  // If it could not be made.
  double ms = 0;      // Processor time of a step.
  Deepest deepest{};
  Outcome outcome{};
};

Trial try_scene(Scene scene, const Contender& contender, double step, const Expectation* expected,
                const Options& options) {
  Trial trial;
  scene.world.step = step;
  scene.engine = contender.engine;
  scene.narrow_phase = NarrowPhase::kPoints;
  const double own = scene.seconds ? *scene.seconds
                                   : static_cast<double>(step_count(scene)) * scene.world.step;
  scene.seconds = expected != nullptr && expected->seconds > 0 ? expected->seconds : own;
  if (options.check_steps) scene.frames_per_second = 1 / step;
  SceneRun run(scene, {.threads = {1},
                       .keep_log = false,
                       .engines = {{"bullet", make_bullet_engine},
                                   {"hulls10", hull_engine(10)},
                                   {"hulls50", hull_engine(50)}}});
  const CheckedScene checked = make_checked(run);
  const std::uint64_t steps = step_count(scene);
  bool late = false;
  const auto start = std::chrono::steady_clock::now();
  run.go(1);  // Makes what the bodies lack for their queries, once.
  const Seconds seconds = seconds_of([&] {
    run.go(steps - 1, [&](const StepReport&) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      late = spent.count() > options.most_seconds;
      return !late;
    });
  });
  const std::uint64_t done = run.report().number;
  trial.ms = 1e3 * seconds.processor / static_cast<double>(std::max<std::uint64_t>(done, 2) - 1);
  trial.deepest = find_deepest(checked, run);
  trial.done = true;
  if (const auto trouble = run.trouble())
    trial.outcome = {false, fmt::format("diverged: {}", trouble->message)};
  else if (late && done < steps)
    trial.outcome = {false, fmt::format("stopped after {:.0f} s at a time of {:.3g} s",
                                        options.most_seconds, run.report().time)};
  else if (expected != nullptr)
    trial.outcome = expected->judge(run);
  else
    trial.outcome.found = "no expectation";
  return trial;
}

struct Sums {
  int scenes = 0, ended = 0, within = 0;
  double log_ms = 0, deepest = 0;
};

class Trials {
 public:
  Trials(const Options& options, Report& report)
      : options_(options), report_(report), table_(report.table(head())) {}

  void run(const Named& named) {
    Scene scene = read_scene(named.path);
    if (!scene.soft_bodies.empty() || scene.engine != "isotact") return;
    run(named.name, scene, named.group);
    if (named.name == "lever-arm") run("lever-arm, hinged", hang_lever(scene), named.group);
  }

  void summarise() {
    Table table = report_.table({.id = "rigid-scenes-sum",
                                 .title = "Scenes by engine",
                                 .columns = {{"engine", Of::kKey},
                                             {"step, ms", Of::kKey},
                                             {"scenes", Of::kOurs},
                                             {"end as they should", Of::kOurs},
                                             {"within the depth", Of::kOurs},
                                             {"ms per step, mean", Of::kOurs},
                                             {"deepest, %", Of::kOurs}},
                                 .note = "The mean is the geometric one. Depths are those of exact "
                                         "geometry, as a part of the smaller body's diagonal."});
    for (const auto& [key, s] : sums_)
      table.row({key.first, 1e3 * key.second, s.scenes, s.ended, s.within,
                 std::exp(s.log_ms / s.scenes), 100 * s.deepest});
  }

 private:
  static TableHead head() {
    return {.id = "rigid-scenes",
            .title = "Scenes: time per step, exact depth, outcome",
            .columns = {{"scene", Of::kKey},
                        {"engine", Of::kKey},
                        {"step, ms", Of::kKey},
                        {"ms per step", Of::kOurs},
                        {"field error, %", Of::kOurs},
                        {"deepest, %", Of::kOurs},
                        {"beyond the error, %", Of::kOurs},
                        {"allowed, %", Of::kOurs},
                        {"outcome", Of::kOurs},
                        {"found", Of::kOurs}},
            .note = "Depths are parts of the smaller body's diagonal: of vertices and middles of "
                    "edges of either mesh in the triangles of the other, at every frame."};
  }

  void run(const std::string& name, Scene scene, const std::string& group) {
    if (!options_.scene.empty() && name.find(options_.scene) == std::string::npos) return;
    const Expectation* expected = find_expectation(name);
    Scene coarse = scene;
    refine_fields(scene, kMostError, kFieldBytes);
    // Open surfaces are open for everybody.
    for (std::size_t k = 0; k < scene.shapes.size(); ++k)
      coarse.shapes[k].sign = scene.shapes[k].sign;
    std::vector<std::pair<Contender, double>> all;
    for (const double step : {kCoarseStep, kFineStep}) {
      if (step == kFineStep && !options_.full && scene.world.step > kFineStep &&
          options_.scene.empty())
        continue;
      if (options_.engine.empty() || options_.engine == "isotact")
        all.push_back({{"Isotact", "isotact"}, step});
      // Hulls of everything, and a world without joints, are compared with other people's scenes.
      if (group != "data") continue;
      for (const Contender& c : {Contender{"plug-in", "bullet", Of::kOurs},
                                 Contender{"Bullet, 10 iterations", "hulls10", Of::kPeer},
                                 Contender{"Bullet, 50 iterations", "hulls50", Of::kPeer}})
        if ((options_.engine.empty() || options_.engine == c.engine) &&
            (scene.joints.empty() || c.engine == "bullet"))
          all.emplace_back(c, step);
    }
    for (const auto& [contender, step] : all) {
      Trial trial;
      try {
        trial = try_scene(contender.of == Of::kPeer ? coarse : scene, contender, step, expected,
                          options_);
      } catch (const std::exception& error) {
        trial.why = error.what();
      }
      add(name, contender, step, expected, trial);
    }
  }

  void add(const std::string& name, const Contender& contender, double step,
           const Expectation* expected, const Trial& trial) {
    const double allowed = step > 0.5 * kCoarseStep ? kMostCoarse : kMostFine;
    const bool ours = contender.engine == "isotact";
    if (!trial.done) {
      table_.row({name, contender.name, 1e3 * step, {}, {}, {}, {}, {}, "not run", trial.why},
                 contender.of);
      if (ours) report_.check(false, "every scene runs", name + ": " + trial.why);
      return;
    }
    const Deepest& d = trial.deepest;
    const bool shallow = d.beyond <= allowed;
    table_.row({name, contender.name, 1e3 * step, trial.ms,
                cell_if(contender.of == Of::kOurs, 100 * d.error), 100 * d.share,
                cell_if(contender.of == Of::kOurs, 100 * d.beyond), 100 * allowed,
                expected == nullptr ? "-" : trial.outcome.holds ? "right" : "WRONG",
                trial.outcome.found},
               contender.of);
    Sums& sums = sums_[{contender.name, step}];
    ++sums.scenes;
    sums.ended += trial.outcome.holds ? 1 : 0;
    sums.within += (contender.of == Of::kOurs ? d.beyond : d.share) <= allowed ? 1 : 0;
    sums.log_ms += std::log(std::max(trial.ms, 1e-6));
    sums.deepest = std::max(sums.deepest, d.share);
    if (!ours) return;
    report_.check(trial.outcome.holds, "every scene ends as it should",
                  fmt::format("{} at {} s: {}", name, step, trial.outcome.found));
    report_.check(shallow, "no body is deeper in another one than allowed",
                  fmt::format("{} at {} s: {:.3g} m at {:.4g} s, {}, {:.3g} per cent beyond the "
                              "fields' error",
                              name, step, d.depth, d.time, d.pair, 100 * d.beyond));
  }

  const Options& options_;
  Report& report_;
  Table table_;
  std::map<std::pair<std::string, double>, Sums> sums_;
};

}  // namespace

void bench_scenes(const Options& options, Report& report) {
  std::vector<Named> scenes = find_scenes();
  const bool data = std::any_of(scenes.begin(), scenes.end(),
                                [](const Named& n) { return n.group == "data"; });
  if (!data)
    report.note("10_rigid_ipc is not in the folder that ISOTACT_DATA names: only the shipped "
                "scenes are run.");
  Trials trials(options, report);
  for (const Named& named : scenes) {
    if (options.quick && named.name != "gears" && named.name != "nut_locked") continue;
    trials.run(named);
  }
  trials.summarise();
  report.note(fmt::format(
      "Fields are refined until their stated error is {:.2g} per cent of the smallest body's "
      "diagonal, up to {:.0f} MB each. Frames checked: {}. No times of rigid-ipc are printed, since "
      "none could be taken from a source here.",
      100 * kMostError, 1e-6 * kFieldBytes, options.check_steps ? "every step" : "the scene's"));
}

}  // namespace isotact::bench
