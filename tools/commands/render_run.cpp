#include "render_run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/progress.h"
#include "isotact/scene/pack/replay_unpack.h"
#include "isotact/scene/run/run.h"

#include "input/scene_engines.h"
#include "page/packed_page.h"
#include "page/run_page.h"
#include "picture/simulate_picture.h"

namespace isotact::tool {
namespace {

// The only frame of the replay.
Picture draw_only_frame(const Replay& replay, SceneView view, const RunPicture& request) {
  if (!std::isnan(request.yaw)) view.yaw_degrees = request.yaw;
  if (!std::isnan(request.pitch)) view.pitch_degrees = request.pitch;
  view.zoom *= request.zoom;
  ReplayView from = make_replay_view(replay, view, request.settings);
  from.contacts = request.contacts;
  return draw_frame(replay, 0, from);
}

// The scene as it is at a time of its run.
Picture render_scene(const RunPicture& request, std::vector<std::string>& warnings) {
  const Scene scene = read_scene(request.file);
  const double length = static_cast<double>(step_count(scene)) * scene.world.step;
  const double time = std::isnan(request.time) ? length : request.time;
  // Of the replay only the first frame and that of the last step.
  SceneRun run(scene, {.threads = request.settings.threads,
                       .keep_frames = false,
                       .keep_log = false,
                       .engines = built_in_engines()});
  const auto steps = static_cast<std::uint64_t>(std::llround(time / scene.world.step));
  {
    ProgressBar bar;
    const Monitor monitor = bar.monitor();
    run.go(steps, [&](const StepReport& report) {
      monitor.report({"simulating", report.number, steps});
      return true;
    });
  }
  if (const auto trouble = run.find_trouble())
    throw Error({.file = request.file},
                fmt::format("the run stopped after {:.4g} s: {}", trouble->time, trouble->message));
  warnings = run.warnings();
  Replay replay = run.replay();
  replay.frames = {run.frame()};
  return draw_only_frame(replay, scene.view, request);
}

// All bodies on all their ways, as far as a thousand frames tell.
Aabb find_box(const RunPack& run) {
  constexpr std::size_t kMostFrames = 1000;
  const std::size_t count = run.times().size(), every = (count - 1) / kMostFrames + 1;
  ReplayBox box(run.replay());
  for (std::size_t k = 0; k < count; k += every) box.add(run.frame(k));
  return box.box();
}

// The frame of a page's run that is nearest to the time.
Picture render_page(const RunPicture& request) {
  const RunPack run(find_run_pack(read_run_page(request.file), request.file), request.file);
  const double end = run.times().back();
  const double time = std::isnan(request.time) ? end : request.time;
  if (time > end * (1 + 1e-6) + 1e-9)
    throw Error({.file = request.file}, fmt::format("the run ends at {:.4g} s", end));
  SceneView view = run.view();
  if (!view.box) view.box = find_box(run);
  Replay replay = run.replay();
  replay.frames = {run.frame(run.nearest_frame(time))};
  return draw_only_frame(replay, view, request);
}

}  // namespace

bool is_run_file(const std::string& file) {
  return lower_extension(file) == ".json" || lower_extension(file) == ".html";
}

Picture render_run(const RunPicture& request, std::vector<std::string>& warnings) {
  return lower_extension(request.file) == ".html" ? render_page(request)
                                                  : render_scene(request, warnings);
}

}  // namespace isotact::tool
