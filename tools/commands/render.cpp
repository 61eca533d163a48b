// isotact render: a shaded picture of meshes, of assets' fields, and of scenes and runs.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/progress.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/scene/pack/replay_unpack.h"
#include "isotact/scene/run/run.h"

#include "command.h"
#include "input/field_file.h"
#include "input/mesh_input.h"
#include "input/scene_engines.h"
#include "input/shape_input.h"
#include "page/packed_page.h"
#include "page/run_page.h"
#include "picture/picture_output.h"
#include "picture/render_mesh.h"
#include "picture/shell_picture.h"
#include "picture/simulate_picture.h"

namespace isotact::tool {
namespace {

// Whether it is a scene or the page of a run, by name.
bool is_run_file(const std::string& file) {
  return lower_extension(file) == ".json" || lower_extension(file) == ".html";
}

// Pictures of runs: of a scene, which is run, or of a page that `isotact simulate` wrote.
struct RunPicture {
  std::string file;
  double time = kNotSaid;                   // Seconds. Not given: the end.
  double yaw = kNotSaid, pitch = kNotSaid;  // Degrees. Not given: those of the scene.
  double zoom = 1;                          // Factor on the scene's zoom.
  bool contacts = true;
  RenderSettings settings{};  // Only size, samples and threads are used.
};

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
  if (const auto trouble = run.trouble())
    throw Error({.file = request.file},
                fmt::format("the run stopped after {:.4g} s: {}", trouble->time, trouble->message));
  warnings = run.warnings();
  Replay replay = run.replay();
  replay.frames = {run.frame()};
  return draw_only_frame(replay, scene.view, request);
}

// All bodies on all their ways, as far as a thousand frames tell.
Aabb compute_box(const RunPack& run) {
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
  if (!view.box) view.box = compute_box(run);
  Replay replay = run.replay();
  replay.frames = {run.frame(run.nearest_frame(time))};
  return draw_only_frame(replay, view, request);
}

// Throws Error for files that cannot be read, for runs that stop before that time, and for times
// behind the end of a page's run.
// Warnings of a scene's run replace what `warnings` holds.
Picture render_run(const RunPicture& request, std::vector<std::string>& warnings) {
  return lower_extension(request.file) == ".html" ? render_page(request)
                                                  : render_scene(request, warnings);
}

struct RenderOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string unit;
  std::string output;
  bool no_ground = false, no_contacts = false;
  double level = kNotSaid, time = kNotSaid, yaw = kNotSaid, pitch = kNotSaid;
  int points_level = kNoLevel, balls_level = kNoLevel;
  RenderSettings settings;
};

// Printed at once, and kept for --json.
using Warnings = std::vector<std::string>;

void warn(Warnings& all, const std::string& file, const Warnings& more) {
  print_warnings(file, more);
  for (const std::string& warning : more) all.push_back(fmt::format("{}: {}", file, warning));
}

// So that several parts can be told apart.
Vec3 colour_of(std::size_t index) {
  const Vec3 colours[] = {{0.55, 0.57, 0.60}, {0.72, 0.42, 0.20}, {0.22, 0.42, 0.62},
                          {0.35, 0.52, 0.28}, {0.62, 0.50, 0.25}, {0.50, 0.30, 0.45}};
  return colours[index % std::size(colours)];
}

// A coarse surface tells the camera where the field's own lies.
RenderItem field_item(const std::string& file, const RenderOptions& options, Warnings& warnings) {
  const AssetField field = load_field(file);
  RenderItem item{.field = RenderField{.field = field.field,
                                       .voxel_size = field.lattice.spacing,
                                       .level = options.level}};
  constexpr double kMostTriangles = 5e5;
  FieldSurfaceResult surface =
      extract_surface_input(field,
                            {.level = options.level,
                             .least_stride = std::max(1, resolution_of(field.lattice) / 256),
                             .most_triangles = kMostTriangles,
                             .threads = options.common.thread_setting()},
                            file, "--iso");
  item.mesh = std::move(surface.mesh);
  warn(warnings, file, surface.warnings);
  return item;
}

