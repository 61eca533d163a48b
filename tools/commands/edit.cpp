// isotact edit: fields of the versions of one mesh, each from the one before.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/segments/segment_index.h"

#include "command.h"
#include "input/asset_input.h"
#include "input/mesh_input.h"

namespace isotact::tool {
namespace {

constexpr int kNotGiven = -1;

struct EditOptions {
  CommonOptions common;
  std::vector<std::string> meshes;
  std::string unit, output;
  int resolution = kNotGiven;
  double voxel_size = kNotGiven;
  double padding = FieldSettings{}.padding;
  bool no_mesh = false, no_points = false, segment_index = false;
};

// part.isotact for one version; part-1.isotact, part-2.isotact and so on for several.
std::string output_of(const EditOptions& o, std::size_t version) {
  if (o.meshes.size() == 2) return o.output;
  std::filesystem::path path(o.output);
  const std::string extension = path.extension().string();
  path.replace_extension();
  return fmt::format("{}-{}{}", path.string(), version, extension);
}

TriangleMesh read_version(const std::string& file, const EditOptions& o) {
  LoadedMesh loaded = read_input({.file = file, .unit = o.unit});
  print_warnings(file, loaded.warnings);
  return std::move(loaded.mesh);
}

// Points are those of a build: they lie all over the surface, and every spacing may change.
void write_version(const std::string& file, const BrickField& field, const TriangleMesh& mesh,
                   const std::optional<SegmentIndex>& index, const EditOptions& o,
                   const FieldSettings& settings) {
  Asset asset{.field = field};
  MassProperties mass = compute_mass_properties(mesh, {.density = 1, .threads = settings.threads});
  mass.warnings.clear();
  if (mass.status == MassStatus::kSolid) asset.mass = std::move(mass);
  if (!o.no_mesh) asset.mesh = FlatMesh::build(mesh, {.threads = settings.threads});
  if (index) set_segment_index(asset, *index);
  if (!o.no_points) {
    const Surface surface = prepare_surface(mesh, {.sign = settings.sign,
                                                   .nested = settings.nested,
                                                   .voxel_size = field.voxel_size(),
                                                   .threads = settings.threads});
    set_point_sphere_tree(asset, build_points(surface, field.voxel_size(), field, {}, settings));
  }
  write_asset(file, asset);
}

Json as_json(const EditReport& report) {
  return {{"removed_triangles", report.removed_triangles},
          {"added_triangles", report.added_triangles},
          {"bricks", report.bricks},
          {"bricks_built", report.bricks_built},
          {"full_rebuild", report.full_rebuild},
          {"reason", report.full_rebuild ? Json(report.reason) : Json()},
          {"sign_method", name(report.sign.method)},
          {"seconds", report.seconds}};
}

// What is wrong with a mesh is wrong with its file.
template <typename Work>
auto naming(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& e) {
    throw Error(FileSpot{.file = file}, e.what());
  }
}

void run_edit(const EditOptions& o) {
  if (o.resolution != kNotGiven && o.voxel_size > 0)
    throw UsageError("--resolution and --voxel-size exclude each other");
  if (o.meshes.size() < 2) throw UsageError("edit needs a mesh and a version of it at least");
  for (const std::string& mesh : o.meshes)
    for (std::size_t i = 1; i < o.meshes.size(); ++i) refuse_same_file(mesh, output_of(o, i));
  ProgressBar bar;
  FieldSettings settings{
      .padding = o.padding, .threads = o.common.thread_setting(), .monitor = bar.monitor()};
  if (o.resolution != kNotGiven) settings.resolution = o.resolution;
  if (o.voxel_size > 0) settings.voxel_size = o.voxel_size;
  const auto start = std::chrono::steady_clock::now();
  TriangleMesh first = read_version(o.meshes[0], o);
  EditableField part =
      naming(o.meshes[0], [&] { return EditableField(std::move(first), settings); });
  const double build_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<std::string> warnings = part.report().warnings;
  print_warnings(o.meshes[0], warnings);

  std::optional<SegmentIndex> index;
  if (o.segment_index) index = build_segment_index(part.field(), {.threads = settings.threads});
  Json versions = Json::array();
  for (std::size_t i = 1; i < o.meshes.size(); ++i) {
    const TriangleMesh next = read_version(o.meshes[i], o);
    const EditReport report = naming(o.meshes[i], [&] { return part.replace_mesh(next); });
    const std::string output = output_of(o, i);
    const BrickField field = part.field();
    if (index) index = update_segment_index(field, report, *index, settings.threads);
    write_version(output, field, next, index, o, settings);
    Json version{{"input", o.meshes[i]}, {"output", output}};
    version.update(as_json(report));
    versions.push_back(std::move(version));
    if (!o.common.json)
      fmt::print("{}: {} out, {} in; {} of {} built{}; {:.3g} s\n", without_control_codes(output),
                 format_count(report.removed_triangles, "triangle"),
                 format_count(report.added_triangles), format_count(report.bricks_built),
                 format_count(report.bricks, "brick"),
                 report.full_rebuild ? " (" + report.reason + ")" : "", report.seconds);
  }
  if (o.common.json)
    print_json({{"input", o.meshes[0]},
                {"resolution", resolution_of(part.field().lattice())},
                {"voxel_size", part.field().lattice().spacing},
                {"build_seconds", build_seconds},
                {"versions", std::move(versions)},
                {"warnings", warnings}});
}

}  // namespace

void add_edit(CommandLine& line) {
  auto options = std::make_shared<EditOptions>();
  Command command =
      line.add_command("edit", "Build fields of the versions of a mesh, each from the one before");
  command.set_examples(
      "Examples:\n"
      "  isotact edit plate.stl plate_drilled.stl -o plate.isotact --resolution 256\n"
      "  isotact edit v0.obj v1.obj v2.obj -o part.isotact    writes part-1.isotact, "
      "part-2.isotact");
  command.add_texts({.names = "MESH",
                     .help = "The first version and the following ones; only the parts that differ "
                             "from the version before are built anew",
                     .required = true},
                    options->meshes);
  command.add_text({.names = "-o,--output",
                    .help = "Asset to write; with several versions, NAME-1, NAME-2 and so on",
                    .value_name = "ASSET",
                    .required = true},
                   options->output);
  add_unit(command, options->unit);
  command.add_whole({.names = "--resolution",
                     .help = "Cells along the longest side of the padded box (default: 128)",
                     .value_name = "N"},
                    options->resolution, {kLeastResolution, kMostResolution});
  command.add_length(
      {.names = "--voxel-size", .help = "Side of a cell in metres", .value_name = "S"},
      options->voxel_size, {1e-12, 1e12});
  command.add_number({.names = "--padding",
                      .help = "Cells between the first mesh and the box, in which the others must "
                              "fit; fewer than 6 count as 6 (default: 6)",
                      .value_name = "CELLS"},
                     options->padding, {0, kMostPadding});
  command.add_flag("--no-mesh", options->no_mesh,
                   "Leave out the triangles, which exact queries need");
  command.add_flag("--no-points", options->no_points,
                   "Leave out the points, which collide would make when it first needs them");
  command.add_flag("--segment-index", options->segment_index,
                   "Store the index for segments and swept points, which follows each edit");
  add_common_options(command, options->common);
  command.on_run([options] { run_edit(*options); });
}

}  // namespace isotact::tool
