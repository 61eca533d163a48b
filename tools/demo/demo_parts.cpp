// Chapters of `isotact demo`: shapes, what is inside, closest points, a field, pictures.
#include <algorithm>
#include <limits>
#include <map>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"

#include "demo_picture.h"
#include "demo_story.h"
#include "picture/slice_picture.h"

namespace isotact::tool {
namespace {

constexpr int kFewTriangles = 4'000;

std::map<std::string, double> parameters_of(const ShapeInfo& shape) {
  std::map<std::string, double> parameters;
  for (const ShapeParameter& p : shape.parameters)
    if (kShortTour && p.name == "triangles") parameters[p.name] = kFewTriangles;
  return parameters;
}

// Metres between the threads of a nut and its bolt, by closest points.
double compute_thread_gap(const BoltShape& bolt_shape, const NutShape& nut_shape, Threads threads) {
  const TriangleMesh bolt = make_bolt(bolt_shape), nut = make_nut(nut_shape);
  const Pose bolt_from = bolt_from_nut(bolt_shape.pitch, 0.03);
  std::vector<Vec3f> points;
  for (const Vec3f& p : nut.positions)
    points.push_back(to_float(transform_point(bolt_from, to_double(p))));
  std::vector<ClosestPoint> nearest(points.size());
  const Bvh bvh(bolt, {.threads = threads});
  find_closest_points(bvh, points, nearest, threads);
  float gap = std::numeric_limits<float>::infinity();
  for (const ClosestPoint& c : nearest) gap = std::min(gap, c.distance);
  return static_cast<double>(gap);
}

}  // namespace

void write_and_read_shapes(Story& story) {
  std::size_t triangles = 0, watertight = 0;
  const Stopwatch watch;
  for (const ShapeInfo& shape : shape_catalogue()) {
    const auto path = story.folder / (shape.name + ".glb");
    write_mesh(path, make_shape(shape.name, parameters_of(shape)));
    const LoadedMesh loaded = read_mesh(path);
    triangles += loaded.mesh.triangles.size();
    if (find_flaws(loaded.mesh).watertight) ++watertight;
  }
  const std::size_t count = shape_catalogue().size();
  story.facts["shape_count"] = count;
  story.facts["watertight_count"] = watertight;
  story.tell(fmt::format(
      "Made {} shapes with {} triangles, wrote and read them as .glb, checked them: {} are "
      "watertight. ({:.1f} s)",
      count, format_count(triangles), watertight == count ? "all" : fmt::format("{}", watertight),
      watch.seconds()));
}

void tell_inside_from_outside(Story& story) {
  TriangleMesh blob = make_blob({.triangles = kShortTour ? kFewTriangles : BlobShape{}.triangles});
  const WindingTree closed(blob);
  const std::size_t before = blob.triangles.size();
  Random random(1);
  std::erase_if(blob.triangles, [&](const Triangle&) { return random.below(20) == 0; });
  const MeshFlaws flaws = find_flaws(blob);
  const WindingTree holed(blob);
  const Aabb box = to_double(bounds(blob));
  std::vector<Vec3f> points(kShortTour ? 1'000 : 20'000);
  for (Vec3f& p : points) p = to_float(random.in_box(box.lower, box.upper));
  std::vector<double> with(points.size()), without(points.size());
  compute_winding_numbers(closed, points, with, story.threads);
  compute_winding_numbers(holed, points, without, story.threads);
  std::size_t agree = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if ((with[i] > 0.5) == (without[i] > 0.5)) ++agree;
  story.facts["torn_holes"] = flaws.boundary_loops.count;
  story.facts["inside_outside_agree"] =
      static_cast<double>(agree) / static_cast<double>(points.size());
  story.tell(fmt::format(
      "Tore {} triangles out of the blob ({} holes): inside and outside are still right "
      "for {:.2f} % of {} points.",
      format_count(before - blob.triangles.size()), format_count(flaws.boundary_loops.count),
      100.0 * static_cast<double>(agree) / static_cast<double>(points.size()),
      format_count(points.size())));
}

void find_closest_points_of_parts(Story& story) {
  const TriangleMesh blob = make_blob({.triangles = kShortTour ? kFewTriangles : 70'000});
  const Stopwatch build_watch;
  const Bvh bvh(blob, {.threads = story.threads});
  const double build_seconds = build_watch.seconds();
  const Aabb box = to_double(bvh.bounds());
  Random random(2);
  std::vector<Vec3f> points(kShortTour ? 2'000 : 200'000);
  for (Vec3f& p : points) p = to_float(random.in_box(box.lower, box.upper));
  std::vector<ClosestPoint> results(points.size());
  const Stopwatch watch;
  find_closest_points(bvh, points, results, story.threads);
  const double rate = static_cast<double>(points.size()) / watch.seconds();
  const NutShape nut{.segments = 192};
  const double gap = compute_thread_gap({.segments = 192}, nut, story.threads);
  story.facts["closest_points_per_second"] = rate;
  story.facts["thread_gap"] = gap;
  story.tell(fmt::format(
      "Found {} closest points on {} triangles at {:.0f} thousand a second (hierarchy built in "
      "{:.0f} ms). By them the threads of an M16 nut and its bolt are {:.4f} mm apart (made with "
      "{:.4f} mm of clearance).",
      format_count(points.size()), format_count(blob.triangles.size()), rate / 1e3,
      build_seconds * 1e3, gap * 1e3, nut.clearance * 1e3));
}

// Built, stored, read again, cut open and asked.
void build_and_ask_field(Story& story) {
  const Threads threads = story.threads;
  const TriangleMesh knot = make_shape("knot");
  const FieldSettings settings{.resolution = kShortTour ? 48 : 128, .threads = threads};
  const Stopwatch watch;
  const FieldResult built = build_field(knot, settings);
  const double seconds = watch.seconds();
  const auto path = story.folder / "knot.isotact", cut = story.folder / "knot-cut.png";
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
                                                                 .width = kShortTour ? 200 : 900,
                                                                 .outline = &knot,
                                                                 .threads = threads});
  write_png(cut, slice.picture);
  const Vec3 point = center(to_double(bounds(knot)));
  const double distance = field.value(point);
  const Bvh bvh(knot, {.threads = threads});
  const double exact = static_cast<double>(find_closest_point(bvh, to_float(point)).distance);
  story.facts["asset"] = path.string();
  story.facts["build_seconds"] = seconds;
  story.facts["slice_picture"] = cut.string();
  story.facts["field_distance"] = distance;
  story.facts["exact_distance"] = exact;
  story.tell(fmt::format(
      "Built a distance field of the knot, {} cells along its longest side, in {:.0f} ms: "
      "{:.2f} MB. It says that the knot is {:.3f} mm away from its middle (the triangles say "
      "{:.3f} mm). A cut through it: {}",
      *settings.resolution, seconds * 1e3, static_cast<double>(built.report.bytes) / 1e6,
      distance * 1e3, exact * 1e3, cut.string()));
}

void draw_shapes(Story& story) {
  const Stopwatch watch;
  const auto path = story.folder / "shapes.png";
  RenderSettings settings{
      .width = kShortTour ? 120 : 1200, .height = kShortTour ? 64 : 640, .yaw_degrees = 12};
  settings.threads = story.threads;
  write_png(path, render(demo_still_life(kShortTour), settings));
  story.facts["picture"] = path.string();
  story.tell(fmt::format("Drew some of them: {} ({:.1f} s)", path.string(), watch.seconds()));
}

}  // namespace isotact::tool