RenderItem solid_item(const std::string& word, const AnalyticSolid& solid) {
  if (!solid.is_bounded())
    throw UsageError(fmt::format("{} has no end; the picture has a ground of its own", word));
  return {.mesh = Shape::from_analytic(solid).surface()};
}

// The points of an asset's tree, on its body, or the spheres.
void add_shell_items(std::vector<RenderItem>& items, const std::string& file,
                     const RenderOptions& options, Warnings& warnings) {
  const Asset asset = read_asset_input(file);
  const auto tree = find_point_sphere_tree(asset);
  if (!tree) throw Error({.file = file}, "has no points to show: build it with points");
  const auto add = [&](std::vector<RenderItem> more) {
    for (RenderItem& item : more) items.push_back(std::move(item));
  };
  if (options.balls_level != kNoLevel) add(draw_balls(*tree, options.balls_level));
  if (options.points_level == kNoLevel) return;
  add(draw_points(*tree, options.points_level));
  if (options.balls_level != kNoLevel || !(asset.field || asset.dense || asset.first_order)) return;
  items.push_back(field_item(file, options, warnings));
  items.back().colour = {0.62, 0.62, 0.60};
}

void refuse_with_run(const RenderOptions& options) {
  if (options.files.size() > 1)
    throw UsageError("a scene or a run is drawn alone; it names what is in it");
  refuse_given({"--iso", "--shell", "--balls", "--no-ground", "--unit"},
               "for meshes and assets, not for scenes and runs");
}

void report_picture(const RenderOptions& options, const Picture& picture, const Warnings& warnings,
                    double seconds) {
  write_picture(options.output, picture);
  if (options.common.json)
    print_json({{"output", options.output},
                {"width", picture.width},
                {"height", picture.height},
                {"warnings", warnings},
                {"seconds", seconds}});
  else
    print_picture(options.output, picture, seconds);
}

void run_render(RenderOptions options) {
  check_picture_name(options.output, options.common);
  options.settings.threads = options.common.thread_setting();
  Warnings warnings;
  auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  if (std::any_of(options.files.begin(), options.files.end(), is_run_file)) {
    refuse_with_run(options);
    const Picture picture = render_run({.file = options.files[0],
                                        .time = options.time,
                                        .yaw = options.yaw,
                                        .pitch = options.pitch,
                                        .zoom = options.settings.zoom,
                                        .contacts = !options.no_contacts,
                                        .settings = options.settings},
                                       warnings);
    print_warnings(options.files[0], warnings);
    return report_picture(options, picture, warnings, seconds());
  }
  refuse_given({"--time", "--no-contacts"},
               "for scenes (.json) and pages of runs (.html), and no file is one; of a run as .glb "
               "the beginning is drawn");
  if (!std::isnan(options.yaw)) options.settings.yaw_degrees = options.yaw;
  if (!std::isnan(options.pitch)) options.settings.pitch_degrees = options.pitch;
  if (std::all_of(options.files.begin(), options.files.end(),
                  [](const std::string& file) { return is_field_file(file) || parse_solid(file); }))
    refuse_unit(options.unit, "no mesh is drawn, and fields are in metres");
  if (std::none_of(options.files.begin(), options.files.end(), is_field_file))
    refuse_given({"--iso"}, "for fields, and no file is one; build an asset of the mesh first");
  if (std::none_of(options.files.begin(), options.files.end(), is_asset))
    refuse_given({"--shell", "--balls"},
                 "for the points of assets, and no file is one; build an asset first");
  if (std::isnan(options.level)) options.level = 0;
  std::vector<RenderItem> items;
  const bool shell = options.points_level != kNoLevel || options.balls_level != kNoLevel;
  for (const std::string& file : options.files) {
    if (shell && is_asset(file)) {
      add_shell_items(items, file, options, warnings);
      continue;
    }
    if (is_field_file(file)) {
      items.push_back(field_item(file, options, warnings));
      items.back().colour = colour_of(items.size() - 1);
      continue;
    }
    if (const auto solid = parse_solid(file)) {
      items.push_back(solid_item(file, *solid));
      items.back().colour = colour_of(items.size() - 1);
      continue;
    }
    LoadedMesh loaded = read_input({file, options.unit});
    warn(warnings, file, loaded.warnings);
    items.push_back({.mesh = std::move(loaded.mesh), .colour = colour_of(items.size())});
  }
  options.settings.ground = !options.no_ground;
  start = std::chrono::steady_clock::now();
  const Picture picture = render(items, options.settings);
  report_picture(options, picture, warnings, seconds());
}

}  // namespace

