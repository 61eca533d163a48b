// isotact demo: a tour of what is there, in under a minute, on shapes that it makes itself.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/settings_text.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/bvh.h"
#include "isotact/geometry/flaws.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives.h"
#include "isotact/geometry/winding.h"

#include "command.h"
#include "demo_picture.h"
#include "picture/slice_picture.h"

namespace isotact::tool {
namespace {

struct DemoOptions {
  CommonOptions common;
  std::string folder = "isotact-demo";
};

// Under sanitizers, ten times slower, the tour has shorter ways.
constexpr bool kShort = sizeof(ISOTACT_SANITIZERS) > 1;
constexpr int kFewTriangles = 4'000;

class Story {
 public:
  explicit Story(bool quiet) : quiet_(quiet) {}
  // A line for people, a fact for scripts.
  void tell(const std::string& line) const {
    if (!quiet_) fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  Json facts;

 private:
  bool quiet_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::map<std::string, double> parameters_of(const ShapeInfo& shape) {
  std::map<std::string, double> parameters;
  for (const ShapeParameter& p : shape.parameters)
    if (kShort && p.name == "triangles") parameters[p.name] = kFewTriangles;
  return parameters;
}

void write_and_read_shapes(const std::filesystem::path& folder, Story& story) {
  std::size_t triangles = 0, watertight = 0;
  const Stopwatch watch;
  for (const ShapeInfo& shape : shape_catalogue()) {
    const auto path = folder / (shape.name + ".glb");
    write_mesh(path, make_shape(shape.name, parameters_of(shape)));
    const LoadedMesh loaded = read_mesh(path);
    triangles += loaded.mesh.triangles.size();
    if (find_flaws(loaded.mesh).watertight) ++watertight;
  }
  const std::size_t count = shape_catalogue().size();
  story.facts["shapes"] = count;
  story.facts["watertight"] = watertight;
  story.tell(fmt::format(
      "1. Made {} shapes with {} triangles, wrote and read them as .glb, checked them: {} are "
      "watertight. ({:.1f} s)",
      count, format_count(triangles), watertight == count ? "all" : fmt::format("{}", watertight),
      watch.seconds()));
}

// How far the nut's thread is from the bolt's, by closest points both ways.
void measure_thread_gap(const DemoOptions& options, Story& story) {
  const BoltShape bolt_shape{.segments = 192};
  const NutShape nut_shape{.segments = 192};
  const TriangleMesh bolt = make_bolt(bolt_shape);
  const TriangleMesh nut = make_nut(nut_shape);
  const Pose bolt_from = bolt_from_nut(bolt_shape.pitch, 0.03);
  std::vector<Vec3f> points;
  for (const Vec3f& p : nut.positions)
    points.push_back(to_float(transform_point(bolt_from, to_double(p))));
  std::vector<ClosestPoint> nearest(points.size());
  const Bvh bvh(bolt, {.threads = options.common.thread_setting()});
  find_closest_points(bvh, points, nearest, options.common.thread_setting());
  float gap = std::numeric_limits<float>::infinity();
  for (const ClosestPoint& c : nearest) gap = std::min(gap, c.distance);
  story.facts["thread_gap_mm"] = static_cast<double>(gap) * 1e3;
  story.tell(fmt::format(
      "2. Screwed an M16 nut onto its bolt: the threads are {:.4f} mm apart (made with {:.4f} mm "
      "of clearance).",
      static_cast<double>(gap) * 1e3, nut_shape.clearance * 1e3));
}

void tell_inside_from_outside(const DemoOptions& options, Story& story) {
  TriangleMesh blob = make_blob({.triangles = kShort ? kFewTriangles : BlobShape{}.triangles});
  const WindingTree closed(blob);
  const std::size_t before = blob.triangles.size();
  Random random(1);
  std::erase_if(blob.triangles, [&](const Triangle&) { return random.below(20) == 0; });
  const MeshFlaws flaws = find_flaws(blob);
  const WindingTree holed(blob);
  const Aabb box = to_double(bounds(blob));
  std::vector<Vec3f> points(kShort ? 1'000 : 20'000);
  for (Vec3f& p : points) p = to_float(random.in_box(box.lower, box.upper));
  std::vector<double> with(points.size()), without(points.size());
  find_winding_numbers(closed, points, with, options.common.thread_setting());
  find_winding_numbers(holed, points, without, options.common.thread_setting());
  std::size_t agree = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if ((with[i] > 0.5) == (without[i] > 0.5)) ++agree;
  story.facts["holes"] = flaws.boundary_loops.count;
  story.facts["inside_outside_agree"] =
      static_cast<double>(agree) / static_cast<double>(points.size());
  story.tell(fmt::format(
      "3. Tore {} triangles out of the blob ({} holes): inside and outside are still told right "
      "for {:.2f} % of {} points.",
      format_count(before - blob.triangles.size()), format_count(flaws.boundary_loops.count),
      100.0 * static_cast<double>(agree) / static_cast<double>(points.size()),
      format_count(points.size())));
}

void measure_speed(const DemoOptions& options, Story& story) {
  const TriangleMesh blob = make_blob({.triangles = kShort ? kFewTriangles : 70'000});
  const Stopwatch build_watch;
  const Bvh bvh(blob, {.threads = options.common.thread_setting()});
  const double build_seconds = build_watch.seconds();
  const Aabb box = to_double(bvh.bounds());
  Random random(2);
  std::vector<Vec3f> points(kShort ? 2'000 : 200'000);
  for (Vec3f& p : points) p = to_float(random.in_box(box.lower, box.upper));
  std::vector<ClosestPoint> results(points.size());
  const Stopwatch watch;
  find_closest_points(bvh, points, results, options.common.thread_setting());
  const double rate = static_cast<double>(points.size()) / watch.seconds();
  story.facts["closest_points_per_second"] = rate;
  story.tell(fmt::format(
      "4. Found {} closest points on {} triangles at {:.0f} thousand a second (hierarchy built in "
      "{:.0f} ms).",
      format_count(points.size()), format_count(blob.triangles.size()), rate / 1e3,
      build_seconds * 1e3));
}

// Built, stored, read again, cut open and asked.
void build_and_ask_field(const DemoOptions& options, const std::filesystem::path& folder,
                         Story& story) {
  const Threads threads = options.common.thread_setting();
  const TriangleMesh knot = make_shape("knot");
  const FieldSettings settings{.resolution = kShort ? 48 : 128, .threads = threads};
  const Stopwatch watch;
  const FieldResult built = build_field(knot, settings);
  const double seconds = watch.seconds();
  const auto path = folder / "knot.isotact", cut = folder / "knot-cut.png";
  Asset asset;
  asset.source.mesh_hash = hash_mesh(knot);
  asset.source.settings = describe(settings);
  asset.field = built.field;
  write_asset(path, asset);
  const BrickField field = *read_asset(path).field;
  const Aabb box = field.bounds();
  const SlicePicture slice =
      draw_slice([&](const Vec3& p) { return field.value(p); }, {.axis = 1,
                                                                 .at = center(box).y,
                                                                 .box = box,
                                                                 .width = kShort ? 200 : 900,
                                                                 .outline = &knot,
                                                                 .threads = threads});
  write_png(cut, slice.picture);
  const Vec3 point = center(to_double(bounds(knot)));
  const double distance = field.value(point);
  const Bvh bvh(knot, {.threads = threads});
  const double exact = static_cast<double>(find_closest_point(bvh, to_float(point)).distance);
  story.facts["field"] = path.string();
  story.facts["field_seconds"] = seconds;
  story.facts["slice"] = cut.string();
  story.facts["field_distance_mm"] = distance * 1e3;
  story.facts["exact_distance_mm"] = exact * 1e3;
  story.tell(fmt::format(
      "5. Built a distance field of the knot, {} cells along its longest side, in {:.0f} ms: "
      "{:.2f} MB. It says that the knot is {:.3f} mm away from its middle (the triangles say "
      "{:.3f} mm). A cut through it: {}",
      *settings.resolution, seconds * 1e3, static_cast<double>(built.report.bytes) / 1e6,
      distance * 1e3, exact * 1e3, cut.string()));
}

void draw(const DemoOptions& options, const std::filesystem::path& folder, Story& story) {
  const Stopwatch watch;
  const auto path = folder / "shapes.png";
  RenderSettings settings{
      .width = kShort ? 120 : 1200, .height = kShort ? 64 : 640, .yaw_degrees = 12};
  settings.threads = options.common.thread_setting();
  write_png(path, render(demo_still_life(kShort), settings));
  story.facts["picture"] = path.string();
  story.tell(fmt::format("6. Drew some of them: {} ({:.1f} s)", path.string(), watch.seconds()));
}

void run_demo(const DemoOptions& options) {
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Error({.file = options.folder}, "cannot make this folder: " + error.message());
  Story story(options.common.json);
  const Stopwatch watch;
  write_and_read_shapes(folder, story);
  measure_thread_gap(options, story);
  tell_inside_from_outside(options, story);
  measure_speed(options, story);
  build_and_ask_field(options, folder, story);
  draw(options, folder, story);
  story.facts["seconds"] = watch.seconds();
  if (options.common.json)
    print_json(story.facts);
  else
    fmt::print(
        "Done in {:.0f} s. Next: isotact make --list; isotact info {}/nut.glb; isotact render "
        "{}/knot.isotact -o knot.png\n",
        watch.seconds(), options.folder, options.folder);
}

}  // namespace

void add_demo(CommandLine& line) {
  auto options = std::make_shared<DemoOptions>();
  Command command = line.add_command("demo", "Take the one-minute tour");
  command.set_examples("Example:\n  isotact demo -o tour");
  command.add_text({.names = "-o,--output",
                    .help = "Folder to write to (default: isotact-demo)",
                    .value_name = "FOLDER"},
                   options->folder);
  add_common_options(command, options->common);
  command.on_run([options] { run_demo(*options); });
}

}  // namespace isotact::tool
