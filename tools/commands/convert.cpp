// isotact convert: one mesh format into another, mended on the way if asked; a field into a
// mesh of one of its isosurfaces, or into a file of another program.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/repair/repair.h"

#include "command.h"
#include "input/asset_input.h"
#include "input/field_file.h"
#include "input/mesh_input.h"
#include "input/query_options.h"

namespace isotact::tool {
namespace {

struct ConvertOptions {
  CommonOptions common;
  MeshInputOptions input;
  std::string output;
  double weld = -1;  // negative: not asked for
  bool clean = false;
  bool orient = false;
  bool fill_holes = false;
  int keep_largest = 0;  // components; 0: not asked for
  std::string transform, up;
  double scale = kNotSaid;
  double level = kNotSaid;
  int stride = 0;  // not said
};

LoadedMesh extract_mesh(const AssetField& field, const ConvertOptions& options) {
  ProgressBar bar;
  FieldSurfaceResult extracted =
      extract_surface_input(field,
                            {.level = std::isnan(options.level) ? 0 : options.level,
                             .stride = options.stride,
                             .threads = options.common.thread_setting(),
                             .monitor = bar.monitor()},
                            options.input.file, "--iso, --stride");
  LoadedMesh loaded;
  loaded.mesh = std::move(extracted.mesh);
  for (const std::string& note : extracted.notes)
    loaded.warnings.push_back(note + ". Choose another by --stride");
  for (std::string& warning : extracted.warnings) loaded.warnings.push_back(std::move(warning));
  return loaded;
}

void run_export(const AssetField& field, const ConvertOptions& options) {
  refuse_given({"--iso", "--stride", "--weld", "--clean", "--orient", "--fill-holes",
                "--keep-largest", "--scale", "--up", "--transform"},
               "for meshes to write, .obj .stl .ply .glb; a field is exported as it is");
  export_field(options.output, field, options.common.thread_setting());
  if (options.common.json)
    print_json({{"input", options.input.file},
                {"output", options.output},
                {"resolution", resolution_of(field.lattice)},
                {"mended", Json::array()}});
  else
    fmt::print("{}: {} cells along the longest side\n", without_control_codes(options.output),
               resolution_of(field.lattice));
}

// A mesh as it is, or a field's surface.
LoadedMesh load(const ConvertOptions& options, const std::optional<AssetField>& field) {
  if (field) return extract_mesh(*field, options);
  refuse_given({"--iso", "--stride"}, "for fields; build an asset of the mesh first");
  return read_input(options.input);
}

// Mends in place; one sentence for each thing done.
std::vector<std::string> mend(TriangleMesh& mesh, const ConvertOptions& options) {
  std::vector<std::string> done;
  const auto removed = [&](RemoveResult result, const char* what) {
    if (result.removed > 0)
      done.push_back(fmt::format("removed {} {}", format_count(result.removed), what));
    mesh = std::move(result.mesh);
  };
  const Threads threads = options.common.thread_setting();
  if (options.weld >= 0) {
    WeldResult result = weld(mesh, {.tolerance = options.weld, .threads = threads});
    done.push_back(fmt::format("merged {} vertices", format_count(result.merged)));
    if (result.collapsed > 0)
      done.push_back(fmt::format("collapsed {} triangles", format_count(result.collapsed)));
    mesh = std::move(result.mesh);
  }
  if (options.clean) {
    removed(remove_degenerate(mesh), "degenerate triangles");
    // Twins that face each other stay: dropping one of them would tear a hole.
    removed(remove_duplicates(mesh, {.same_winding_only = true}), "duplicate triangles");
    removed(remove_unreferenced(mesh), "unused vertices");
  }
  if (options.orient) {
    OrientResult result = orient(mesh, {.outward = Outward::kByNesting, .threads = threads});
    done.push_back(fmt::format("turned {} of {} triangles", format_count(result.flipped_triangles),
                               format_count(result.mesh.triangles.size())));
    if (result.non_orientable > 0)
      done.push_back(
          fmt::format("left one-sided components as they are: {}", result.non_orientable));
    mesh = std::move(result.mesh);
  }
  if (options.fill_holes) {
    FillResult result = fill_holes(mesh, threads);
    done.push_back(fmt::format("closed {} by {}", format_count(result.filled, "hole"),
                               format_count(result.added, "triangle")));
    if (result.left_open > 0)
      done.push_back(fmt::format("left {} open: their rims branch or do not close",
                                 format_count(result.left_open, "hole")));
    mesh = std::move(result.mesh);
  }
  if (options.keep_largest > 0) {
    RemoveResult result =
        keep_largest_components(mesh, static_cast<std::size_t>(options.keep_largest));
    done.push_back(fmt::format("removed {}", format_count(result.removed, "component")));
    mesh = std::move(result.mesh);
  }
  return done;
}

// So that the axis, with its sign, becomes y.
Vec3 turn_up(const std::string& axis, const Vec3& p) {
  if (axis == "x") return {-p.y, p.x, p.z};
  if (axis == "-x") return {p.y, -p.x, p.z};
  if (axis == "-y") return {p.x, -p.y, -p.z};
  if (axis == "z") return {p.x, p.z, -p.y};
  if (axis == "-z") return {p.x, -p.z, p.y};
  return p;
}

// In double, and rounded once.
void place(TriangleMesh& mesh, const ConvertOptions& options) {
  const bool is_scaled = !std::isnan(options.scale);
  if (!is_scaled && options.up.empty() && options.transform.empty()) return;
  const Pose pose = read_pose("--transform", options.transform);
  const double scale = is_scaled ? options.scale : 1;
  for (Vec3f& p : mesh.positions)
    p = to_float(transform_point(pose, turn_up(options.up, to_double(p) * scale)));
}

void run_convert(const ConvertOptions& options) {
  if (!options.transform.empty()) read_pose("--transform", options.transform);
  refuse_same_file(options.input.file, options.output);
  std::optional<AssetField> field;
  const bool is_field = is_field_file(options.input.file);
  // Formats that this build lacks say so themselves.
  if (!(is_field && is_field_format(options.output)))
    check_extension(options.output,
                    kWritableMeshes + (is_field ? " " + field_formats() : std::string()));
  if (is_field) {
    refuse_unit(options.input.unit, "fields are in metres");
    field = load_field(options.input.file);
  }
  if (field && is_field_format(options.output)) {
    run_export(*field, options);
    return;
  }
  LoadedMesh loaded = load(options, field);
  const std::vector<std::string> done = mend(loaded.mesh, options);
  place(loaded.mesh, options);
  write_mesh(options.output, loaded.mesh);
  print_warnings(options.input.file, loaded.warnings);
  if (options.common.json) {
    print_json({{"input", options.input.file},
                {"output", options.output},
                {"vertices", loaded.mesh.positions.size()},
                {"triangles", loaded.mesh.triangles.size()},
                {"mended", done},
                {"warnings", loaded.warnings}});
    return;
  }
  fmt::print("{}: {} vertices, {} triangles\n", without_control_codes(options.output),
             format_count(loaded.mesh.positions.size()),
             format_count(loaded.mesh.triangles.size()));
  for (const std::string& sentence : done) fmt::print("  {}\n", sentence);
}

}  // namespace

void add_convert(CommandLine& line) {
  auto options = std::make_shared<ConvertOptions>();
  Command command = line.add_command("convert", "Convert a mesh or a field to another format");
  command.set_examples(
      "Examples:\n"
      "  isotact convert part.stl part.glb --unit mm --weld 0\n"
      "  isotact convert scan.ply scan.obj --clean --orient\n"
      "  isotact convert part.stl part.obj --unit mm --up z --fill-holes --keep-largest 1\n"
      "  isotact convert bunny.isotact grown.stl --iso 0.005\n"
      "  isotact convert bunny.isotact bunny.vti");
  add_mesh_input(command, options->input,
                 "Asset; field: .vdb .nvdb .sdf; mesh: OBJ, STL, PLY, OFF, glTF, GLB");
  command.add_text(
      {.names = "OUT",
       .help = "File to write: a mesh, .obj .stl .ply .glb; from a field also " + field_formats(),
       .required = true},
      options->output);
  command.add_length(
      {.names = "--iso",
       .help = "With a field: extract the surface at this distance in metres (default: 0)",
       .value_name = "S"},
      options->level, {-1e12, 1e12});
  command.add_whole({.names = "--stride",
                     .help = "With a field: extract a coarser surface from every N-th node "
                             "(default: 1, or as many as "
                             "keep it below four million triangles)",
                     .value_name = "N"},
                    options->stride, {1, 1024});
  command.add_length(
      {.names = "--weld",
       .help = "Merge vertices within this distance of each other, in metres; 0 merges equal ones",
       .value_name = "DISTANCE"},
      options->weld, {0, 1e9});
  command.add_flag(
      "--clean", options->clean,
      "Drop triangles without area, triangles that repeat an earlier one with the same winding, "
      "and unused vertices; a twin with the opposite winding stays, since a hole would "
      "open without it");
  command.add_flag(
      "--orient", options->orient,
      "Turn triangles until neighbours agree: closed components face out, cavities in");
  command.add_flag("--fill-holes", options->fill_holes,
                   "Close each hole by triangles along its rim; for small or flat holes");
  command.add_whole({.names = "--keep-largest",
                     .help = "Keep the N components with the most area",
                     .value_name = "N"},
                    options->keep_largest, {1, 1e9});
  command.add_number({.names = "--scale",
                      .help = "Multiply all lengths by this, after --unit",
                      .value_name = "FACTOR"},
                     options->scale, {1e-12, 1e12});
  command.add_text({.names = "--up",
                    .help = "The axis of FILE that points up: it becomes y, after --scale",
                    .value_name = "x|y|z|-x|-y|-z",
                    .choices = {"x", "y", "z", "-x", "-y", "-z"}},
                   options->up);
  command.add_text({.names = "--transform",
                    .help = std::string("Move the mesh by a pose, after --up") + kPoseHelp,
                    .value_name = "POSE"},
                   options->transform);
  add_common_options(command, options->common);
  command.on_run([options] { run_convert(*options); });
}

}  // namespace isotact::tool