void add_render(CommandLine& line) {
  auto options = std::make_shared<RenderOptions>();
  Command command = line.add_command("render", "Draw a shaded picture; no GPU needed");
  command.set_examples(
      "Examples:\n"
      "  isotact render part.stl --unit mm -o part.png\n"
      "  isotact render bunny.isotact -o bunny.png --iso 0.002\n"
      "  isotact render bolt.glb nut.glb -o pair.png --yaw 60 --pitch 10\n"
      "  isotact render bunny.isotact -o levels.png --shell 3\n"
      "  isotact render scenes/pile.json -o pile.png --time 1.5\n"
      "  isotact render run.html -o run.png --time 0.8");
  RenderSettings& s = options->settings;
  command.add_texts(
      {.names = "FILE",
       .help =
           "Assets, fields, meshes and simple solids (box:X,Y,Z and others, as in collide), drawn "
           "together in one frame; or one scene (.json); or one page of a run (.html)",
       .required = true},
      options->files);
  command.add_text(
      {.names = "-o,--output", .help = "Picture to write", .value_name = "PNG", .required = true},
      options->output);
  add_unit(command, options->unit);
  const auto whole = [&](const char* names, int& target, const char* help, NumberRange range) {
    command.add_whole({.names = names, .help = help, .value_name = "N"}, target, range);
  };
  const auto angle = [&](const char* names, double& target, const char* help, NumberRange range) {
    command.add_number({.names = names, .help = help, .value_name = "DEGREES"}, target, range);
  };
  whole("--width", s.width, "Width of the picture in pixels (default: 1200)", {1, 16384});
  whole("--height", s.height, "Height of the picture in pixels (default: 800)", {1, 16384});
  angle("--yaw", options->yaw,
        "Turn of the camera around the up axis (default: 30, or the scene's)", {-360, 360});
  angle("--pitch", options->pitch,
        "Height of the camera above the ground, -90 to 90 (default: 20, or the scene's)",
        {-90, 90});
  command.add_number({.names = "--zoom",
                      .help = "Magnify by this factor; 1 shows everything (default: 1)",
                      .value_name = "X"},
                     s.zoom, {0.01, 100});
  whole("--sky-rays", s.sky_samples,
        "Rays per subpixel for the light of the sky, 1 to 64 (default: 3)", {1, 64});
  command.add_number(
      {.names = "--time",
       .help = "With a scene or a run: the simulated time to show, seconds (default: its end)",
       .value_name = "S"},
      options->time, {0, 1e6});
  command.add_length(
      {.names = "--iso",
       .help = "With fields: show the surface at this distance in metres (default: 0)",
       .value_name = "S"},
      options->level, {-1e12, 1e12});
  command.add_whole(
      {.names = "--shell",
       .help = "With assets: show points of their trees, levels 0 to N, by colour and "
               "size; the level after the last shows all points",
       .value_name = "N"},
      options->points_level, {0, kMaxShellLevels});
  command.add_whole({.names = "--balls",
                     .help = "With assets: show the spheres of level N of their point trees",
                     .value_name = "N"},
                    options->balls_level, {0, kMaxShellLevels});
  command.add_flag("--no-ground", options->no_ground, "Draw no ground");
  command.add_flag("--no-contacts", options->no_contacts,
                   "With a scene or a run: draw no contacts");
  add_common_options(command, options->common);
  command.on_run([options] { run_render(*options); });
}

}  // namespace isotact::tool
