// Tools, parts and paths of bench_haptics.
#include <algorithm>
#include <cmath>

#include "isotact/base/trig.h"
#include "isotact/field/models/csg.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

#include "haptics_report.h"
#include "support/data_folder.h"
#include "xb14/vertex_shell.h"

namespace isotact::bench {
namespace {

constexpr double kSize = 0.2;  // metres, the longest side of parts to glide over

double sine(double angle) { return sin_cos(angle).sin; }

// A hand is never still: some Hertz, fractions of a millimetre.
Vec3 tremor(double time, double size) {
  return Vec3{sine(2 * kPi * 7.1 * time), sine(2 * kPi * 8.3 * time + 1),
              sine(2 * kPi * 6.4 * time + 2)} *
         size;
}

// From 0 to 1 between two times, with rest at both.
double ease(double time, double from, double to) {
  const double x = std::clamp((time - from) / (to - from), 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

// Few digits, so that files are small.
ToolPath rounded(ToolPath path) {
  const auto cut = [](double x, double unit) { return std::round(x * unit) / unit; };
  for (auto& [time, pose] : path.keys) {
    for (double* x : {&pose.translation.x, &pose.translation.y, &pose.translation.z})
      *x = cut(*x, 1e7);
    for (double* x : {&pose.rotation.w, &pose.rotation.x, &pose.rotation.y, &pose.rotation.z})
      *x = cut(*x, 1e9);
  }
  return path;
}

template <typename At>
ToolPath record(double seconds, At at) {
  constexpr int kRate = 50;  // Hz
  ToolPath path;
  for (int i = 0; i <= static_cast<int>(seconds * kRate); ++i) {
    const double time = static_cast<double>(i) / kRate;
    path.keys.push_back({time, at(time)});
  }
  return rounded(std::move(path));
}

ToolPath as_read(const ToolPath& path) { return parse_tool_path(format_tool_path(path)); }

// The longest side to the size, its middle at the origin.
void center(TriangleMesh& mesh) {
  const Aabbf box = bounds(mesh);
  const Vec3f e = extent(box), c = center(box);
  const auto scale = static_cast<float>(kSize / static_cast<double>(std::max({e.x, e.y, e.z})));
  for (Vec3f& p : mesh.positions) p = (p - c) * scale;
}

struct Tool {
  Shape shape;
  BodyMass mass;
};

// A rod along y with a round tip of 6 mm; the tip's end is the origin.
Tool make_rod() {
  TriangleMesh mesh = make_capsule({.radius = 0.006, .length = 0.06, .segments = 64});
  for (Vec3f& p : mesh.positions) p.y += 0.036F;
  return {Shape::from_mesh(mesh, {.field = {.resolution = 128}, .points = 5000}),
          make_body_mass(compute_mass_properties(mesh), 8000)};
}

Shape make_part(const TriangleMesh& mesh, const PointShell& shell, int resolution) {
  return Shape::from_parts(build_field(mesh, {.resolution = resolution}).field,
                           build_point_sphere_tree(shell));
}

HapticsCase make_peg_case() {
  // 8 mm, with a tenth of a millimetre to spare in radius, and 20 mm deep.
  const AnyField block{Difference{BoxField{{0, -0.0125, 0}, {0.015, 0.0125, 0.015}},
                                  CylinderField{{0, 0, 0}, 0.0041, 0.04}}};
  const Aabb box{{-0.017, -0.027, -0.017}, {0.017, 0.002, 0.017}};
  TriangleMesh peg = make_cylinder({.radius = 0.004, .height = 0.03, .segments = 128});
  for (Vec3f& p : peg.positions) p.y += 0.015F;
  return {.name = "peg in hole",
          .what = "an 8 mm peg, a hole with 0.1 mm around it; both ways",
          .tool = Shape::from_mesh(peg, {.field = {.resolution = 160}, .points = 20000}),
          .part = Shape::from_field(block, box, 0.0002, {.points = 40000}),
          .mass = make_body_mass(compute_mass_properties(peg), 8000),
          .path = as_read(make_peg_path()),
          .force = {.stiffness = 2e9}};
}

bool wants(const Options& options, const std::string& name) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

// One part under the rod, both roles apart and together, and a rod that nothing stops.
void add_glides(const std::string& name, const std::string& what, const Shape& part,
                std::vector<HapticsCase>& cases) {
  const Tool rod = make_rod();
  const auto add = [&](const char* how, Roles roles, bool is_rigid) {
    cases.push_back({.name = name + ", " + how,
                     .what = what,
                     .tool = rod.shape,
                     .part = part,
                     .mass = rod.mass,
                     .path = as_read(make_glide_path()),
                     .roles = roles,
                     .force = {.stiffness = 2e9},
                     .is_rigid = is_rigid});
  };
  add("its points", Roles::kPointsOfB, false);
  add("its field", Roles::kPointsOfA, false);
  add("both", Roles::kBoth, false);
  add("both, ploughed", Roles::kBoth, true);
}

}  // namespace

ToolPath make_peg_path() {
  return record(4, [](double time) {
    // To the hole's mouth, 0.6 mm beside it and 2 degrees askew; aligned by and by while it is
    // pressed down, in to 15 mm, worked to and fro, and out again.
    const double askew = 1 - ease(time, 0.8, 1.6);
    const double in = ease(time, 0.9, 2.2) - ease(time, 3.2, 3.9);
    const double down = ease(time, 0, 0.6);
    const double work = ease(time, 2.2, 2.4) * (1 - ease(time, 3.0, 3.2));
    const Vec3 place{0.0006 * askew + 0.0008 * work * sine(2 * kPi * 2 * time),
                     0.01 - 0.0115 * down - 0.0135 * in, -0.0003 * askew};
    const double tilt = (2 * askew + 1.5 * work * sine(2 * kPi * 3 * time)) * kPi / 180;
    return Pose{rotation_about({0.3, 0.2, 1}, tilt), place + tremor(time, 0.00005)};
  });
}

ToolPath make_glide_path() {
  return record(5, [](double time) {
    // Down onto the part, and over it in two wide curves, pressed some way below its top.
    const double down = ease(time, 0, 0.8) - ease(time, 4.4, 5);
    const Vec3 place{0.07 * sine(2 * kPi * 0.4 * time), 0.12 - 0.11 * down,
                     0.04 * sine(2 * kPi * 0.9 * time + 0.5)};
    const double tilt = 20 * sine(2 * kPi * 0.5 * time) * kPi / 180;
    return Pose{rotation_about({1, 0, 0.5}, tilt), place + tremor(time, 0.0002)};
  });
}

std::vector<HapticsCase> make_cases(const Options& options, Report& report) {
  std::vector<HapticsCase> cases;
  if (wants(options, "peg")) cases.push_back(make_peg_case());
  const int resolution = options.quick ? 128 : 256;
  if (wants(options, "dragon")) {
    TriangleMesh mesh = read_data_mesh("01_stanford/dragon_vrip_binLE.ply");
    center(mesh);
    const PointShell shell = take_vertices(mesh);
    add_glides("dragon", "a rod over the dragon, all vertices", make_part(mesh, shell, resolution),
               cases);
  }
  if (wants(options, "part") && !has_data())
    report.note("Without the data folder there is no part from CAD.");
  if (wants(options, "part") && has_data()) {
    TriangleMesh mesh = read_data_mesh("03_mech/industreal_tray_insert_round_peg_8mm.obj");
    center(mesh);
    const std::uint32_t count = options.quick ? 50'000 : 200'000;
    const PointShell shell = sample_by_repulsion(
        mesh, {.common = {.covering_tolerance = 1}, .count = count, .rounds = 4});
    add_glides("part", "a rod over the tray of the peg, points by repulsion",
               make_part(mesh, shell, resolution), cases);
  }
  return cases;
}

}  // namespace isotact::bench
