// A nut runs down its bolt, and a pile and two cubes of jelly fall into a bowl.
#include <algorithm>
#include <cmath>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/progress.h"
#include "isotact/base/trig.h"
#include "isotact/scene/run/run.h"

#include "demo_story.h"
#include "page/run_page.h"

namespace isotact::tool {
namespace {

constexpr const char* kNut = "nut";

// As coarse and as short as can be: it counts that it runs.
void shorten(Scene& scene) {
  for (SceneShape& shape : scene.shapes) {
    shape.voxel_size.reset();
    shape.spacing.reset();
    shape.resolution = 16;
    if (shape.points != 0U) shape.points = 60;
  }
  scene.steps = 20;
  scene.seconds.reset();
  scene.frames_per_second = 500;
}

struct Screwing {
  double turns = 0, sank = 0;  // sank: metres
};

// What the nut did, summed from frame to frame: it turns by less than half between two of them.
Screwing measure_screwing(const Replay& replay) {
  const auto nut = std::find_if(replay.bodies.begin(), replay.bodies.end(),
                                [](const ReplayBody& b) { return b.name == kNut; });
  if (nut == replay.bodies.end()) return {};
  const auto k = static_cast<std::size_t>(nut - replay.bodies.begin());
  Screwing all;
  for (std::size_t f = 1; f < replay.frames.size(); ++f) {
    const Pose &before = replay.frames[f - 1].poses[k], &now = replay.frames[f].poses[k];
    Quat turn = now.rotation * conjugate(before.rotation);
    if (turn.w < 0) turn = {-turn.w, -turn.x, -turn.y, -turn.z};
    all.turns += std::abs(2 * std::atan2(turn.y, turn.w)) / (2 * kPi);
    all.sank += before.translation.y - now.translation.y;
  }
  return all;
}

// All that move but the nut.
std::size_t falling_count(const Scene& scene) {
  const auto count = std::count_if(
      scene.bodies.begin(), scene.bodies.end(),
      [](const SceneBody& b) { return b.kind == BodyKind::kDynamic && b.name != kNut; });
  return static_cast<std::size_t>(count) + scene.soft_bodies.size();
}

DemoReplay write_replay(const SceneRun& run, const Story& story) {
  DemoReplay replay{.is_page = has_viewer()};
  replay.file = story.folder / (replay.is_page ? "demo.html" : "demo.glb");
  if (replay.is_page)
    write_file(replay.file, play_when_opened(make_run_page(run, story.threads.count)));
  else
    write_file(replay.file, write_replay_glb(run.replay()));
  return replay;
}

}  // namespace

DemoReplay run_demo_scene(Story& story) {
  const auto path = story.folder / "demo.json";
  write_file(path, demo_scene_text());
  Scene scene = parse_scene(demo_scene_text(), path);
  if (kShortTour) shorten(scene);
  const std::uint64_t steps = step_count(scene);
  const Stopwatch watch;
  SceneRun run(scene, {.threads = story.threads, .keep_paths = has_viewer()});
  const double build_seconds = watch.seconds();
  {
    ProgressBar bar;
    const Monitor monitor = bar.monitor();
    run.go(steps, [&](const StepReport& report) {
      monitor.report({"simulating", report.number, steps});
      return true;
    });
  }
  const double run_seconds = watch.seconds() - build_seconds;
  DemoReplay replay = write_replay(run, story);
  const Screwing nut = measure_screwing(run.replay());
  const auto trouble = run.trouble();
  story.facts["scene_file"] = path.string();
  story.facts["page"] = replay.is_page ? Json(replay.file.string()) : Json();
  story.facts["replay"] = replay.file.string();
  story.facts["run"] = {{"bodies", run.world().body_count() + scene.soft_bodies.size()},
                        {"soft_bodies", scene.soft_bodies.size()},
                        {"steps", run.report().number},
                        {"time", run.report().time},
                        {"frames", run.replay().frames.size()},
                        {"most_contacts", run.most_contacts()},
                        {"deepest_penetration", run.deepest()},
                        {"nut_turns", nut.turns},
                        {"nut_sank", nut.sank},
                        {"seconds", run_seconds},
                        {"trouble", trouble ? Json{{"body", run.body_name(trouble->body)},
                                                   {"time", trouble->time},
                                                   {"message", trouble->message}}
                                            : Json()}};
  story.tell(fmt::format(
      "Ran {:.2g} s of a scene in {} steps of {:.0f} ms: fields and points built in {:.1f} s, run "
      "in "
      "{:.0f} s, {:.1f} ms per step. {} bodies fell into a bowl, {} of them of jelly: {} contacts "
      "at "
      "most, none deeper than {:.1f} mm. A nut turned {:.2f} times and sank by {:.2f} mm on its "
      "bolt, whose pitch is 10 mm.",
      run.report().time, format_count(run.report().number), scene.world.step * 1e3, build_seconds,
      run_seconds, 1e3 * run_seconds / static_cast<double>(std::max<std::uint64_t>(1, steps)),
      falling_count(scene), scene.soft_bodies.size(), run.most_contacts(), run.deepest() * 1e3,
      nut.turns, nut.sank * 1e3));
  if (trouble) story.tell(fmt::format("The run was stopped: {}", trouble->message));
  replay.is_in_trouble = trouble.has_value();
  return replay;
}

}  // namespace isotact::tool
