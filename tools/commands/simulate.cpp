// isotact simulate: runs a scene, and writes what happened.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/progress.h"
#include "isotact/scene/run/run.h"

#include "command.h"
#include "interrupt.h"
#include "input/scene_engines.h"
#include "page/run_page.h"
#include "picture/animation.h"
#include "picture/picture_output.h"
#include "picture/simulate_picture.h"
#include "report/run_poses.h"

namespace isotact::tool {
namespace {

struct SimulateOptions {
  CommonOptions common;
  std::string scene, output, log, poses, frames, animate, save, resume, engine, narrow_phase;
  double step = 0, rate = 0;
  int steps = 0, every = 1, width = 720;
  bool no_contacts = false;

  bool wants_page() const { return lower_extension(output) == ".html"; }
  bool wants_frames() const {
    return !frames.empty() || !animate.empty() || lower_extension(output) == ".glb" || wants_page();
  }
  bool wants_log() const {
    return !log.empty() || lower_extension(output) == ".csv" || wants_page();
  }
};

void check(const SimulateOptions& o) {
  if (!o.output.empty()) check_extension(o.output, ".html .glb .csv");
  if (o.wants_page()) require_viewer();
  if (!o.log.empty()) check_extension(o.log, ".csv");
  if (!o.poses.empty()) check_extension(o.poses, ".csv .npy");
  if (!o.animate.empty() && !make_animation(lower_extension(o.animate), 1))
    throw UsageError(
        fmt::format("--animate {}: animations are written as .gif or .png", o.animate));
  if (o.frames.empty() && o.animate.empty())
    refuse_given({"--every", "--no-contacts", "--width"},
                 "for pictures, which --frames and --animate draw");
  if (!o.wants_frames())
    refuse_given({"--fps"}, "no frames are kept: name -o RUN.html or .glb, --frames or --animate");
  for (const std::string* file : {&o.output, &o.log, &o.poses, &o.animate, &o.save})
    if (!file->empty()) refuse_same_file(o.scene, *file);
}

Scene prepare(const SimulateOptions& o) {
  Scene scene = read_scene(o.scene);
  if (!o.engine.empty()) scene.engine = o.engine;
  for (const NarrowPhase phase : {NarrowPhase::kPoints, NarrowPhase::kIdf, NarrowPhase::kGpu})
    if (o.narrow_phase == name(phase)) scene.narrow_phase = phase;
  if (scene.engine == "isotact" && scene.narrow_phase != NarrowPhase::kPoints)
    throw UsageError("--narrow-phase idf and gpu are for the engine bullet (--engine bullet)");
  if (o.step > 0) scene.world.step = o.step;
  if (o.rate > 0) scene.frames_per_second = o.rate;
  if (o.steps > 0) {
    scene.steps = static_cast<std::uint64_t>(o.steps);
    scene.seconds.reset();
  }
  return scene;
}

void prepare_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(fmt::format("{}: {}", folder.string(), failed.message()));
}

void draw_pictures(const SceneRun& run, const SimulateOptions& o) {
  if (o.frames.empty() && o.animate.empty()) return;
  const Replay& replay = run.replay();
  ReplayView view = make_replay_view(
      replay, run.scene().view,
      {.width = o.width, .height = o.width * 2 / 3, .threads = o.common.thread_setting()});
  view.contacts = !o.no_contacts;
  const auto every = static_cast<std::size_t>(o.every);
  const auto animation =
      make_animation(lower_extension(o.animate), run.scene().frames_per_second / o.every);
  if (!o.frames.empty()) prepare_folder(o.frames);
  ProgressBar bar;
  const Monitor monitor = bar.monitor();
  for (std::size_t k = 0; k < replay.frames.size(); k += every) {
    monitor.report({"drawing", k, replay.frames.size()});
    const Picture picture = draw_frame(replay, k, view);
    if (!o.frames.empty())
      write_png(std::filesystem::path(o.frames) / fmt::format("frame{:05}.png", k / every),
                picture);
    if (animation) animation->add(picture);
  }
  if (animation) write_file(o.animate, animation->encode());
}

void write_outputs(const SceneRun& run, const SimulateOptions& o) {
  const std::string extension = lower_extension(o.output);
  if (extension == ".glb") write_file(o.output, write_replay_glb(run.replay()));
  if (o.wants_page()) write_file(o.output, make_run_page(run, o.common.threads));
  if (o.wants_log()) {
    const std::string csv = write_log_csv(run.replay());
    if (extension == ".csv") write_file(o.output, csv);
    if (!o.log.empty()) write_file(o.log, csv);
  }
  if (!o.save.empty() && !run.trouble()) write_file(o.save, run.save());
  draw_pictures(run, o);
}

void print_report(const SceneRun& run, const SimulateOptions& o, std::uint64_t steps,
                  double seconds, bool interrupted) {
  const World& world = run.world();
  const Energies e = run.report().energies;
  const std::size_t bodies = world.body_count() + run.scene().soft_bodies.size();
  const auto trouble = run.trouble();
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  if (o.common.json) {
    Json j{{"scene", run.scene().name},
           {"output", o.output.empty() ? Json() : Json(o.output)},
           {"engine", run.scene().engine},
           {"narrow_phase", name(run.scene().narrow_phase)},
           {"bodies", bodies},
           {"soft_bodies", run.scene().soft_bodies.size()},
           {"joints", world.joints().size()},
           {"steps", run.report().number},
           {"steps_done", steps},
           {"step", run.scene().world.step},
           {"time", run.report().time},
           {"hash", fmt::format("{:016x}", run.hash())},
           {"energy",
            {{"kinetic", number(e.kinetic)},
             {"potential", number(e.potential)},
             {"springs", number(e.springs)},
             {"total", number(e.total())}}},
           {"deepest_penetration", run.deepest()},
           {"contacts_at_end", run.report().contacts},
           {"most_contacts", run.most_contacts()},
           {"frames", run.replay().frames.size()},
           {"seconds", seconds},
           {"interrupted", interrupted},
           {"trouble", nullptr},
           {"warnings", run.warnings()}};
    if (trouble)
      j["trouble"] = {{"body", run.body_name(trouble->body)},
                      {"time", trouble->time},
                      {"message", trouble->message}};
    print_json(j);
    return;
  }
  Facts facts{
      {"scene", run.scene().name},
      {"bodies", format_count(bodies)},
      {"steps", fmt::format("{} of {:.4g} s: {:.6g} s", format_count(run.report().number),
                            run.scene().world.step, run.report().time)},
      {"energy", fmt::format("kinetic {:.4g} J, potential {:.4g} J, springs {:.4g} J", e.kinetic,
                             e.potential, e.springs)},
      {"contacts", fmt::format("{} now, {} at most", run.report().contacts, run.most_contacts())},
      {"deepest", fmt::format("{:.4g} m", run.deepest())},
      {"hash", fmt::format("{:016x}", run.hash())},
      {"time", fmt::format("{:.3g} s, {:.3g} ms per step", seconds,
                           steps > 0 ? 1e3 * seconds / static_cast<double>(steps) : 0)}};
  for (const std::string* file : {&o.output, &o.log, &o.poses, &o.frames, &o.animate})
    if (!file->empty()) facts.emplace_back("wrote", without_control_codes(*file));
  if (!o.save.empty() && !trouble) facts.emplace_back("wrote", without_control_codes(o.save));
  print_facts(facts);
}

void run_simulate(const SimulateOptions& o) {
  check(o);
  const Scene scene = prepare(o);
  if (scene.engine != "isotact" && !(o.save.empty() && o.resume.empty()))
    throw UsageError("runs of another engine than ours cannot be saved or resumed");
  SceneRun run(scene, {.threads = o.common.thread_setting(),
                       .keep_frames = o.wants_frames(),
                       .keep_log = o.wants_log(),
                       .keep_paths = o.wants_page(),
                       .engines = built_in_engines()});
  print_warnings(o.scene, run.warnings());
  const std::size_t warned = run.warnings().size();
  if (!o.resume.empty()) {
    try {
      run.restore(read_file(o.resume));
    } catch (const Error& error) {
      throw Error({.file = o.resume}, error.what());
    }
  }
  // Of a resumed run, what is left of it.
  const std::uint64_t done = run.report().number, all = step_count(scene);
  const std::uint64_t left = o.steps > 0 ? all : all - std::min(all, done);
  std::optional<RunPoses> poses;
  if (!o.poses.empty()) poses.emplace(o.poses, run);
  bool interrupted = false;
  const auto start = std::chrono::steady_clock::now();
  {
    ProgressBar bar;
    const Monitor monitor = bar.monitor();
    const Interrupt interrupt;
    run.go(left, [&](const StepReport& report) {
      monitor.report({"simulating", report.number - done, left});
      if (poses) poses->add(run);
      interrupted = interrupt.is_asked() && report.number - done < left;
      return !interrupted;
    });
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_warnings(o.scene, {run.warnings().begin() + static_cast<std::ptrdiff_t>(warned),
                           run.warnings().end()});
  write_outputs(run, o);
  if (poses) poses->write(run);
  print_report(run, o, run.report().number - done, seconds, interrupted);
  if (const auto trouble = run.trouble()) {
    fmt::print(stderr, "isotact: error: {}: the run was stopped: {}\n", o.scene, trouble->message);
    throw AlreadyReported();
  }
  if (interrupted) {
    fmt::print(stderr,
               "isotact: interrupted: {}: the run was stopped at step {} of {} ({:.6g} s); the "
               "files have what there is until then\n",
               o.scene, run.report().number, done + left, run.report().time);
    throw Interrupted();
  }
}

}  // namespace

void add_simulate(CommandLine& line) {
  auto options = std::make_shared<SimulateOptions>();
  Command command = line.add_command("simulate", "Run a scene of bodies that move and touch");
  command.set_examples(
      "Examples:\n"
      "  isotact simulate scenes/chain.json -o chain.html --log chain.csv\n"
      "  isotact simulate scenes/nut.json --animate nut.gif --every 4\n"
      "  isotact simulate scenes/pile.json --steps 500 --save half.snapshot\n"
      "  isotact simulate scenes/pile.json --resume half.snapshot --json");
  command.add_text(
      {.names = "SCENE", .help = "Scene file (.json, docs/scenes.md)", .required = true},
      options->scene);
  command.add_text({.names = "-o,--output",
                    .help = "Run to write: a page that plays it (.html), an animation for any "
                            "glTF viewer (.glb), or a log (.csv)",
                    .value_name = "RUN"},
                   options->output);
  command.add_text(
      {.names = "--log",
       .help = "Log to write, one row per step: energies, contacts, depth, times (.csv)",
       .value_name = "FILE"},
      options->log);
  command.add_text(
      {.names = "--poses",
       .help = "Poses to write, one row per step and rigid body: x y z, quaternion w x y z, "
               "velocity and angular velocity (.csv or .npy)",
       .value_name = "FILE"},
      options->poses);
  command.add_text(
      {.names = "--frames",
       .help = "Draw the frames of the run as PNG files into this folder, with contacts",
       .value_name = "FOLDER"},
      options->frames);
  command.add_text({.names = "--animate",
                    .help = "Draw the frames into one animation: .gif, or .png with all colours",
                    .value_name = "GIF|PNG"},
                   options->animate);
  command.add_whole({.names = "--every",
                     .help = "With --frames and --animate: draw every N-th frame only (default: 1)",
                     .value_name = "N"},
                    options->every, {1, 1000000});
  command.add_whole(
      {.names = "--width",
       .help = "With --frames and --animate: width of pictures in pixels (default: 720)",
       .value_name = "N"},
      options->width, {16, 16384});
  command.add_flag("--no-contacts", options->no_contacts,
                   "With --frames and --animate: leave contacts out");
  command.add_whole(
      {.names = "--steps",
       .help = "Steps to run, instead of the scene's; with --resume, instead of those left",
       .value_name = "N"},
      options->steps, {1, 1e9});
  command.add_number(
      {.names = "--dt", .help = "Time step in seconds, instead of the scene's", .value_name = "S"},
      options->step, {1e-9, 1});
  command.add_number({.names = "--fps",
                      .help = "Frames per second that the run keeps, instead of the scene's",
                      .value_name = "N"},
                     options->rate, {0.01, 100000});
  command.add_text({.names = "--save",
                    .help = "Write the last state, from which --resume continues",
                    .value_name = "FILE"},
                   options->save);
  command.add_text(
      {.names = "--resume",
       .help = "Continue from a saved state; the result is the same as without the break",
       .value_name = "FILE"},
      options->resume);
  command.add_text(
      {.names = "--engine",
       .help = "Engine to move the bodies, instead of the scene's: Isotact's world, or Bullet "
               "with Isotact's contacts",
       .value_name = "isotact|bullet",
       .choices = {"isotact", "bullet"}},
      options->engine);
  command.add_text(
      {.names = "--narrow-phase",
       .help = "Method that finds contacts for Bullet, instead of the scene's: points, or "
               "intersection fields of all pairs at once on the CPU (idf) or on the GPU (gpu)",
       .value_name = "points|idf|gpu",
       .choices = {"points", "idf", "gpu"}},
      options->narrow_phase);
  add_common_options(command, options->common);
  command.on_run([options] { run_simulate(*options); });
}

}  // namespace isotact::tool
